"""Alpha-beta for games of two roles with constant sum that take turns, and for games of one role.

`AlphaBeta` searches one game on lanes: a node settles all its children in one pass. Every refinement is a
field of `Refinements`, so that its effect can be measured in nodes; none changes the value of a search to
the end. Searches short of the end estimate positions at the horizon.

    AlphaBetaError    the game is of another kind, or the rules are at fault
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from ggp.compiled_game import CompiledGame, PackedState
from ggp.game import RANDOM_ROLE, Move
from ggp.kernels import alphabeta_arrays as arrays
from ggp.kernels.alphabeta_arrays import INFINITE, MOST_PLIES, UNLIMITED
from ggp.kernels.alphabeta_search import search_tree
from ggp.kernels.compiling import announced_compilation
from ggp.search.alphabeta_memory import allocate_search, with_estimate
from ggp.search.alphabeta_result import SearchResult
from ggp.search.refinements import PLAIN, SCALE, Estimate, Refinements
from ggp.search.transposition import DEFAULT_MEBIBYTES
from ggp.solver.codes import encode_states

JOIN_SECONDS = 0.05
ENDLESS_NODES = 1 << 62
_FAULTS = {
    arrays.SIMULTANEOUS: "two roles choose at the same time",
    arrays.NO_MOVES: "a role has no legal move in a state that is not terminal",
    arrays.NO_CONSTANT_SUM: "the roles' goals do not add up to the same sum in all terminal states",
    arrays.NO_ROOM: "the game is too long and too wide",
    arrays.NO_GOAL_VALUE: "the first role has no goal in a terminal state",
}


class AlphaBetaError(Exception):
    """The game is not one that alpha-beta can search."""


class AlphaBeta:
    """A search of one game; its table lives from search to search. Belongs to one thread at a time.

    depth      of the iteration under way; may be read from other threads, as may `nodes`
    images     int32[V, F]: the symmetries in use
    searches   windows that were searched from the root, by the search under way or the last one
    """

    def __init__(
        self,
        game: CompiledGame,
        refinements: Refinements | None = None,
        estimate: Estimate | None = None,
        *,
        mebibytes: int = DEFAULT_MEBIBYTES,
        images: NDArray[np.int32] | None = None,
    ) -> None:
        """`images` are the symmetries, see `ggp.search.symmetry`; None: found here if they are wanted.

        Raises AlphaBetaError.
        """
        if len(game.roles) > 2 or RANDOM_ROLE in game.roles:
            raise AlphaBetaError("alpha-beta needs one role, or two without chance")
        if game.terms.percepts:
            raise AlphaBetaError("alpha-beta needs roles that see everything")
        self.game = game
        self.refinements = refinements or Refinements()
        if images is None:
            images = np.arange(len(game.terms.fluents), dtype=np.int32)[None, :]
            if self.refinements.symmetries:
                from ggp.search.symmetry import fluent_symmetries

                images = fluent_symmetries(game)
        self.images = images
        self.code, self._search = allocate_search(game, self.refinements, images, mebibytes)
        self.judge_by(estimate or Estimate())
        self._goals = sorted(
            {
                int(value)
                for value, role in zip(game.tables.goal_value, game.tables.goal_role, strict=True)
                if role == 0
            }
        )
        self.counter[arrays.SUM] = -1
        self.depth = 0
        self.searches = 0
        self._is_interrupted = False
        self._is_compiled = False

    @property
    def greatest_goal(self) -> int:
        """Of role 0, as far as the rules show without play."""
        return self._goals[-1]

    @property
    def goal_sum(self) -> int:
        """What both roles' goals add up to in the terminal states met so far."""
        return int(self.counter[arrays.SUM])

    @property
    def nodes(self) -> int:
        """Positions expanded by the search under way, or the last one."""
        return int(self.counter[arrays.NODES])

    @property
    def counter(self) -> NDArray[np.int64]:
        """Counts of what was done, see `ggp.kernels.alphabeta_arrays`."""
        return self._search.counter

    def judge_by(self, estimate: Estimate) -> None:
        """Judge the horizon by another estimate from now on; what is in the table stays as it is."""
        self._search = with_estimate(self._search, self.refinements, estimate)

    def search(
        self,
        state: PackedState,
        *,
        depth: int | None = None,
        deadline: float | None = None,
        node_limit: int | None = None,
    ) -> SearchResult:
        """The value of a state that is not terminal, and a best move.

        depth       plies to search at most; None: to the end
        deadline    time.monotonic() seconds; node_limit: positions to expand. When either stops the search,
                    the result is that of the last iteration completed, or of the one under way once that has
                    searched the same best move and knows of none better, or a better one
        Raises AlphaBetaError where the game turns out to be of another kind.
        """
        counter = self.counter
        counter[arrays.NODES] = counter[arrays.STOP] = counter[arrays.FAULT] = 0
        self._is_interrupted = False
        self.searches = 0
        self._search.option[arrays.NODE_LIMIT] = node_limit or ENDLESS_NODES
        self._put_root(state)
        start = time.perf_counter()
        result = SearchResult(None, None, False, None, 0, 0.0)
        self._compile()
        with self._stopping(deadline):
            for limit in self._depths(depth):
                self.depth = limit
                found = self._search_depth(limit, result)
                if found is None:
                    result = self._unfinished(limit, result)
                    break
                result = found
                if result.is_proven or self._is_interrupted:
                    break
        return SearchResult(
            result.goal,
            result.move,
            result.is_proven,
            result.depth,
            int(counter[arrays.NODES]),
            time.perf_counter() - start,
            result.is_whole,
        )

    def is_reached(
        self, state: PackedState, goal: int, side: int, *, deadline: float | None = None
    ) -> bool | None:
        """Whether the first role gets at least `goal` (side 1) or at most that (side -1) from a state that is
        not terminal, by null windows to the end; None where that was not proven in time.

        Raises AlphaBetaError.
        """
        self._is_interrupted = False
        self._search.option[arrays.NODE_LIMIT] = ENDLESS_NODES
        self.counter[arrays.NODES] = self.counter[arrays.STOP] = self.counter[arrays.FAULT] = 0
        self._put_root(state)
        bound = side * SCALE * goal
        is_same_side = self._sign == side
        low = bound - 1 if is_same_side else -bound
        with self._stopping(deadline):
            for limit in self._depths(None):
                self.depth = limit
                score = self._run(limit, low, low + 1)
                if score is None or self._is_interrupted:
                    return None
                if not self._search.frames.is_open[0]:
                    return (score > low) == is_same_side
        return None

    def interrupt(self) -> None:
        """End the search that runs in another thread soon; it returns its last completed iteration."""
        self._is_interrupted = True
        self.counter[arrays.STOP] = 1

    def interrupt_and_join(self, searching: threading.Thread) -> None:
        """End the search that `searching` runs, even if it has hardly begun, and wait for the thread."""
        while searching.is_alive():
            self.interrupt()
            searching.join(JOIN_SECONDS)

    def forget(self) -> None:
        """Empty the table and all statistics.

        Also makes the system hand out the memory of a fresh table, page by page, which the first search
        would else wait for: a quarter of a second for the default size.
        """
        search = self._search
        for array in (search.table_key, search.table_data, search.history, self.counter):
            array[:] = 0
        self._search.killer[:] = -1
        self.counter[arrays.SUM] = -1

    def _depths(self, depth: int | None) -> Iterator[int]:
        if not self.refinements.iterative_deepening:
            yield depth or UNLIMITED
            return
        yield from range(1, min(depth or MOST_PLIES, MOST_PLIES) + 1)

    def _search_depth(self, depth: int, previous: SearchResult) -> SearchResult | None:
        """One iteration; None where it was stopped."""
        if self.refinements.bisection:
            return self._bisect(depth)
        # No score lies beyond these, so a search that meets them need not look further.
        lowest, highest = sorted(self._sign * SCALE * goal for goal in (self._goals[0], self._goals[-1]))
        low, high = lowest, highest
        width = self.refinements.aspiration * SCALE
        if width and previous.goal is not None:
            center = round(previous.goal * SCALE) * self._sign
            low, high = max(lowest, center - width), min(highest, center + width)
        while True:
            score = self._run(depth, low, high)
            if score is None:
                return None
            if score <= low > lowest:
                low = max(lowest, score - 2 * width) if low == center - width else lowest
            elif score >= high < highest:
                high = min(highest, score + 2 * width) if high == center + width else highest
            else:
                return self._result(score, depth)

    def _bisect(self, depth: int) -> SearchResult | None:
        """The value by questions "is it at least g?" over the goals that the rules know."""
        scores = sorted(self._sign * SCALE * goal for goal in self._goals)
        if depth < UNLIMITED:
            scores = sorted({*scores, *range(scores[0], scores[-1] + 1, SCALE)})
        low, high = 0, len(scores) - 1
        is_open = False
        move = None
        is_first = True
        while low < high or is_first:
            is_first = False
            middle = (low + high + 1) // 2
            score = self._run(depth, scores[middle] - 1, scores[middle])
            if score is None:
                return None
            is_open |= bool(self._search.frames.is_open[0])
            if score >= scores[middle]:
                low = middle
                move = self._best_move()
            else:
                high = max(low, middle - 1)
                if move is None and high == low:
                    move = self._best_move()
        limit = None if depth >= UNLIMITED else depth
        return SearchResult(scores[low] * self._sign / SCALE, move, not is_open, limit, 0, 0.0)

    def _unfinished(self, depth: int, previous: SearchResult) -> SearchResult:
        """What an interrupted iteration has shown, if it got as far as the best move known before it.

        Scores at or below the window are bounds from above and show nothing; so do windows of a bisection.
        """
        frames = self._search.frames
        first, tried = int(frames.first[0]), int(frames.tried[0])
        done = self._search.move[first : first + max(0, tried - 1)]
        move = self._best_move()
        is_known = previous.move is None or self._move_number(previous.move) in done
        if self.refinements.bisection or move is None or not is_known or frames.best[0] <= frames.alpha0[0]:
            return previous
        goal = int(frames.best[0]) * self._sign / SCALE
        limit = None if depth >= UNLIMITED else depth
        return SearchResult(goal, move, False, limit, 0, 0.0, is_whole=False)

    def _move_number(self, move: Move) -> int:
        """The number of a move of the role that chooses at the root, counted over all roles."""
        role = int(self._search.mover[0])
        return int(self.game.tables.first_move[role]) + self.game.moves[role].index(move)

    def _run(self, depth: int, low: int, high: int) -> int | None:
        self.searches += 1
        # A search that stops at once must not leave what an earlier one did.
        self._search.frames.best_move[0], self._search.frames.tried[0] = -1, 0
        score = search_tree(
            self.game.lane_tables, self.code, self.game.tables.first_move, self._search, depth, low, high
        )
        fault = int(self.counter[arrays.FAULT])
        if fault:
            raise AlphaBetaError(_FAULTS[fault])
        return None if self.counter[arrays.STOP] else int(score)

    def _result(self, score: int, depth: int) -> SearchResult:
        is_proven = not self._search.frames.is_open[0]
        limit = None if depth >= UNLIMITED else depth
        return SearchResult(score * self._sign / SCALE, self._best_move(), is_proven, limit, 0, 0.0)

    def _best_move(self) -> Move | None:
        move = int(self._search.frames.best_move[0])
        if move < 0:
            return None
        role = int(np.searchsorted(self.game.tables.first_move, move, side="right")) - 1
        return self.game.moves[role][move - int(self.game.tables.first_move[role])]

    def _put_root(self, state: PackedState) -> None:
        search = self._search
        search.key[: self.code.word_count] = encode_states(self.code, self.game.unpack(state)[None, :])[0]
        search.mover[0] = 0
        for r, role in enumerate(self.game.roles):
            if len(self.game.legal_moves(state, role)) > 1:
                search.mover[0] = r
        self._sign = 1 if search.mover[0] == 0 else -1

    def _compile(self) -> None:
        """A search that stops before its first node, so that only compiling is announced as such; once."""
        if self._is_compiled:
            return
        self._is_compiled = True
        limit = self._search.option[arrays.NODE_LIMIT]
        self._search.option[arrays.NODE_LIMIT] = -1
        with announced_compilation():
            self._run(1, -INFINITE, INFINITE)
        self.searches = 0
        self._search.option[arrays.NODE_LIMIT] = limit
        self.counter[arrays.NODES] = 0
        self.counter[arrays.STOP] = int(self._is_interrupted)

    @contextmanager
    def _stopping(self, deadline: float | None) -> Iterator[None]:
        """Stop the search at the deadline."""
        if deadline is None:
            yield
            return

        def stop() -> None:
            self.counter[arrays.STOP] = 1

        timer = threading.Timer(max(0.0, deadline - time.monotonic()), stop)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


__all__: Sequence[str] = [
    "PLAIN",
    "AlphaBeta",
    "AlphaBetaError",
    "Estimate",
    "Refinements",
    "SearchResult",
]
