"""Mixed strategies from the statistics of a tree."""

import random

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.search.budget import Budget
from ggp.search.tree.mixed_root import RootMatrix, doubts, root_matrix
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.search import LanesSearch


def searched(name, role=0, simulations=2000):
    game = load(name, "lanes")
    search = LanesSearch(game, game.roles[role], seed=1, options=MctsOptions(words=1))
    search.move_to(game.initial_state(), None)
    search.run(Budget(simulations=simulations))
    return root_matrix(search, game.initial_state())


@pytest.mark.parametrize("role", [0, 1])
@pytest.mark.parametrize(
    ("name", "expected"), [("rockpaperscissors", [1 / 3] * 3), ("morra", [7 / 12, 5 / 12])]
)
def test_stages_are_mixed_as_they_should_be(role, name, expected):
    assert searched(name, role).strategy() == pytest.approx(expected)


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


def test_what_was_seldom_made_counts_less():
    visits = np.array([[900.0, 60.0, 0.0], [30.0, 9.0, 0.0], [1.0, 0.0, 0.0]])
    of_rows, of_columns = doubts(visits, np.zeros((3, 3), np.bool_))
    assert (np.diff(of_rows) > 0).all()
    assert (np.diff(of_columns) > 0).all()
    again = doubts(1000 * visits, np.zeros((3, 3), np.bool_))
    assert again[0][:2] == pytest.approx(of_rows[:2])


def test_payoffs_of_joint_moves_that_end_the_match_are_not_doubted():
    is_over = np.array([[True, True], [True, False]])
    of_rows, of_columns = doubts(np.array([[0.0, 0.0], [0.0, 5.0]]), is_over)
    assert of_rows[0] == of_columns[0] == 0
    assert of_rows[1] > 0
    assert of_columns[1] > 0


def test_a_row_that_only_seems_better_is_left_out():
    payoff, visits = np.array([[50.0, 50.0], [51.0, 51.0]]), np.array([[600.0, 397.0], [2.0, 1.0]])
    of_rows, of_columns = doubts(visits, np.zeros((2, 2), np.bool_))
    doubted = payoff + of_columns[None, :] - of_rows[:, None]
    assert RootMatrix((0, 1), payoff, 100 - payoff).strategy() == pytest.approx((0, 1))
    assert RootMatrix((0, 1), doubted, 100 - doubted).strategy() == pytest.approx((1, 0))
