"""Playing one scheduled match: what a worker does, on this machine or another.

Only plain data goes in and out. A worker keeps the games it has loaded.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import json
import os
import platform
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from ggp.game import Game, GameError
from ggp.loading import load
from ggp.match import MatchRecord, NotStartedError, play_match, program_version
from ggp.players import Player, PlayerError, PlayerFaultError, make_player
from ggp.protocol import Abort
from ggp.tournament.pool import CallError
from ggp.tournament.schedule import MatchTask

ABORT_SECONDS = 2.0
"""How long players over HTTP may take to hear that their match is over: somebody waits at the keyboard."""

GAMES_KEPT = 16
"""Loaded games a worker keeps: more than most tournaments have, few enough for its memory."""


@dataclass(frozen=True, slots=True)
class SeatResult:
    """What one role of a match did.

    agent            None for `random`
    goal             None in aborted matches, or where the rules gave no value
    moves            moves asked of it; those with one legal move count too
    late, illegal, lost   moves that came too late, were not legal, or did not come for lack of connection
    think_seconds    start clock and moves together
    simulations      finished by its search; None where the player does not count them
    fallback         the policy its search reports to have played by instead of the one asked for, mostly "";
                     None where nobody told: players over HTTP, and matches of earlier versions
    """

    role: str
    agent: str | None
    player: str | None
    goal: int | None
    moves: int
    late: int
    illegal: int
    lost: int
    think_seconds: float
    simulations: int | None
    fallback: str | None = ""


@dataclass(frozen=True)
class MatchResult:
    """A finished match, ready to be stored.

    record    the match record as JSON, without the rules, which the run has already
    """

    task: MatchTask
    seats: tuple[SeatResult, ...]
    is_completed: bool
    fault: str
    started_ms: int
    seconds: float
    steps: int
    record: str
    version: str
    host: str
    processor: str


class UnplayableError(CallError):
    """The match cannot be played.

    agent     who did not get ready for it; None where that is not the reason
    is_gone   whether nobody answers where that agent should be
    """

    def __init__(self, why: str, agent: str | None = None, is_gone: bool = False) -> None:
        super().__init__(why, agent, is_gone)  # all, so that it can be pickled
        self.agent, self.is_gone = agent, is_gone

    def __str__(self) -> str:
        return str(self.args[0])


def play_task(task: MatchTask) -> MatchResult:
    """Play the match. Raises UnplayableError.

    Without one of its players it would be a match of random moves: it is not played then.
    """
    try:
        return _play(task)
    except NotStartedError as error:
        raise UnplayableError(str(error), task.seats[error.index], error.code == "CE") from None
    except (GdlError, GameError, PlayerError, OSError) as error:
        raise UnplayableError(str(error)) from None


def _play(task: MatchTask) -> MatchResult:
    game = load_game(task.rules, task.game, task.engine)
    players = [_player(task, index) for index in range(len(task.players))]
    record = play_match(
        game,
        players,
        start_clock_seconds=task.start_clock_seconds,
        play_clock_seconds=task.play_clock_seconds,
        seed=task.seed,
        match_id=wire_id(task),
        all_must_start=True,
    )
    seats = tuple(_seat_result(task, record, index, players[index]) for index in range(len(players)))
    record.tournament_name = task.condition
    data = record.to_dict()
    data.pop("rules", None)
    return MatchResult(
        task=task,
        seats=seats,
        is_completed=record.is_completed,
        fault="; ".join(filter(None, [record.fault, *_late_starts(record)])),
        started_ms=record.start_time,
        seconds=round((record.state_times[-1] - record.start_time) / 1000, 3),
        steps=len(record.moves),
        record=json.dumps(data, ensure_ascii=False, separators=(",", ":")),
        version=code_version(),
        host=platform.node(),
        processor=processor(),
    )


def _player(task: MatchTask, index: int) -> Player | None:
    spec = task.players[index]
    try:
        return None if spec is None else make_player(spec)
    except PlayerError as error:  # a file is gone, or is not on this machine
        raise UnplayableError(str(error), task.seats[index]) from None


def abort_tasks(tasks: Iterable[MatchTask]) -> None:
    """Tell players over HTTP that these matches are over, so that they take others. Best effort."""
    from ggp.http_client import ask, parse_address  # loads aiohttp

    async def tell(address: str, match_id: str) -> None:
        with contextlib.suppress(PlayerFaultError):
            await ask(parse_address(address), Abort(match_id), ABORT_SECONDS)

    told = [(address, wire_id(task)) for task in tasks for address in task.remote_addresses]

    async def tell_all() -> None:
        await asyncio.gather(*(tell(*each) for each in told))

    # In a thread, as looking up a name may take much longer and cannot be stopped.
    thread = threading.Thread(target=lambda: asyncio.run(tell_all()), daemon=True)
    if told:
        thread.start()
        thread.join(ABORT_SECONDS + 0.5)


def wire_id(task: MatchTask) -> str:
    """A match id that every HTTP player can take: a plain word.

    The same whenever this match is played, but with players over HTTP another one each time that a run goes
    on: they may still hear of the match that was interrupted.
    """
    token = f"|{task.token}" if task.remote_addresses else ""
    digest = hashlib.sha256(f"{task.seed}|{task.id}{token}".encode()).hexdigest()[:12]
    return f"{''.join(c if c.isalnum() else '_' for c in task.game)}.{digest}"


@functools.lru_cache(maxsize=GAMES_KEPT)
def load_game(rules: str, name: str, engine: str) -> Game[Any]:
    """The game, loaded once per worker."""
    return load(rules + "\n", engine, name=name)


def _seat_result(task: MatchTask, record: MatchRecord, index: int, player: Player | None) -> SeatResult:
    codes = _column(record.errors[1:], index, "")  # the first row is START's
    seconds = _column(record.move_seconds, index, 0.0)
    return SeatResult(
        role=record.roles[index],
        agent=task.seats[index],
        player=task.players[index],
        goal=record.goals[index] if record.goals is not None else None,
        moves=len(record.moves),
        late=sum(code == "TO" for code in codes),
        illegal=sum(code.startswith("IL") for code in codes),
        lost=sum(code == "CE" for code in codes),
        think_seconds=round(sum(value or 0.0 for value in seconds), 4),
        simulations=getattr(player, "simulation_count", None),
        fallback=None if getattr(player, "is_remote", False) else _fallback(record, index),
    )


def _late_starts(record: MatchRecord) -> list[str]:
    codes = record.errors[0] if record.errors else []
    return [f"{role} was late at START" for role, code in zip(record.roles, codes, strict=True) if code]


def _fallback(record: MatchRecord, index: int) -> str:
    told = (report["fallback"] for report in _column(record.reports, index, None) if report is not None)
    return next(filter(None, told), "")


def _column(rows: Sequence[Sequence[Any]], index: int, missing: Any) -> list[Any]:
    return [row[index] if index < len(row) else missing for row in rows]


@functools.cache
def code_version() -> str:
    """The program's version and a digest of its sources, so that changed code can be told apart."""
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    for folder in (package.parent / "gdl", package):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return f"{program_version()} {digest.hexdigest()[:10]}"


@functools.cache
def processor() -> str:
    """The processor's name, the number of its cores, and the versions that matter for speed."""
    name = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    libraries = ", ".join(
        f"{library} {metadata.version(library)}" for library in ("numpy", "numba", "clingo")
    )
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, {libraries}"
