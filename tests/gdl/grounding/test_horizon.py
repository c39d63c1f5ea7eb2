"""Lists of what fluents can hold before a match must end, and that play stays the same with them."""

import random

import pytest

from gdl.grounding import ground
from gdl.grounding.estimation import estimate
from gdl.grounding.horizon import bound_by_horizon
from gdl.grounding.simplification import simplify
from gdl.normalize import normalize
from gdl.syntax.parser import parse
from ggp.engines.loading import load

SUCC = " ".join(f"(succ {n} {n + 1})" for n in range(80))

SHOP = f"""
; A bag of marbles: buying adds one, and four of the marbles in it are drawn in order.
(role buyer) (role random) (init (bag 3)) (init (day 1)) {SUCC}
(<= (below ?x ?y) (succ ?x ?y)) (<= (below ?x ?z) (succ ?x ?y) (below ?y ?z))
(<= (legal random (draw ?a ?b ?c ?d))
    (true (bag ?n)) (below ?a ?n) (below ?b ?n) (below ?c ?n) (below ?d ?n)
    (distinct ?a ?b) (distinct ?a ?c) (distinct ?a ?d))
(legal buyer buy) (legal buyer rest)
(<= (next (bag ?m)) (true (bag ?n)) (succ ?n ?m) (does buyer buy))
(<= (next (bag ?n)) (true (bag ?n)) (does buyer rest))
(<= (next (first ?a)) (does random (draw ?a ?b ?c ?d)))
(<= (goal buyer 100) (true (bag 5))) (<= (goal buyer 0) (not (true (bag 5))))
"""

DAYS = "(<= (next (day ?e)) (true (day ?d)) (succ ?d ?e))"

ENDINGS = {
    "a day": DAYS + "(<= terminal (true (day 4)))",
    "a day, by another predicate": DAYS
    + "(<= terminal late) (<= late (true (day 4))) (<= late (true (bag 70)))",
    "a day, or something else": DAYS + "(<= terminal (true (day 4))) (<= terminal (true (bag 4)))",
}

NO_ENDINGS = {
    "days that pass on a move": "(<= terminal (true (day 4)))"
    "(<= (next (day ?e)) (true (day ?d)) (succ ?d ?e) (does buyer buy))"
    "(<= (next (day ?d)) (true (day ?d)) (does buyer rest))",
    "a condition that moves influence": DAYS + "(<= terminal (true (day 4)) (not (true (first 1))))",
    "a predicate that moves influence": DAYS
    + "(<= terminal (true (day 4)) open) (<= open (true (bag ?n)) (distinct ?n 4))",
    "no rule for the end": DAYS,
    "days that come again": "(<= (next (day 2)) (true (day 1))) (<= (next (day 1)) (true (day 2)))"
    "(<= terminal (true (day 4)))",
}


def lists(text):
    rules = simplify(normalize(parse(text)).rules, parse(text).source)
    found = {}
    for rule in bound_by_horizon(rules, estimate(rules)):
        if rule.head.name.startswith("reached "):
            found.setdefault(rule.head.name, set()).add(str(rule.head).rstrip(")").split()[-1])
    return sorted(found.values(), key=len)


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS.keys())
def test_counters_are_bounded_by_the_longest_match(ending):
    assert {"3", "4", "5", "6"} in lists(SHOP + ending)
    program = ground(parse(SHOP + ending))
    bags = {str(fact) for fact in program.fluents if "bag" in str(fact)}
    assert bags == {f"(bag {n})" for n in range(3, 7)}


@pytest.mark.parametrize("ending", NO_ENDINGS.values(), ids=NO_ENDINGS.keys())
def test_no_bound_where_a_match_may_be_longer(ending):
    assert lists(SHOP + ending) == []


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS.keys())
def test_bounded_rules_play_as_the_interpreter_does(ending):
    text = SHOP + ending
    fast, exact = load(text, "lanes"), load(text, "reasoner")
    rng = random.Random(3)
    for _ in range(5):
        state, other = fast.initial_state(), exact.initial_state()
        while True:
            assert fast.facts(state) == exact.facts(other)
            assert fast.is_terminal(state) == exact.is_terminal(other)
            assert [fast.goal(state, fast.roles[0])] == [exact.goal(other, exact.roles[0])]
            if fast.is_terminal(state):
                break
            legal = [fast.legal_moves(state, role) for role in fast.roles]
            assert legal == [exact.legal_moves(other, role) for role in exact.roles]
            joint = tuple(rng.choice(moves) for moves in legal)
            state, other = fast.next_state(state, joint), exact.next_state(other, joint)
