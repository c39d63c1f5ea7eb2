"""Make players from texts such as `mcts:c=40`.

    make_player        the player of a text: kind, options and listeners
    seat_player        the same for commands: a user-defined player runs in a separate process
    file_option        the option that names a file
    require_members    check the roles that a player's options name
    _MAKERS            kind → the function that makes it from its options

Modules of players that need numpy or numba are imported only after the options have been checked: numba takes
a second, and mistakes should be reported at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ggp.game import Game, Role
from ggp.match.faults import Fault
from ggp.match.player import Player, PlayerSpecError
from ggp.players.advised import AdvisedPlayer
from ggp.players.kept_knowledge import check_files
from ggp.players.mcts import mcts_player
from ggp.players.options import (
    AUTO,
    FULL,
    LEVELS,
    NO_COALITION,
    OFF,
    OWN_COALITION,
    PLAYERS,
    AlphaBetaOptions,
    MctsPlayerOptions,
    SolvingOptions,
    TablebaseOptions,
    UctOptions,
    option_tables,
    split_options,
)
from ggp.players.own import is_own_player, make_own_player, own_advisor_class, own_evaluation
from ggp.players.simple import LegalPlayer, RandomPlayer
from ggp.search.alphabeta.options import is_own_evaluation
from ggp.search.option_table import OptionError, refuse_unknown, rows_of, take_options
from ggp.search.tree.options import available_cores, default_options
from ggp.solver.members import parse_coalition
from ggp.solver.saved_header import SavedSolutionError, read_header
from ggp.suggestions import did_you_mean

if TYPE_CHECKING:
    from ggp.features.linear_form import LinearForm
    from ggp.game import Move
    from ggp.players.advisors.advisor import Advisor
    from ggp.search.report import SearchReport
    from ggp.solver import Tablebase


@dataclass(frozen=True)
class Links:
    """Listeners of a player; see `make_player`."""

    on_progress: Callable[[Move], None] | None = None
    on_report: Callable[[SearchReport], None] | None = None


MIN_MEBIBYTES = 1024
"""Minimum memory of a process that plays compiled games: 512 MiB are too few for numba and its libraries."""

TUNED_OPTIONS = {"policy", "c"}
"""Any of these disables the tuned options of the shipped table."""

_ADDRESS = re.compile(r"[\w.-]+:\d{1,5}")

Maker: TypeAlias = Callable[[dict[str, str], Links], Player]


def make_player(
    spec: str,
    *,
    on_progress: Callable[[Move], None] | None = None,
    on_report: Callable[[SearchReport], None] | None = None,
) -> Player:
    """The player written as `spec`: a kind, perhaps with options, `http://host:port`, `text:COMMAND`, or a
    user-defined class as `module:Class` or `path/to/file.py:Class` (see `ggp.players.own`).

    on_progress   called with the best move so far whenever it changes
    on_report     called with a SearchReport a few times per second

    Raises PlayerSpecError.

    >>> make_player("mcts:simulations=100,c=20").name
    'mcts'
    >>> make_player("mcts:c=20,c=30")
    Traceback (most recent call last):
    ggp.match.player.PlayerSpecError: player 'mcts:c=20,c=30': option 'c' is given twice
    """
    if spec.startswith("http://"):
        from ggp.protocol.client import RemotePlayer

        try:
            return RemotePlayer(spec)
        except ValueError as error:
            raise PlayerSpecError(f"player {spec!r}: {error}") from None
    kind, _, rest = spec.partition(":")
    if kind not in _MAKERS:
        require_kind(spec)
        return make_own_player(spec)
    try:
        given = {"command": rest} if kind == "text" else split_options(rest, kind)
        if given and kind in ("random", "legal", "human"):
            raise OptionError(f"unknown option {next(iter(given))!r}: this player has no options")
        return _MAKERS[kind](given, Links(on_progress, on_report))
    except PlayerSpecError as error:
        raise type(error)(f"player {spec!r}: {error}") from error.__cause__
    except (OptionError, OSError) as error:
        raise PlayerSpecError(f"player {spec!r}: {error}") from None


def seat_player(spec: str, *, mebibytes: int | None = None) -> Player:
    """`make_player` for a seat in a match that must survive the failures of players.

    A user-defined player runs in a separate process, with at most `mebibytes` of memory: see
    `ggp.players.own_seat`. Raises PlayerSpecError, but not for one whose code fails: that is its fault in the
    match.
    """
    if not is_own_player(spec):
        return make_player(spec)
    from ggp.players.own_seat import MEBIBYTES, OwnSeat

    return OwnSeat(spec, MEBIBYTES if mebibytes is None else mebibytes)


def check_player(spec: str, *, mebibytes: int | None = None) -> Player:
    """`seat_player`, but PlayerSpecError also if the code of a user-defined player fails at once."""
    seat = seat_player(spec, mebibytes=mebibytes)
    fault: Fault | None = getattr(seat, "fault", None)
    if fault is not None:
        raise PlayerSpecError(f"player {spec!r}: {getattr(fault, 'error', fault)}")
    return seat


def require_kind(spec: str, *, refused: tuple[str, ...] = ()) -> None:
    """Raise PlayerSpecError for a player of an unknown or refused kind, with the list of the allowed ones.

    refused   kinds, and "http" for players over HTTP

    >>> require_kind("human", refused=("human", "http"))
    Traceback (most recent call last):
    ggp.match.player.PlayerSpecError: unknown player 'human': expected mcts, ...
    """
    kind = "http" if spec.startswith("http://") else spec.partition(":")[0]
    if kind not in refused and (kind in (*_MAKERS, "http") or is_own_player(spec)):
        return
    if _ADDRESS.fullmatch(spec) and "http" not in refused:
        raise PlayerSpecError(f"unknown player {spec!r}: a player over HTTP is written http://{spec}")
    allowed = tuple(each for each in _MAKERS if each not in refused)
    if hint := did_you_mean(kind, allowed):
        raise PlayerSpecError(f"unknown player {spec!r}.{hint}")
    http = "" if "http" in refused else " http://host:port;"
    raise PlayerSpecError(
        f"unknown player {spec!r}: expected {', '.join(allowed)}, with options as in mcts:option=value,…;"
        f"{http} module:Class or path/to/file.py:Class"
    )


def file_option(spec: str) -> str | None:
    """The first option of a player that names a file; None if there is none. Raises PlayerSpecError.

    A player for strangers must have none: errors would reveal the contents of files.

    >>> file_option("mcts:c=40,book=/etc/passwd"), file_option("mcts:c=40,book=off")
    ('book', None)
    """
    kind, _, rest = spec.partition(":")
    try:
        given = split_options(rest)
    except OptionError as error:
        raise PlayerSpecError(f"player {spec!r}: {error}") from None
    for row in (row for table in option_tables(kind) for row in rows_of(table) if row.names_file):
        words = (AUTO, OFF) if row.default == AUTO else ()
        if row.name in given and given[row.name] not in words:
            return row.name
    if kind == "alphabeta" and is_own_evaluation(given.get("evaluation", "")):
        return "evaluation"
    return None


def require_members(spec: str, game_name: str, roles: Sequence[Role]) -> None:
    """Raise PlayerSpecError if a player is to act for a coalition of roles that are not among `roles`.

    >>> from gdl.terms import Symbol
    >>> require_members("alphabeta:coalition=1+3", "duel", [Symbol("red"), Symbol("blue")])
    Traceback (most recent call last):
    ggp.match.player.PlayerSpecError: duel: coalition 1+3: expected numbers joined by +, of 1 red, 2 blue
    """
    kind, _, rest = spec.partition(":")
    if kind != "alphabeta":
        return
    try:
        coalition = take_options(AlphaBetaOptions(), split_options(rest)).coalition
        if coalition not in (OWN_COALITION, NO_COALITION):
            parse_coalition(coalition, roles)
    except OptionError as error:
        raise PlayerSpecError(f"player {spec!r}: {error}") from None
    except ValueError as error:
        raise PlayerSpecError(f"{game_name}: {error}") from None


def require_tablebase_rules(players: Sequence[Player], game: Game[Any]) -> None:
    """Raise PlayerSpecError if a player has the solution of another game."""
    from ggp.players.advisors.tablebase import TablebaseAdvisor

    for player in (each for each in players if isinstance(each, AdvisedPlayer)):
        for advisor in player.row.advisors(game, player):
            if isinstance(advisor, TablebaseAdvisor):
                try:
                    advisor.tablebase.require_rules(game.program)
                except SavedSolutionError as error:
                    raise PlayerSpecError(f"{error}, not of {game.name}") from None


def _make_mcts(
    given: dict[str, str], links: Links, kind: str = "mcts", tablebase: Tablebase | None = None
) -> AdvisedPlayer:
    """`kind` is the row whose options these are; `tablebase` comes before the tree."""
    if (level := given.get("level", FULL)) in LEVELS:
        given.setdefault("simulations", str(LEVELS[level]))
    solver = take_options(SolvingOptions(), given).solver_mebibytes if kind == "solving" else None
    own = take_options(MctsPlayerOptions(), given)
    if TUNED_OPTIONS & given.keys():
        own = replace(own, is_tuned=False)
    options = take_options(default_options(own.simulations), given)
    refuse_unknown(given, *option_tables(kind))
    check_files(own.book, own.network)
    own_advisor = None if own.advisor is None else own_advisor_class(own.advisor)

    def first() -> list[Advisor]:
        advisors: list[Advisor] = [] if own_advisor is None else [own_advisor()]
        if tablebase is not None:
            from ggp.players.advisors.tablebase import TablebaseAdvisor

            advisors.append(TablebaseAdvisor(tablebase))
        return advisors

    return mcts_player(
        own,
        options,
        name=kind,
        first=first,
        solver_mebibytes=solver,
        on_progress=links.on_progress,
        on_report=links.on_report,
    )


def _make_solving(given: dict[str, str], links: Links) -> Player:
    if "simulations" not in given:
        # One core is for the solver.
        given.setdefault("threads", str(max(1, available_cores() - 1)))
    return _make_mcts(given, links, "solving")


def _make_tablebase(given: dict[str, str], links: Links) -> Player:
    path = take_options(TablebaseOptions(), given).file
    if path is None:
        raise OptionError("tablebase needs file=PATH")
    try:
        read_header(Path(path))  # without numpy: a file that is not a solution is a mistake

        from ggp.solver import Tablebase

        return _make_mcts(given, links, "tablebase", Tablebase(path))
    except SavedSolutionError as error:
        raise OptionError(str(error)) from None


def _make_alphabeta(given: dict[str, str], links: Links) -> Player:
    own = take_options(AlphaBetaOptions(), given)
    refuse_unknown(given, *option_tables("alphabeta"))
    check_files(own.book)
    weights, function = None, None
    if is_own_evaluation(own.evaluation):
        if ":" in own.evaluation:
            function = own_evaluation(own.evaluation)
        else:
            weights = _read_linear_form(own.evaluation)

    from ggp.players.rows import alphabeta_player

    return alphabeta_player(own, weights=weights, function=function, on_progress=links.on_progress)


def _read_linear_form(path: str) -> LinearForm:
    from ggp.features.linear_form import LinearFormError, read_linear_form

    try:
        return read_linear_form(path)
    except LinearFormError as error:
        raise OptionError(str(error)) from None


def _make_uct(given: dict[str, str], links: Links) -> Player:
    own = take_options(UctOptions(), given)
    refuse_unknown(given, *option_tables("uct"))

    from ggp.players.rows import uct_player

    return uct_player(own)


def _make_human(given: dict[str, str], links: Links) -> Player:
    from ggp.players.human import HumanPlayer

    return HumanPlayer()


def _make_text(given: dict[str, str], links: Links) -> Player:
    from ggp.players.text_player import TextPlayer

    return TextPlayer(given["command"])


_MAKERS: Mapping[str, Maker] = {
    "mcts": _make_mcts,
    "alphabeta": _make_alphabeta,
    "solving": _make_solving,
    "tablebase": _make_tablebase,
    "uct": _make_uct,
    "random": lambda given, links: RandomPlayer(),
    "legal": lambda given, links: LegalPlayer(),
    "human": _make_human,
    "text": _make_text,
}
assert _MAKERS.keys() == PLAYERS.keys()
