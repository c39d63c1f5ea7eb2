"""Networks: shapes, the file, and the kernel next to its twin in numpy."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.knowledge.folder import KnowledgeFileError
from ggp.knowledge.taught import TaughtNetwork
from ggp.networks.network import Network
from ggp.search.forest.guided import GuidedForest
from ggp.solver.saved_header import rules_digest
from ggp.teaching.play import random_successor


@pytest.fixture(scope="module")
def game():
    return load("connectfour", "lanes")


@pytest.fixture(scope="module")
def network(game):
    return Network.random(game, seed=3)


def some_states(game, count):
    """Nonterminal states along random matches, bool[count, F]."""
    rng, states = np.random.default_rng(1), []
    while len(states) < count:
        state = game.initial_state()
        while not game.is_terminal(state):
            states.append(game.unpack(state))
            state = random_successor(game, state, rng)
    return np.array(states[:count])


def test_the_kernel_agrees_with_numpy(game, network):
    # Several hundred times the weights of a fresh network, so that units are clipped at both ends.
    network = replace(
        network, fluents=network.fluents * 4, value=network.value * 20, policy=network.policy * 20
    )
    states = some_states(game, 300)
    forest = GuidedForest(game, network, share=0.0)
    forest.search(states, np.full(len(states), 1))
    values, logits = network.evaluate(states)
    assert values.std() > 0.05
    assert np.abs(forest._guide.expected[: len(states)] / 100 - values).max() < 1e-5
    role = 0
    found = forest.root_moves(role)
    first = forest._engine.tree.first_edge[: len(states), role]
    for n in range(len(states)):
        moves = found.move[found.first[n] : found.first[n + 1]]
        share = np.exp(logits[n, game.tables.first_move[role] + moves])
        prior = forest._guide.prior[first[n] : first[n] + len(moves)]
        assert np.abs(prior - share / share.sum()).max() < 1e-5


def test_weights_that_do_not_fit_are_refused(network):
    for change in ({"hidden": np.zeros((3, 4), np.float32)}, {"value_bias": np.zeros(2)}):
        with pytest.raises(ValueError, match=r"expected|float32"):
            replace(network, **change)
    with pytest.raises(ValueError, match="not one of tictactoe"):
        GuidedForest(load("tictactoe", "lanes"), network)


def taught(game, network):
    return TaughtNetwork(network, game.name, rules_digest(game.program), 7, 12.5, 0.6, 0.05)


def test_a_file_keeps_everything_whatever_the_order_of_fluents(game, network, tmp_path):
    kept = taught(game, network)
    place = tmp_path / "network.json"
    kept.save(place, game)
    names = json.loads(place.read_text())["fluents"]
    order = np.random.default_rng(1).permutation(len(names))
    replace(kept, network=replace(network, fluents=network.fluents[order])).save(place, game)
    shuffled = json.loads(place.read_text()) | {"fluents": [names[n] for n in order]}
    place.write_text(json.dumps(shuffled))
    found = TaughtNetwork.load(place, game)
    for name, array in vars(network).items():
        assert (getattr(found.network, name) == array).all(), name
    assert replace(found, network=network) == kept
    assert found.is_stronger
    assert not replace(found, error=0.2).is_stronger


@pytest.mark.parametrize(
    "change",
    [
        {"rules": "other"},
        {"score": float("nan")},
        {"fluents": ["a"]},
        {"weights": {}},
        {"format": "ggp-book 1"},
        {"moves": None},
        {"shape": [2], "data": "AAAA"},
        {"shape": [2, -1], "data": ""},
        {"shape": [1], "data": "AADAfw=="},
    ],
)
def test_damaged_files_are_refused(game, network, tmp_path, change):
    place = tmp_path / "network.json"
    taught(game, network).save(place, game)
    content = json.loads(place.read_text())
    (content["weights"]["value_bias"] if "shape" in change else content).update(change)
    place.write_text(json.dumps(content))
    with pytest.raises(KnowledgeFileError):
        TaughtNetwork.load(place, game)
