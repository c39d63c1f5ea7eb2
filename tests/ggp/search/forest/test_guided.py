"""Searches that a network guides: the kernel next to its twin, noise, sharing, and one tree in many lanes."""

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.networks.network import Network
from ggp.search.budget import Budget
from ggp.search.forest.guided import GuidedForest
from ggp.search.tree.options import MctsOptions
from tests.ggp.search.tree.golden import in_flight
from tests.oracles.naive_guided import PlainGuidedSearch

UNPROVEN = MctsOptions(is_solving=False)


def sums_of_visits(forest, role=0):
    found = forest.root_moves(role)
    return [int(found.visits[a:b].sum()) for a, b in zip(found.first[:-1], found.first[1:], strict=True)]


@pytest.mark.parametrize("name", ["tictactoe", "connectfour", "tron"])  # in tron roles choose at once
def test_a_tree_is_that_of_the_twin(name):
    game = load(name, "lanes")
    network = Network.random(game, seed=5)
    forest = GuidedForest(game, network, options=UNPROVEN)
    state = game.initial_state()
    forest.search(game.unpack(state)[None], [300])
    plain = PlainGuidedSearch(game, network)
    plain.run(state, 300)
    for role in range(len(game.roles)):
        found = forest.root_moves(role)
        assert dict(zip(found.move.tolist(), found.visits.tolist(), strict=True)) == plain.root_visits(role)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_every_simulation_is_counted_and_wins_are_found(share):
    game = load("tictactoe", "lanes")
    forest = GuidedForest(game, Network.random(game, seed=2), share)
    state = game.initial_state()
    for cell in ("1 1", "2 1", "1 2", "2 2"):
        legal = [game.legal_moves(state, role) for role in game.roles]
        moves = [next(m for m in each if str(m) in (f"(mark {cell})", "noop")) for each in legal]
        state = game.next_state(state, tuple(moves))
    roots = np.stack([game.unpack(game.initial_state()), game.unpack(state)])
    forest.search(roots, [200, 200])
    assert sums_of_visits(forest)[0] == 199
    (_, best), _ = forest.root_moves(0).best()
    assert str(game.moves[0][best]) == "(mark 1 3)"
    assert forest.root_values()[1].tolist() == [100, 0]  # proven


def test_noise_changes_the_search_and_keeps_its_size():
    game = load("connectfour", "lanes")
    network = Network.random(game, seed=2)
    roots = np.repeat(game.unpack(game.initial_state())[None], 3, axis=0)
    forest = GuidedForest(game, network)
    assert forest.search_with_noise(roots, np.array([50, 60, 70]), np.random.default_rng(1), share=0.9)
    assert sums_of_visits(forest) == [49, 59, 69]
    noisy = forest.root_moves(0).visits.copy()
    forest.search(roots, [50, 60, 70])
    assert sums_of_visits(forest) == [49, 59, 69]
    assert (noisy != forest.root_moves(0).visits).any()


def test_many_lanes_search_one_tree_and_can_be_stopped():
    game = load("connectfour", "lanes")
    forest = GuidedForest(game, Network.random(game, seed=2), 0.5)
    forest.search_together(game.unpack(game.initial_state()), Budget(simulations=4000), lanes=40)
    # All lanes reach the root before it is expanded; the others wait for nothing.
    (total,) = sums_of_visits(forest)
    assert 4000 - 40 <= total <= 4000
    assert not in_flight(forest._engine).any()
    stopped = Budget(is_stopped=lambda: True)
    assert not forest.search_together(game.unpack(game.initial_state()), stopped, lanes=8)


def test_shares_are_checked():
    game = load("tictactoe", "lanes")
    with pytest.raises(ValueError, match="share must be"):
        GuidedForest(game, Network.random(game, seed=2), 1.5)
