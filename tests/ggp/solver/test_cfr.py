"""Counterfactual regret minimization: its twin, published values, and what it refuses."""

import time

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.env.extensive import ExtensiveGame
from ggp.solver import SolverLimitError, SolverLimits, UnsolvableError
from ggp.solver.cfr import (
    CfrOptions,
    find_equilibrium,
    information_sets,
    make_state_graph,
    respond,
    sequence_form,
    solve_hidden,
)
from ggp.solver.cfr.minimization import uniform_strategy
from tests.conftest import mostly_slow
from tests.oracles.naive_cfr import NaiveCfr, best_value, expected_goal


def form_of(name, **limits):
    return sequence_form(make_state_graph(load(name, "lanes")), SolverLimits(**limits))


def by_text(form, strategies):
    """By agent and text of an information set, the probabilities."""
    found = ({}, {})
    for each in information_sets(form, strategies):
        found[form.graph.agents.index(each.role)][str(each)] = list(each.probabilities.values())
    return found


# One move at a time, chance; moves at once that stay hidden; moves at once that are seen.
@pytest.mark.parametrize("name", mostly_slow(["kuhn_poker", "goofspiel_hidden", "rockpaperscissors"], 3))
def test_minimization_agrees_with_its_twin(name):
    form = form_of(name)
    found = find_equilibrium(form, CfrOptions(accuracy=-1.0, iterations=3))
    twin = NaiveCfr(ExtensiveGame(load(name, "lanes"))).run(3)
    ours = by_text(form, found.strategies)
    for agent in (0, 1):
        assert ours[agent].keys() == twin[agent].keys()
        for key, probabilities in ours[agent].items():
            np.testing.assert_allclose(probabilities, twin[agent][key], atol=1e-12, err_msg=key)


@pytest.mark.parametrize("name", ["kuhn_poker", "liars_dice", "goofspiel_hidden"])
def test_best_response_agrees_with_its_twin(name):
    form = form_of(name)
    tree = ExtensiveGame(load(name, "lanes"))
    rng = np.random.default_rng(5)
    for agent in (0, 1):
        plex = form.plexes[1 - agent]
        other = uniform_strategy(plex)
        for d in range(plex.set_count):
            moves = slice(plex.first[d], plex.first[d + 1])
            other[moves] = rng.dirichlet(np.ones(moves.stop - moves.start))
        both = [uniform_strategy(each) for each in form.plexes]
        both[1 - agent] = other
        texts = by_text(form, both)[1 - agent]
        goal = respond(form, agent, other)[1]
        assert goal / 50 - 1 == pytest.approx(best_value(tree, agent, texts), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "value", "accuracy"),
    [
        ("kuhn_poker", 50 - 25 / 18, 25e-9),
        ("leduc_poker", 50 - 3 * 0.0856064, 3e-6),
        ("liars_dice", 50 - 50 / 9, 1e-6),
        ("goofspiel_hidden", 50, 1e-6),
        ("morra", 50 - 10 / 12, 1e-6),
    ],
)
def test_value_of_two_roles(name, value, accuracy):
    """Published values, in goals, as far as the bounds prove them."""
    found = solve_hidden(load(name, "lanes"), options=CfrOptions(accuracy))
    below, above = found.bounds
    assert below <= above <= below + 2 * accuracy
    assert found.values[0] == pytest.approx(value, abs=accuracy)
    assert expected_goal(found.form, found.strategies) == pytest.approx(value, abs=2 * accuracy)
    assert sum(found.values) == pytest.approx(100)


@pytest.mark.parametrize(
    ("name", "value"), [("monty_hall", 200 / 3), ("number_guessing", 500 / 7), ("wire_cutting", 80)]
)
def test_one_role_is_solved_by_a_best_response(name, value):
    found = solve_hidden(load(name, "lanes"))
    assert found.values[0] == pytest.approx(value, abs=1e-12)
    assert found.exploitability == pytest.approx(0, abs=1e-12)
    assert found.iterations == 0


UNKNOWN_MOVES = """
(role a) (role b) (role random) (init start) (one_or_two 1) (one_or_two 2)
(<= (legal a stay) (true start)) (<= (legal a stay) (true (drawn 1)))
(<= (legal a (take ?n)) (true (drawn ?n)))
(legal b stay) (<= (legal random wait) (not (true start)))
(<= (legal random (draw ?n)) (true start) (one_or_two ?n))
(<= (next (drawn ?n)) (does random (draw ?n)))
(<= (next over) (not (true start))) (<= terminal (true over))
(goal a 50) (goal b 50) (<= (sees b nothing) (true start))
"""
"""Role a may not know whether it has a choice."""

ENDLESS = """
(role a) (role b) (init there) (legal a x) (legal a y) (legal b x) (next there)
(<= terminal (not (true there))) (goal a 50) (goal b 50) (<= (sees a nothing) (true there))
"""


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (UNKNOWN_MOVES, "a cannot tell from its percepts which moves are legal"),
        (ENDLESS, "a match need not end"),
        ("signalling", "3 roles besides `random`"),
        ("prisoners_dilemma", "constant sum"),
    ],
)
def test_other_games_are_refused(rules, reason):
    with pytest.raises(UnsolvableError, match=reason):
        solve_hidden(load(rules, "lanes"))


@pytest.mark.parametrize(
    ("name", "limits", "reason"),
    [
        ("leduc_poker", {"histories": 500}, "more than 500 histories"),
        ("leduc_poker", {"deadline": 0.0}, "when time was up"),
        ("blind_maze", {"mebibytes": 64}, "64 MiB of memory hold no more"),
    ],
)
def test_limits_are_kept(name, limits, reason):
    with pytest.raises(SolverLimitError, match=reason):
        form_of(name, **limits)


def test_ctrl_c_keeps_the_strategy_so_far():
    def interrupt(progress):
        raise KeyboardInterrupt

    found = find_equilibrium(form_of("kuhn_poker"), CfrOptions(0.0), report=interrupt)
    assert found.is_interrupted
    assert found.iterations == 16
    assert 0 < found.exploitability < 10


def test_the_deadline_ends_the_minimization():
    found = find_equilibrium(form_of("leduc_poker"), CfrOptions(0.0), deadline=time.monotonic() - 1)
    assert found.iterations >= 1
    assert found.exploitability > 0
