"""Choosing and learning the evaluation of alpha-beta."""

import random
import time
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.features.learning import PIECES, FeatureWeights, PlayedGame, learn_from_games
from ggp.features.recognition import recognize_features
from ggp.search.alphabeta.evaluation import TRIED, find_estimate
from ggp.search.alphabeta.learning import feature_scores
from ggp.search.alphabeta.options import check_evaluation
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError, Estimate
from ggp.search.alphabeta.self_play import compare, play_games
from ggp.search.budget import NO_LIMIT


@lru_cache
def searcher(name, mobility=2):
    game = load(name, "lanes")
    return game, AlphaBeta(game, estimate=Estimate(mobility_weight=mobility), mebibytes=1)


def found(name, seed=3, **options):
    game, _ = searcher(name)
    return find_estimate(game, **options, seed=seed, is_timed=False)


def test_self_play_follows_the_rules():
    game, search = searcher("breakthrough_small")
    games = play_games(search, 4, depth=2, node_limit=50, exploration=0.2, rng=random.Random(0))
    assert len(games) == 4
    for played in games:
        states = [game.pack(state) for state in played.states]
        assert game.is_terminal(states[-1])
        assert list(played.goals) == [game.goal(states[-1], role) for role in game.roles]
        for before, after in pairwise(states):
            assert not game.is_terminal(before)
            assert after in game.successors(before).states


def test_no_games_are_played_once_the_deadline_has_passed():
    _, search = searcher("breakthrough_small")
    late = {"rng": random.Random(0), "deadline": 0.0}
    assert play_games(search, 4, depth=1, node_limit=9, exploration=0.0, **late) == []
    assert compare((search, search), (9, 9), 4, **late) == (0.5, 0)


class Forgetful(AlphaBeta):
    """Remembers nothing from search to search, so that who moves is all that matters."""

    def search(self, state, budget=NO_LIMIT, **limits):
        self.forget()
        return super().search(state, budget, **limits)


def test_comparison_is_fair_and_finds_the_stronger():
    game = load("breakthrough_small", "lanes")
    search = Forgetful(game, Estimate(mobility_weight=0), mebibytes=1)
    share, played = compare((search, search), (50, 50), 8, rng=random.Random(1))
    assert (share, played) == (0.5, 8)
    share, _ = compare((search, search), (400, 2), 24, rng=random.Random(2))
    assert share > 0.6


def test_learning_finds_that_own_pieces_are_good():
    name, estimate = found("breakthrough_small", evaluation="features", games=64)
    game = load("breakthrough_small", "lanes")
    assert name == "features"
    worth = {str(f): int(w) for f, w in zip(game.terms.fluents, estimate.weights[:-1], strict=True)}
    white, black = (
        sum(worth[f"(cell {x} {y} {color})"] for x in "12345" for y in "12345")
        for color in ("white", "black")
    )
    assert white > 0 > black


def test_scores_add_up_to_goals():
    game, _ = searcher("breakthrough_small")
    features = recognize_features(game)
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(len(game.terms.fluents), 2))
    weights = FeatureWeights("facts", weight, np.array([4.0, -4.0]), 1, 0.0)
    scores = feature_scores(game, features, weights)
    # Half of half of the difference of goals, in hundredths.
    assert scores[-1] == 100
    assert scores[:-1].sum() == pytest.approx(25 * weight[:, 0].sum(), abs=len(weight))


def test_learning_from_games_explains_their_goals():
    game = load("tictactoe", "lanes")
    features = recognize_features(game)
    state = game.unpack(game.initial_state())
    others = state.copy()
    others[[str(f) == "(cell 1 1 x)" for f in game.terms.fluents]] = True
    games = [
        PlayedGame(np.array([s, s]), np.array(goals))
        for s, goals in ((state, [0.0, 100.0]), (others, [100.0, 0.0]))
    ] * 40
    weights = learn_from_games(game, features, PIECES, games)
    x = next(p for p, piece in enumerate(features.pieces) if piece.name == "x")
    assert weights.weight[x, 0] == pytest.approx(200, rel=0.1)
    assert weights.constant[0] == pytest.approx(-100, abs=15)


@pytest.mark.slow
def test_result_depends_on_the_seed_only():
    first, again = (found("connectfour_4x4", games=32) for _ in range(2))
    assert first[0] == again[0]
    assert first[0] in TRIED
    assert repr(first[1]) == repr(again[1])


def test_requested_evaluation_is_used_if_there_is_time(caplog):
    name, estimate = found("connectfour_4x4", evaluation="distance+mobility")
    assert name == "distance+mobility"
    assert estimate.formula is not None
    assert estimate.weights is None
    assert found("connectfour_4x4", evaluation="mobility")[1] == Estimate()
    game, _ = searcher("breakthrough_small")
    begin = time.monotonic()
    assert find_estimate(game, deadline=begin)[0] in TRIED
    assert find_estimate(game, "features+mobility", deadline=begin)[0] == "mobility"
    assert "evaluation by features unavailable" in caplog.text
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize("evaluation", ["hope", "mobility+mobility"])
def test_invalid_evaluations_are_refused(evaluation):
    with pytest.raises(ValueError, match="evaluation must be auto"):
        check_evaluation(evaluation)


def test_simultaneous_games_are_refused():
    game = load("morra", "lanes")
    with pytest.raises(AlphaBetaError):
        find_estimate(game)
