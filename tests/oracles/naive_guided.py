"""The twin of `search_guided` in plain Python: one tree, one simulation at a time, values alone.

It makes the same choices by the same formulas, without proofs, and builds the same tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.networks.network import Network
from ggp.search.forest.guided_kernel import EXPLORATION, REDUCTION


@dataclass
class _Node:
    """Lists by role, with an entry for each legal move."""

    moves: list[list[int]]
    prior: list[list[float]]
    visits: list[list[int]]
    total: list[list[float]]
    children: dict[tuple[int, ...], PackedState] = field(default_factory=dict)


class PlainGuidedSearch:
    """Searches one state of a game without chance."""

    def __init__(self, game: CompiledGame, network: Network) -> None:
        self._game = game
        self._network = network
        self.nodes: dict[tuple[tuple[int, ...], ...], _Node] = {}

    def run(self, state: PackedState, simulations: int) -> None:
        """Search a state from scratch."""
        self.nodes = {}
        for _ in range(simulations):
            self._simulate(state)

    def root_visits(self, role: int) -> dict[int, int]:
        """Visits by move, counted within the role."""
        root = self.nodes[()]
        return dict(zip(root.moves[role], root.visits[role], strict=True))

    def _simulate(self, state: PackedState) -> None:
        game = self._game
        path: list[tuple[_Node, tuple[int, ...]]] = []
        key: tuple[tuple[int, ...], ...] = ()
        while True:
            if game.is_terminal(state):
                goals = [float(game.goal(state, role)) for role in game.roles]
                break
            node = self.nodes.get(key)
            if node is None:
                self.nodes[key], goals = self._expand(state)
                break
            chosen = tuple(self._select(node, role) for role in range(len(game.roles)))
            path.append((node, chosen))
            key = (*key, chosen)
            moves = (game.moves[r][node.moves[r][place]] for r, place in enumerate(chosen))
            state = game.next_state(state, tuple(moves))
        for node, chosen in path:
            for role, place in enumerate(chosen):
                node.visits[role][place] += 1
                node.total[role][place] += goals[role]

    def _expand(self, state: PackedState) -> tuple[_Node, list[float]]:
        game = self._game
        values, logits = self._network.evaluate(game.unpack(state)[None])
        node = _Node([], [], [], [])
        for r, role in enumerate(game.roles):
            moves = [game.moves[r].index(move) for move in game.legal_moves(state, role)]
            legal = logits[0, int(game.tables.first_move[r]) + np.array(moves)]
            share = np.exp(legal - legal.max())
            node.moves.append(moves)
            node.prior.append([float(each) for each in share / share.sum()])
            node.visits.append([0] * len(moves))
            node.total.append([0.0] * len(moves))
        return node, [100 * float(value) for value in values[0]]

    def _select(self, node: _Node, role: int) -> int:
        """PUCT: the first with the highest mean plus C · prior · sqrt(N) / (1 + n)."""
        visits, total, prior = node.visits[role], node.total[role], node.prior[role]
        tried = sum(visits)
        mean = sum(total) / tried if tried else 0.0
        bonus = EXPLORATION * math.sqrt(max(1, tried))
        values = [
            (t / n if n else mean - REDUCTION) + bonus * p / (1 + n)
            for n, t, p in zip(visits, total, prior, strict=True)
        ]
        return values.index(max(values))
