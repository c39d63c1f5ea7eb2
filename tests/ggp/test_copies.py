"""What the public API returns can be copied and pickled, and arrays that come back are checked before use."""

import copy
import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import pytest

import ggp
from ggp.features.linear_form import parse_linear_form
from ggp.lanes.engine import Lanes
from ggp.networks.network import Network
from ggp.processes.isolation import isolated_environment
from ggp.search.alphabeta.estimate import Estimate
from ggp.search.alphabeta.search import AlphaBeta
from ggp.search.budget import Budget
from ggp.search.forest.forest import Forest
from ggp.search.forest.guided import GuidedForest
from ggp.search.tree.options import default_options
from ggp.search.tree.search import LanesSearch
from ggp.solver.cfr.minimization import bounds, respond, solve_hidden
from ggp.solver.cfr.strategy import information_sets
from ggp.teaching.samples import Samples
from tests.oracles.naive_cfr import expected_goal

COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}


@pytest.fixture(scope="module")
def game():
    return ggp.load("tictactoe", engine="lanes")


@pytest.fixture(scope="module")
def poker():
    return solve_hidden(ggp.load("kuhn_poker"))


@pytest.mark.parametrize("how", COPIES)
def test_a_solution_is_copied(game, how):
    solution = ggp.solve(game)
    copied = COPIES[how](solution)
    assert repr(copied) == repr(solution)
    state = game.next_state(game.initial_state(), [game.moves[0][0], ggp.parse_term("noop")])
    assert copied.values(state) == solution.values(state)
    assert copied.stage(state).best_moves == solution.stage(state).best_moves


@pytest.mark.parametrize("how", COPIES)
def test_results_are_copied(game, how):
    network = Network.random(game, seed=1)
    fluents = game.unpack(game.initial_state())[None]
    for value in (
        ggp.playouts(game, 1000),
        ggp.search_state(game, simulations=50),
        parse_linear_form("1 (control x)"),
        ggp.describe(game),
        ggp.validate("tictactoe").diagnostics,
    ):
        assert COPIES[how](value) == value
    for value in (ggp.successors(game), ggp.self_play(game, 8, 70, seed=1), Samples.empty(20, 2), network):
        copied = COPIES[how](value)
        names = getattr(value, "_fields", None) or [each.name for each in dataclasses.fields(value)]
        for name in names:
            np.testing.assert_array_equal(getattr(copied, name), getattr(value, name), name)
    np.testing.assert_array_equal(COPIES[how](network).evaluate(fluents)[0], network.evaluate(fluents)[0])


@pytest.mark.parametrize("how", COPIES)
def test_a_game_and_its_lanes_are_copied(game, how):
    copied = COPIES[how](game)
    assert ggp.playouts(copied, 5000, seed=2) == ggp.playouts(game, 5000, seed=2)
    assert (
        ggp.search_state(copied, simulations=40).best_move == ggp.search_state(game, simulations=40).best_move
    )


@pytest.mark.parametrize("how", COPIES)
def test_searches_are_copied_and_go_on_alike(game, how):
    """The kernels of a used search know the address of its memory: a copy has its own."""
    state = game.unpack(game.initial_state())[None]
    forest = Forest(game)
    forest.search(state, [50])
    visits = []
    for each in (COPIES[how](forest), forest):
        each.search(state, [100])
        visits.append(each.root_moves(0).visits.tolist())
    assert visits[0] == visits[1]
    search = LanesSearch(game, game.roles[0], options=default_options(100))
    search.move_to(game.initial_state(), None)
    search.run(Budget(simulations=100))
    copied = COPIES[how](search)
    searched = []
    for each in (copied, search):
        each.run(Budget(simulations=300))
        searched.append([(move.move, move.visits, move.mean) for move in each.report().moves])
    assert searched[0] == searched[1]
    del search
    copied.run(Budget(simulations=300))


def test_lanes_restored_at_any_address_are_played():
    """In a process of its own: misaligned rows once ended it."""
    code = """
import copy, pickle, ggp
from ggp.lanes.engine import Lanes
game = ggp.load("tictactoe", engine="lanes")
root = game.unpack(game.initial_state())
expected = Lanes(game.lane_tables, seed=3).playouts(root, 3000)
for _ in range(15):
    lanes = Lanes(game.lane_tables, seed=3)
    for copied in (copy.deepcopy(lanes), pickle.loads(pickle.dumps(lanes))):
        assert copied.playouts(root, 3000) == expected
print("played")
"""
    found = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=isolated_environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.stdout == "played\n", (found.returncode, found.stderr)


@pytest.mark.parametrize("how", COPIES)
def test_equilibria_are_copied(poker, how):
    copied = COPIES[how](poker)
    assert copied.exploitability == poker.exploitability
    assert list(information_sets(copied.form, copied.strategies)) == list(
        information_sets(poker.form, poker.strategies)
    )


def test_strategies_that_come_back_are_checked(poker):
    one, other = poker.strategies
    expected = expected_goal(poker.form, (one, other))
    gaps = np.repeat(other, 2)[::2]
    assert expected_goal(poker.form, (one, gaps)) == pytest.approx(expected)
    assert bounds(poker.form, (one.tolist(), gaps))[0] == pytest.approx(bounds(poker.form, (one, other))[0])
    for wrong in (other[:-1], np.append(other, 0.0), other[None], np.zeros(0)):
        for call in (
            lambda wrong=wrong: respond(poker.form, 0, wrong),
            lambda wrong=wrong: expected_goal(poker.form, (one, wrong)),
            lambda wrong=wrong: list(information_sets(poker.form, (one, wrong))),
        ):
            with pytest.raises(ValueError, match="a strategy has shape"):
                call()


def test_weights_and_networks_of_another_game_are_refused(game):
    other = ggp.load("connectfour_4x4", engine="lanes")
    network = Network.random(other, seed=1)
    fluents = len(game.terms.fluents)
    for estimate, message in (
        (Estimate(weights=np.zeros(fluents, np.int32)), "weights have shape"),
        (Estimate(weights=np.zeros(1, np.int32)), "weights have shape"),
    ):
        with pytest.raises(ValueError, match=message):
            AlphaBeta(game, estimate=estimate)
    with pytest.raises(ValueError, match="the network is not one of tictactoe"):
        GuidedForest(game, network)


def test_weights_of_a_network_may_lie_anywhere(game):
    network = Network.random(game, seed=1)
    twisted = Network(**{name: np.asfortranarray(array) for name, array in vars(network).items()})
    states = game.unpack(game.initial_state())[None]
    found = []
    for each in (network, twisted):
        forest = GuidedForest(game, each)
        forest.search(states, [50])
        found.append(forest.root_moves(0).visits.tolist())
    assert found[0] == found[1]


def test_states_of_another_size_are_refused(game):
    forest = Forest(game)
    for states in (np.zeros((1, 19), np.bool_), np.zeros((1, 1), np.bool_), np.zeros((2, 21), np.bool_)):
        with pytest.raises(ValueError, match="a state of tictactoe has 20 fluents"):
            forest.search(states, [10] * len(states))
    for root in (np.zeros(19, np.bool_), np.zeros(1, np.bool_), np.zeros((20, 1), np.bool_)):
        with pytest.raises(ValueError, match=r"expected bool of shape \(20,\)"):
            Lanes(game.lane_tables).playouts(root, 10)
    with pytest.raises(ValueError, match=r"expected bool of shape \(20, 512\)"):
        Lanes(game.lane_tables).set_states(np.zeros((20, 513), np.bool_))
