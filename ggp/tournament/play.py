"""Play one scheduled match, in a worker on this machine or another.

Input and output are plain data. A worker caches its loaded games.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import json
import os
import platform
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from ggp.engines.loading import load
from ggp.files import PACKAGE
from ggp.game import Game, GameError
from ggp.match.faults import Crashed, Illegal, Late, OtherFault, Unreachable
from ggp.match.player import Player, PlayerError
from ggp.match.record import MatchRecord, program_version
from ggp.match.referee import NotStartedError, play_match
from ggp.match.terms import MatchTerms
from ggp.players.factory import seat_player
from ggp.protocol.messages import Abort
from ggp.tournament.pool import CallError
from ggp.tournament.schedule import MatchTask

ABORT_SECONDS = 2.0
"""Time limit for sending ABORT to HTTP players: the user waits for it."""

GAMES_KEPT = 16
"""Number of loaded games that a worker keeps, limited by its memory."""


@dataclass(frozen=True, slots=True)
class SeatResult:
    """The result of one role in a match.

    agent            None for `random`
    goal             None in aborted matches, or if the rules gave no value
    moves            number of moves requested, including those with a single legal move
    late, illegal, lost   number of late and illegal moves, and of moves lost with the connection
    think_seconds    start clock and moves together
    simulations      completed by its search; None if the player does not count them
    fallback         the policy that its search used instead of the configured one, "" for none; None if
                     unknown, as for HTTP players
    crashed          number of moves for which its program failed
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
    crashed: int = 0


@dataclass(frozen=True)
class MatchResult:
    """A finished match, ready to be stored.

    record    the match record as JSON, without the rules, which the plan contains
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

    agent     the agent that did not start, if that is the reason
    is_gone   whether that agent cannot be reached at all
    """

    def __init__(self, why: str, agent: str | None = None, is_gone: bool = False) -> None:
        super().__init__(why, agent, is_gone)  # all of them, so that it can be pickled
        self.agent, self.is_gone = agent, is_gone

    def __str__(self) -> str:
        return str(self.args[0])


def play_task(task: MatchTask) -> MatchResult:
    """Play the match. Raises UnplayableError.

    If a player does not start, the match is not played, because it would consist of random moves. A
    user-defined player is at fault in every move instead.
    """
    try:
        return _play(task)
    except NotStartedError as error:
        is_gone = isinstance(error.fault, Unreachable)
        raise UnplayableError(str(error), task.seats[error.index], is_gone) from None
    except (GdlError, GameError, PlayerError, OSError) as error:
        raise UnplayableError(str(error)) from None


def _play(task: MatchTask) -> MatchResult:
    game = load_game(task.rules, task.game, task.engine)
    players = [_player(task, index) for index in range(len(task.players))]
    terms = MatchTerms(
        task.start_clock_seconds,
        task.play_clock_seconds,
        task.seed,
        match_id=wire_id(task),
        all_must_start=True,
        grace_seconds=task.grace_seconds,
    )
    record = play_match(game, players, terms)
    record.tournament_name = task.condition
    data = record.to_dict()
    data.pop("rules", None)
    failed_starts = [
        f"{role} was late at START" if isinstance(fault, Late) else f"{role} failed at START: {fault}"
        for role, fault in zip(record.roles, record.steps[0].faults, strict=False)
        if fault is not None
    ]
    return MatchResult(
        task=task,
        seats=tuple(_seat_result(task, record, index, player) for index, player in enumerate(players)),
        is_completed=record.is_completed,
        fault="; ".join(filter(None, [record.fault, *failed_starts])),
        started_ms=record.start_time,
        seconds=round(((record.steps[-1].time_ms or 0) - record.start_time) / 1000, 3),
        steps=len(record.steps) - 1,
        record=json.dumps(data, ensure_ascii=False, separators=(",", ":")),
        version=code_version(),
        host=platform.node(),
        processor=processor(),
    )


def _player(task: MatchTask, index: int) -> Player | None:
    spec = task.players[index]
    try:
        return None if spec is None else seat_player(spec, mebibytes=task.memory_mebibytes)
    except PlayerError as error:  # a file is missing, or is not on this machine
        raise UnplayableError(str(error), task.seats[index]) from None


def abort_tasks(tasks: Iterable[MatchTask]) -> None:
    """Send ABORT for these matches to their HTTP players, so that they accept others. Best effort."""
    from ggp.protocol.client import ask, parse_address  # loads aiohttp

    messages = [
        (parse_address(address), Abort(wire_id(task))) for task in tasks for address in task.remote_addresses
    ]

    async def abort_all() -> None:
        requests = (ask(url, message, ABORT_SECONDS) for url, message in messages)
        await asyncio.gather(*requests, return_exceptions=True)

    # In a thread, because a name lookup may take much longer and cannot be interrupted.
    thread = threading.Thread(target=lambda: asyncio.run(abort_all()), daemon=True)
    if messages:
        thread.start()
        thread.join(ABORT_SECONDS + 0.5)


def wire_id(task: MatchTask) -> str:
    """A match id that every HTTP player accepts: a plain word.

    It is always the same for the same match, except that matches of HTTP players get a new one when a run is
    resumed: messages of the interrupted match may still arrive.
    """
    token = f"|{task.token}" if task.remote_addresses else ""
    digest = hashlib.sha256(f"{task.seed}|{task.id}{token}".encode()).hexdigest()[:12]
    return f"{''.join(c if c.isalnum() else '_' for c in task.game)}.{digest}"


@functools.lru_cache(maxsize=GAMES_KEPT)
def load_game(rules: str, name: str, engine: str) -> Game[Any]:
    return load(rules + "\n", engine, name=name)


def _seat_result(task: MatchTask, record: MatchRecord, index: int, player: Player | None) -> SeatResult:
    faults = [step.faults[index] for step in record.steps[1:]]  # those of START are not faults of moves
    seconds = sum(step.seconds[index] or 0.0 for step in record.steps if step.seconds)
    reports = filter(None, (step.reports[index] for step in record.steps[1:]))
    fallback = next(filter(None, (report["fallback"] for report in reports)), "")
    return SeatResult(
        role=record.roles[index],
        agent=task.seats[index],
        player=task.players[index],
        goal=record.goals[index] if record.goals is not None else None,
        moves=len(record.steps) - 1,
        late=sum(isinstance(fault, Late) for fault in faults),
        illegal=sum(isinstance(fault, Illegal) for fault in faults),
        lost=sum(isinstance(fault, Unreachable) for fault in faults),
        think_seconds=round(seconds, 4),
        simulations=None if player is None else player.simulation_count,
        fallback=None if player is not None and player.is_remote else fallback,
        crashed=sum(isinstance(fault, Crashed | OtherFault) for fault in faults),
    )


@functools.cache
def code_version() -> str:
    """The program's version and a digest of its sources, which identifies changed code."""
    digest = hashlib.sha256()
    for folder in (PACKAGE.parent / "gdl", PACKAGE):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return f"{program_version()} {digest.hexdigest()[:10]}"


@functools.cache
def processor() -> str:
    """Processor name, number of cores, and the library versions that affect speed."""
    name = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        found = re.search(
            r"^model name\s*:\s*(.+?)\s*$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE
        )
        name = found[1] if found else name
    libraries = ", ".join(
        f"{library} {metadata.version(library)}" for library in ("numpy", "numba", "clingo")
    )
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, {libraries}"
