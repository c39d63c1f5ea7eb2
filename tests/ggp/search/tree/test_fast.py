"""FAST: learned weights, what moves are worth, and drawing by it in many lanes at once."""

import logging
import math
import time

import numpy as np
import pytest

import ggp
from ggp.circuit.tables import Phase
from ggp.features import learning as feature_learning
from ggp.features.cases import find_cases
from ggp.features.learning import lambda_returns, learn_weights
from ggp.features.recognition import recognize_features
from ggp.features.recorded_playouts import record_playouts
from ggp.features.td import td_update
from ggp.jit.rows import make_rows, words_of
from ggp.lanes.choose import seeded_random
from ggp.lanes.engine import Lanes
from ggp.search.budget import Budget
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.policies import fast
from ggp.search.tree.policies.fast import MAX_LEVELS, NO_CAPTURE, feature_cases, learn_fast
from ggp.search.tree.reference.policies import FastPolicy
from ggp.search.tree.reference.randomness import LaneRandom, TreeRandom
from ggp.search.tree.reference.search import Search
from ggp.search.tree.search import LanesSearch
from tests.ggp.fakes import Nim
from tests.ggp.lanes.kernels import choose_cases
from tests.ggp.search.tree.golden import compiled


@pytest.mark.parametrize("trace", [0.0, 0.4, 1.0])
def test_lambda_returns_are_the_targets_of_single_updates(trace):
    rng, lengths = np.random.default_rng(1), [6, 1, 4]
    predicted, outcome = rng.random((6, 3, 2)), rng.random((3, 2))
    returns = lambda_returns(predicted, lengths, outcome, trace)
    for n, length in enumerate(lengths):
        for t, r in np.ndindex(length, 2):
            states = [({t: 1}, 0.0) for t in range(length - 1)]
            episode = [*states, ({length - 1: 1}, outcome[n, r]), ({}, 0.0)]
            update = td_update(episode[t:], dict(enumerate(predicted[:, n, r])), step=1.0, trace=trace)
            assert returns[t, n, r] == pytest.approx(update.target)


def test_weights_favor_what_wins_and_do_not_depend_on_who_learns():
    game = compiled("breakthrough_small")
    features = recognize_features(game)
    weights = learn_weights(game, features, "cells", episodes=512, seed=4)
    again = learn_weights(game, features, "cells", episodes=512, seed=4)
    np.testing.assert_array_equal(weights.weight, again.weight)
    assert weights.episodes == 512
    np.testing.assert_allclose(weights.weight[:, 0], -weights.weight[:, 1], atol=1e-3)
    of_white = weights.weight[:25, 0].reshape(5, 5)
    assert of_white[4].min() > 60  # the goal row
    assert of_white[3].mean() > of_white[1:3].mean() + 5


def test_learning_stops_at_its_deadline_and_takes_no_more_memory_than_it_may(monkeypatch):
    game = compiled("breakthrough_small")
    features = recognize_features(game)
    weights = learn_weights(game, features, "cells", episodes=512, deadline=0.0)
    assert weights.episodes == 0
    assert not weights.weight.any()
    monkeypatch.setattr(feature_learning, "MEMORY", 1)
    assert learn_weights(game, features, "cells", episodes=100_000_000).episodes == 64


@pytest.mark.slow
def test_learning_has_time_left_for_what_was_recorded():
    game = compiled("breakthrough_small")
    features = recognize_features(game)
    learn_weights(game, features, "cells", episodes=64)
    begin = time.monotonic()
    weights = learn_weights(game, features, "cells", episodes=100_000_000, deadline=begin + 2.0)
    assert time.monotonic() - begin < 20
    assert min(weights.episodes, weights.error) > 0
    assert weights.weight.any()


def test_captures_are_found_move_by_move():
    game = compiled("checkers")
    features = recognize_features(game)
    kind, cases = find_cases(game, features)
    assert kind == "pieces"
    names = [piece.name for piece in features.pieces]
    for move, of_move in zip(game.moves[0], cases, strict=False):
        text = str(move)
        if not text.startswith("(move"):
            continue
        x1, _, x2, _ = (int(part) for part in text[6:-1].split())
        taken = {names[piece] for case in of_move for piece in case.pieces}
        assert taken == ({"black_man", "black_king"} if abs(x1 - x2) == 2 else set())
        assert of_move[-1].conditions == ()
        assert {names[case.taken_by] for case in of_move if case.pieces} <= {"white_man", "white_king"}


@pytest.mark.slow
def test_captures_of_jumps_whose_pieces_are_named_are_found(corpus_dir):
    game = ggp.load(str(corpus_dir / "open" / "games" / "checkers.kif"), engine="lanes")
    features = recognize_features(game)
    kind, cases = find_cases(game, features)
    assert kind == "pieces"
    most = {}
    for move, of_move in zip((m for moves in game.moves for m in moves), cases, strict=True):
        taken = max(len(case.pieces) for case in of_move)
        most.setdefault(move.name, set()).add(taken)
    assert most == {"move": {0, 1}, "doublejump": {2}, "triplejump": {3}, "noop": {0}}


def test_moves_are_worth_what_the_formula_says():
    game = compiled("minichess")
    model = learn_fast(game, MctsOptions(policy="fast", episodes=128), 1)
    weight = model.weights.weight
    for move in range(0, len(model.cases), 37):
        role = int(move >= game.tables.first_move[1])
        for case, level in zip(model.cases[move], model.level[move], strict=True):
            expected = NO_CAPTURE
            if case.pieces:
                expected = -(2 * weight[case.pieces[0], role] + weight[case.taken_by, role])
            assert model.values[role][level] == pytest.approx(expected, abs=0.26)
    assert all(len(values) <= MAX_LEVELS for values in model.values)


@pytest.mark.parametrize("name", ["connectfour_4x4", "checkers"])
def test_lanes_choose_as_often_as_the_weights_say(name):
    """512 states at once, each with weights of its own, against the plain-Python policy state by state."""
    game = compiled(name)
    options = MctsOptions(policy="fast", temperature=6.0, episodes=128)
    model = learn_fast(game, options, 2)
    twin = FastPolicy(game, options, LaneRandom(0), TreeRandom(0), 2)
    twin.prepare(60.0)
    recorded = record_playouts(game, np.arange(len(game.terms.fluents)), seed=8)
    at = np.minimum(np.arange(512) % 17, recorded.length - 1)
    states = np.array([recorded.states(n >> 6)[at[n], n & 63] for n in range(0, 512, 8)]).repeat(8, axis=0)
    tables = game.lane_tables
    lanes = Lanes(tables)
    lanes.set_states(states.T)
    lanes.settle(Phase.LEGAL, Phase.LEGAL)
    cases = feature_cases(model, 8)
    random, stuck = seeded_random(8, 3), make_rows(1, 8)
    moves = (2 * (tables.move0 + np.arange(tables.move_count))).astype(np.int32)
    observed = np.zeros((tables.move_count, 512))
    rounds = 150
    for _ in range(rounds):
        choose_cases(tables, lanes.arrays.value, cases, random, stuck)
        observed += lanes.read(moves, 512)
    assert not words_of(stuck).any()
    expected = np.zeros_like(observed)
    for lane in range(0, 512, 8):
        state = game.pack(states[lane])
        for r, role in enumerate(game.roles):
            legal = game.legal_moves(state, role)
            weights = np.array(twin.weights(r, legal, state), float)
            for move, weight in zip(legal, weights / weights.sum(), strict=True):
                index = int(game.tables.first_move[r]) + game.moves[r].index(move)
                expected[index, lane : lane + 8] = weight * rounds
    assert (observed.sum(axis=0) == rounds * len(game.roles)).all()
    # Lanes in the same state count together; the squared deviations of each move then average 1.
    grouped, wanted = (
        counts.reshape(tables.move_count, -1, 8).sum(axis=2) for counts in (observed, expected)
    )
    assert not grouped[wanted == 0].any()
    share = wanted / (8 * rounds)
    deviation = np.sqrt(wanted * (1 - share))
    is_common = deviation > 2
    scores = (grouped - wanted)[is_common] / deviation[is_common]
    assert is_common.sum() > 100
    assert np.abs(scores).max() < 5
    assert 0.8 < (scores**2).mean() < 1.25


def test_search_falls_back_to_mast_and_says_so_once(caplog, monkeypatch):
    monkeypatch.setattr(fast, "_told", set())
    game = compiled("nim")
    options = MctsOptions(policy="rave+fast", temperature=1.0, memory_mebibytes=16, words=1)
    with caplog.at_level(logging.WARNING, "ggp.search"):
        for _ in range(2):
            search = LanesSearch(game, game.roles[0], options=options)
            search.move_to(game.initial_state(), None)
            assert search.run(Budget(simulations=50)) == 50
            assert search.options.policy == "rave+mast"
            assert search.options.gibbs_temperature == 10.0
            assert search.report().fallback == "rave+mast"
    assert sum("using MAST" in record.message for record in caplog.records) == 1


def test_recognition_ends_at_the_deadline_and_is_done_anew_later():
    game = compiled("minichess")
    with pytest.raises(TimeoutError):
        find_cases(game, recognize_features(game), deadline=time.monotonic() - 1.0)
    late, options = time.monotonic() - 1.0, MctsOptions(policy="fast", episodes=64)
    assert learn_fast(game, options, 4711, late) is None
    model = learn_fast(game, options, 4711)
    assert model is not None
    assert model.weights.kind == "pieces"


def test_plain_search_of_a_game_that_is_not_compiled_says_that_it_plays_mast(caplog):
    game = Nim(5)
    search = Search(game, game.roles[0], options=MctsOptions(policy="rave+fast", words=1))
    search.move_to(game.initial_state(), None)
    with caplog.at_level(logging.WARNING, "ggp.search"):
        assert search.run(Budget(simulations=20)) == 20
    assert search.policy.options.policy == "rave+mast"
    assert search.report().fallback == "rave+mast"
    assert "using MAST" in caplog.text


@pytest.mark.parametrize(("is_searching", "seconds"), [(True, 3.0), (False, 6.0)])
def test_learning_gets_its_share_of_the_clock(monkeypatch, is_searching, seconds):
    """Half of the first search, all of a clock in which nothing is searched."""
    granted = []
    prepare = LanesSearch._prepare

    def watched(self, seconds):
        granted.append(seconds)
        prepare(self, math.inf)

    monkeypatch.setattr(LanesSearch, "_prepare", watched)
    game = compiled("breakthrough_small")
    options = MctsOptions(policy="fast", words=1, memory_mebibytes=16, episodes=64)
    search = LanesSearch(game, game.roles[0], options=options, clock=lambda: 100.0)
    search.move_to(game.initial_state(), None)
    if is_searching:
        search.run(Budget(106.0, is_stopped=lambda: True))
    else:
        search.warm_up(106.0)
    assert search.simulation_count == 0
    assert granted == [seconds]
    assert search.options.policy == "fast"
