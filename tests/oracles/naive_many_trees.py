"""Many-tree search over information sets, one playout after the other: the plain-Python twin.

It draws the same random numbers in the same order as `ggp.search.sets.many_trees` in one lane,
and computes every float by the same operations, so that both build the same trees.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from ggp.beliefs.observation import Observation, observe_step
from ggp.game import RANDOM_ROLE, Game, Move
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.reference.policies import UniformPolicy
from ggp.search.tree.reference.randomness import LaneRandom, TreeRandom

History = tuple[Observation, ...]


@dataclass
class Set:
    """What a role knows of its moves after one history of observations."""

    moves: tuple[Move, ...]
    visits: list[int]
    totals: list[float]


Path = list[tuple[Set, int, int]]
"""The sets passed, the move made there, and the role."""


class NaiveManyTrees:
    """The sets of all roles, by role and by what it observed in whatever order; playouts begin in `state`."""

    def __init__(self, game: Game[Any], state: Hashable, seed: int) -> None:
        self.game, self.state = game, state
        self.sets: dict[tuple[int, History], Set] = {}
        options = MctsOptions()
        self.exploration = options.exploration
        self.chance = game.roles.index(RANDOM_ROLE) if RANDOM_ROLE in game.roles else -1
        self.rng = TreeRandom(seed)
        self.policy = UniformPolicy(game, options, LaneRandom(seed), self.rng)

    def simulate(self) -> None:
        state: Hashable = self.state
        histories: list[History] = [() for _ in self.game.roles]
        path: Path = []
        is_inside = True
        while not self.game.is_terminal(state):
            legal = [self.game.legal_moves(state, role) for role in self.game.roles]
            if is_inside:
                chosen, is_inside = self.descend(legal, histories, path)
            else:
                chosen = list(self.policy.choose(state, legal))
            joint = tuple(moves[i] for moves, i in zip(legal, chosen, strict=True))
            if is_inside:
                for r, role in enumerate(self.game.roles):
                    steps = (*histories[r], observe_step(self.game, state, joint, role))
                    histories[r] = tuple(sorted(steps, key=str))
            state = self.game.next_state(state, joint)
        for node, edge, r in path:
            node.visits[edge] += 1
            node.totals[edge] += self.game.goal(state, self.game.roles[r])

    def descend(
        self, legal: list[tuple[Move, ...]], histories: list[History], path: Path
    ) -> tuple[list[int], bool]:
        """The number of each role's move, and whether the playout stays in the trees."""
        stays = True
        for r, moves in enumerate(legal):
            if r != self.chance and (r, histories[r]) not in self.sets:
                self.sets[r, histories[r]] = Set(moves, [0] * len(moves), [0.0] * len(moves))
                stays = stays and len(moves) == 1
        chosen = []
        for r, moves in enumerate(legal):
            if r == self.chance:
                chosen.append(self.draw(len(moves)))
                continue
            node = self.sets[r, histories[r]]
            assert node.moves == moves
            edge = self.select(node)
            chosen.append(edge)
            path.append((node, edge, r))
        return chosen, stays

    def draw(self, count: int) -> int:
        found = 0
        for i in range(count):
            if self.rng.below(i + 1) == 0:
                found = i
        return found

    def select(self, node: Set) -> int:
        """UCT; an untried move first."""
        count = len(node.moves)
        if count == 1:
            return 0
        untried = [i for i in range(count) if node.visits[i] == 0]
        if untried:
            return untried[self.rng.below(len(untried))]
        bonus = self.exploration * math.sqrt(math.log(sum(node.visits)))
        values = [node.totals[i] / node.visits[i] + bonus / math.sqrt(node.visits[i]) for i in range(count)]
        return max(range(count), key=values.__getitem__)
