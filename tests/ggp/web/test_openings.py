"""The results of random games after the moves of a position."""

import random
import time
from collections import Counter

import ggp
from ggp.web.openings import results


def naive_result(game, state, rng):
    """0, 1 or 2: the first role wins, draws or loses one random game."""
    while not game.is_terminal(state):
        state = game.next_state(state, [rng.choice(game.legal_moves(state, role)) for role in game.roles])
    return {100: 0, 0: 2}.get(game.goal(state, game.roles[0]), 1)


def test_results_agree_with_games_played_one_by_one():
    game, rng = ggp.load("tictactoe"), random.Random(1)
    state, role = game.initial_state(), game.roles[0]
    move, noop = game.legal_moves(state, role)[0], game.legal_moves(state, game.roles[1])[0]
    found = results(game, state, role, [move], time.monotonic() + 60)[str(move)]
    after = game.next_state(state, [move, noop])
    count = Counter(naive_result(game, after, rng) for _ in range(400))
    assert all(abs(found[kind] / 1024 - count[kind] / 400) < 0.1 for kind in range(3))


def test_moves_at_the_same_time_and_ends_are_counted():
    game = ggp.load("rockpaperscissors")
    state, role = game.initial_state(), game.roles[0]
    while len(game.legal_moves(state, role)) < 2:
        state = game.next_state(state, [game.legal_moves(state, each)[0] for each in game.roles])
    moves = game.legal_moves(state, role)
    found = results(game, state, role, moves, time.monotonic() + 60)
    assert list(found) == list(map(str, moves))
    assert {sum(each) for each in found.values()} == {1024}


def test_games_without_circuits_and_past_deadlines_have_none():
    game = ggp.load("tictactoe", engine="reasoner")
    moves = game.legal_moves(game.initial_state(), game.roles[0])
    assert results(game, game.initial_state(), game.roles[0], moves, time.monotonic() + 60) == {}
    game = ggp.load("tictactoe")
    assert results(game, game.initial_state(), game.roles[0], moves, time.monotonic() - 1) == {}
