"""Matches: the record of one, as data and as JSON, and the local referee that plays one.

The record's JSON keys are those that GGP servers and viewers have used since ggp-base; what is ours is
marked by `x-`. `play_match` is the referee for players inside this process (or behind a `Player`);
the game manager, which speaks HTTP to all at once, fills the same record.
"""

from __future__ import annotations

import json
import random
import string
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from ggp.game import RANDOM_ROLE, Fact, Game, GameError, GoalError, Move, Role
from ggp.players import MatchQuitError, MatchSetup, Player, PlayerFaultError

NO_PREVIEW = -1
"""`preview_clock` of a match without a PREVIEW phase."""

STEP_LIMIT = 100_000
"""Steps after which the referee gives up on a match that does not end."""


class RecordError(ValueError):
    """The text is no match record."""


@dataclass
class MatchRecord:
    """Everything that happened in one match, growing while it is played.

    Rows below have one entry per role, in rule-sheet order.

    start_time      milliseconds since the epoch; so are `state_times`
    states          `( fact fact … )`, the initial one included: one more than `moves` in the end
    errors          a row for START, then one per joint move: "", "TO", "CE" or "IL <move>"
    move_seconds    rows as in `errors`: how long the role took; None for `random`
    goals           None until the match is complete, or where the rules give no value
    fault           why a match was aborted; empty otherwise
    """

    match_id: str
    game_name: str
    roles: tuple[str, ...]
    start_clock: float
    play_clock: float
    player_names: tuple[str, ...]
    rules: str = ""
    seed: int | None = None
    random_token: str = ""
    start_time: int = 0
    game_meta_url: str = ""
    is_completed: bool = False
    is_aborted: bool = False
    states: list[str] = field(default_factory=list)
    moves: list[list[str]] = field(default_factory=list)
    state_times: list[int] = field(default_factory=list)
    errors: list[list[str]] = field(default_factory=list)
    move_seconds: list[list[float | None]] = field(default_factory=list)
    goals: list[int | None] | None = None
    preview_clock: float = NO_PREVIEW
    is_player_human: tuple[bool, ...] = ()
    tournament_name: str = ""
    is_scrambled: bool = False
    version: str = ""
    fault: str = ""

    def add_state(self, facts: Sequence[Fact], time_ms: int) -> None:
        """Note a state that was reached at `time_ms`."""
        self.states.append(state_text(facts))
        self.state_times.append(time_ms)

    def complete(self, goals: Sequence[int | None]) -> None:
        """Note the regular end of the match."""
        self.goals = list(goals)
        self.is_completed = True

    def abort(self, reason: str) -> None:
        """Note that the match ends without a result, and why."""
        self.is_aborted = True
        self.fault = reason

    def to_json(self) -> str:
        """This record as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)

    def to_dict(self) -> dict[str, Any]:
        """This record as JSON-able data with the keys of the wire; unknown optional ones are left out."""
        data: dict[str, Any] = {_KEYS[name]: getattr(self, name) for name in _KEYS}
        for key in ("roles", "playerNamesFromHost", "isPlayerHuman"):
            full_key = "x-roles" if key == "roles" else key
            data[full_key] = list(data[full_key])
        if self.goals is None:
            del data["goalValues"]
        for key in _OPTIONAL_KEYS:
            if data[key] in ("", None):
                del data[key]
        return data

    @classmethod
    def from_json(cls, text: str) -> MatchRecord:
        """The record that `text` spells, ours or another manager's. Raises RecordError."""
        try:
            data = json.loads(text)
        except ValueError as error:
            raise RecordError(f"not JSON: {error}") from None
        return cls.from_dict(data)

    @classmethod
    def from_dict(cls, data: object) -> MatchRecord:
        """The inverse of `to_dict`; keys that others leave out are filled in. Raises RecordError."""
        if not isinstance(data, dict):
            raise RecordError("a match record is a JSON object")
        for key in ("matchId", "states", "moves"):
            if key not in data:
                raise RecordError(f"no {key!r} in the match record")
        known = {name: data[key] for name, key in _KEYS.items() if key in data}
        seats = max((len(row) for row in data["moves"] if isinstance(row, list)), default=0)
        known.setdefault("roles", [""] * max(seats, len(data.get("playerNamesFromHost", []))))
        for name, default in _DEFAULTS.items():
            known.setdefault(name, default)
        for name in ("roles", "player_names", "is_player_human"):
            if not isinstance(known.setdefault(name, []), list):
                raise RecordError(f"{_KEYS[name]!r} is not a list")
            known[name] = tuple(known[name])
        for name in ("states", "moves", "errors", "state_times"):
            if not isinstance(known.get(name, []), list):
                raise RecordError(f"{_KEYS[name]!r} is not a list")
        return cls(**known)


_KEYS = {
    "match_id": "matchId",
    "random_token": "randomToken",
    "start_time": "startTime",
    "game_meta_url": "gameMetaURL",
    "is_completed": "isCompleted",
    "is_aborted": "isAborted",
    "states": "states",
    "moves": "moves",
    "state_times": "stateTimes",
    "errors": "errors",
    "goals": "goalValues",
    "preview_clock": "previewClock",
    "start_clock": "startClock",
    "play_clock": "playClock",
    "player_names": "playerNamesFromHost",
    "is_player_human": "isPlayerHuman",
    "tournament_name": "tournamentNameFromHost",
    "is_scrambled": "scrambled",
    "rules": "rules",
    "seed": "seed",
    "version": "version",
    "game_name": "x-game",
    "roles": "x-roles",
    "move_seconds": "x-moveSeconds",
    "fault": "x-fault",
}
_OPTIONAL_KEYS = ("gameMetaURL", "tournamentNameFromHost", "seed", "x-fault", "rules", "x-game")
_DEFAULTS: dict[str, Any] = {"game_name": "", "start_clock": 0, "play_clock": 0}


def state_text(facts: Sequence[Fact]) -> str:
    """A state as records write it: `( fact fact … )`, without `true`."""
    return " ".join(["(", *map(str, facts), ")"])


def write_record(record: MatchRecord, path: Path) -> None:
    """Write `record` as a JSON file."""
    path.write_text(record.to_json() + "\n", encoding="utf-8")


def read_record(path: Path) -> MatchRecord:
    """Read a JSON file. Raises RecordError, OSError."""
    return MatchRecord.from_json(path.read_text(encoding="utf-8", errors="replace"))


def new_record(
    game: Game[Any],
    *,
    match_id: str,
    start_clock_seconds: float,
    play_clock_seconds: float,
    player_names: Sequence[str],
    is_player_human: Sequence[bool] | None = None,
    seed: int | None = None,
    tournament_name: str = "",
    is_scrambled: bool = False,
) -> MatchRecord:
    """The record of a match that is about to begin, now, without a state yet."""
    return MatchRecord(
        match_id=match_id,
        game_name=game.name,
        roles=tuple(map(str, game.roles)),
        start_clock=start_clock_seconds,
        play_clock=play_clock_seconds,
        player_names=tuple(player_names),
        rules=game.program.source.text,
        seed=seed,
        random_token="".join(random.SystemRandom().choices(string.ascii_letters + string.digits, k=32)),
        start_time=now_ms(),
        is_player_human=tuple(is_player_human or [False] * len(game.roles)),
        tournament_name=tournament_name,
        is_scrambled=is_scrambled,
        version=program_version(),
    )


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def derived_seed(seed: int, purpose: str) -> int:
    """A seed of its own for one seat or purpose of a match, the same in every run and on every machine."""
    return random.Random(f"{seed}/{purpose}").getrandbits(62)


def goals_or_none(game: Game[Any], state: Hashable) -> list[int | None]:
    """Each role's goal in `state`; None for `random` without one, and wherever the rules give no value."""
    goals: list[int | None] = []
    for role in game.roles:
        try:
            goals.append(game.goal(state, role))
        except GoalError:
            goals.append(None)
    return goals


@dataclass(frozen=True)
class Moment:
    """What somebody who watches a match is shown: once per state, and when a seat starts to think.

    joint_move   what led to `state`; None in the initial one
    thinking     the role whose clock runs, if one does
    deadline     when that clock ends, `time.monotonic()` seconds
    """

    record: MatchRecord
    game: Game[Any]
    state: Hashable
    step: int
    joint_move: tuple[Move, ...] | None
    thinking: Role | None = None
    deadline: float | None = None
    is_over: bool = False


Watcher = Callable[[Moment], None]


def play_match(
    game: Game[Any],
    players: Sequence[Player | None],
    *,
    start_clock_seconds: float,
    play_clock_seconds: float,
    seed: int = 0,
    match_id: str | None = None,
    watch: Watcher | None = None,
    grace_seconds: float = 0.5,
    clock: Callable[[], float] = time.monotonic,
) -> MatchRecord:
    """Play one match to its end and return its record.

    players   one per role, in rule-sheet order; None lets chance play, as it always does for `random`

    A move that is late by more than `grace_seconds`, illegal or missing is replaced by a random legal
    one and noted in the record. The match is aborted where a person quits or interrupts it, or the rules
    leave a role without a move. Raises ValueError for a wrong number of players.
    """
    if len(players) != len(game.roles):
        raise ValueError(f"{game.name} has {len(game.roles)} roles, got {len(players)} players")
    seats = [
        None if role == RANDOM_ROLE else player for role, player in zip(game.roles, players, strict=True)
    ]
    record = new_record(
        game,
        match_id=match_id or f"{game.name}.{now_ms()}",
        start_clock_seconds=start_clock_seconds,
        play_clock_seconds=play_clock_seconds,
        player_names=["random" if seat is None else seat.name for seat in seats],
        is_player_human=[bool(getattr(seat, "is_human", False)) for seat in seats],
        seed=seed,
    )
    return _Referee(game, seats, record, seed, watch, grace_seconds, clock).run()


class _Referee:
    """One local match while it lasts."""

    def __init__(
        self,
        game: Game[Any],
        seats: Sequence[Player | None],
        record: MatchRecord,
        seed: int,
        watch: Watcher | None,
        grace_seconds: float,
        clock: Callable[[], float],
    ) -> None:
        self.game, self.seats, self.record, self.seed = game, seats, record, seed
        self.watch, self.grace_seconds, self.clock = watch, grace_seconds, clock
        self.chance = random.Random(derived_seed(seed, "chance"))
        self.state: Hashable = game.initial_state()
        self.step = 0
        self.joint_move: tuple[Move, ...] | None = None

    def run(self) -> MatchRecord:
        record = self.record
        with ThreadPoolExecutor(max_workers=max(1, len(self.seats))) as pool:
            try:
                record.add_state(self.game.facts(self.state), now_ms())
                self.show()
                self.start_players(pool)
                while not self.game.is_terminal(self.state) and self.step < STEP_LIMIT:
                    self.make_step(pool)
                if self.step >= STEP_LIMIT:
                    record.abort(f"no end after {STEP_LIMIT} steps")
                else:
                    record.complete(goals_or_none(self.game, self.state))
            except MatchQuitError as error:
                record.abort(str(error))
            except KeyboardInterrupt:
                record.abort("interrupted")
            except GameError as error:
                record.abort(str(error.at_step(self.step)))
            for seat in self.seats:
                if seat is not None:
                    seat.stop(self.joint_move)
        self.show(is_over=True)
        return record

    def start_players(self, pool: ThreadPoolExecutor) -> None:
        def start(index: int, seat: Player, deadline: float) -> None:
            role = self.game.roles[index]
            setup = MatchSetup(
                self.record.match_id,
                self.game,
                role,
                self.record.start_clock,
                self.record.play_clock,
                derived_seed(self.seed, f"player {index}"),
            )
            seat.start(setup, deadline)

        _, errors, seconds = self.ask_all(pool, start, self.record.start_clock)
        self.record.errors.append(errors)
        self.record.move_seconds.append(seconds)

    def make_step(self, pool: ThreadPoolExecutor) -> None:
        # Drawn before anybody is asked, so that chance depends on the seed alone and not on who was late.
        legal = [self.game.legal_moves(self.state, role) for role in self.game.roles]
        substitutes = [self.chance.choice(moves) for moves in legal]

        def choose(index: int, seat: Player, deadline: float) -> Move:
            move = seat.choose(self.state, deadline, self.joint_move)
            if move not in legal[index]:
                raise PlayerFaultError(f"IL {move}")
            return move

        moves, errors, seconds = self.ask_all(pool, choose, self.record.play_clock)
        joint_move = tuple(
            substitute if move is None else move for move, substitute in zip(moves, substitutes, strict=True)
        )
        self.state = self.game.next_state(self.state, joint_move)
        self.joint_move = joint_move
        self.step += 1
        self.record.moves.append([str(move) for move in joint_move])
        self.record.errors.append(errors)
        self.record.move_seconds.append(seconds)
        self.record.add_state(self.game.facts(self.state), now_ms())
        self.show()

    def ask_all(
        self, pool: ThreadPoolExecutor, ask: Callable[[int, Player, float], Any], limit_seconds: float
    ) -> tuple[list[Any], list[str], list[float | None]]:
        """Ask every seat once, remote ones all at the same time: answers, error codes, seconds."""

        def timed(index: int, seat: Player) -> tuple[Any, str, float]:
            begin = self.clock()
            try:
                answer, code = ask(index, seat, begin + limit_seconds), ""
            except PlayerFaultError as fault:
                answer, code = None, fault.code
            seconds = self.clock() - begin
            is_late = seconds > limit_seconds + self.grace_seconds and not getattr(seat, "is_human", False)
            return (None, "TO", seconds) if is_late and not code else (answer, code, seconds)

        futures: dict[int, Future[tuple[Any, str, float]]] = {
            index: pool.submit(timed, index, seat)
            for index, seat in enumerate(self.seats)
            if seat is not None and getattr(seat, "is_remote", False)
        }
        results: list[tuple[Any, str, float | None]] = []
        for index, seat in enumerate(self.seats):
            if seat is None:
                results.append((None, "", None))
                continue
            self.show(thinking=self.game.roles[index], deadline=self.clock() + limit_seconds)
            results.append(futures[index].result() if index in futures else timed(index, seat))
        return (
            [answer for answer, _, _ in results],
            [code for _, code, _ in results],
            [None if seconds is None else round(seconds, 4) for _, _, seconds in results],
        )

    def show(
        self, *, thinking: Role | None = None, deadline: float | None = None, is_over: bool = False
    ) -> None:
        if self.watch is not None:
            self.watch(
                Moment(
                    self.record,
                    self.game,
                    self.state,
                    self.step,
                    self.joint_move,
                    thinking,
                    deadline,
                    is_over,
                )
            )


def program_version() -> str:
    """Name and version of this program, as records carry it."""
    try:
        return f"ggp-lanes {metadata.version('ggp-lanes')}"
    except metadata.PackageNotFoundError:
        return "ggp-lanes"
