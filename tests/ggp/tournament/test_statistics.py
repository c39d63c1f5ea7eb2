"""Intervals, ratings and sequential tests against known values, other formulas and simulation."""

import math
import random
from itertools import combinations

import numpy as np
import pytest

from ggp.confidence_intervals import mean_interval, wilson_interval
from ggp.tournament.plan import Until
from ggp.tournament.ratings import ELO_PER_LOG, fit, rate
from ggp.tournament.stopping import decide, expected_score, log_likelihood_ratio

# Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3.
NEWCOMBE = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0, 0.1611),
    (1, 29, 0.0061, 0.1718),
]


@pytest.mark.parametrize(("wins", "count", "low", "high"), NEWCOMBE)
def test_wilson_interval_as_published(wins, count, low, high):
    assert wilson_interval(wins, count) == pytest.approx((low, high), abs=5e-5)


def test_wilson_interval_is_symmetric_and_never_leaves_0_to_1():
    assert wilson_interval(0, 0) == (0.0, 1.0)
    for count in (1, 7, 300):
        for points in (0, 0.5, count / 2, count):
            low, high = wilson_interval(points, count)
            assert 0 <= low <= points / count + 1e-12
            assert points / count - 1e-12 <= high <= 1
            assert wilson_interval(count - points, count) == pytest.approx((1 - high, 1 - low))


def test_wilson_interval_covers_the_truth_about_95_times_in_100():
    count, covered = 60, []
    intervals = [wilson_interval(wins, count) for wins in range(count + 1)]
    for percent in range(5, 100, 5):
        truth = percent / 100
        covered.append(
            sum(
                math.comb(count, wins) * truth**wins * (1 - truth) ** (count - wins)
                for wins, (low, high) in enumerate(intervals)
                if low <= truth <= high
            )
        )
    assert sum(covered) / len(covered) == pytest.approx(0.95, abs=0.007)
    assert min(covered) > 0.92


def test_mean_interval():
    assert mean_interval([0, 100]) == pytest.approx((50, 1.959964 * 50))
    assert mean_interval([40]) == (40, math.inf)


def test_two_agents_have_the_rating_of_their_score():
    points = {("a", "b"): 74.5, ("b", "a"): 24.5}  # 75 and 25 with the draw that is added
    ratings = rate(["a", "b"], points)
    assert ratings[0].elo - ratings[1].elo == pytest.approx(400 * math.log10(3))
    # Variance of a logit: 1 / (n p q).
    expected = 1.959964 * ELO_PER_LOG * math.sqrt(1 / (100 * 0.75 * 0.25))
    anchored = rate(["a", "b"], points, anchor="b")
    assert anchored[0].margin == pytest.approx(expected, rel=1e-4)
    assert (anchored[1].elo, anchored[1].margin) == (0, 0)


def test_fit_satisfies_the_likelihood_equations():
    rng = np.random.default_rng(4)
    wins = rng.integers(1, 30, size=(6, 6)).astype(float)
    np.fill_diagonal(wins, 0)
    strength = fit(wins)
    games = wins + wins.T
    expected = games * strength[:, None] / (strength[:, None] + strength[None, :])
    np.testing.assert_allclose(expected.sum(axis=1), wins.sum(axis=1), rtol=1e-6)
    assert np.log(strength).sum() == pytest.approx(0, abs=1e-9)


def test_rating_intervals_cover_the_true_differences():
    truth = {"a": 0, "b": 60, "c": -150, "d": 250}
    rng = random.Random(9)
    hits = total = 0
    for _ in range(60):
        points = {}
        for a, b in combinations(truth, 2):
            chance = expected_score(truth[a] - truth[b])
            won = sum(rng.random() < chance for _ in range(80))
            points[a, b], points[b, a] = won, 80 - won
        for rating in rate(list(truth), points, anchor="a"):
            if rating.agent != "a":
                total += 1
                hits += abs(rating.elo - truth[rating.agent]) <= rating.margin
    assert 0.9 <= hits / total <= 0.99


def test_ratings_are_finite_and_within_groups_of_agents_that_met():
    best, worst = rate(["a", "b"], {("a", "b"): 20, ("b", "a"): 0})
    assert best.agent == "a"
    assert 0 < best.elo - worst.elo < 1500
    assert math.isfinite(best.margin)
    points = {("a", "b"): 3, ("b", "a"): 2, ("c", "d"): 1, ("d", "c"): 4}
    groups = {rating.agent: rating.group for rating in rate(["a", "b", "c", "d", "e"], points)}
    assert groups["a"] == groups["b"] != groups["c"] == groups["d"]
    assert "e" not in groups


def test_llr_favors_the_true_hypothesis():
    scores = [1, 0.5] * 50, [0.5, 0, 1] * 50, [1.0] * 100, [1.0] * 50
    llrs = [log_likelihood_ratio(each, expected_score(0), expected_score(30)) for each in scores]
    assert llrs[0] > 0 > llrs[1]
    assert llrs[2] > llrs[3]


@pytest.mark.parametrize(("elo", "wanted"), [(0, "at most"), (60, "at least")])
def test_sprt_keeps_its_error_probability(elo, wanted):
    until = Until("sprt", elo0=0, elo1=60)
    rng = random.Random(elo)
    wrong = 0
    for _ in range(150):
        scores = []
        decision = decide(until, scores, 2)
        while not decision.is_final:
            scores.append(sum(rng.random() < expected_score(elo) for _ in range(2)) / 2)
            decision = decide(until, scores, 2)
        wrong += not decision.verdict.startswith(wanted)
    assert wrong / 150 <= 0.09


def test_width_rule_stops_when_the_interval_is_narrow():
    until = Until("width", width=0.2)
    low, high = wilson_interval(0.5 * 80, 80)
    assert high - low > 0.2
    assert not decide(Until("width", width=0.9), [1.0] * 3, 2).is_final  # too few matches
    assert not decide(until, [0.5] * 40, 2).is_final
    assert decide(until, [0.5] * 50, 2).is_final
