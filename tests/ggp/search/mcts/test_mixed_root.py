"""Mixed strategies from the statistics of a tree."""

import random

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.search.mcts.mixed_root import RootMatrix, root_matrix
from ggp.search.mcts.options import MctsOptions
from ggp.search.mcts.search import LanesSearch


def searched(name, role=0, simulations=2000):
    game = load(name, "lanes")
    search = LanesSearch(game, game.roles[role], seed=1, options=MctsOptions(words=1))
    search.move_to(game.initial_state(), None)
    search.run(simulations=simulations)
    return root_matrix(search, game.initial_state())


@pytest.mark.parametrize("role", [0, 1])
def test_rockpaperscissors_is_mixed_evenly(role):
    assert searched("rockpaperscissors", role).strategy() == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("role", [0, 1])
def test_morra_is_mixed_as_it_should_be(role):
    matrix = searched("morra", role)
    chances = dict(zip(map(str, matrix.moves), matrix.strategy(), strict=True))
    assert chances == pytest.approx({"(show 1)": 7 / 12, "(show 2)": 5 / 12})


def test_prisoners_confess():
    matrix = searched("prisoners_dilemma")
    assert not matrix.has_constant_sum
    assert str(matrix.draw(random.Random(0))) == "confess"


def test_means_of_playouts_stand_for_what_comes_later():
    matrix = searched("goofspiel", simulations=20_000)
    assert matrix.payoff.shape == (5, 5)
    assert matrix.has_constant_sum
    assert len(np.unique(matrix.payoff.round(6))) > 5
    assert sum(matrix.strategy()) == pytest.approx(1)


@pytest.mark.parametrize("name", ["tictactoe", "dicerace", "maze"])
def test_other_stages_are_left_alone(name):
    assert searched(name, simulations=100) is None


def test_large_games_without_constant_sum_have_no_strategy():
    payoff = np.arange(49.0).reshape(7, 7)
    assert RootMatrix(tuple(range(7)), payoff, payoff * payoff).strategy() is None
