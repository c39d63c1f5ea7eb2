"""Trees side by side: one alone is that of the plain-Python search, many keep to their own roots."""

import random

import numpy as np
import pytest

from ggp.jit.rows import words_of
from ggp.lanes.choose import seeded_random
from ggp.search.budget import Budget
from ggp.search.forest.forest import Forest, RootMoves
from ggp.search.forest.self_play import WORDS
from ggp.search.report import MoveReport, best_of
from ggp.search.tree.kernels.arrays import UNPROVEN
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.reference.search import Search
from tests.conftest import mostly_slow
from tests.ggp.search.tree.golden import assert_same_tree, compiled, one_lane, winning_moves

GAMES = ["connectfour_3p", "tictactoe", "rockpaperscissors", "goofspiel", "dicerace", "connectfour_4x4"]


class Grown:
    """A forest of one tree, as `assert_same_tree` looks at a search."""

    def __init__(self, forest):
        self.engines, self.game = [forest._engine], forest.game


def unpacked(game, states):
    return np.array([game.unpack(state) for state in states])


def some_states(game, count, seed):
    """States on the way of random matches in which somebody has a choice."""
    rng, found = random.Random(seed), []
    state = game.initial_state()
    while len(found) < count:
        if game.is_terminal(state):
            state = game.initial_state()
        legal = [game.legal_moves(state, role) for role in game.roles]
        if max(map(len, legal)) > 1:
            found.append(state)
        state = game.next_state(state, tuple(map(rng.choice, legal)))
    return found


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("solving", mostly_slow([False, True], 2))
def test_one_tree_is_that_of_the_plain_search(name, solving):
    game, options = compiled(name), one_lane(is_solving=solving)
    forest = Forest(game, words=WORDS, seed=7, options=options)
    # The twin draws as lane 0 of rows of one word does, for which another kernel would be compiled.
    words_of(forest._engine.arrays.random)[:, :1] = words_of(seeded_random(1, seed=7))
    twin = Search(game, game.roles[0], seed=7, options=options)
    twin.move_to(game.initial_state(), None)
    twin.run(Budget(simulations=300))
    assert forest.search(unpacked(game, [game.initial_state()]), [300])
    assert assert_same_tree(Grown(forest), twin) > 5


@pytest.mark.parametrize("name", mostly_slow(["connectfour", "goofspiel", "dicerace"], 2))
def test_every_tree_counts_what_was_asked_on_the_legal_moves_of_its_root(name):
    game = compiled(name)
    forest = Forest(game, words=WORDS, seed=3)
    states = some_states(game, 100, seed=1)
    simulations = np.arange(100) % 7 * 40 + 20
    assert forest.search(unpacked(game, states), simulations)
    for role, each in enumerate(game.roles):
        found = forest.root_moves(role)
        for n, state in enumerate(states):
            edges = slice(found.first[n], found.first[n + 1])
            moves = [game.moves[role][move] for move in found.move[edges]]
            assert moves == list(game.legal_moves(state, each))
            assert found.visits[edges].sum() == simulations[n]
            assert (found.total[edges] <= 100 * found.visits[edges]).all()
    assert forest.simulation_count == simulations.sum()
    assert not forest.is_full


def test_a_forest_is_searched_again_from_scratch():
    game = compiled("connectfour_4x4")
    forest = Forest(game, words=WORDS, seed=5)
    states = unpacked(game, some_states(game, 40, seed=2))
    for count in (40, 3, 64 - 24):
        assert forest.search(states[:count], [50] * count)
        visits = forest.root_moves(0)
        assert visits.first.shape == (count + 1,)
        assert visits.visits.sum() == 50 * count


def test_wins_at_once_are_found_in_every_tree():
    game = compiled("tictactoe")
    found = {state: winning_moves(game, state, 0) for state in some_states(game, 400, seed=4)}
    states = [state for state in found if found[state] and len(game.legal_moves(state, game.roles[0])) > 1]
    states = (states * 64)[:64]
    forest = Forest(game, words=WORDS, seed=1, options=MctsOptions(is_solving=True))
    forest.search(unpacked(game, states), [100] * 64)
    best, value = forest.root_moves(0).best()
    assert all(game.moves[0][move] in found[state] for move, state in zip(best, states, strict=True))
    assert (value == 100).all()


@pytest.mark.parametrize("seed", range(20))
def test_the_best_move_is_the_most_visited_unless_a_proof_is_better(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 5, 30)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    count = first[-1]
    visits = rng.integers(0, 4, count).astype(np.int32)
    found = RootMoves(
        first,
        rng.permutation(count).astype(np.int32),
        visits,
        visits * rng.choice([0.0, 50.0, 60.0, 100.0], count),
        np.where(rng.random(count) < 0.4, rng.choice([0, 50, 100], count), UNPROVEN).astype(np.int32),
    )
    best, value = found.best()
    for n, size in enumerate(sizes):
        edges = range(first[n], first[n + 1])
        if not size:
            assert best[n] == -1
            continue
        expected = best_of(
            [
                MoveReport(
                    found.move[e],
                    int(found.visits[e]),
                    found.total[e] / max(found.visits[e], 1),
                    None if found.goal[e] == UNPROVEN else int(found.goal[e]),
                )
                for e in edges
            ]
        )
        assert (best[n], value[n]) == (expected.move, expected.expectation or 0.0)


def test_trees_without_room_say_so_and_searches_can_be_stopped():
    game = compiled("connectfour")
    forest = Forest(game, words=WORDS, mebibytes=1)
    assert forest.search(unpacked(game, [game.initial_state()] * 64), [1000] * 64)
    assert forest.is_full
    assert forest.root_moves(0).visits.sum() == 64_000
    assert not forest.search(unpacked(game, [game.initial_state()]), [10**9], lambda: True)
    assert forest.search(unpacked(game, [game.initial_state()]), [10])


def test_impossible_forests_are_refused():
    game = compiled("tictactoe")
    with pytest.raises(ValueError, match="mast"):
        Forest(game, options=MctsOptions(policy="mast"))
    with pytest.raises(ValueError, match="513 states do not fit into 512 lanes"):
        Forest(game, words=WORDS).search(unpacked(game, [game.initial_state()] * 513), [1] * 513)
