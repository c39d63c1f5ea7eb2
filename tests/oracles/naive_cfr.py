"""Predictive CFR+ and best responses by recursion over the tree of histories, one node at a time."""

from collections import defaultdict
from typing import Any

import numpy as np

from ggp.env.extensive import CHANCE, TERMINAL, ExtensiveGame
from ggp.solver.cfr.minimization import Strategies, realization_plan
from ggp.solver.cfr.sequence_form import SequenceForm

Strategy = dict[str, list[float]]
"""By the text of an information set, the probability of each action."""


class NaiveCfr:
    """The minimization of `ggp.solver.cfr`, for two agents."""

    def __init__(self, tree: ExtensiveGame) -> None:
        tree.is_joint = False  # agents that choose at once choose one after the other, unseen
        self.tree = tree
        self.root = tree.root()
        self.regret: Any = (defaultdict(dict), defaultdict(dict))
        self.last: Any = (defaultdict(dict), defaultdict(dict))
        self.current: tuple[Strategy, Strategy] = ({}, {})
        self.average: tuple[Strategy, Strategy] = ({}, {})

    def run(self, iterations: int) -> tuple[Strategy, Strategy]:
        """The average strategies after some iterations."""
        for t in range(1, iterations + 1):
            for agent in (0, 1):
                self.values: Any = defaultdict(dict)
                self.walk(self.root, agent, 1.0)
                self.update(agent)
                self.add_average(self.root, agent, 1.0, t * t, set())
        return tuple(  # type: ignore[return-value]
            {
                key: [w / sum(weights) for w in weights] if sum(weights) else self.current[a][key]
                for key, weights in self.average[a].items()
            }
            for a in (0, 1)
        )

    def strategy(self, agent: int, key: str, count: int) -> list[float]:
        return self.current[agent].setdefault(key, [1 / count] * count)

    def walk(self, node: Any, agent: int, reach: float) -> float:
        """The value of a node for `agent`; `reach` is the share of chance and the other agent."""
        tree = self.tree
        player = tree.player(node)
        if player == TERMINAL:
            return tree.returns(node)[agent]
        actions = tree.actions(node, player)
        if player == CHANCE:
            share = 1 / len(actions)
            return share * sum(self.walk(tree.apply(node, a), agent, reach * share) for a in actions)
        key = tree.information(node, player)
        strategy = self.strategy(player, key, len(actions))
        if player != agent:
            return sum(
                p * self.walk(tree.apply(node, a), agent, reach * p)
                for p, a in zip(strategy, actions, strict=True)
            )
        worth = [self.walk(tree.apply(node, a), agent, reach) for a in actions]
        for i, value in enumerate(worth):
            self.values[key][i] = self.values[key].get(i, 0.0) + reach * value
        return sum(p * w for p, w in zip(strategy, worth, strict=True))

    def update(self, agent: int) -> None:
        """Predictive regret matching+ in every information set."""
        for key, worth in self.values.items():
            strategy = self.current[agent][key]
            expected = sum(strategy[i] * value for i, value in worth.items())
            predicted = []
            for i, value in worth.items():
                regret = max(0.0, self.regret[agent][key].get(i, 0.0) + value - expected)
                self.regret[agent][key][i] = regret
                predicted.append(max(0.0, regret + value - expected))
            total, count = sum(predicted), len(predicted)
            self.current[agent][key] = [p / total if total else 1 / count for p in predicted]

    def add_average(self, node: Any, agent: int, reach: float, weight: float, done: set[str]) -> None:
        """Add the realization plan of the current strategy, once per information set."""
        tree = self.tree
        player = tree.player(node)
        if player == TERMINAL:
            return
        actions = tree.actions(node, player)
        shares = [1.0] * len(actions)
        if player == agent:
            key = tree.information(node, player)
            shares = self.current[agent][key]
            if key not in done:
                done.add(key)
                sums = self.average[agent].setdefault(key, [0.0] * len(actions))
                for i, share in enumerate(shares):
                    sums[i] += weight * reach * share
        for share, action in zip(shares, actions, strict=True):
            self.add_average(tree.apply(node, action), agent, reach * share, weight, done)


def best_value(tree: ExtensiveGame, agent: int, other: Strategy) -> float:
    """What the best pure strategy of `agent` earns against `other`: every move tried, set by set."""
    tree.is_joint = False

    def best(nodes: list[tuple[Any, float]]) -> float:
        """The most that can be earned from weighted histories."""
        earned, waiting = 0.0, defaultdict(list)
        while nodes:
            node, weight = nodes.pop()
            player = tree.player(node)
            if player == TERMINAL:
                earned += weight * tree.returns(node)[agent]
            elif player == agent:
                waiting[tree.information(node, agent)].append((node, weight))
            else:
                actions = tree.actions(node, player)
                even = [1 / len(actions)] * len(actions)
                shares = even if player == CHANCE else other[tree.information(node, player)]
                nodes += [(tree.apply(node, a), weight * p) for a, p in zip(actions, shares, strict=True)]
        for group in waiting.values():
            actions = tree.actions(group[0][0], agent)
            earned += max(best([(tree.apply(node, a), weight) for node, weight in group]) for a in actions)
        return earned

    return best([(tree.root(), 1.0)])


def expected_goal(form: SequenceForm, strategies: Strategies) -> float:
    """The mean goal of agent 0 if both play these behavior strategies."""
    first, second = (realization_plan(*each) for each in zip(form.plexes, strategies, strict=True))
    reach = np.repeat(first, np.diff(form.row_start)) * second[form.column]
    return float(form.payoff @ reach) + form.graph.total / 2
