"""Nested rollout policy adaptation (Rosin, 2011) by the definition, one rollout at a time, on any engine."""

import random
from math import exp
from typing import Any

from ggp.game import Game, Move
from ggp.search.rollouts.single_role import Line

Policy = dict[Move, float]


class PlainRollouts:
    """The plain twin of `ggp.search.rollouts.single_role.NestedRollouts`."""

    def __init__(
        self, game: Game[Any], *, seed: int = 0, level: int = 3, iterations: int = 50, step: float = 1.0
    ) -> None:
        self.game, self.level, self.iterations, self.step = game, level, iterations, step
        self.best: Line | None = None
        self.playouts = 0
        self._rng = random.Random(seed)

    def run(self, *, playouts: int, enough: int = 100) -> Line | None:
        self.best, self.playouts, self._most, self._enough = None, 0, playouts, enough
        while not self._is_over():
            self._nest(self.level, {})
        return self.best

    def _is_over(self) -> bool:
        is_enough = self.best is not None and self.best.goal >= self._enough
        return is_enough or self.playouts >= self._most

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
            self.adapt(policy, best)
        assert best is not None
        return best

    def _roll_out(self, policy: Policy) -> Line:
        game, role = self.game, self.game.roles[0]
        state = game.initial_state()
        moves: list[Move] = []
        while not game.is_terminal(state):
            legal = game.legal_moves(state, role)
            weights = [exp(policy.get(move, 0.0)) for move in legal]
            moves.append(self._rng.choices(legal, weights)[0])
            state = game.next_state(state, (moves[-1],))
        self.playouts += 1
        line = Line(game.goal(state, role), tuple(moves))
        if self.best is None or line.goal > self.best.goal:
            self.best = line
        return line

    def adapt(self, policy: Policy, line: Line) -> None:
        """Move the policy towards the line: its moves gain what all legal ones lose in proportion."""
        before = dict(policy)
        state, role = self.game.initial_state(), self.game.roles[0]
        for move in line.moves:
            legal = self.game.legal_moves(state, role)
            weights = [exp(before.get(each, 0.0)) for each in legal]
            total = sum(weights)
            policy[move] = policy.get(move, 0.0) + self.step
            for each, weight in zip(legal, weights, strict=True):
                policy[each] = policy.get(each, 0.0) - self.step * weight / total
            state = self.game.next_state(state, (move,))
