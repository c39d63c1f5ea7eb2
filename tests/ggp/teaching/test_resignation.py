"""Resignation: who gives up when, what the audit makes of it, and that it changes nothing else."""

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.search.forest.forest import Forest
from ggp.search.mcts.options import MctsOptions
from ggp.teaching.play import PlayPlan, play_to_teach
from ggp.teaching.resignation import Cases, ResignationWatch, can_resign


def watch(threshold=10.0, matches=1):
    found = ResignationWatch(matches, threshold, np.random.default_rng(1))
    found.is_audited[:] = False
    return found


def note(watched, searcher, *values, match=0):
    for value in values:
        watched.note(np.array([match]), searcher, np.array([[value, 100 - value]]))


def test_both_players_have_to_agree_twice():
    watched = watch()
    note(watched, 0, 5, 5, 5)
    note(watched, 1, 5)
    assert watched.resigning().tolist() == [-1]
    note(watched, 1, 9)
    assert watched.resigning().tolist() == [0]
    assert watched.level[0, 0] == 9


def test_one_better_value_begins_the_count_again():
    watched = watch()
    note(watched, 0, 5, 20, 5)
    note(watched, 1, 5, 5)
    assert watched.resigning().tolist() == [-1]
    note(watched, 0, 5)
    assert watched.resigning().tolist() == [0]


def test_the_second_role_resigns_too_and_unknown_values_count_for_nobody():
    watched = watch()
    note(watched, 0, 97, 98)
    note(watched, 1, 95, np.nan)
    assert watched.resigning().tolist() == [-1]
    note(watched, 1, 96, 97)
    assert watched.resigning().tolist() == [1]


def test_audited_matches_are_played_to_their_end():
    watched = ResignationWatch(2000, 10.0, np.random.default_rng(1))
    assert 150 <= watched.is_audited.sum() <= 250
    for match in range(2000):
        note(watched, 0, 5, 5, match=match)
        note(watched, 1, 5, 5, match=match)
    assert ((watched.resigning() < 0) == watched.is_audited).all()
    goals = np.tile([0, 100], (2000, 1))
    cases = watched.cases(np.ones(2000, np.bool_), goals)
    assert len(cases.level) == 2 * watched.is_audited.sum()
    assert cases.resigned(10.0) == watched.is_audited.sum()
    assert cases.false_share(10.0) == 0
    assert cases.threshold() == 20


def test_the_threshold_is_the_highest_that_is_safe():
    level = np.array([1.5] * 100 + [8.0] * 100 + [18.0] * 100)
    is_lost = np.array([True] * 100 + [True] * 94 + [False] * 6 + [True] * 90 + [False] * 10)
    cases = Cases(level, is_lost)
    assert cases.false_share(10.0) == pytest.approx(0.03)
    assert cases.false_share(20.0) == pytest.approx(16 / 300)
    assert cases.threshold() == 15
    assert (cases + Cases(np.full(50, 8.0), np.zeros(50, np.bool_))).threshold() == 7.5
    assert Cases(level[:20], is_lost[:20]).threshold() == 0  # too few
    assert Cases().threshold() == 0


def test_only_games_that_are_won_or_lost_are_resigned():
    assert can_resign(load("hex_5x5", "lanes"))
    for name in ("dicerace", "prisoners_dilemma", "connectfour_3p", "lightsout"):
        assert not can_resign(load(name, "lanes")), name


def taught(game, threshold):
    forest = Forest(game, options=MctsOptions(is_solving=False))
    return play_to_teach(game, forest, PlayPlan(120, 60, 3, resign_below=threshold))


def test_matches_that_are_resigned_are_shorter_and_end():
    game = load("connectfour_5x5", "lanes")
    whole, resigned = taught(game, 0.0), taught(game, 40.0)
    assert (whole.resigned, whole.ended, resigned.ended) == (0, 120, 120)
    assert 30 < resigned.resigned < 120
    assert resigned.positions < whole.positions
    assert len(resigned.samples) < len(whole.samples)
    # At such a threshold the audit objects: some of those who would have given up did not lose.
    assert 0 < len(resigned.cases.level) < len(whole.cases.level) == 240
    assert whole.cases.false_share(40.0) > 0.05
