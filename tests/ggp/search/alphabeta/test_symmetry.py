"""Symmetries are symmetries, and those of well-known boards are found."""

import random

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.search.alphabeta.symmetry import fluent_symmetries
from ggp.solver import solve


@pytest.mark.parametrize(
    ("name", "count"), [("tictactoe", 8), ("connectfour_4x4", 2), ("breakthrough_4x4", 2), ("nim", 1)]
)
def test_symmetries_of_boards_are_found(name, count):
    images = fluent_symmetries(load(name, "lanes"))
    assert len(images) == len({image.tobytes() for image in images}) == count
    assert images[0].tolist() == list(range(images.shape[1]))


@pytest.mark.parametrize("name", ["tictactoe", "connectfour_4x4"])
def test_mirrored_states_have_the_same_value(name):
    solution = solve(load(name, "lanes"))
    game = solution.game
    rng = random.Random(5)
    for image in fluent_symmetries(game):
        for _ in range(20):
            state = game.initial_state()
            for _ in range(rng.randrange(9)):
                if game.is_terminal(state):
                    break
                state = rng.choice(game.successors(state).states)
            mirrored = game.pack(game.unpack(state)[image])
            assert solution.worth(mirrored).values == solution.worth(state).values
            assert game.is_terminal(mirrored) == game.is_terminal(state)


def test_no_symmetry_moves_the_initial_state():
    game = load("tictactoe", "lanes")
    initial = game.unpack(game.initial_state())
    for image in fluent_symmetries(game):
        np.testing.assert_array_equal(initial[image], initial)
