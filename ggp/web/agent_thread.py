"""The searches of one match, in a separate thread with its own game; `agent_process` gives it a process.

The thread shares nothing with the match but terms: it follows the match by its moves, on the fastest engine
for the rules. A search that the match has overtaken ends at the next slice, and its answer is dropped; so
does an analysis, once another task waits.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gdl.errors import GdlError
from gdl.program import Program
from gdl.terms import Term
from ggp.beliefs.observation import Observation
from ggp.engines.loading import make_game
from ggp.game import Game, GameError, Move, Role, hides_information
from ggp.match.player import MatchSetup, Player, PlayerError, Report
from ggp.players.factory import make_player
from ggp.protocol.client import RemotePlayer
from ggp.search.report import JSON_CHARACTERS, MoveReport, SearchReport
from ggp.web.best_play import BestPlay, best_play
from ggp.web.match_history import MatchHistory

_SLICE_SECONDS = 0.4
"""Length of the slices of an analysis, which can end between two slices."""
_BEST_PLAY_SECONDS = 3.0
"""Time for the line of a proven position."""
_PROVEN_MOVES = 60
"""Maximum number of moves listed for a proven position."""
_LONG_SECONDS = 2.0
"""An analysis of at least this length shows best play where it is proven; a hint and a review do not."""
_START_SECONDS = 1.0
"""Start clock of a player, compiling excluded."""
_REMOTE_START_SECONDS = 10.0
"""Start clock of players over HTTP, which includes reading the rules."""


@dataclass(frozen=True)
class Task:
    """One search.

    generation   of the match when it was asked for; a task of another one is stale
    spec         the player, as `make_player` reads it
    seconds      how long it may take
    moves        the joint moves up to the position; empty in games with `sees`
    observations what `role` observed in each step, in games with `sees`; else empty
    is_analysis  searched for the page, in slices, by a player that makes no move
    line_length  number of joint moves, the last of `moves`, that were not made in the match
    """

    generation: int
    role: Role
    spec: str
    seconds: float
    moves: tuple[tuple[Move, ...], ...]
    observations: tuple[Observation, ...]
    is_analysis: bool = False
    line_length: int = 0


@dataclass(frozen=True)
class Finding:
    """Progress or result of a search. `move` is None while it runs; `error` is the reason of a failure.

    phase   `preparing` before the player of the task is ready, `searching` then; empty in other findings
    """

    task: Task
    move: Move | None = None
    report: dict[str, Any] | None = None
    error: str = ""
    phase: str = ""

    @property
    def expectation(self) -> float | None:
        return None if self.report is None else self.report["expectation"]


@dataclass(frozen=True)
class _Stop:
    """A stop signal as solvers ask for it."""

    is_set: Callable[[], bool]


class AgentThread:
    """Searches for one match; `found` is called in the thread with every Finding.

    seed       of all searches
    is_eager   load the game before there is a task
    """

    def __init__(
        self, program: Program, seed: int, found: Callable[[Finding], None], is_eager: bool = False
    ) -> None:
        self.generation = 0
        self._program, self._seed, self._found = program, seed, found
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._game: Game[Any] | None = None
        self._history: MatchHistory | None = None
        self._players: dict[tuple[Role, str, bool], Player] = {}
        self._observed: dict[Role, int] = {}
        self._task: Task | None = None
        self._is_starting = False
        self._best_play = BestPlay()
        self._tried: tuple[MoveReport, ...] = ()
        self._match_id = f"web.{seed}.{time.time_ns()}"
        threading.Thread(target=self._run, args=(is_eager,), daemon=True).start()

    def put(self, task: Task) -> None:
        """Ask for a search; tasks are done in order."""
        self._tasks.put(task)

    def rest(self) -> None:
        """End the analysis that runs, and those that wait."""
        self._tasks.put(None)

    def stop(self, terms: Sequence[tuple[Term, ...]] | None, wait_seconds: float = 0.0) -> None:
        """Send the players over HTTP the last step of the match; None: it was aborted.

        terms          for each role: the joint move, or in games with hidden information its percepts
        wait_seconds   maximum time to wait until they have received it
        """
        requests = []
        for (role, _, _), player in tuple(self._players.items()):
            if isinstance(player, RemotePlayer) and self._game is not None:
                own = None if terms is None else terms[self._game.roles.index(role)]
                requests.append(threading.Thread(target=player.stop, args=(own,), daemon=True))
        for request in requests:
            request.start()
        deadline = time.monotonic() + wait_seconds
        for request in requests:
            request.join(max(0.0, deadline - time.monotonic()))

    def _run(self, is_eager: bool) -> None:
        if is_eager:
            with contextlib.suppress(Exception):  # the first task meets the same error, and reports it
                self._load()
        while True:
            task = self._task = self._tasks.get()
            if task is None or task.generation != self.generation:
                continue
            if task.is_analysis and not self._tasks.empty():
                continue
            try:
                self._do(task)
            except Exception as error:  # a bug in a player must not silence the match
                is_known = isinstance(error, GdlError | GameError | PlayerError)
                why = str(error) if is_known else repr(error)
                self._found(Finding(task, error="out of memory" if isinstance(error, MemoryError) else why))

    def _load(self) -> MatchHistory:
        """The match that follows the tasks; loads the game at first."""
        if self._history is None:
            self._game = make_game(self._program, "rules", "auto")
            self._history = MatchHistory(self._game)
        return self._history

    def _do(self, task: Task) -> None:
        if (task.role, task.spec, task.is_analysis) not in self._players:
            self._found(Finding(task, phase="preparing"))
        history = self._load()
        player, deadline = self._player(task), time.monotonic() + task.seconds
        self._found(Finding(task, phase="searching"))
        if hides_information(history.game):
            known = self._observed.get(task.role, 0)
            self._observed[task.role] = len(task.observations)
            for observation in task.observations[known:]:
                player.observe(observation, deadline)
            move = player.choose_by_observations(deadline)
        else:
            history.follow(task.moves)
            move = self._choose(task, player, history.state(), deadline)
        report = player.last_report
        if not task.is_analysis or (report is not None and task.generation == self.generation):
            self._found(Finding(task, move, None if report is None else self._described(report)))

    def _choose(self, task: Task, player: Player, state: Hashable, deadline: float) -> Move:
        joint_move = task.moves[-1] if task.moves else None
        self._best_play, self._tried = BestPlay(), ()
        if not task.is_analysis:
            return player.choose(state, deadline, joint_move)
        while task.generation == self.generation and self._tasks.empty() and time.monotonic() < deadline:
            player.choose(state, min(deadline, time.monotonic() + _SLICE_SECONDS), joint_move)
            joint_move = None
            if isinstance(player.last_report, SearchReport) and player.last_report.goal is not None:
                self._find_best_play(task, player, state, player.last_report)
                break  # certain: no longer search finds more
        best: Move = player.best_move  # type: ignore[attr-defined]
        return best

    def _find_best_play(self, task: Task, player: Player, state: Hashable, report: SearchReport) -> None:
        """Find the line of a position whose value is proven, if the kernels of proofs are there."""
        is_ready = any(getattr(each, "prover", None) is not None for each in getattr(player, "advisors", ()))
        if is_ready and task.seconds >= _LONG_SECONDS and self._game is not None:
            self._found(Finding(task, report=self._described(report)))
            stop = _Stop(lambda: not self._tasks.empty())
            self._best_play = best_play(self._game, state, task.role, _BEST_PLAY_SECONDS, stop)

    def _described(self, report: Report) -> dict[str, Any]:
        """A report as data, with the best play as far as it is known."""
        found = report.to_dict()
        line = [list(map(str, row)) for row in self._best_play.line]
        if line and sum(len(text) for row in line for text in row) <= JSON_CHARACTERS:
            found["line"] = line
        task = self._task
        if isinstance(report, SearchReport) and report.goal is not None and task and task.is_analysis:
            found["moves"] = [each.to_dict() for each in self._proven_moves(report, task.role)]
        return found

    def _proven_moves(self, report: SearchReport, role: Role) -> list[MoveReport]:
        """The moves of a proven position, the best first: a proof reports only the one that it needs."""
        known = {each.move: each for each in (*self._tried, *report.moves)}
        for move, goal in self._best_play.goals.items():
            known[move] = replace(known.get(move, MoveReport(move, 0, goal, goal)), goal=goal)
        first = report.best_move
        if self._best_play.line and self._game is not None:
            first = self._best_play.line[0][self._game.roles.index(role)]
        order = sorted(known.values(), key=lambda each: (each.move != first, -(each.expectation or 0.0)))
        return order[:_PROVEN_MOVES]

    def _player(self, task: Task) -> Player:
        """The player of a task, which keeps its tree from move to move."""
        key = (task.role, task.spec, task.is_analysis)
        if key not in self._players:
            assert self._game is not None
            player = make_player(task.spec, on_report=self._pass_on)
            start = _REMOTE_START_SECONDS if player.is_remote else _START_SECONDS
            player.start_clock_seconds, player.begins_early = start, True
            player.prepare(self._game)
            setup = MatchSetup(self._match_id, self._game, task.role, start, task.seconds, self._seed)
            if player.is_remote:  # one that fails START is still asked for moves, as managers do
                self._players[key] = player
            self._is_starting = True  # results so far are of the initial state
            try:
                player.start(setup, time.monotonic() + start)
            finally:
                self._is_starting = False
            self._players[key] = player
        return self._players[key]

    def _pass_on(self, report: SearchReport) -> None:
        if not self._is_starting and self._task is not None and self._task.generation == self.generation:
            self._tried = report.moves if self._task.is_analysis else ()
            self._found(Finding(self._task, report=self._described(report)))
