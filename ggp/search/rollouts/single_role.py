"""Anytime search in games of one role, by nested rollouts.

Nested rollout policy adaptation is Rosin's (2011): each level runs the level below many times and moves its
policy towards the best line found. On the lowest level a batch of rollouts by one policy fills all lanes.

Proofs are `ggp.search.alphabeta`'s: with one role, alpha-beta is branch and bound.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.game import Move
from ggp.jit.compiling import announced_compilation
from ggp.jit.rows import ALL_ONES
from ggp.search.budget import Budget
from ggp.search.report import MoveReport, SearchReport
from ggp.search.rollouts.kernels import adapt, make_rollouts, roll_out
from ggp.solver.slices import Slices

LEVELS = 2
MAX_STEPS = 2000

Policy: TypeAlias = NDArray[np.float64]
"""float64[M]: logarithmic weights of the moves, in every state."""


class _StoppedError(Exception):
    """A batch of rollouts was not finished."""


@dataclass(frozen=True)
class Line:
    """A line of play to the end: its moves and the goal there."""

    goal: int
    moves: tuple[Move, ...]


class NestedRollouts:
    """Nested rollout policy adaptation in one game of one role.

    best       the best line found so far, from the state of `move_to`; at first the initial one
    playouts   rollouts played from there
    simulation_count   rollouts of all searches so far
    """

    def __init__(self, game: CompiledGame, *, seed: int = 0, iterations: int = 40, step: float = 1.0) -> None:
        """Each of LEVELS runs the one below `iterations` times; `step`: how far a policy moves to a line."""
        if len(game.roles) != 1:
            raise ValueError("nested rollouts need a game of one role")
        self.game = game
        self.iterations = iterations
        self.step = step
        self.best: Line | None = None
        self.playouts = self.simulation_count = 0
        self._seconds = 0.0
        self._state = game.initial_state()
        self._index = {move: i for i, move in enumerate(game.moves[0])}
        game.native.begin(game.words)
        self._arrays = make_rollouts(game.lane_tables, game.words, MAX_STEPS, seed)
        self._slices = Slices()

    def move_to(self, state: Hashable, joint_move: tuple[Move, ...] | None = None) -> None:
        """Search lines from `state` from now on; earlier ones are forgotten."""
        assert isinstance(state, bytes)
        self.best, self.playouts = None, 0
        self._state = state

    def run(self, budget: Budget, enough: int = 100) -> int:
        """Search until a line with the goal `enough` is found; return the number of rollouts. `is_stopped` is
        asked every few milliseconds; the deadline is looked at after each batch of rollouts."""
        begin, before = time.perf_counter(), self.playouts
        self._arrays.root[:] = np.where(self.game.unpack(self._state), ALL_ONES, np.uint64(0))
        most = math.inf if budget.simulations is None else before + budget.simulations
        self._budget, self._most, self._enough = budget, most, enough
        while not self._is_over():
            with suppress(_StoppedError):
                self._nest(LEVELS, np.zeros(len(self._arrays.weight), np.float64))
        self._seconds = time.perf_counter() - begin
        self.simulation_count += self.playouts - before
        return self.playouts - before

    def best_move(self) -> Move | None:
        """The first move of the best line; None before any line with moves."""
        return self.best.moves[0] if self.best is not None and self.best.moves else None

    def report(self) -> SearchReport:
        """The best line, with its goal as the mean of its first move."""
        line = () if self.best is None else self.best.moves
        goal = 0.0 if self.best is None else float(self.best.goal)
        return SearchReport(
            seconds=self._seconds,
            playouts=self.playouts,
            descents=self.playouts,
            deepest=len(line),
            moves=tuple(MoveReport(move, self.playouts, goal, None) for move in line[:1]),
            best_line=tuple((move,) for move in line),
            mode="rollouts",
        )

    def _is_over(self) -> bool:
        return (
            (self.best is not None and self.best.goal >= self._enough)
            or self.playouts >= self._most
            or self._budget.is_over()
        )

    def _cut(self, end: int) -> Iterator[tuple[int, int]]:
        """Divide steps 0 .. end-1 into slices. Raises _StoppedError between two of them."""
        for first, until in self._slices.cut(0, end):
            yield first, until
            if until < end and self._budget.is_interrupted():
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
        for first, end in self._cut(MAX_STEPS + 1):
            with announced_compilation() if not self.playouts and not first else nullcontext():
                lane = roll_out(game.lane_tables, game.tables.first_move, arrays, first, end, MAX_STEPS)
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
