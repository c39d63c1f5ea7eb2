"""Alpha-beta for turn-taking games of two roles with constant sum, and for games of one role.

`AlphaBeta` searches one game on lanes: a node settles all its children in one pass. Positions at the horizon
are scored by an `Estimate`. `ggp.search.alphabeta.reference` is the same search to read.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import RANDOM_ROLE, Move, hides_information
from ggp.jit.compiling import announced_compilation
from ggp.jit.rows import width_of
from ggp.lanes.keys.state_code import encode_states
from ggp.search.alphabeta.estimate import SCALE, Estimate
from ggp.search.alphabeta.goal_bounds import plain_goal_sum
from ggp.search.alphabeta.kernels import arrays
from ggp.search.alphabeta.kernels.arrays import INFINITE, MAX_PLIES
from ggp.search.alphabeta.kernels.search import probe_children, search_tree
from ggp.search.alphabeta.memory import DEFAULT_MEBIBYTES, allocate_memory, with_estimate
from ggp.search.alphabeta.result import AlphaBetaError, SearchResult
from ggp.search.budget import NO_LIMIT, Budget
from ggp.search.protocol import NO_SUM

POLL_SECONDS = 0.003
"""Interval at which a search that can be stopped checks whether it is."""
ENDLESS_NODES = 1 << 62
_FAULTS = {
    arrays.SIMULTANEOUS: "two roles choose at the same time",
    arrays.NO_MOVES: "a role has no legal move in a state that is not terminal",
    arrays.NO_CONSTANT_SUM: "the roles' goals do not add up to the same sum in all terminal states",
    arrays.NO_ROOM: "the game is too long and too wide",
    arrays.NO_GOAL_VALUE: "the first role has no goal in a terminal state",
}


class AlphaBeta:
    """Search of one game; its transposition table persists between searches. Use from one thread at a time.

    depth      of the current iteration; may be read from other threads, like `nodes`
    goals      of role 0 that the rules mention, from the least on
    estimate   of positions at the horizon
    """

    def __init__(
        self,
        game: CompiledGame,
        estimate: Estimate | None = None,
        *,
        mebibytes: int = DEFAULT_MEBIBYTES,
        words: int | None = None,
    ) -> None:
        """Allocate the memory of the search.

        words   width of the rows; None: by the number of moves. Kernels are compiled once per width
        Raises AlphaBetaError.
        """
        if len(game.roles) > 2 or RANDOM_ROLE in game.roles:
            raise AlphaBetaError("alpha-beta needs one role, or two without chance")
        if hides_information(game):
            raise AlphaBetaError("alpha-beta needs roles that see everything")
        self.game = game
        self.goals: list[int] = np.unique(game.tables.goal_value[game.tables.goal_role == 0]).tolist()
        if not self.goals:
            raise AlphaBetaError(f"{game.roles[0]} needs one goal value at the end, but the rules give none")
        if len(self.goals) == 1 and plain_goal_sum(game) is None:
            raise AlphaBetaError("the first role always gets the same, the second one perhaps not the rest")
        self.code, self._memory = allocate_memory(game, mebibytes, words)
        game.native.begin(width_of(self._memory.node_value))
        self.set_estimate(estimate or Estimate())
        self.counter[arrays.SUM] = NO_SUM
        self.depth = 0
        self._is_interrupted = False
        self._is_compiled = False

    @property
    def goal_sum(self) -> int:
        """The sum of both roles' goals in terminal states; negative as long as it is not known."""
        return int(self.counter[arrays.SUM])

    @property
    def nodes(self) -> int:
        """Positions expanded in the current or latest search: those entered that the table did not answer."""
        return int(self.counter[arrays.NODES] - self.counter[arrays.HITS])

    @property
    def leaves(self) -> int:
        """Positions evaluated likewise: scored without a search, since they were terminal, decided or at the
        horizon."""
        return int(self.counter[arrays.LEAVES])

    @property
    def passes(self) -> int:
        """Passes of lanes of all searches so far."""
        return int(self.counter[arrays.PASSES])

    @property
    def counter(self) -> NDArray[np.int64]:
        """Counters, see `ggp.search.alphabeta.kernels.arrays`."""
        return self._memory.counter

    @property
    def frames(self) -> arrays.Frames:
        """The stack of nodes under search."""
        return self._memory.frames

    def set_estimate(self, estimate: Estimate) -> None:
        """Score the horizon by another estimate from now on; entries in the table stay as they are. Raises
        ValueError for weights of another game."""
        weights, fluents = estimate.weights, len(self.game.terms.fluents)
        if weights is not None and weights.shape != (fluents + 1,):
            raise ValueError(f"weights have shape ({fluents + 1},), not {weights.shape}")
        self.estimate = estimate
        self._memory = with_estimate(self._memory, estimate)

    def search(
        self, state: PackedState, budget: Budget = NO_LIMIT, *, depth: int | None = None
    ) -> SearchResult:
        """The value of a state that is not terminal, and a best move.

        budget   if it ends the search, the result is that of the last completed iteration, or of the current
                 one once it has searched the previous best move
        depth    plies to search at most; None: to the end of the game
        Raises AlphaBetaError if the game turns out to be of another kind.
        """
        self.put_root(state)
        self._memory.option[arrays.NODE_LIMIT] = budget.nodes or ENDLESS_NODES
        start = time.perf_counter()
        result = SearchResult()
        self._compile()
        with self._stopping(budget):
            for limit in _depths(depth):
                self.depth = limit
                score = self._run(limit, *self.window)
                if score is None:
                    result = self._unfinished(limit, result)
                    break
                goal = score * self._sign / SCALE
                result = SearchResult(goal, self.best_move, self.is_proven, limit)
                if result.is_proven or self._is_interrupted:
                    break
        seconds = time.perf_counter() - start
        return replace(result, nodes=self.nodes, leaves=self.leaves, seconds=seconds)

    def is_reached(self, state: PackedState, goal: int, side: int, budget: Budget = NO_LIMIT) -> bool | None:
        """Whether the first role gets at least `goal` (side 1) or at most that (side -1) from a state that is
        not terminal, by null windows to the end; None if that was not proven in time.

        Raises AlphaBetaError.
        """
        self.put_root(state)
        self._memory.option[arrays.NODE_LIMIT] = ENDLESS_NODES
        bound = side * SCALE * goal
        is_same_side = self._sign == side
        low = bound - 1 if is_same_side else -bound
        with self._stopping(budget):
            for limit in _depths(None):
                self.depth = limit
                score = self._run(limit, low, low + 1)
                if score is None or self._is_interrupted:
                    return None
                if not self._memory.frames.is_open[0]:
                    return (score > low) == is_same_side
        return None

    def advance(self, depth: int, nodes: int, passes: int | None = None) -> int | None:
        """Search the state of `put_root` to `depth` plies, about `nodes` positions of it at a time.

        passes   stop before the first position beyond this many passes of lanes, which are what takes time: a
                 position whose value the table knows needs none, one with hundreds of moves several

        Returns its score for the role to move, or None if the search is unfinished: the next call with the
        same depth resumes it.
        Raises AlphaBetaError.
        """
        self._compile()
        counter = self.counter
        counter[arrays.STOP] = 0
        self._memory.option[arrays.NODE_LIMIT] = counter[arrays.NODES] + nodes
        self._memory.option[arrays.PASS_LIMIT] = 0 if passes is None else self.passes + passes
        score = self._resume(depth, *self.window)
        if score is None:
            counter[arrays.NODES] -= 1  # a node that was counted but not expanded
        return score

    @property
    def window(self) -> tuple[int, int]:
        """The least and the greatest score that the goals of the rules allow, for the mover at the root. A
        search that meets one of them need not look further."""
        lowest, highest = sorted(self._sign * SCALE * goal for goal in (self.goals[0], self.goals[-1]))
        return lowest, highest

    @property
    def is_proven(self) -> bool:
        """Whether the latest finished search rests on no score from the horizon."""
        return not self._memory.frames.is_open[0]

    def goal_of(self, score: int) -> int:
        """A proven score for the role that moves at the root, as a goal of the first role."""
        return score * self._sign // SCALE

    def proven_goals(self) -> dict[Move, int]:
        """Move of the role that chooses at the root → goal of the first role that is proven behind it. By
        terminal children and the transposition table."""
        first, count = int(self._memory.frames.first[0]), int(self._memory.frames.children[0])
        if count <= 0:
            return {}
        low, high = np.zeros(count, np.int32), np.zeros(count, np.int32)
        probe_children(self._memory, self.code.word_count, low, high)
        least, greatest = SCALE * self.goals[0], SCALE * self.goals[-1]
        low, high = np.maximum(low, least), np.minimum(high, greatest)
        moves = self._memory.move[first : first + count]
        return {
            self._move_of(int(move)): int(goal) // SCALE
            for move, goal, is_exact in zip(moves, low, low == high, strict=True)
            if is_exact and move >= 0
        }

    def interrupt(self) -> None:
        """Stop a search that runs in another thread; it returns its last completed iteration."""
        self._is_interrupted = True
        self.counter[arrays.STOP] = 1

    def forget(self) -> None:
        """Empty the table and all statistics."""
        search = self._memory
        for array in (search.table_key, search.table_data, self.counter):
            array[:] = 0
        self._memory.killer[:] = -1
        self.counter[arrays.SUM] = NO_SUM

    def _unfinished(self, depth: int, previous: SearchResult) -> SearchResult:
        """The result of an interrupted iteration, if it has searched the previous best move. Scores at or
        below the window are upper bounds and show nothing."""
        frames = self._memory.frames
        first, tried = int(frames.first[0]), int(frames.tried[0])
        done = [self._move_of(int(m)) for m in self._memory.move[first : first + max(0, tried - 1)] if m >= 0]
        move = self.best_move
        is_known = previous.move is None or previous.move in done
        if move is None or not is_known or frames.best[0] <= frames.alpha0[0]:
            return previous
        goal = int(frames.best[0]) * self._sign / SCALE
        return SearchResult(goal, move, False, depth, is_whole=False)

    def _run(self, depth: int, low: int, high: int) -> int | None:
        self.counter[arrays.PAUSED] = 0
        return self._resume(depth, low, high)

    def _resume(self, depth: int, low: int, high: int) -> int | None:
        """Search the root, from where a stopped search of it has paused; None if it is stopped again."""
        score = search_tree(
            self.game.lane_tables, self.code, self.game.tables.first_move, self._memory, depth, low, high
        )
        fault = int(self.counter[arrays.FAULT])
        if fault:
            raise AlphaBetaError(_FAULTS[fault])
        return None if self.counter[arrays.STOP] else int(score)

    @property
    def best_move(self) -> Move | None:
        """The best move at the root; None if no role has a choice there, or nothing was searched."""
        move = int(self._memory.frames.best_move[0])
        return None if move < 0 else self._move_of(move)

    def _move_of(self, move: int) -> Move:
        role = int(np.searchsorted(self.game.tables.first_move, move, side="right")) - 1
        return self.game.moves[role][move - int(self.game.tables.first_move[role])]

    def put_root(self, state: PackedState) -> None:
        """Begin at `state`, which is not terminal, with all counters at 0."""
        search = self._memory
        a = arrays
        self.counter[[a.NODES, a.HITS, a.LEAVES, a.STOP, a.FAULT, a.PAUSED]] = 0
        search.option[arrays.PASS_LIMIT] = 0
        self._is_interrupted = False
        search.frames.children[0] = -1
        search.key[: self.code.word_count] = encode_states(self.code, self.game.unpack(state)[None, :])[0]
        search.mover[0] = 0
        for r, role in enumerate(self.game.roles):
            if len(self.game.legal_moves(state, role)) > 1:
                search.mover[0] = r
        self._sign = 1 if search.mover[0] == 0 else -1

    def _compile(self) -> None:
        """Compile by a search that stops before its first node, so that only compiling is announced."""
        if self._is_compiled:
            return
        self._is_compiled = True
        limit = self._memory.option[arrays.NODE_LIMIT]
        self._memory.option[arrays.NODE_LIMIT] = -1
        with announced_compilation():
            self._run(1, -INFINITE, INFINITE)
        self._memory.option[arrays.NODE_LIMIT] = limit
        self.counter[arrays.NODES] = self.counter[arrays.PAUSED] = 0
        self.counter[arrays.STOP] = int(self._is_interrupted)

    @contextmanager
    def _stopping(self, budget: Budget) -> Iterator[None]:
        """Stop the search at the end of the budget, from a thread that watches it."""
        is_watched, over = budget.is_stopped is not None, threading.Event()

        def watch() -> None:
            while not over.wait(POLL_SECONDS if is_watched else max(0.0, budget.seconds_left())):
                if budget.is_over():
                    self.counter[arrays.STOP] = 1
                    return

        watching = threading.Thread(target=watch, daemon=True)
        if is_watched or budget.deadline < math.inf:
            watching.start()
        try:
            yield
        finally:
            over.set()
            if watching.ident is not None:
                watching.join()  # or it might stop the next search


def _depths(depth: int | None) -> range:
    """Depths of iterative deepening, up to `depth` or as deep as there is room."""
    return range(1, min(depth or MAX_PLIES, MAX_PLIES) + 1)


__all__ = ["AlphaBeta", "AlphaBetaError", "Estimate", "SearchResult"]
