"""Nodes inside the trees of a forest, next to those of the twin in plain Python."""

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.lanes.engine import Lanes
from ggp.networks.network import Network
from ggp.search.forest.forest import Forest
from ggp.search.forest.guided import Guidance, GuidedForest
from ggp.search.forest.guided_plain import PlainGuidedSearch
from ggp.search.forest.inner_nodes import inner_nodes
from ggp.search.mcts.options import MctsOptions


def plain_nodes(game, network, state, simulations, least_visits):
    """{state: [(moves, visits, mean) by role]} of the twin's nodes below the root."""
    search = PlainGuidedSearch(game, network, Guidance())
    search.run(state, simulations)
    found = {}
    for key, node in search.nodes.items():
        if not key or sum(node.visits[0]) < least_visits:
            continue
        reached = state
        for depth, chosen in enumerate(key):
            parent = search.nodes[key[:depth]]
            joint = [game.moves[r][parent.moves[r][place]] for r, place in enumerate(chosen)]
            reached = game.next_state(reached, tuple(joint))
        first = game.tables.first_move
        found.setdefault(reached, []).append(
            [
                ([first[r] + move for move in moves], visits, sum(total) / sum(visits))
                for r, (moves, visits, total) in enumerate(
                    zip(node.moves, node.visits, node.total, strict=True)
                )
            ]
        )
    return found


@pytest.mark.parametrize("name", ["tictactoe", "tron"])  # in tron roles choose at once
def test_nodes_are_those_of_the_twin(name):
    game = load(name, "lanes")
    network = Network.random(game, seed=5)
    forest = GuidedForest(game, network, Guidance(), options=MctsOptions(is_solving=False))
    roots = [game.initial_state()]
    for _ in range(2):
        joint = tuple(game.legal_moves(roots[-1], role)[0] for role in game.roles)
        roots.append(game.next_state(roots[-1], joint))
    states = np.stack([game.unpack(state) for state in roots])
    forest.search(states, [400, 300, 250])
    nodes = inner_nodes(forest, states, Lanes(game.lane_tables), 20)
    expected = [
        plain_nodes(game, network, root, number, 20)
        for root, number in zip(roots, (400, 300, 250), strict=True)
    ]
    assert len(nodes) == sum(len(same) for each in expected for same in each.values()) > 5
    for n in range(len(nodes)):
        edges = slice(nodes.first[n], nodes.first[n + 1])
        candidates = [node for each in expected for node in each.get(game.pack(nodes.states[n]), ())]
        found = []
        for role in range(len(game.roles)):
            mine = nodes.role[edges] == role
            found.append((nodes.move[edges][mine].tolist(), nodes.visits[edges][mine].tolist()))
        matching = [
            node for node in candidates if [(m, v) if len(m) > 1 else ([], []) for m, v, _ in node] == found
        ]
        assert matching
        assert any(np.allclose(nodes.values[n], [mean for *_, mean in node]) for node in matching)


def test_proven_nodes_are_left_out_and_a_high_bound_leaves_none():
    game = load("tictactoe", "lanes")
    forest = Forest(game, options=MctsOptions(is_solving=True))
    roots = game.unpack(game.initial_state())[None]
    forest.search(roots, [3000])
    lanes = Lanes(game.lane_tables)
    nodes = inner_nodes(forest, roots, lanes, 1)
    assert 0 < len(nodes) < forest.node_count
    assert (np.diff(nodes.first) > 1).all()
    assert len(inner_nodes(forest, roots, lanes, 10**6)) == 0
