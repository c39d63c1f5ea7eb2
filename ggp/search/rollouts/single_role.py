"""Games of one role: good lines at any time, by nested rollouts.

Nested rollout policy adaptation is Rosin's (2011): each level runs the level below many times and moves its
policy towards the best line found. On the lowest level a batch of rollouts by one policy fills all lanes.

Proofs are `ggp.search.alphabeta`'s: with one role, alpha-beta is branch and bound.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Move
from ggp.jit.compiling import announced_compilation
from ggp.jit.rows import ALL_ONES
from ggp.search.rollouts.kernels import adapt, make_rollouts, roll_out
from ggp.solver.slices import Slices

MOST_STEPS = 2000

Policy: TypeAlias = NDArray[np.float64]
"""float64[M]: logarithmic weights of the moves, in every state."""


class _StoppedError(Exception):
    """A batch of rollouts was not finished."""


@dataclass(frozen=True)
class Line:
    """A way to the end: its moves and the goal there."""

    goal: int
    moves: tuple[Move, ...]


class NestedRollouts:
    """Nested rollout policy adaptation in one game of one role.

    best       the best line found so far, from the state that `run` was given
    playouts   rollouts played so far
    """

    def __init__(
        self, game: CompiledGame, *, seed: int = 0, level: int = 2, iterations: int = 40, step: float = 1.0
    ) -> None:
        """How to search.

        level, iterations   each level runs the one below so many times
        step                how far the policy moves towards a line
        """
        if len(game.roles) != 1:
            raise ValueError("nested rollouts need a game of one role")
        self.game = game
        self.level = level
        self.iterations = iterations
        self.step = step
        self.best: Line | None = None
        self.playouts = 0
        self._index = {move: i for i, move in enumerate(game.moves[0])}
        self._arrays = make_rollouts(game.lane_tables, game.words, MOST_STEPS, seed)
        self._slices = Slices()

    def run(
        self,
        state: PackedState | None = None,
        *,
        deadline: float | None = None,
        playouts: int | None = None,
        is_stopped: Callable[[], bool] | None = None,
        enough: int = 100,
    ) -> Line | None:
        """Search until a line with the goal `enough` is found or a limit is met; return the best line.

        deadline     time.monotonic() seconds; at least one of the limits must be given
        is_stopped   asked every few milliseconds; the deadline is looked at after each batch of rollouts
        """
        self.best, self.playouts = None, 0
        root = self.game.initial_state() if state is None else state
        self._arrays.root[:] = np.where(self.game.unpack(root), ALL_ONES, np.uint64(0))
        self._deadline, self._most, self._is_stopped, self._enough = deadline, playouts, is_stopped, enough
        while not self._is_over():
            with suppress(_StoppedError):
                self._nest(self.level, np.zeros(len(self._arrays.weight), np.float64))
        return self.best

    def _is_over(self) -> bool:
        return (
            (self.best is not None and self.best.goal >= self._enough)
            or (self._deadline is not None and time.monotonic() >= self._deadline)
            or (self._most is not None and self.playouts >= self._most)
            or (self._is_stopped is not None and self._is_stopped())
        )

    def _cut(self, end: int) -> Iterator[tuple[int, int]]:
        """Divide steps 0 .. end-1 into slices. Raises _StoppedError between two of them."""
        for first, until in self._slices.cut(0, end):
            yield first, until
            if until < end and self._is_stopped is not None and self._is_stopped():
                raise _StoppedError

    def _nest(self, level: int, policy: Policy) -> Line:
        if level == 0:
            return self._roll_out(policy)
        best: Line | None = None
        for _ in range(self.iterations):
            line = self._nest(level - 1, policy.copy())
            if best is None or line.goal >= best.goal:
                best = line
            if self._is_over():
                break
            self._adapt(policy, best)
        assert best is not None
        return best

    def _roll_out(self, policy: Policy) -> Line:
        """Play all lanes by the policy; return the best line of them."""
        game, arrays = self.game, self._arrays
        np.exp(policy, out=arrays.weight)
        lane = -1
        for first, end in self._cut(MOST_STEPS + 1):
            with announced_compilation() if not self.playouts and not first else nullcontext():
                lane = roll_out(game.lane_tables, game.tables.first_move, arrays, first, end, MOST_STEPS)
            if lane >= 0:
                break
        lanes = len(arrays.length)
        indices = arrays.history[lane::lanes][: arrays.length[lane]]
        line = Line(max(0, int(arrays.goal[lane])), tuple(game.moves[0][i] for i in indices))
        self.playouts += lanes
        if self.best is None or line.goal > self.best.goal:
            self.best = line
        return line

    def _adapt(self, policy: Policy, line: Line) -> None:
        """Move the policy towards the line: its moves gain what all legal ones lose in proportion."""
        np.exp(policy, out=self._arrays.weight)
        indices = np.array([self._index[move] for move in line.moves], np.int32)
        tables, first_move = self.game.lane_tables, self.game.tables.first_move
        for first, end in self._cut(len(indices)):
            adapt(tables, first_move, self._arrays, indices[first:end], self.step, policy, first == 0)
