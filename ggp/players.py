"""The `Player` protocol, and the players that come with the package.

A player is told of one match at a time: `start`, then `choose` in every state, then `stop`. It never
sees the referee's objects, only values. `make_player` turns what a person types (`mcts:c=40`) into one.

    PlayerError
    ├── PlayerSpecError    the text names no player, or an option that it does not have
    ├── PlayerFaultError   a player gave no move: too late, not reachable; the match goes on
    └── MatchQuitError     the person at the keyboard wants no more; the match is aborted
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from ggp.game import Game, GameError, Move, Role
from ggp.search.options import (
    MctsOptions,
    OptionError,
    check_weights,
    default_options,
    parse_number,
    parse_options,
    parse_switch,
)
from ggp.search.report import SearchReport

if TYPE_CHECKING:
    from ggp.compiled_game import CompiledGame
    from ggp.search.mcts import LanesSearch
    from ggp.search.reference import Search

    AnySearch: TypeAlias = Search | LanesSearch

Progress = Callable[[Move], None]
Reporting = Callable[[SearchReport], None]
SEARCHES = ("auto", "lanes", "reference")


class PlayerError(Exception):
    """Base of what players raise on purpose."""


class PlayerSpecError(PlayerError):
    """The text names no player, or an option that the player does not have."""


class PlayerFaultError(PlayerError):
    """A player gave no usable move; the referee plays for it and goes on.

    code   as in the match record: "TO" late, "CE" connection, "IL <text>" unparsable or illegal
    """

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(message or code)
        self.code = code


class MatchQuitError(PlayerError):
    """A person ends the match early."""


@dataclass(frozen=True)
class MatchSetup:
    """All that a player learns when a match begins. `seed` is the player's own, not the match's."""

    match_id: str
    game: Game[Any]
    role: Role
    start_clock_seconds: float
    play_clock_seconds: float
    seed: int


class Player(Protocol):
    """One seat of a match. Every `deadline` is in `time.monotonic()` seconds.

    A player whose `is_remote` attribute is true spends its time waiting for somebody else; the referee
    asks such players at the same time, all others one after the other. One whose `is_human`
    attribute is true is never late. Players that search have `last_report`, how the search for their last
    move stood in the end (None where there was none). `ponder`, where a player has it and its `ponders` is
    true, is to be called between two calls of `choose`.
    """

    name: str

    def start(self, setup: MatchSetup, deadline: float) -> None:
        """Get ready for a match. Raises PlayerFaultError where that fails; `choose` is asked all the same."""
        ...

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        """A legal move in `state`, to which `joint_move` led (None in the initial state)."""
        ...

    def stop(self, joint_move: tuple[Move, ...] | None) -> None:
        """The match is over, after `joint_move` (None where it was aborted before the first one)."""
        ...


class LocalPlayer:
    """What the players of this package share: they remember their match."""

    name = "player"

    def __init__(self) -> None:
        self._setup: MatchSetup | None = None

    @property
    def setup(self) -> MatchSetup:
        assert self._setup is not None, "choose before start"
        return self._setup

    def start(self, setup: MatchSetup, deadline: float) -> None:
        self._setup = setup

    def stop(self, joint_move: tuple[Move, ...] | None) -> None:
        self._setup = None

    def legal_moves(self, state: Hashable) -> tuple[Move, ...]:
        return self.setup.game.legal_moves(state, self.setup.role)


class LegalPlayer(LocalPlayer):
    """Always makes the first legal move: the simplest opponent that is never late."""

    name = "legal"

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        return self.legal_moves(state)[0]


class RandomPlayer(LocalPlayer):
    """Makes a uniformly random legal move."""

    name = "random"

    def start(self, setup: MatchSetup, deadline: float) -> None:
        super().start(setup, deadline)
        self._rng = random.Random(setup.seed)

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        return self._rng.choice(self.legal_moves(state))


class MctsPlayer(LocalPlayer):
    """Monte-Carlo tree search: on lanes where the game is compiled, else in plain Python.

    With `simulations` every move gets just that many, in one thread unless told otherwise, and the match is
    reproducible; without, the search uses its clocks and all cores. `on_progress` is called with the
    best move so far whenever that changes, `on_report` with how the search stands a few times per second, and
    `best_move` can be read from another thread at any time. `simulation_count` is that of the last match.
    """

    name = "mcts"

    def __init__(
        self,
        *,
        simulations: int | None = None,
        margin: float = 0.0,
        search: str = "auto",
        options: MctsOptions | None = None,
        ponders: bool = False,
        has_head_start: bool = True,
        on_progress: Progress | None = None,
        on_report: Reporting | None = None,
    ) -> None:
        """`margin` seconds are left of each clock; `search` is auto, lanes or reference.

        Without `has_head_start` it gets ready, and FAST learns; nothing is searched before the first move.
        """
        super().__init__()
        self.simulations = simulations
        self.margin_seconds = margin
        self.kind = search
        self.options = options or default_options(simulations)
        self.ponders = ponders
        self.has_head_start = has_head_start
        self.on_progress = on_progress
        self.on_report = on_report
        self.last_report: SearchReport | None = None
        self.best_move: Move | None = None
        self._made: tuple[Hashable, Move] | None = None
        self._is_pondering = False
        self.simulation_count = 0
        self._search: AnySearch | None = None

    def prepare(self, game: Game[Any]) -> None:
        """Compile the search's kernels, or load them from the cache, while no clock runs."""
        if not hasattr(game, "lane_tables"):
            return
        search = self._make_search(MatchSetup("prepare", game, game.roles[0], 0.0, 0.0, 0))
        state = game.initial_state()
        search.move_to(state, None)
        search.warm_up()
        try:
            # Following the match has kernels of its own, used where the tree has grown.
            joint_move = tuple(game.legal_moves(state, role)[0] for role in game.roles)
            search.run(deadline=time.monotonic() + 1.0, simulations=500)
            search.move_to(game.next_state(state, joint_move), joint_move)
        except (GameError, IndexError):  # no match to follow: over at once, or the rules are at fault
            pass
        search.close()

    def start(self, setup: MatchSetup, deadline: float) -> None:
        super().start(setup, deadline)
        self.best_move = self.last_report = self._made = None
        self._search = self._make_search(setup)
        self._search.move_to(setup.game.initial_state(), None)
        if self.simulations is not None:
            self._search.warm_up()
        elif self.has_head_start:
            self._search.run(deadline=deadline - self.margin_seconds)
        else:
            self._search.warm_up(deadline - self.margin_seconds)

    def _make_search(self, setup: MatchSetup) -> AnySearch:
        from ggp.search.reference import Search

        arguments: dict[str, Any] = {
            "seed": setup.seed,
            "options": self.options,
            "on_progress": self._note,
            "on_report": None if self.on_report is None else self._tell,
        }
        # Not isinstance: importing the class would load numba for games that do not need it.
        is_compiled = hasattr(setup.game, "lane_tables")
        if self.kind == "reference" or (self.kind == "auto" and not is_compiled):
            return Search(setup.game, setup.role, **arguments)
        if not is_compiled:
            raise PlayerFaultError("TO", f"{setup.game.name} is not compiled: there is no search on lanes")
        from ggp.search.mcts import LanesSearch

        return LanesSearch(cast("CompiledGame", setup.game), setup.role, **arguments)

    @property
    def search(self) -> AnySearch:
        """The search of the match that is being played. Raises PlayerFaultError where START failed."""
        if self._search is None:
            raise PlayerFaultError("TO", f"{self.name} did not get ready for this match")
        return self._search

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        legal = self.legal_moves(state)
        move, self.last_report = legal[0], None
        self._note(move)
        # Also before a forced move: the search follows the match by one joint move at a time.
        self.search.move_to(state, joint_move)
        if len(legal) > 1:
            self.search.run(deadline=deadline - self.margin_seconds, simulations=self.simulations)
            move = self.search.best_move()
            self._note(move)
            self.last_report = self.search.report()
        self._made = (state, move)
        return move

    def ponder(self, is_over: Callable[[], bool], deadline: float) -> None:
        """Search on, behind the last move where it decides alone, until `is_over()` or `deadline`.

        The next `choose` finds the tree. Ends within a slice of the search once `is_over()` says so.
        """
        if self._search is None or not (self.has_head_start or self._made or self._search.simulation_count):
            return
        self._is_pondering = True
        try:
            self._follow_own_move()
            self._search.run(deadline=deadline, is_stopped=is_over)
        finally:
            self._is_pondering = False

    def _follow_own_move(self) -> None:
        """Make the state behind the last move the root, if the other roles had no choice there."""
        if self._made is None:
            return
        game, (state, move), self._made = self.setup.game, self._made, None
        try:
            possible = [
                (move,) if role == self.setup.role else game.legal_moves(state, role) for role in game.roles
            ]
            if all(len(moves) == 1 for moves in possible):
                joint_move = tuple(moves[0] for moves in possible)
                self.search.move_to(game.next_state(state, joint_move), joint_move)
        except GameError:  # the rules are at fault: search on where the search is
            return

    def stop(self, joint_move: tuple[Move, ...] | None) -> None:
        super().stop(joint_move)
        if self._search is not None:
            self.simulation_count = self._search.simulation_count
            self._search.close()
        self._search = None

    def _tell(self, report: SearchReport) -> None:
        if self.on_report is not None and not self._is_pondering:
            self.on_report(report)

    def _note(self, move: Move) -> None:
        if move != self.best_move and not self._is_pondering:
            self.best_move = move
            if self.on_progress is not None:
                self.on_progress(move)


def make_player(
    spec: str,
    *,
    on_progress: Progress | None = None,
    on_report: Reporting | None = None,
    ask: Callable[[str], str] | None = None,
    show: Callable[[str], None] | None = None,
) -> Player:
    """The player that `spec` describes: `random`, `legal`, `mcts[:option=value,…]`, `human`, `http://host:port`,
    `alphabeta`, `solving` and `tablebase` (see `ggp.exact_players`).

    Options of `mcts`: `simulations` (per move, instead of the clock), `margin` (seconds left of each
    clock), `search` (lanes or reference), `ponder` and `head_start` (on or off), and those of
    `ggp.search.options`. Raises PlayerSpecError.
    """
    if spec.startswith("http://"):
        from ggp.http_client import RemotePlayer

        try:
            remote: Player = RemotePlayer(spec)
        except ValueError as error:
            raise PlayerSpecError(f"player {spec!r}: {error}") from None
        return remote
    kind, _, rest = spec.partition(":")
    options = _parse_options(spec, rest)
    if kind == "mcts":
        return _mcts_player(spec, options, on_progress, on_report)
    if kind in ("alphabeta", "tablebase", "solving"):
        from ggp.exact_players import make_exact_player

        return make_exact_player(
            spec,
            kind,
            options,
            lambda others: _mcts_player(spec, others, on_progress, on_report),
            on_progress,
        )
    if options:
        raise PlayerSpecError(f"player {spec!r}: {kind} has no options")
    if kind == "random":
        return RandomPlayer()
    if kind == "legal":
        return LegalPlayer()
    if kind == "human":
        from ggp.human_player import HumanPlayer

        return HumanPlayer(ask=ask, show=show)
    raise PlayerSpecError(
        f"no player {spec!r}: there are random, legal, mcts[:option=value,…], alphabeta[:option=value,…],"
        " solving[:option=value,…], tablebase:file=PATH, human and http://host:port"
    )


def _parse_options(spec: str, text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not value:
            raise PlayerSpecError(f"player {spec!r}: options are written option=value, not {part!r}")
        options[key.strip()] = value.strip()
    return options


def _mcts_player(
    spec: str, options: Mapping[str, str], on_progress: Progress | None, on_report: Reporting | None
) -> MctsPlayer:
    given = dict(options)
    try:
        simulations = (
            parse_number("simulations", given.pop("simulations"), 1) if "simulations" in given else None
        )
        margin = parse_number("margin", given.pop("margin", "0"), 0.0)
        search = given.pop("search", "auto")
        if search not in SEARCHES:
            raise OptionError(f"search is one of {', '.join(SEARCHES)}, not {search!r}")
        ponders = parse_switch("ponder", given.pop("ponder", "off"))
        has_head_start = parse_switch("head_start", given.pop("head_start", "on"))
        chosen = parse_options(given, default_options(simulations))
        if chosen.weights is not None:
            check_weights(chosen.weights)
    except (OptionError, OSError) as error:
        raise PlayerSpecError(f"player {spec!r}: {error}") from None
    return MctsPlayer(
        simulations=simulations,
        margin=margin,
        search=search,
        options=chosen,
        ponders=ponders,
        has_head_start=has_head_start,
        on_progress=on_progress,
        on_report=on_report,
    )
