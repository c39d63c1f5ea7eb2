"""Playout policies in plain Python, one small class each; the twins of `ggp.kernels.policies`.

    UniformPolicy    every legal move alike
    MastPolicy       MAST and TO-MAST: Gibbs sampling, weight exp(mean goal of the move / tau)
    GreedyPolicy     the best mean, but uniform moves with probability epsilon
    PastPolicy       PAST: the mean per fact that holds and move, the largest of them

Source: Finnsson & Björnsson (2010); greedy playouts: Tak, Winands & Björnsson (2012). Weights are integers
1 .. LARGEST_WEIGHT, relative to the best move of the role, because lanes add weights bit by bit.
A move that was never made counts like the best one of its role.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ggp.game import RANDOM_ROLE, Fact, Game, Move
from ggp.search.options import MctsOptions
from ggp.search.randomness import LaneRandom, TreeRandom

LARGEST_WEIGHT = 1023

Moves: TypeAlias = tuple[Move, ...]
Goals: TypeAlias = tuple[float, ...]


@dataclass(frozen=True)
class Step:
    """One joint move of a simulation, and the state in which it was made."""

    state: Hashable
    joint_move: Moves


class UniformPolicy:
    """Every legal move alike. Base of the others."""

    def __init__(self, game: Game[Any], options: MctsOptions, lane: LaneRandom, tree: TreeRandom) -> None:
        self.game, self.options, self.lane, self.tree = game, options, lane, tree
        roles = game.roles
        self.chance_index = roles.index(RANDOM_ROLE) if RANDOM_ROLE in roles else -1

    def choose(self, state: Hashable, moves: Sequence[Moves]) -> tuple[int, ...]:
        """Per role the index of the move to make; 0 for a role without any (then the playout is over)."""
        return tuple(self.lane.at_most(len(options) - 1) if options else 0 for options in moves)

    def weight(self, role: int, move: Move) -> int:
        """The weight of an untried edge in the tree."""
        return 1

    def learn(self, steps: Sequence[Step], tree_depth: int, goals: Goals) -> None:
        """Take in one simulation, of which `tree_depth` steps were in the tree."""

    def decay(self, factor: float) -> None:
        """Multiply the visits and totals of what was learned: the match has gone on."""


@dataclass
class Mean:
    """A mean goal in the making; decay makes fractions of visits."""

    visits: float = 0
    total: float = 0.0

    def add(self, goal: float) -> None:
        self.visits += 1
        self.total += goal

    @property
    def value(self) -> float:
        return self.total / self.visits

    def decay(self, factor: float) -> None:
        self.visits *= factor
        self.total *= factor


class MastPolicy(UniformPolicy):
    """Gibbs sampling over the mean goal of each move, whatever the state; TO-MAST learns in the tree only."""

    def __init__(self, game: Game[Any], options: MctsOptions, lane: LaneRandom, tree: TreeRandom) -> None:
        super().__init__(game, options, lane, tree)
        self.means: list[dict[Move, Mean]] = [{} for _ in game.roles]
        self.best = [0.0 for _ in game.roles]
        self._keys: list[dict[Move, float]] = [{} for _ in game.roles]
        self._is_fresh = False
        self._refresh_in = options.refresh or 1

    def choose(self, state: Hashable, moves: Sequence[Moves]) -> tuple[int, ...]:
        return tuple(
            self.lane.choose([self.weight(role, move) for move in options]) if options else 0
            for role, options in enumerate(moves)
        )

    def weight(self, role: int, move: Move) -> int:
        if role == self.chance_index or not self._is_fresh:
            return 1
        return self.gibbs_weight(self.key(role, move), self.best[role])

    def key(self, role: int, move: Move) -> float:
        """The mean of a move as of the last refresh; the best of its role where it was not made."""
        return self._keys[role].get(move, self.best[role])

    def gibbs_weight(self, value: float, best: float) -> int:
        scaled = LARGEST_WEIGHT * math.exp((value - best) / self.options.temperature)
        return max(1, math.floor(scaled + 0.5))

    def learn(self, steps: Sequence[Step], tree_depth: int, goals: Goals) -> None:
        for step in steps[:tree_depth] if self.options.learns == "to-mast" else steps:
            for role, move in enumerate(step.joint_move):
                self.means[role].setdefault(move, Mean()).add(goals[role])
        self._refresh_in -= 1
        if self._refresh_in == 0:
            self._refresh_in = self.options.refresh or 1
            self._is_fresh = True
            for role, means in enumerate(self.means):
                self._keys[role] = {move: mean.value for move, mean in means.items() if mean.visits > 0}
                self.best[role] = max(self._keys[role].values(), default=0.0)

    def decay(self, factor: float) -> None:
        for means in self.means:
            for mean in means.values():
                mean.decay(factor)


class GreedyPolicy(MastPolicy):
    """The move with the best mean, the first of equals; with probability epsilon all roles move uniformly."""

    def choose(self, state: Hashable, moves: Sequence[Moves]) -> tuple[int, ...]:
        is_uniform = self.lane.chance(self.options.epsilon_in_1024ths)
        uniform = UniformPolicy.choose(self, state, moves)
        if is_uniform:
            return uniform
        return tuple(
            uniform[role]
            if role == self.chance_index or not options
            else max(range(len(options)), key=lambda i: (self.key(role, options[i]), -i))
            for role, options in enumerate(moves)
        )

    def weight(self, role: int, move: Move) -> int:
        return 1


class PastPolicy(MastPolicy):
    """Gibbs sampling over the largest mean of the move together with a fact that holds.

    Pairs with fewer than `past_visits` visits do not count; a move without any that counts has its MAST
    mean. Untried edges in the tree are drawn by MAST.
    """

    def __init__(self, game: Game[Any], options: MctsOptions, lane: LaneRandom, tree: TreeRandom) -> None:
        super().__init__(game, options, lane, tree)
        self.pairs: list[dict[tuple[Fact, Move], Mean]] = [{} for _ in game.roles]

    def choose(self, state: Hashable, moves: Sequence[Moves]) -> tuple[int, ...]:
        if not all(moves):
            return tuple(0 for _ in moves)
        facts = self.game.facts(state)
        return tuple(self._choose(role, options, facts) for role, options in enumerate(moves))

    def _choose(self, role: int, options: Moves, facts: Sequence[Fact]) -> int:
        if len(options) == 1:
            return 0
        if role == self.chance_index:
            return self.tree.below(len(options))
        values = [self.value(role, move, facts) for move in options]
        best = max(values)
        return self.tree.choose([self.gibbs_weight(value, best) for value in values])

    def value(self, role: int, move: Move, facts: Sequence[Fact]) -> float:
        """The largest mean of `move` with one of `facts`, or the move's own."""
        means = (self.pairs[role].get((fact, move)) for fact in facts)
        known = [mean.value for mean in means if mean and mean.visits >= self.options.past_visits]
        return max(known) if known else self.key(role, move)

    def learn(self, steps: Sequence[Step], tree_depth: int, goals: Goals) -> None:
        super().learn(steps, tree_depth, goals)
        for step in steps:
            facts = self.game.facts(step.state)
            for role, move in enumerate(step.joint_move):
                for fact in facts:
                    self.pairs[role].setdefault((fact, move), Mean()).add(goals[role])

    def decay(self, factor: float) -> None:
        super().decay(factor)
        for pairs in self.pairs:
            for mean in pairs.values():
                mean.decay(factor)


def make_policy(game: Game[Any], options: MctsOptions, lane: LaneRandom, tree: TreeRandom) -> UniformPolicy:
    """The playout policy that `options` name."""
    kinds: dict[str, type[UniformPolicy]] = {"": UniformPolicy, "past": PastPolicy}
    kind = kinds.get(options.learns, GreedyPolicy if options.is_greedy else MastPolicy)
    return kind(game, options, lane, tree)
