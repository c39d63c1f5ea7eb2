"""The facts that made a goal true."""

import random
from itertools import pairwise

import pytest

import ggp
from gdl.syntax.parser import parse, parse_term
from ggp.analysis.goal_support import goal_support
from ggp.analysis.picture import find_picture
from ggp.engines.batches import state_of_facts
from ggp.game import GameError


def played(name, seed):
    game = ggp.load(name, engine="reasoner")
    rng, state = random.Random(seed), game.initial_state()
    while not game.is_terminal(state):
        state = game.next_state(state, [rng.choice(game.legal_moves(state, role)) for role in game.roles])
    return game, state


def last_states(name, seed):
    """The game, and the states of a random match that one role has won; None if none has."""
    game = ggp.load(name, engine="reasoner")
    rng, states = random.Random(seed), [game.initial_state()]
    while not game.is_terminal(states[-1]):
        moves = [rng.choice(game.legal_moves(states[-1], role)) for role in game.roles]
        states.append(game.next_state(states[-1], moves))
    goals = [game.goal(states[-1], role) for role in game.roles]
    return (game, states) if goals.count(max(goals)) == 1 and max(goals) == 100 else None


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


SHEET = """
(role p) (role q) (row 1) (row 2) (row 3) (col 1) (col 2) (col 3) (opp p q) (opp q p)
(init (control p)) (<= (init (cell ?x ?y blank)) (col ?x) (row ?y))
(<= (legal ?r (fill ?x ?y)) (true (control ?r)) (true (cell ?x ?y blank)))
(<= (legal ?r noop) (true (control ?q)) (opp ?q ?r))
(<= (next (cell ?x ?y full)) (does ?_r (fill ?x ?y)))
(<= (next (cell ?x ?y full)) (true (cell ?x ?y full)))
(<= (next (cell ?x ?y blank)) (true (cell ?x ?y blank)) (not (filled ?x ?y)))
(<= (filled ?x ?y) (does ?_r (fill ?x ?y)))
(<= (next (control ?q)) (true (control ?r)) (opp ?r ?q))
(<= open (true (cell ?_x ?_y blank))) (<= terminal (not open))
(<= (goal ?r 100) (opp ?r ?q) (true (control ?q)) (not open))
(<= (goal ?r 0) (opp ?r ?q) (true (control ?r)))
"""


def turns(facts):
    return {fact for fact in facts if fact.name == "control"}


def found_by_trial(game, states):
    """The facts that ended in the last step and whose return alone takes the goal from the winner.

    Without such facts: those that began in it and whose end alone does.
    """
    role, goal = winner_of(game, states[-1])
    now, before = set(game.facts(states[-1])), set(game.facts(states[-2]))

    def loses(facts):
        try:
            return game.goal(state_of_facts(game, facts), role) != goal
        except GameError:  # no goal, or two
            return True

    ended = {fact for fact in before - now if loses([*now, fact])}
    return ended or {fact for fact in now - before if loses([*now - {fact}])}


@pytest.mark.parametrize("name", ["checkers", "amazons_5x5", "minichess", "sheepandwolf", SHEET])
def test_what_ended_supports_a_goal_by_negation_as_trial_finds(name):
    matches = [each for each in (last_states(name, seed) for seed in range(4)) if each is not None]
    assert matches
    for game, states in matches[:2]:
        role, goal = winner_of(game, states[-1])
        facts, before = game.facts(states[-1]), [game.facts(state) for state in reversed(states[:-1])]
        found = goal_support(game.program, facts, role, goal, before)
        tried, held = found_by_trial(game, states), goal_support(game.program, facts, role, goal)
        assert tried - turns(tried) <= found
        assert held < found
        assert {fact for fact in found if fact.name != "not"} <= set(facts).union(*before)


def test_what_was_never_true_is_named():
    rules = "(role p) (<= kept (true (die 3))) (<= (goal p 100) (true doubted) (not kept))"
    facts = [parse_term("doubted"), parse_term("(die 2)")]
    found = goal_support(parse(rules), facts, parse_term("p"), 100, before=[facts[1:]])
    assert set(map(str, found)) == {"doubted", "(not kept)"}


def test_last_move_of_ones_own_sheet_decides():
    game, states = last_states(SHEET, 1)
    role, goal = winner_of(game, states[-1])
    facts, before = game.facts(states[-1]), [game.facts(state) for state in reversed(states[:-1])]
    (ended,) = goal_support(game.program, facts, role, goal, before).difference(facts)
    assert ended in before[0]
    assert str(ended).endswith(" blank)")
    picture = find_picture(game.program, before[-1])
    assert len(picture.few_cells([ended], facts)) == 1
