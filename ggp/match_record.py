"""The record of a match, as data and as JSON.

The JSON keys are those that GGP servers and viewers have used since ggp-base; what is ours is marked
by `x-`. The local referee and the game manager fill the same record.
"""

from __future__ import annotations

import json
import random
import string
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from ggp.game import Fact, Game
from ggp.written_files import write_text

NO_PREVIEW = -1
"""`preview_clock` of a match without a PREVIEW phase."""


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
    reports         a row per joint move: how each role's search stood in the end, as
                    `ggp.search.report.SearchReport.to_dict` gives it; None for who did not tell
    goals           None until the match is complete, or where the rules give no value
    fault           why a match was aborted, or what is wrong with the goals at its end; mostly empty
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
    reports: list[list[dict[str, Any] | None]] = field(default_factory=list)
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

    def fault_count(self, seat: int) -> int:
        """How often a seat gave no usable answer, to START or with a move."""
        return sum(bool(row[seat]) for row in self.errors)

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
        if not any(map(any, self.reports)):
            del data["x-reports"]
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
        for name in ("states", "moves", "errors", "state_times", "reports"):
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
    "reports": "x-reports",
    "fault": "x-fault",
}
_OPTIONAL_KEYS = ("gameMetaURL", "tournamentNameFromHost", "seed", "x-fault", "rules", "x-game")
_DEFAULTS: dict[str, Any] = {"game_name": "", "start_clock": 0, "play_clock": 0}


def state_text(facts: Sequence[Fact]) -> str:
    """A state as records write it: `( fact fact … )`, without `true`."""
    return " ".join(["(", *map(str, facts), ")"])


def write_record(record: MatchRecord, path: Path) -> None:
    """Write `record` as a JSON file. Raises OSError."""
    write_text(path, record.to_json() + "\n")


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


def new_match_id(game: str) -> str:
    """The name of a game as one word of letters, digits, `_` and `-`, and the time."""
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
