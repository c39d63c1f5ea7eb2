"""Games of one role: the best goal proved by branch and bound, and good lines at any time by nested rollouts.

Branch and bound is alpha-beta with one role (`ggp.search.alphabeta`): depth first, with transpositions, cut
off where the best goal of the rules has been reached. Nested rollout policy adaptation is Rosin's (2011):
each level runs the level below many times and moves its policy towards the best line found.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Hashable
from contextlib import nullcontext
from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.compiled_game import CompiledGame, PackedState
from ggp.game import Game, Move
from ggp.kernels.compiling import announced_compilation
from ggp.kernels.rollouts import adapt, make_rollouts, roll_out
from ggp.kernels.rows import ALL_ONES
from ggp.search.alphabeta import AlphaBeta, Refinements, SearchResult

MOST_STEPS = 2000


@dataclass(frozen=True)
class Line:
    """A way to the end: its moves and the goal there."""

    goal: int
    moves: tuple[Move, ...]


def branch_and_bound(
    game: CompiledGame,
    state: PackedState | None = None,
    *,
    deadline: float | None = None,
    node_limit: int | None = None,
    mebibytes: int = 256,
) -> SearchResult:
    """The best goal that can be reached, proved if time allows, and a first move towards it.

    Deepening, so that short lines are found first. Raises AlphaBetaError for games of more roles.
    """
    search = AlphaBeta(game, Refinements(), mebibytes=mebibytes)
    start = game.initial_state() if state is None else state
    return search.search(start, deadline=deadline, node_limit=node_limit)


class NestedRollouts:
    """Nested rollout policy adaptation in one game of one role, in plain Python.

    best   the best line found so far, from the state that `run` was given
    """

    def __init__(
        self, game: Game[Any], *, seed: int = 0, level: int = 3, iterations: int = 50, step: float = 1.0
    ) -> None:
        """`iterations` of the level below per level; `step` is how far the policy moves towards a line."""
        if len(game.roles) != 1:
            raise ValueError("nested rollouts need a game of one role")
        self.game = game
        self.level = level
        self.iterations = iterations
        self.step = step
        self.best: Line | None = None
        self.playouts = 0
        self._root: Any = game.initial_state()
        self._rng = random.Random(seed)

    def run(
        self,
        state: Hashable | None = None,
        *,
        deadline: float | None = None,
        playouts: int | None = None,
        stop: threading.Event | None = None,
        enough: int = 100,
    ) -> Line | None:
        """Search until a line with the goal `enough` is found, or a limit is met; returns the best line.

        deadline   time.monotonic() seconds; at least one of the limits must be given
        """
        self.best, self.playouts = None, 0
        self._root = self.game.initial_state() if state is None else state
        self._deadline, self._most, self._event, self._enough = deadline, playouts, stop, enough
        while not self._is_over():
            self._nest(self.level, self._fresh_policy())
        return self.best

    def _fresh_policy(self) -> Any:
        return {}

    def _is_over(self) -> bool:
        return (
            (self.best is not None and self.best.goal >= self._enough)
            or (self._deadline is not None and time.monotonic() >= self._deadline)
            or (self._most is not None and self.playouts >= self._most)
            or (self._event is not None and self._event.is_set())
        )

    def _nest(self, level: int, policy: Any) -> Line:
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

    def _roll_out(self, policy: Any) -> Line:
        game, role = self.game, self.game.roles[0]
        state = self._root
        moves: list[Move] = []
        while not game.is_terminal(state) and len(moves) < MOST_STEPS:
            legal = game.legal_moves(state, role)
            weights = [exp(policy.get(move, 0.0)) for move in legal]
            moves.append(self._rng.choices(legal, weights)[0])
            state = game.next_state(state, (moves[-1],))
        line = Line(game.goal(state, role) if game.is_terminal(state) else 0, tuple(moves))
        return self._noted(line, 1)

    def _noted(self, line: Line, playouts: int) -> Line:
        """Count playouts of which `line` is the best."""
        self.playouts += playouts
        if self.best is None or line.goal > self.best.goal:
            self.best = line
        return line

    def _adapt(self, policy: Any, line: Line) -> None:
        """Move the policy towards the line: its moves gain what all legal ones lose in proportion."""
        before = dict(policy)
        state, role = self._root, self.game.roles[0]
        for move in line.moves:
            legal = self.game.legal_moves(state, role)
            weights = [exp(before.get(each, 0.0)) for each in legal]
            total = sum(weights)
            policy[move] = policy.get(move, 0.0) + self.step
            for each, weight in zip(legal, weights, strict=True):
                policy[each] = policy.get(each, 0.0) - self.step * weight / total
            state = self.game.next_state(state, (move,))


class LanesRollouts(NestedRollouts):
    """The same on lanes: the lowest level is the best of some hundred rollouts by the same policy."""

    def __init__(
        self, game: CompiledGame, *, seed: int = 0, level: int = 2, iterations: int = 40, step: float = 1.0
    ) -> None:
        super().__init__(game, seed=seed, level=level, iterations=iterations, step=step)
        self._compiled = game
        self._index = {move: i for i, move in enumerate(game.moves[0])}
        self._arrays = make_rollouts(game.lane_tables, game.words, MOST_STEPS, seed)

    def _fresh_policy(self) -> NDArray[np.float64]:
        self._arrays.root[:] = np.where(self._compiled.unpack(self._root), ALL_ONES, np.uint64(0))
        return np.zeros(len(self._arrays.weight), np.float64)

    def _roll_out(self, policy: NDArray[np.float64]) -> Line:
        game, arrays = self._compiled, self._arrays
        np.exp(policy, out=arrays.weight)
        with announced_compilation() if not self.playouts else nullcontext():
            lane = roll_out(game.lane_tables, game.tables.first_move, arrays, MOST_STEPS)
        lanes = len(arrays.length)
        indices = arrays.history[lane::lanes][: arrays.length[lane]]
        moves = tuple(game.moves[0][i] for i in indices)
        return self._noted(Line(max(0, int(arrays.goal[lane])), moves), lanes)

    def _adapt(self, policy: NDArray[np.float64], line: Line) -> None:
        np.exp(policy, out=self._arrays.weight)
        indices = np.array([self._index[move] for move in line.moves], np.int32)
        game = self._compiled
        adapt(game.lane_tables, game.tables.first_move, self._arrays, indices, self.step, policy)
