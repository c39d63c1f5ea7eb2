"""Alpha-beta on lanes against the solver; node by node it is compared in `test_reference`."""

import time
from functools import lru_cache

import pytest

from ggp.engines.loading import load
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError
from ggp.search.budget import Budget
from ggp.solver import solve
from tests.ggp.search.alphabeta.positions import after, mover_of, random_states

GAMES = ["tictactoe", "nim", "bucket", "halving", "hex_3x3", "othello_4x4", "maze"]


@lru_cache
def solved(name):
    return solve(load(name, "lanes"))


@pytest.mark.parametrize("name", GAMES)
def test_search_finds_the_value_and_a_move_that_keeps_it(name):
    solution = solved(name)
    game = solution.game
    search = AlphaBeta(game, mebibytes=4)
    for state in random_states(game, 12):
        result = search.search(state)
        assert result.is_proven
        assert result.goal == solution.worth(state).values[0]
        if result.move is not None:
            assert solution.worth(after(game, state, result.move)).values[0] == result.goal


@pytest.mark.parametrize("name", ["nim", "breakthrough_4x4", "connectfour_4x4", "pentago"])
def test_children_have_the_movers_and_as_many_moves_as_the_rules_give_them(name):
    """Counted in binary digits for all children at once; pentago has more than 64 of them."""
    game = load(name, "lanes")
    search = AlphaBeta(game, mebibytes=1)
    for state in random_states(game, 6, seed=2):
        search.forget()
        search.search(state, depth=1)
        first, count = int(search.frames.first[0]), int(search.frames.children[0])
        mover = int(search._memory.mover[0])
        assert count == len(game.legal_moves(state, game.roles[mover]))
        for child in range(first, first + count):
            made = game.moves[mover][search._memory.move[child] - game.tables.first_move[mover]]
            following = after(game, state, made)
            counts = [len(game.legal_moves(following, role)) for role in game.roles]
            assert search._memory.mobility[child] == max(1, *counts)
            assert max(counts) < 2 or search._memory.mover[child] == counts.index(max(counts))


def test_bound_of_deepening_is_the_depth_asked_for():
    game = load("connectfour", "lanes")
    result = AlphaBeta(game, mebibytes=4).search(game.initial_state(), depth=5)
    assert (result.depth, result.is_proven) == (5, False)
    assert result.move in game.legal_moves(game.initial_state(), game.roles[0])


def test_search_stops_in_time_and_at_the_node_limit():
    game = load("connectfour", "lanes")
    search = AlphaBeta(game, mebibytes=4)
    search.search(game.initial_state(), depth=1)
    start = time.monotonic()
    result = search.search(game.initial_state(), Budget(start + 0.3))
    assert time.monotonic() - start < 5
    assert result.goal is not None
    limited = search.search(game.initial_state(), Budget(nodes=500))
    assert limited.nodes <= 501


@pytest.mark.parametrize(
    ("name", "message"),
    [("dicerace", "chance"), ("connectfour_3p", "one role, or two"), ("morra", "same time")],
)
def test_other_kinds_of_games_are_refused(name, message):
    game = load(name, "lanes")
    with pytest.raises(AlphaBetaError, match=message):
        AlphaBeta(game, mebibytes=1).search(game.initial_state())


@pytest.mark.parametrize("name", GAMES)
def test_null_windows_tell_on_which_side_of_a_goal_the_value_lies(name):
    solution = solved(name)
    game = solution.game
    search = AlphaBeta(game, mebibytes=4)
    for state in random_states(game, 4, seed=3):
        value = solution.worth(state).values[0]
        for goal in (10, 50, 90):
            assert search.is_reached(state, goal, 1) == (value >= goal)
            assert search.is_reached(state, goal, -1) == (value <= goal)


def test_null_windows_end_with_their_deadline():
    game = load("connectfour", "lanes")
    search = AlphaBeta(game, mebibytes=4)
    assert search.is_reached(game.initial_state(), 50, 1, Budget(time.monotonic() + 0.3)) is None


def test_search_stopped_at_the_root_shows_nothing_of_an_earlier_one():
    game = load("connectfour", "lanes")
    search = AlphaBeta(game, mebibytes=1)
    search.search(game.initial_state(), depth=6)
    for state in random_states(game, 8, seed=6):
        result = search.search(state, Budget(nodes=1))
        assert (result.depth, result.is_whole) == (1, True)
        assert result.move in game.legal_moves(state, game.roles[mover_of(game, state)])
