"""The facts that made a goal true."""

import random
from itertools import pairwise

import pytest

import ggp
from gdl.syntax.parser import parse, parse_term
from ggp.analysis.goal_support import goal_support


def played(name, seed):
    game = ggp.load(name, engine="reasoner")
    rng, state = random.Random(seed), game.initial_state()
    while not game.is_terminal(state):
        state = game.next_state(state, [rng.choice(game.legal_moves(state, role)) for role in game.roles])
    return game, state


def winner_of(game, state):
    goals = [game.goal(state, role) for role in game.roles]
    return game.roles[goals.index(max(goals))], max(goals)


@pytest.mark.parametrize(
    ("name", "count"), [("tictactoe", 3), ("connectfour", 4), ("pentago", 5), ("breakthrough", 1)]
)
@pytest.mark.parametrize("seed", range(3))
def test_support_of_a_line_is_its_pieces(name, count, seed):
    game, state = played(name, seed)
    role, goal = winner_of(game, state)
    found = goal_support(game.program, game.facts(state), role, goal)
    if goal == 100:
        assert len(found) == count
        assert all(str(fact).endswith(f" {role})") for fact in found)


@pytest.mark.parametrize("name", ["hex_5x5", "hex_11x11", "dark_hex_4x4"])
def test_support_of_a_chain_joins_both_edges(name):
    game, state = played(name, 1)
    role, goal = winner_of(game, state)
    found = goal_support(game.program, game.facts(state), role, goal)
    place = 0 if str(role) == "red" else 1
    lines = sorted({int(str(fact.arguments[place])) for fact in found if fact.name == "cell"})
    assert lines[0] == 1
    assert all(after == before + 1 for before, after in pairwise(lines))


def test_support_alone_still_gives_the_goal():
    """For rules without negation between the pieces, the support is sufficient."""
    game, state = played("connectfour", 4)
    role, goal = winner_of(game, state)
    facts = goal_support(game.program, game.facts(state), role, goal)
    assert goal_support(game.program, tuple(facts), role, goal) == facts


def test_what_does_not_hold_or_is_denied_has_no_support():
    program = parse("(role p) (<= (goal p 100) (not (true (a 1)))) (<= (goal p 50) (true (a 1)))")
    fact = parse_term("(a 1)")
    role = parse_term("p")
    assert goal_support(program, (), role, 100) == frozenset()
    assert goal_support(program, (fact,), role, 100) == frozenset()
    assert goal_support(program, (fact,), role, 50) == {fact}


def test_rules_that_are_too_large_are_not_explained(monkeypatch):
    monkeypatch.setattr("ggp.analysis.goal_support.WORK_LIMIT", 10)
    game, state = played("tictactoe", 1)
    role, goal = winner_of(game, state)
    assert goal_support(game.program, game.facts(state), role, goal) == frozenset()


@pytest.mark.parametrize(
    "rules",
    ["(<= (n (s ?x)) (n ?x)) (n z) (<= (goal p 100) (n ?x))", "(<= (goal p 100) (not (true (a ?x))))"],
)
def test_rules_without_end_or_with_free_variables_are_not_explained(rules):
    assert goal_support(parse(f"(role p) {rules}"), (), parse_term("p"), 100) == frozenset()
