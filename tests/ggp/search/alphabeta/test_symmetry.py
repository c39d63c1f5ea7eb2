"""Symmetries are symmetries, and those of well-known boards are found."""

import math
import threading
import time

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.search.alphabeta import symmetry
from ggp.search.alphabeta.symmetry import fluent_symmetries, symmetries_in_time
from ggp.solver import solve
from tests.ggp.search.alphabeta.positions import random_states


@pytest.mark.parametrize(
    ("name", "count"), [("tictactoe", 8), ("connectfour_4x4", 2), ("breakthrough_4x4", 2), ("nim", 1)]
)
def test_symmetries_of_boards_are_found(name, count):
    images = fluent_symmetries(load(name, "lanes"))
    assert len(images) == len({image.tobytes() for image in images}) == count
    assert images[0].tolist() == list(range(images.shape[1]))


@pytest.mark.parametrize("name", ["tictactoe", "connectfour_4x4"])
def test_mirrored_states_have_the_same_value_and_the_initial_one_is_its_own_mirror_image(name):
    solution = solve(load(name, "lanes"))
    game = solution.game
    initial = game.unpack(game.initial_state())
    for image in fluent_symmetries(game):
        np.testing.assert_array_equal(initial[image], initial)
        for state in random_states(game, 20, seed=5, ends=True):
            mirrored = game.pack(game.unpack(state)[image])
            assert solution.worth(mirrored).values == solution.worth(state).values
            assert game.is_terminal(mirrored) == game.is_terminal(state)


def test_symmetries_that_take_too_long_are_left_to_a_later_match(monkeypatch):
    game = load("tictactoe", "lanes")
    may_ground = threading.Event()
    ground = symmetry.ground
    monkeypatch.setattr(symmetry, "ground", lambda program: may_ground.wait() and ground(program))
    late = symmetries_in_time(game, time.monotonic())
    assert late.tolist() == [list(range(len(game.terms.fluents)))]
    may_ground.set()
    assert len(symmetries_in_time(game, math.inf)) == 8
    monkeypatch.setattr(symmetry, "ground", None)
    assert len(fluent_symmetries(game)) == len(symmetries_in_time(game, time.monotonic())) == 8


def test_symmetries_of_large_circuits_are_not_looked_for(monkeypatch):
    monkeypatch.setattr(symmetry, "MAX_INPUTS", 10)
    monkeypatch.setattr(symmetry, "ground", None)
    assert len(symmetries_in_time(load("tictactoe", "lanes"), math.inf)) == 1
