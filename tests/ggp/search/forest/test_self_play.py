"""Matches side by side are matches: the rules agree with every move, and nothing depends on threads."""

import numpy as np
import pytest

import ggp
from ggp.game import RANDOM_ROLE, GameError
from ggp.search.forest.self_play import self_play
from tests.conftest import mostly_slow
from tests.ggp.search.tree.golden import compiled

GAMES = ["tictactoe", "goofspiel", "connectfour_3p", "dicerace", "rockpaperscissors", "hanoi"]


def replay(game, rules, found, n):
    """Match n by the reasoner; what it says of choices, end and goals must be what was played."""
    state = rules.initial_state()
    for step in range(found.length[n]):
        assert not rules.is_terminal(state)
        joint_move = []
        for r, role in enumerate(game.roles):
            legal = rules.legal_moves(state, role)
            assert found.choices[n, step, r] == len(legal)
            assert np.isnan(found.value[n, step, r]) == (len(legal) == 1 or role == RANDOM_ROLE)
            move = game.moves[r][found.moves[n, step, r]]
            assert move in legal
            joint_move.append(move)
        state = rules.next_state(state, tuple(joint_move))
    assert (found.moves[n, found.length[n] :] == -1).all()
    assert rules.is_terminal(state) == bool(found.is_finished[n])
    if found.is_finished[n]:
        for r, role in enumerate(game.roles):
            if role != RANDOM_ROLE:
                assert found.goals[n, r] == rules.goal(state, role)


@pytest.mark.parametrize("name", mostly_slow(GAMES, 3))
def test_matches_follow_the_rules(name):
    game, rules = compiled(name), ggp.load(name, engine="reasoner")
    found = self_play(game, 20, 12, seed=2, step_limit=40, threads=1)
    for n in range(12):
        replay(game, rules, found, n)


def test_matches_depend_on_the_seed_and_not_on_threads():
    game = compiled("tictactoe")

    def moves(seed, threads):
        return self_play(game, 30, 600, seed=seed, threads=threads).moves

    one = moves(1, 1)
    assert np.array_equal(one, moves(1, 2))
    assert not np.array_equal(one, moves(2, 1))
    assert len(np.unique(one, axis=0)) > 100


@pytest.mark.parametrize("name", ["tictactoe", "kuhn_poker"])
def test_random_matches_search_nothing(name):
    game = compiled(name)
    found = self_play(game, 0, 300, seed=3)
    assert found.is_finished.all()
    assert np.isnan(found.value).all()
    openings = np.unique(found.moves[:, 0], axis=0)
    assert len(openings) == found.choices[0, 0].prod()


def test_more_simulations_win_more():
    game = compiled("connectfour_4x4")
    simulations = np.empty((200, 2), int)
    simulations[::2], simulations[1::2] = (300, 10), (10, 300)
    found = self_play(game, simulations, 200, seed=1)
    strong = np.where(np.arange(200) % 2 == 0, found.goals[:, 0], found.goals[:, 1])
    assert strong.mean() > 70
    assert found.is_finished.all()


def test_long_matches_are_cut_and_not_finished():
    found = self_play(compiled("connectfour"), 5, 70, step_limit=6)
    assert (found.length == 6).all()
    assert not found.is_finished.any()
    assert not found.goals.any()


def test_progress_is_reported_and_play_can_be_stopped():
    game, counts = compiled("tictactoe"), []

    def is_over(count):
        counts.append(count)
        return count > 0

    found = self_play(game, 20, 64, is_over=is_over)
    assert int(found.is_finished.sum()) == counts[-1]
    assert 0 < counts[-1] < 64
    assert counts == sorted(counts)
    counts.clear()
    found = self_play(game, 20, 64, is_over=lambda count: counts.append(count))
    assert found.is_finished.all()
    assert counts == sorted(counts)


def test_no_matches_and_impossible_ones():
    game = compiled("tictactoe")
    assert self_play(game, 10, 0).moves.shape == (0, 0, 2)
    with pytest.raises(ValueError, match="number of simulations must be at least 0, not -1"):
        self_play(game, -1, 1)
    with pytest.raises(GameError, match="hides information"):
        self_play(compiled("kuhn_poker"), 10, 1)
    with pytest.raises(GameError, match="not compiled"):
        self_play(ggp.load("tictactoe", engine="reasoner"), 10, 1)
