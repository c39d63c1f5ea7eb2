"""LanesSearch: Monte-Carlo tree search on lanes.

Kernels do the work (`ggp.search.tree.kernels.search`); this module owns the trees, one per thread, cuts the
work into slices of a few milliseconds, keeps the root at the current state of the match, and reports results.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.game import GameError, IllegalMoveError, Move, Role
from ggp.jit.compiling import announced_compilation
from ggp.lanes.keys.state_code import make_code
from ggp.search.budget import Budget
from ggp.search.decisive.decisive_moves import decisive_game
from ggp.search.protocol import NO_SUM, Companion
from ggp.search.report import REPORT_SECONDS, MoveReport, SearchReport, best_of
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.allocation import has_room_for_past
from ggp.search.tree.kernels.arrays import ROOT, UNPROVEN
from ggp.search.tree.kernels.tree import BEST_GOAL
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.tree_engine import ENDLESS, EdgeStatistics, TreeEngine

SLICE_SECONDS, STOP_SECONDS = 0.01, 0.005
"""Target durations of one kernel call, during which nothing can stop the search; the second one for searches
that can be stopped, also the interval for interrupting a slice of proofs."""

COMPACTION_SECONDS = 2e-7
"""Upper bound of the time that compacting a tree takes per node."""

PROGRESS_SECONDS = 0.05
LEARNING_SHARE = 0.5
"""Maximum share of the first search's time spent on learning."""

_logger = logging.getLogger("ggp.search")
_Found = TypeVar("_Found")


class LanesSearch:
    """The search of one role in one match of a compiled game; keeps its trees from move to move.

    `best_move()` may be called, also from another thread, at any time after `move_to`; `report()` only while
    the search does not run.
    """

    def __init__(
        self,
        game: CompiledGame,
        role: Role,
        *,
        seed: int = 0,
        options: MctsOptions | None = None,
        on_progress: Callable[[Move], None] | None = None,
        on_report: Callable[[SearchReport], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up the trees. In the thread that calls `run`,

        on_progress   is called with the best move of the root whenever it changes
        on_report     is called with a report every REPORT_SECONDS
        """
        self.game = game
        self.options = options or MctsOptions()
        self.role_index = game.roles.index(role)
        self.simulation_count = 0
        self._on_progress, self._on_report = on_progress, on_report
        self._running_since: float | None = None
        self._fresh_report: SearchReport | None = None
        self._budget = Budget(simulations=0)
        self._companion: Companion | None = None
        self._known_goals: list[Mapping[Move, int]] = []
        self._clock = clock
        self._state: bytes | None = None
        self._leader: Move | None = None
        self._root_bounds: Mapping[Move, tuple[int, int]] = {}
        self._move_index = [{move: i for i, move in enumerate(moves)} for moves in game.moves]
        self._fallback = ""
        played = (self.options.is_decisive and decisive_game(game)) or game
        policy = self.options.parsed_policy
        if policy.has_states and not has_room_for_past(played.lane_tables, self.options):
            _logger.warning(
                "%s: PAST does not fit into memory=%d; using MAST", game.name, self.options.memory_mebibytes
            )
            self._play_stand_in()
        self.engines = self._make_engines(played, seed)
        self._seed = seed
        self._is_prepared = not policy.has_features
        self._pool = ThreadPoolExecutor(self.options.threads) if self.options.threads > 1 else None
        self._slice_ticks = [1] * self.options.threads
        self._begin_report()

    def _make_engines(self, played: CompiledGame, seed: int) -> list[TreeEngine]:
        """One tree a thread. `played`: the game, or the game with decisive moves."""
        code = make_code(len(self.game.terms.fluents), self.game.exclusive)
        return [
            TreeEngine(played, self.options, seed=seed, stream=stream, code=code)
            for stream in range(self.options.threads)
        ]

    def close(self) -> None:
        """Shut down the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def move_to(self, state: Hashable, joint_move: tuple[Move, ...] | None) -> None:
        """Make `state`, to which `joint_move` led, the root, keeping the trees below it."""
        assert isinstance(state, bytes)
        if state != self._state:
            indices = self._followed(state, joint_move)
            fluents = self.game.unpack(state)

            def follow(engine: TreeEngine) -> None:
                child = engine.child(engine.root, indices) if indices is not None else None
                if child is None:
                    engine.set_root(fluents)
                else:
                    # Copying takes up to tens of milliseconds. After pondering a move waits for them.
                    is_late = self._is_stoppable and not self._budget.is_counted and not engine.is_full
                    engine.move_root(child, fluents, is_late=is_late)

            self._in_threads(follow, self.engines)
            self._state = state
        self._leader = None
        self._root_bounds = {}
        self._begin_report()

    def _followed(self, state: bytes, joint_move: tuple[Move, ...] | None) -> tuple[int, ...] | None:
        """`joint_move` as indices if it leads from the present root to `state`, else None."""
        if self._state is None or joint_move is None or self.game.is_terminal(self._state):
            return None
        try:
            indices = tuple(index[move] for index, move in zip(self._move_index, joint_move, strict=True))
            return indices if self.game.next_state(self._state, joint_move) == state else None
        except (KeyError, IllegalMoveError):  # the match went on without us for a while
            return None

    def warm_up(self, deadline: float = math.inf) -> None:
        """Prepare the first search: compile or load kernels, and learn features. Only learning respects
        the deadline (clock seconds)."""
        with announced_compilation():
            self.engines[0].run(0)
        self._prepare(deadline - self._clock())

    def _prepare(self, seconds: float) -> None:
        """For FAST: recognize features and learn their values, once, in about this many seconds."""
        if self._is_prepared:
            return
        from ggp.search.tree.policies.fast import feature_cases, learn_fast

        model = learn_fast(self.game, self.options, self._seed, time.monotonic() + seconds)
        if model is None:
            self._play_stand_in()
        for engine in self.engines:
            cases = None if model is None else feature_cases(model, self.options.words)
            engine.use_policy(self.options, cases)
        self._is_prepared = True

    def _play_stand_in(self) -> None:
        self.options = self.options.with_stand_in()
        self._fallback = self.options.policy

    def run(self, budget: Budget, companion: Companion | None = None) -> int:
        """Search within the budget, its deadline in clock seconds; return the number of playouts finished.

        Ends earlier if the root is proven. `is_stopped` is called after every slice in several threads.
        Overruns the deadline by at most one slice; a tick of a very large circuit may take longer.

        companion    at the same root: works between the slices of the first tree, or has worked before a
                     counted search. What it proves about root moves holds in the trees; its decision ends
                     the search
        """
        deadline, simulations = budget.deadline, budget.simulations
        if simulations is None and deadline == math.inf:
            raise ValueError("a search needs a deadline or a number of simulations")
        assert self._state is not None, "move_to comes first"
        if self.game.is_terminal(self._state):
            return 0
        self._prepare(math.inf if simulations is not None else LEARNING_SHARE * (deadline - self._clock()))
        before = self._counted()[c.FINISHED]
        begin = self._running_since = self._reported_at = time.perf_counter()
        self._budget = budget
        if budget.is_counted or self._is_stoppable:
            self._in_threads(TreeEngine.compact, [engine for engine in self.engines if engine.is_loose])
        count = len(self.engines)
        for i, engine in enumerate(self.engines):
            share = ENDLESS if simulations is None else simulations // count + (i < simulations % count)
            engine.begin(share)
        if not self.engines[0].is_linked:
            with announced_compilation():
                self.engines[0].run(0)
        self._companion, self._known_goals = companion, [{}] * count
        # Lanes of a counted search are filled by visits alone: its result must not depend on the clock.
        filling = 0.0 if budget.is_counted else self.options.fill * (deadline - self._clock())
        for engine in self.engines if budget.is_counted and companion is not None else ():
            # Expand the root, so that proofs enter the search at its beginning.
            while not engine.edges_of(engine.root, self.role_index) and not engine.run(1):
                pass
        if self._pool is None:
            self._run_engine(0, budget, filling)
        else:
            self._run_threads(self._pool, budget, filling)
        self._notify()
        self._seconds += time.perf_counter() - begin
        self._running_since = None
        done = int(self._counted()[c.FINISHED] - before)
        self.simulation_count += done
        return done

    @property
    def _is_stoppable(self) -> bool:
        """Whether the current or latest search can be stopped: pondering."""
        return self._budget.is_stopped is not None

    def _in_threads(self, work: Callable[[TreeEngine], None], engines: Sequence[TreeEngine]) -> None:
        list((map if self._pool is None else self._pool.map)(work, engines))

    def _run_threads(self, pool: ThreadPoolExecutor, budget: Budget, filling: float) -> None:
        jobs = [pool.submit(self._run_engine, i, budget, filling) for i in range(len(self.engines))]
        is_running = True
        noted = time.monotonic()
        seconds = STOP_SECONDS if self._is_stoppable else PROGRESS_SECONDS
        while is_running:
            is_running = bool(wait(jobs, timeout=seconds).not_done)
            if self._companion is not None and budget.is_interrupted():
                self._companion.interrupt()
            if is_running and time.monotonic() < noted + PROGRESS_SECONDS:
                continue
            noted = time.monotonic()
            self._notify()
            for i, engine in enumerate(self.engines):
                if jobs[i].done() and engine.is_constant_sum and not self._has_proofs():
                    engine.stop_proving()  # it may have ended on a proof that is none
                    is_running = True
                    jobs[i] = pool.submit(self._run_engine, i, budget, filling)
        for job in jobs:
            job.result()

    def _run_engine(self, index: int, budget: Budget, filling: float) -> None:
        """Run one tree. `filling`: seconds until all lanes are allowed; 0: never by time."""
        engine = self.engines[index]
        ticks = self._slice_ticks[index]
        most_seconds = STOP_SECONDS if self._is_stoppable else SLICE_SECONDS
        spent = 0.0
        started = self._clock()
        while (left := budget.deadline - (now := self._clock())) > 0 and not budget.is_interrupted():
            if self._prove(index, started):
                break
            if spent > left:
                if ticks == 1:
                    break
                ticks = max(1, int(ticks * left / spent))
            if engine.is_constant_sum and not self._has_proofs():
                engine.stop_proving()
            if engine.is_loose and engine.is_full and left > COMPACTION_SECONDS * engine.node_count:
                with engine.steady:
                    engine.compact()
            share = (now - started) / filling if filling > 0 else 0.0
            engine.allow_in_flight(min(1.0, share))
            begin = time.perf_counter()
            if engine.run(ticks):
                break
            spent = time.perf_counter() - begin
            if spent > most_seconds:
                ticks = max(1, ticks // 2)
            elif spent < most_seconds / 3:
                ticks *= 2
            if index == 0 and self._on_report and time.perf_counter() - self._reported_at >= REPORT_SECONDS:
                self._fresh_report, self._reported_at = self.report(), time.perf_counter()
            if self._pool is None:
                self._notify()
        self._slice_ticks[index] = ticks

    def _prove(self, index: int, started: float) -> bool:
        """Let the companion keep pace, and enter its proofs in a tree; return whether it has decided."""
        companion = self._companion
        if companion is None:
            return False
        if index == 0 and not self._budget.is_counted:
            counts = self._counted() - self._first
            length = float(counts[c.STEPS] / counts[c.FINISHED]) if counts[c.FINISHED] > 0 else None
            companion.keep_pace(started, self._budget, length=length, cores=len(self.engines))
        goals = companion.root_goals
        is_usable = self.options.is_solving and companion.goal_sum in (NO_SUM, BEST_GOAL)
        if is_usable:
            self._root_bounds = companion.root_bounds
        if goals and goals is not self._known_goals[index] and is_usable:
            of_moves = {self._move_index[self.role_index][move]: goal for move, goal in goals.items()}
            if self.engines[index].note_proofs(self.role_index, of_moves):
                self._known_goals[index] = goals
        return companion.has_decided

    def best_move(self) -> Move:
        """The root move to play, by `best_of`; the first legal one before any playout."""
        assert self._state is not None, "move_to comes first"
        found = self._merged_edges()
        index = self._move_index[self.role_index]
        is_bounded = np.isin(found.moves, [index[move] for move in self._root_bounds])
        # Asked for after every slice, perhaps of thousands of moves: only the best of each kind are reported.
        is_open, is_proven = (found.goals == UNPROVEN) & ~is_bounded, found.goals != UNPROVEN
        favorites = np.flatnonzero(is_open & (found.visits == found.visits[is_open].max(initial=0)))
        favorites = favorites[np.argsort(-found.totals[favorites], kind="stable")]
        surest = np.flatnonzero(is_proven & (found.goals == found.goals.max(initial=0)))
        likely = np.concatenate([favorites[:1], surest[:1], np.flatnonzero(is_bounded)])
        best = best_of(self._reports_of(found, np.unique(likely)))
        if best is None:
            return self.game.legal_moves(self._state, self.game.roles[self.role_index])[0]
        return best.move

    def report(self) -> SearchReport:
        """Statistics, best line and proofs so far."""
        counts = self._counted() - self._first
        playouts = int(counts[c.FINISHED])
        proofs = [goal for goal in self._read(lambda engine: engine.root_goal) if goal is not None]
        root_goal = proofs[0] if proofs and self._has_proofs() else None
        if root_goal is not None and self.role_index == 1:
            root_goal = 100 - root_goal
        running = 0.0 if self._running_since is None else time.perf_counter() - self._running_since
        found = self._merged_edges()
        moves = self._reports_of(found, np.lexsort((-found.means, -found.visits)))
        return SearchReport(
            seconds=self._seconds + running,
            playouts=playouts,
            descents=int(counts[c.DESCENTS]),
            mean_depth=float(counts[c.DEPTH_SUM] / playouts) if playouts else 0.0,
            deepest=max(int(engine.arrays.counter[c.DEEPEST]) for engine in self.engines),
            nodes=sum(engine.node_count for engine in self.engines),
            is_full=any(engine.is_full for engine in self.engines),
            moves=tuple(moves),
            best_line=self._best_line(moves[0].move if moves else None),
            goal=root_goal,
            carried=self._carried,
            fallback=self._fallback,
        )

    def _best_line(self, favorite: Move | None) -> tuple[tuple[Move, ...], ...]:
        """The line of the first tree that begins with `favorite`; of the first tree during a search."""
        engines = self.engines if self._running_since is None else self.engines[:1]
        lines = [
            tuple(
                tuple(moves[i] for moves, i in zip(self.game.moves, joint_move, strict=True))
                for joint_move in engine.best_line()
            )
            for engine in engines
        ]
        agreeing = (line for line in lines if line and line[0][self.role_index] == favorite)
        return next(agreeing, lines[0])

    def _begin_report(self) -> None:
        self._seconds = self._reported_at = 0.0
        self._running_since = None
        self._carried = int(self._merged_edges().visits.sum())
        self._first = self._counted()

    def _counted(self) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = np.sum([engine.arrays.counter for engine in self.engines], axis=0)
        return counts

    def _merged_edges(self) -> EdgeStatistics:
        """The moves of the searching role in the root state, over all trees, by index."""
        of_trees = self._read(lambda engine: engine.root_edges(self.role_index))
        moves = np.unique(np.concatenate([each.moves for each in of_trees]))
        visits, totals = np.zeros(len(moves), np.int64), np.zeros(len(moves))
        goals = np.full(len(moves), UNPROVEN)
        for each in of_trees:
            at = np.searchsorted(moves, each.moves)
            visits[at] += each.visits
            totals[at] += each.totals
            goals[at] = np.where(each.goals == UNPROVEN, goals[at], each.goals)
        return EdgeStatistics(
            moves, visits, totals, goals if self._has_proofs() else np.full_like(goals, UNPROVEN)
        )

    def _reports_of(self, found: EdgeStatistics, places: NDArray[np.int64]) -> list[MoveReport]:
        """Reports of the moves at these places of `found`."""
        moves, bounds = self.game.moves[self.role_index], self._root_bounds if self._has_proofs() else {}
        columns = (
            column[places].tolist() for column in (found.moves, found.visits, found.means, found.goals)
        )
        return [
            MoveReport(
                moves[m], visits, mean, None if goal == UNPROVEN else goal, bounds.get(moves[m], (0, 100))
            )
            for m, visits, mean, goal in zip(*columns, strict=True)
        ]

    def _read(self, read: Callable[[TreeEngine], _Found]) -> list[_Found]:
        """The results of `read` for each tree, called while it is not being compacted."""
        found = []
        for engine in self.engines:
            with engine.steady:
                found.append(read(engine))
        return found

    def _has_proofs(self) -> bool:
        """Whether proofs are sound: in every tree the goals of two roles have summed up to 100."""
        return all(engine.is_constant_sum for engine in self.engines)

    def _notify(self) -> None:
        if self._on_progress is not None and (best := self.best_move()) != self._leader:
            self._leader = best
            self._on_progress(best)
        if self._on_report is not None and (report := self._fresh_report) is not None:
            self._fresh_report = None
            self._on_report(report)


def prepare_following(game: CompiledGame, options: MctsOptions) -> None:
    """Compile the parts of `search_tree` and the kernels that follow a match, or load them from the cache."""
    state = game.initial_state()
    with suppress(GameError, IndexError):  # over at once, or the rules are at fault
        game.next_state(state, tuple(game.legal_moves(state, role)[0] for role in game.roles))
    engine = TreeEngine(game, replace(options, memory_mebibytes=1), seed=0)
    engine.compile_parts()
    engine.set_root(game.unpack(state))
    engine.move_root(ROOT, game.unpack(state))


def prepare_parts(game: CompiledGame, options: MctsOptions) -> None:
    """Compile the parts of `search_tree` for a search with these options, or load them from the cache."""
    TreeEngine(game, replace(options, memory_mebibytes=1), seed=0).compile_parts()
