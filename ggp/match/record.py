"""Match records as data and as JSON.

The JSON keys are those that GGP servers and viewers have used since ggp-base, with a column per kind of
entry; keys of our own start with `x-`. In memory a record is a list of steps.
"""

from __future__ import annotations

import json
import random
import string
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any

from ggp.files import write_text
from ggp.game import Fact, Game
from ggp.match.faults import Fault, fault_text, parse_fault
from ggp.match.terms import MatchTerms
from ggp.notebook import html_table


class RecordError(ValueError):
    """The text is not a match record.

    >>> MatchRecord.from_json("[]")
    Traceback (most recent call last):
    ggp.match.record.RecordError: a match record is a JSON object
    """


@dataclass(frozen=True)
class Step:
    """One state of a match with the step that led to it; step 0 holds the initial state and START.

    Tuples have one entry per role in rule-sheet order; they are empty if nothing is recorded.

    joint_move   as text; empty in step 0
    state        `( fact fact … )`; empty if not recorded
    time_ms      when the state was reached, milliseconds since the epoch
    faults       of the answers to START or PLAY that led here
    seconds      time of these answers; None for `random`
    reports      final report of each role's search (`SearchReport.to_dict`); None without a report
    """

    joint_move: tuple[str, ...]
    state: str
    time_ms: int | None = None
    faults: tuple[Fault | None, ...] = ()
    seconds: tuple[float | None, ...] = ()
    reports: tuple[dict[str, Any] | None, ...] = ()


@dataclass(repr=False)
class MatchRecord:
    """The record of one match, which grows while the match is played.

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> players = [ggp.make_player("legal"), ggp.make_player("legal")]
    >>> record = ggp.play_match(game, players, ggp.MatchTerms(seed=1))
    >>> record
    <MatchRecord tictactoe: x (legal) 100, o (legal) 0; 7 steps>
    >>> record.goals, record.moves[0]
    ([100, 0], ['(mark 1 1)', 'noop'])
    >>> ggp.MatchRecord.from_json(record.to_json()).to_dict() == record.to_dict()
    True

    In a notebook it is a table of its steps.

    start_time   milliseconds since the epoch
    steps        the initial state, then one per joint move
    goals        None until the match is complete; within, None if the rules give no value
    fault        why the match was aborted, or what is wrong with the goals at its end; mostly empty

    `states`, `moves`, `errors` and so on are the columns of the JSON text, made from the steps: rows of
    `errors`, `move_seconds`, `states` and `state_times` begin with START's, `moves` and `reports` do not.
    `preview_clock` is -1 without a PREVIEW phase.
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
    steps: list[Step] = field(default_factory=list)
    goals: list[int | None] | None = None
    preview_clock: float = -1
    is_player_human: tuple[bool, ...] = ()
    tournament_name: str = ""
    is_scrambled: bool = False
    version: str = ""
    fault: str = ""

    def __repr__(self) -> str:
        return f"<MatchRecord {self._summary()}>"

    def _repr_html_(self) -> str:
        rows = [
            [number, *step.joint_move, "; ".join(filter(None, map(fault_text, step.faults)))]
            for number, step in enumerate(self.steps)
            if step.joint_move
        ]
        return html_table(self._summary(), ["step", *self.roles, "faults"], rows)

    def _summary(self) -> str:
        goals = self.goals or [None] * len(self.roles)
        seats = [
            f"{role} ({name}){'' if goal is None else f' {goal}'}"
            for role, name, goal in zip(self.roles, self.player_names, goals, strict=False)
        ]
        end = f"; aborted: {self.fault}" if self.is_aborted else "" if self.is_completed else "; not over"
        return f"{self.game_name or self.match_id}: {', '.join(seats)}; {len(self.moves):,} steps{end}"

    @property
    def states(self) -> list[str]:
        """Every state as text, the initial one included."""
        return [step.state for step in self.steps if step.state]

    @property
    def moves(self) -> list[list[str]]:
        """Every joint move as texts in role order."""
        return [list(step.joint_move) for step in self.steps if step.joint_move]

    @property
    def state_times(self) -> list[int]:
        """Time of each state, milliseconds since the epoch."""
        return [step.time_ms for step in self.steps if step.time_ms is not None]

    @property
    def errors(self) -> list[list[str]]:
        """A row for START, then one per joint move: "" or the text of a fault."""
        return [list(map(fault_text, step.faults)) for step in self.steps if step.faults]

    @property
    def move_seconds(self) -> list[list[float | None]]:
        """Rows as in `errors`: thinking time of each role in seconds."""
        return [list(step.seconds) for step in self.steps if step.seconds]

    @property
    def reports(self) -> list[list[dict[str, Any] | None]]:
        """A row per joint move: the final report of each role's search."""
        return [list(step.reports) for step in self.steps if step.reports]

    def complete(self, goals: Sequence[int | None]) -> None:
        self.goals = list(goals)
        self.is_completed = True

    def abort(self, reason: str) -> None:
        """Note that the match ends without a result, with the reason."""
        self.is_aborted = True
        self.fault = reason

    def fault_count(self, seat: int) -> int:
        """The number of unusable answers of a seat, to START or PLAY."""
        return sum(step.faults[seat] is not None for step in self.steps if step.faults)

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)

    def to_dict(self) -> dict[str, Any]:
        """This record as JSON-able data with the keys of ggp-base; empty optional ones are left out."""
        data: dict[str, Any] = {_KEYS[name]: getattr(self, name) for name in _KEYS}
        data |= {key: list(value) for key, value in data.items() if isinstance(value, tuple)}
        if not any(map(any, self.reports)):
            del data["x-reports"]
        return {key: value for key, value in data.items() if value not in ("", None) or key not in _OPTIONAL}

    @classmethod
    def from_json(cls, text: str) -> MatchRecord:
        """Read a record, ours or another manager's. Raises RecordError."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            found = "not JSON, so not a match record: expected a file that ggp match --record wrote"
            if text.startswith("SQLite format 3"):
                found = "not a match record but a tournament's store: see ggp tournament show --help"
            raise RecordError(found) from None
        return cls.from_dict(data)

    @classmethod
    def from_dict(cls, data: object) -> MatchRecord:
        """The inverse of `to_dict`; keys omitted by other managers are filled in. Raises RecordError."""
        if not isinstance(data, dict):
            raise RecordError("a match record is a JSON object")
        for key in ("matchId", "states", "moves"):
            if key not in data:
                raise RecordError(f"no {key!r} in the match record")
        columns = {name: _read_rows(data, name) for name in _COLUMNS}
        known: dict[str, Any] = {
            name: data[key] for name, key in _KEYS.items() if key in data and name not in _COLUMNS
        }
        seats = max(map(len, columns["moves"]), default=0)
        roles = [""] * max(seats, len(data.get("playerNamesFromHost") or []))
        known = {"roles": roles, "game_name": "", "start_clock": 0, "play_clock": 0, **known}
        for name in ("roles", "player_names", "is_player_human"):
            if not isinstance(known.setdefault(name, []), list):
                raise RecordError(f"{_KEYS[name]!r} is not a list")
            known[name] = tuple(known[name])
        for name in ("roles", "player_names"):
            known[name] = tuple("" if text is None else str(text) for text in known[name])
        goals = known.get("goals")
        if goals is not None and not (
            isinstance(goals, list) and all(isinstance(goal, int | float | None) for goal in goals)
        ):
            raise RecordError("'goalValues' is not a list of numbers")
        return cls(**known, steps=_read_steps(columns))


def _read_rows(data: dict[str, Any], name: str) -> list[Any]:
    """One column of the JSON text: a list, of lists unless it holds states or times."""
    rows = data.get(_KEYS[name], [])
    if not isinstance(rows, list):
        raise RecordError(f"{_KEYS[name]!r} is not a list")
    is_flat = name in ("states", "state_times")
    if not is_flat and not all(isinstance(row, list) for row in rows):
        raise RecordError(f"{_KEYS[name]!r} is not a list of lists")
    if not all(
        isinstance(entry, _COLUMNS[name]) for entry in (rows if is_flat else chain.from_iterable(rows))
    ):
        raise RecordError(f"{_KEYS[name]!r} has an entry of another type")
    return rows


def _read_steps(columns: dict[str, list[Any]]) -> list[Step]:
    """The steps that columns of possibly different lengths describe."""
    moves, states = columns["moves"], columns["states"]
    count = max(len(states), len(moves) + 1 if moves else 0)

    def rows(name: str) -> Iterator[Any]:
        """The row of every step; columns that have no row for START begin with step 1."""
        has_start = name in ("errors", "move_seconds") and len(columns[name]) > len(moves)
        return islice(chain([] if has_start else [()], columns[name], repeat(())), count)

    return [
        Step(
            tuple(move),
            state,
            time_ms,
            tuple(parse_fault(str(text or "")) for text in errors),
            *map(tuple, rest),
        )
        for move, state, time_ms, errors, *rest in zip(
            rows("moves"),
            islice(chain(states, repeat("")), count),
            islice(chain(columns["state_times"], repeat(None)), count),
            rows("errors"),
            rows("move_seconds"),
            rows("reports"),
            strict=True,
        )
    ]


_COLUMNS: dict[str, Any] = {
    "states": str,
    "moves": str,
    "state_times": int | float | None,
    "errors": object,
    "move_seconds": int | float | None,
    "reports": dict | None,
}
"""Column → type of its entries; views and statistics rely on it."""
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
    "reports": "x-reports",
    "fault": "x-fault",
}
_OPTIONAL = ("gameMetaURL", "tournamentNameFromHost", "seed", "x-fault", "rules", "x-game", "goalValues")


def state_text(facts: Sequence[Fact]) -> str:
    """A state as records write it, without `true`.

    >>> from gdl.terms import Symbol
    >>> state_text([Symbol("p"), Symbol("q")])
    '( p q )'
    """
    return " ".join(["(", *map(str, facts), ")"])


def write_record(record: MatchRecord, path: str | Path) -> None:
    """Write `record` as a JSON file. Raises OSError.

    >>> import ggp, os, tempfile
    >>> record = ggp.MatchRecord("m.1", "nim", ("first",), 1, 1, ("legal",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "match.json")
    ...     ggp.write_record(record, path)
    ...     ggp.read_record(path)
    <MatchRecord nim: first (legal); 0 steps; not over>
    """
    write_text(path, record.to_json() + "\n")


def read_record(path: str | Path) -> MatchRecord:
    """Read a JSON file. Raises RecordError, OSError.

    >>> import ggp
    >>> ggp.read_record("no such file")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no such file'
    """
    return MatchRecord.from_json(Path(path).read_text(encoding="utf-8", errors="replace"))


def new_record(
    game: Game[Any],
    terms: MatchTerms,
    *,
    player_names: Sequence[str],
    is_player_human: Sequence[bool] | None = None,
) -> MatchRecord:
    """Create the record of a match that starts now, without a state yet."""
    return MatchRecord(
        match_id=terms.match_id or new_match_id(game.name),
        game_name=game.name,
        roles=tuple(map(str, game.roles)),
        start_clock=terms.start_clock_seconds,
        play_clock=terms.play_clock_seconds,
        player_names=tuple(player_names),
        rules=game.program.source.text,
        seed=terms.seed,
        random_token="".join(random.SystemRandom().choices(string.ascii_letters + string.digits, k=32)),
        start_time=now_ms(),
        is_player_human=tuple(is_player_human or [False] * len(game.roles)),
        version=program_version(),
    )


def new_match_id(game: str) -> str:
    """A match id of one word: the game's name, with `_` for odd characters, and the time.

    >>> new_match_id("my nim").startswith("my_nim.")
    True
    """
    word = "".join(char if char.isascii() and (char.isalnum() or char in "_-") else "_" for char in game)
    return f"{word}.{now_ms()}"


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def program_version() -> str:
    """Name and version of this program, as records carry it."""
    try:
        return f"ggp-lanes {metadata.version('ggp-lanes')}"
    except metadata.PackageNotFoundError:
        return "ggp-lanes"
