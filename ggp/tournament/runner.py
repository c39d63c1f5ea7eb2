"""Playing what is left of a run: schedule → workers → store."""

from __future__ import annotations

import math
import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field

from ggp.tournament.plan import Until
from ggp.tournament.play import MatchResult, UnplayableError, abort_tasks, play_task
from ggp.tournament.pool import Workers, WorkersError
from ggp.tournament.results import pair_scores
from ggp.tournament.schedule import Cell, CellKey, MatchTask, Schedule, cell_key
from ggp.tournament.sequential import Decision, decide
from ggp.tournament.store import Run, Store, StoredMatch

TICK_SECONDS = 0.5
"""How often the caller hears from a run in which nothing happens."""

FAILURE_LIMIT = 10
"""Matches in a row that one obstacle may keep from being played before it is taken to keep all others too."""

LOOK_AHEAD = 200
"""Scheduled matches that are held back at most while the HTTP players they need are busy."""


@dataclass(frozen=True)
class Obstacle:
    """What matches cannot be played for: a game, an agent (in all games), or agents in a game."""

    game: str | None
    agents: tuple[str, ...] = ()

    def hinders(self, task: MatchTask) -> bool:
        return self.game in (None, task.game) and set(self.agents) <= set(task.seats)

    def __str__(self) -> str:
        return " in ".join(filter(None, (" and ".join(self.agents), self.game)))


def obstacle_of(task: MatchTask, error: BaseException) -> Obstacle:
    """What is to blame that a match could not be played: no more than is known."""
    if not isinstance(error, UnplayableError):  # whoever of them crashed
        return Obstacle(task.game, tuple(sorted(task.cell_agents)))
    if error.agent is None:
        return Obstacle(task.game)
    return Obstacle(None if error.is_gone else task.game, (error.agent,))


@dataclass
class Progress:
    """How far a run is, for whoever watches it.

    total        matches of the schedule; `saved` of them are not needed as their cells are decided
    running      matches being played
    stored       all in the store
    new          stored by this process
    failures     match → why it could not be played; it stays open for the next time
    obstacles    how many of `failures` each explains
    given_up     obstacles that were in the way too often: how many matches were not tried for them
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


class Runner:
    """One process playing one run, or the cells of it that `only` names (see `Schedule`)."""

    def __init__(
        self,
        store: Store,
        run: Run,
        workers: Workers,
        listen: Listener = lambda _: None,
        *,
        only: Collection[str] = (),
        token: str | None = None,
    ) -> None:
        """`token`: of its own for every process that plays a run, unless told. Raises SelectionError."""
        self.store, self.run, self.workers, self.listen = store, run, workers, listen
        self.schedule = Schedule(run.plan, only, token=secrets.token_hex(4) if token is None else token)
        self.stopping = Stopping(self.schedule)
        for match in store.matches(run):
            self.stopping.add(match)
        self.finished = store.finished_ids(run)
        self.progress = Progress(self.schedule.match_count, self.stopping.played())
        self._running: dict[Future[MatchResult], tuple[Cell, MatchTask]] = {}
        self._held: list[tuple[Cell, MatchTask]] = []
        self._failed_in_a_row: Counter[Obstacle] = Counter()

    def play(self) -> Progress:
        """Play until nothing is left, and return how it went. Raises StoreError, WorkersError."""
        tasks = self._open_tasks()
        while True:
            self._fill(tasks)
            self._tell()
            if not self._running:
                break
            done, _ = wait(self._running, timeout=TICK_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                self._finish(future)
        self._tell()
        return self.progress

    def abandon(self) -> None:
        """Tell the HTTP players of unfinished matches that these are over, once the workers are gone."""
        abort_tasks(task for _, task in self._running.values())
        self._running.clear()

    def _open_tasks(self) -> Iterator[tuple[Cell, MatchTask]]:
        return ((cell, task) for cell, task in self.schedule.tasks() if task.id not in self.finished)

    def _fill(self, tasks: Iterator[tuple[Cell, MatchTask]]) -> None:
        """Give every free worker a match whose HTTP players are free."""
        room = self.workers.size() - len(self._running)
        busy = {address for _, task in self._running.values() for address in task.remote_addresses}
        waiting = self._held
        self._held = []
        source = iter(waiting)
        while room > 0:
            cell, task = next(source, None) or next(tasks, None) or (None, None)
            if cell is None or task is None:
                break
            if self.stopping.is_decided(cell) or self._is_given_up(task):
                continue
            if task.remote_addresses & busy:
                self._held.append((cell, task))
                if len(self._held) >= LOOK_AHEAD:
                    break
                continue
            busy |= task.remote_addresses
            self._running[self.workers.submit(play_task, task)] = (cell, task)
            room -= 1
        self._held += source

    def _finish(self, future: Future[MatchResult]) -> None:
        if future.cancelled():
            raise WorkersError("the workers are gone: their scheduler does not answer any more")
        _, task = self._running.pop(future)
        error = future.exception()
        if error is not None:
            self._note_failure(task, error)
            return
        for obstacle in [each for each in self._failed_in_a_row if each.hinders(task)]:
            del self._failed_in_a_row[obstacle]
        result = future.result()
        if self.store.add(self.run, result):
            self.progress.new += 1
            self.progress.stored += 1
            self.stopping.add(_as_stored(result))

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

    def _tell(self) -> None:
        self.progress.running = len(self._running)
        self.progress.saved = self.stopping.saved()
        self.progress.decisions = self.stopping.decisions
        self.listen(self.progress)


class Stopping:
    """Which cells need no more matches."""

    def __init__(self, schedule: Schedule) -> None:
        self.until = schedule.plan.until
        self.cells = {cell.key: cell for cell in schedule.cells}
        self.decisions: dict[CellKey, Decision] = {}
        self._scores: dict[CellKey, dict[int, list[float | None]]] = {key: {} for key in self.cells}
        self._means: dict[CellKey, list[float | None]] = {key: [] for key in self.cells}
        self._played: Counter[CellKey] = Counter()

    def add(self, match: StoredMatch) -> None:
        """Count a match, and decide its cell anew unless that is decided. Aborted matches leave gaps."""
        key = cell_key(match.condition, match.game, match.cell_agents)
        cell = self.cells.get(key)
        if cell is None:
            return
        self._played[key] += 1
        if self.until is None or len(cell.agents) != 2 or self.is_decided(cell):
            return
        score = dict(pair_scores(match)).get((cell.agents[0], cell.agents[1])) if match.is_completed else None
        self._scores[key].setdefault(match.repetition, []).append(score)
        self._test_whole_repetitions(cell, self.until)

    def is_decided(self, cell: Cell) -> bool:
        decision = self.decisions.get(cell.key)
        return decision is not None and decision.is_final

    def played(self) -> int:
        """Matches counted so far."""
        return self._played.total()

    def saved(self) -> int:
        """Scheduled matches that nobody needs to play."""
        return sum(
            max(0, self.cells[key].match_count - self._played[key])
            for key, decision in self.decisions.items()
            if decision.is_final
        )

    def _test_whole_repetitions(self, cell: Cell, until: Until) -> None:
        """Test what is known after each repetition before the first unfinished one, until that decides.

        One by one, as a test that looks only at the end of what several workers finished, or at what a store
        gives back in another order, misses decisions: what is decided depends on the set of matches alone.
        """
        scores, means = self._scores[cell.key], self._means[cell.key]
        while len(means) < cell.condition.repetitions and not self.is_decided(cell):
            found = scores.get(len(means), [])
            if len(found) < len(cell.seatings):
                break
            known = [score for score in found if score is not None]
            means.append(math.fsum(known) / len(known) if len(known) == len(found) else None)
            without_gaps = [mean for mean in means if mean is not None]
            self.decisions[cell.key] = decide(until, without_gaps, len(cell.seatings))


def _as_stored(result: MatchResult) -> StoredMatch:
    """A result as the store gives it back, as far as scores need it."""
    task = result.task
    return StoredMatch(
        id=task.id,
        condition=task.condition,
        game=task.game,
        cell_agents=task.cell_agents,
        repetition=task.repetition,
        is_completed=result.is_completed,
        fault=result.fault,
        seconds=result.seconds,
        steps=result.steps,
        stored_ms=0,
        version=result.version,
        processor=result.processor,
        seats=result.seats,
    )
