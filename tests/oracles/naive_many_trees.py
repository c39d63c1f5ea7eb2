"""Many-tree search over information sets, one playout after the other: the plain-Python twin.

It draws the same random numbers in the same order as `ggp.search.information_sets.many_trees` in one lane,
and computes every float by the same operations, so that both build the same trees.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from ggp.beliefs.observation import Observation, observe_step
from ggp.game import RANDOM_ROLE, Game, Move
from ggp.search.information_sets.many_trees import TREMBLING
from ggp.search.information_sets.many_trees_kernel import DRAW_STEPS
from ggp.search.mcts.options import MctsOptions
from ggp.search.mcts.reference.policies import UniformPolicy
from ggp.search.mcts.reference.randomness import LaneRandom, TreeRandom

History = tuple[Observation, ...]


@dataclass
class Set:
    """What a role knows of its moves after one history of observations."""

    moves: tuple[Move, ...]
    visits: list[int]
    totals: list[float]
    regrets: list[float]
    weights: list[float]

    def shares(self) -> list[float]:
        """The strategy of regret matching."""
        total = sum_in_order(self.regrets)
        return [regret / total if total > 0.0 else 1.0 / len(self.moves) for regret in self.regrets]


Path = list[tuple[Set, int, int, float, float]]
"""The sets passed, the move made there, the role, with what probability it made the move, and how much more
probable it is if no role trembles."""


def sum_in_order(numbers: Sequence[float]) -> float:
    """One addition after the other, as on lanes; `sum` is more exact."""
    total = 0.0
    for number in numbers:
        total += number
    return total


class NaiveManyTrees:
    """The sets of all roles, by role and by what it observed; playouts begin in `state`.

    For UCT the order of observations does not count, for regrets it does.
    """

    def __init__(self, game: Game[Any], state: Hashable, seed: int, selection: str = "uct") -> None:
        self.game, self.state = game, state
        self.is_matching = selection == "regrets"
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
                    histories[r] = steps if self.is_matching else tuple(sorted(steps, key=str))
            state = self.game.next_state(state, joint)
        if self.is_matching:
            self.learn_path(path, [float(self.game.goal(state, role)) for role in self.game.roles])
        for node, edge, r, _, _ in path:
            node.visits[edge] += 1
            node.totals[edge] += self.game.goal(state, self.game.roles[r])

    def descend(
        self, legal: list[tuple[Move, ...]], histories: list[History], path: Path
    ) -> tuple[list[int], bool]:
        """The number of each role's move, and whether the playout stays in the trees."""
        stays = True
        for r, moves in enumerate(legal):
            if r != self.chance and (r, histories[r]) not in self.sets:
                zeros = [0.0] * len(moves)
                self.sets[r, histories[r]] = Set(moves, [0] * len(moves), zeros, [*zeros], [*zeros])
                stays = stays and len(moves) == 1
        chosen = []
        for r, moves in enumerate(legal):
            if r == self.chance:
                chosen.append(self.draw(len(moves)))
                continue
            node = self.sets[r, histories[r]]
            assert node.moves == moves
            edge, chance, ratio = self.match(node) if self.is_matching else (self.select(node), 1.0, 1.0)
            chosen.append(edge)
            path.append((node, edge, r, chance, ratio))
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

    def match(self, node: Set) -> tuple[int, float, float]:
        """A move drawn by regret matching, its probability, and its share by regrets over this."""
        count = len(node.moves)
        if count == 1:
            return 0, 1.0, 1.0
        rest = self.rng.below(DRAW_STEPS) / DRAW_STEPS
        chosen, chance, ratio = 0, 1.0, 1.0
        for i, share in enumerate(node.shares()):
            p = TREMBLING / count + (1.0 - TREMBLING) * share
            if p > 0.0:
                chosen, chance, ratio = i, p, share / p
                rest -= p
                if rest < 0.0:
                    break
        return chosen, chance, ratio

    def learn_path(self, path: Path, goals: list[float]) -> None:
        """Each set learns as if no role trembled but its own there and before."""
        for i, (node, _, r, _, _) in enumerate(path):
            weight = 1.0
            for _, _, other, _, ratio in path[:i]:
                if other == r:
                    weight *= ratio
            for edge, share in enumerate(node.shares()):
                node.weights[edge] += weight * share
        for i, (node, made, r, chance, _) in enumerate(path):
            weight = 1.0
            for j, (_, _, other, _, ratio) in enumerate(path):
                if other != r or j > i:
                    weight *= ratio
            self.learn(node, made, chance, goals[r], weight)

    def learn(self, node: Set, made: int, chance: float, goal: float, weight: float) -> None:
        """The regrets of one playout in one set."""
        if len(node.moves) < 2:
            return
        visits = sum(node.visits)
        unknown = sum_in_order(node.totals) / visits if visits else 50.0
        values = [total / n if n else unknown for total, n in zip(node.totals, node.visits, strict=True)]
        values[made] += (goal - values[made]) / chance
        mean = sum_in_order([share * value for share, value in zip(node.shares(), values, strict=True)])
        node.regrets = [
            max(0.0, regret + weight * (value - mean))
            for regret, value in zip(node.regrets, values, strict=True)
        ]
