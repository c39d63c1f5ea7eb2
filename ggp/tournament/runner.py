"""Play the remaining matches of a run: schedule → workers → store."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any

from ggp.tournament.agent_code import code_digest
from ggp.tournament.plan import code_change
from ggp.tournament.play import MatchResult, UnplayableError, abort_tasks, play_task
from ggp.tournament.pool import ProcessWorkers
from ggp.tournament.schedule import Cell, CellKey, MatchTask, Schedule
from ggp.tournament.stopping import Decision, Stopping
from ggp.tournament.store import Run, SettingsChangedError, Store

TICK_SECONDS = 0.5
"""Time between two calls of the listener while no match finishes."""

FAILURE_LIMIT = 10
"""Consecutive failures after which an obstacle is taken to affect all its matches."""

LOOK_AHEAD = 200
"""Maximum number of matches held back while their HTTP players are busy."""


@dataclass(frozen=True)
class Obstacle:
    """Cause that prevents matches: a game, an agent (in all games), or agents in a game."""

    game: str | None
    agents: tuple[str, ...] = ()

    def hinders(self, task: MatchTask) -> bool:
        return self.game in (None, task.game) and set(self.agents) <= set(task.seats)

    def __str__(self) -> str:
        return " in ".join(filter(None, (" and ".join(self.agents), self.game)))


def obstacle_of(task: MatchTask, error: BaseException) -> Obstacle:
    """The narrowest known cause for which a match could not be played."""
    if not isinstance(error, UnplayableError):  # any of them may have crashed
        return Obstacle(task.game, tuple(sorted(task.cell_agents)))
    if error.agent is None:
        return Obstacle(task.game)
    return Obstacle(None if error.is_gone else task.game, (error.agent,))


@dataclass
class Progress:
    """Progress of a run.

    total        scheduled matches; `saved` of them are not needed, because their cells are decided
    running      matches in progress
    stored       matches in the store
    new          matches stored by this process
    failures     match → why it could not be played; it remains open for the next time
    obstacles    obstacle → number of `failures` it caused
    given_up     obstacle with too many failures → number of matches skipped because of it
    """

    total: int
    stored: int
    new: int = 0
    running: int = 0
    saved: int = 0
    began: float = field(default_factory=time.monotonic)
    failures: dict[str, str] = field(default_factory=dict)
    obstacles: Counter[Obstacle] = field(default_factory=Counter)
    given_up: dict[Obstacle, int] = field(default_factory=dict)
    decisions: dict[CellKey, Decision] = field(default_factory=dict)

    @property
    def left(self) -> int:
        return max(0, self.total - self.stored - self.saved)

    @property
    def per_second(self) -> float:
        seconds = time.monotonic() - self.began
        return self.new / seconds if seconds > 0 else 0.0


Listener = Callable[[Progress], None]
OpenMatch = tuple[Cell, MatchTask]


class Runner:
    """Plays one run, or the cells selected by `only` (see `Schedule`)."""

    def __init__(
        self,
        store: Store,
        run: Run,
        workers: ProcessWorkers,
        listen: Listener = lambda _: None,
        *,
        only: Collection[str] = (),
        token: str | None = None,
    ) -> None:
        """`token`: see `MatchTask`; a new one by default. Raises SelectionError."""
        self.store, self.run, self.workers, self.listen = store, run, workers, listen
        self.schedule = Schedule(run.plan, only, token=secrets.token_hex(4) if token is None else token)
        self.stopping = Stopping(self.schedule)
        self.finished: set[str] = set()
        for match in store.matches(run):
            self.finished.add(match.id)
            self.stopping.add(match)
        self.progress = Progress(self.schedule.match_count, self.stopping.played())
        self._running: dict[Future[Any], MatchTask] = {}
        self._held: list[OpenMatch] = []
        self._failed_in_a_row: Counter[Obstacle] = Counter()

    def play(self) -> Progress:
        """Play all remaining matches. Raises StoreError, also if files of an agent have changed."""
        left = ((cell, task) for cell, task in self.schedule.tasks() if task.id not in self.finished)
        while True:
            self._fill(left)
            self._notify()
            if not self._running:
                break
            done, _ = wait(self._running, timeout=TICK_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                self._finish(future)
        self._notify()
        return self.progress

    def abandon(self) -> None:
        """Abort unfinished matches at their HTTP players; call this once the workers are gone."""
        abort_tasks(self._running.values())
        self._running.clear()

    def _fill(self, left: Iterator[OpenMatch]) -> None:
        """Assign matches whose HTTP players are free to every free worker."""
        busy = {address for task in self._running.values() for address in task.remote_addresses}
        held, self._held = iter(self._held), []
        size = self.workers.size()
        while len(self._running) < size:
            match = next(held, None) or next(left, None)
            if match is None:
                break
            cell, task = match
            if self.stopping.is_decided(cell) or self._is_given_up(task):
                continue
            if task.remote_addresses & busy:
                self._held.append(match)
                if len(self._held) >= LOOK_AHEAD:
                    break
                continue
            busy |= task.remote_addresses
            self._running[self._submit(task)] = task
        self._held += held

    def _submit(self, task: MatchTask) -> Future[Any]:
        """Raises SettingsChangedError if files of an agent have changed since the plan was made."""
        for agent in self.run.plan.agents:
            if agent.name in task.seats and agent.code and code_digest(agent.player) != agent.code:
                raise SettingsChangedError(f"{self.store.path}: {code_change(agent.name)}")
        return self.workers.submit(play_task, task)

    def _finish(self, future: Future[Any]) -> None:
        task = self._running.pop(future)
        error = future.exception()
        if error is None:
            self._note_result(future.result())
        else:
            self._note_failure(task, error)

    def _note_result(self, result: MatchResult) -> None:
        for obstacle in [each for each in self._failed_in_a_row if each.hinders(result.task)]:
            del self._failed_in_a_row[obstacle]
        if (match := self.store.add(self.run, result)) is not None:
            self.progress.new += 1
            self.progress.stored += 1
            self.stopping.add(match)

    def _note_failure(self, task: MatchTask, error: BaseException) -> None:
        obstacle = obstacle_of(task, error)
        self.progress.failures[task.id] = str(error) or type(error).__name__
        self.progress.obstacles[obstacle] += 1
        self._failed_in_a_row[obstacle] += 1
        if self._failed_in_a_row[obstacle] >= FAILURE_LIMIT:
            self.progress.given_up.setdefault(obstacle, 0)

    def _is_given_up(self, task: MatchTask) -> bool:
        for obstacle in self.progress.given_up:
            if obstacle.hinders(task):
                self.progress.given_up[obstacle] += 1
                return True
        return False

    def _notify(self) -> None:
        self.progress.running = len(self._running)
        self.progress.saved = self.stopping.saved()
        self.progress.decisions = self.stopping.decisions
        self.listen(self.progress)
