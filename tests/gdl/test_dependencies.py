"""Cycles, strata and layers of rules."""

import pytest

from gdl.dependencies import (
    Dependencies,
    UnstratifiedError,
    may_unify,
    negative_cycles,
    rule_layers,
    strong_components,
)
from gdl.normalize import normalize
from gdl.program import Predicate
from gdl.syntax.parser import parse, parse_term


def program(text):
    return normalize(parse(text))


def test_strong_components_come_successors_first():
    graph = {1: [2], 2: [3], 3: [2, 4], 4: [], 5: [5]}
    assert strong_components(graph, graph.__getitem__) == [(4,), (2, 3), (1,), (5,)]


def test_strong_components_handle_long_chains():
    count = 50_000
    components = strong_components([0], lambda n: [n + 1] if n < count else [0])
    assert len(components) == 1
    assert len(components[0]) == count + 1


def test_components_put_callees_before_callers():
    dependencies = Dependencies(program("(<= a b) (<= b c) (<= c b) (<= d (not a)) (<= e e)"))
    order = [{p.name for p in component} for component in dependencies.components]
    assert order.index({"b", "c"}) < order.index({"a"}) < order.index({"d"})
    assert dependencies.is_recursive([Predicate("e", 0)])
    assert not dependencies.is_recursive([Predicate("a", 0)])


def test_strata_rise_at_negations():
    dependencies = Dependencies(program("(<= a b) (<= c (not a)) (<= d (not c) a) (<= e d)"))
    strata = {predicate.name: level for predicate, level in dependencies.strata.items()}
    assert strata == {"a": 0, "b": 0, "c": 1, "d": 2, "e": 2}


def test_dynamic_predicates_depend_on_state_or_moves():
    dependencies = Dependencies(
        program("(p 1) (<= (q ?x) (p ?x)) (<= (s ?x) (true (f ?x)) (q ?x)) (<= (m ?x) (does r ?x))")
    )
    assert {p.name for p in dependencies.dynamic} == {"true", "does", "s", "m"}
    assert {p.name for p in dependencies.move_dependent} == {"does", "m"}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("(f ?x a)", "(f b ?y)", True),
        ("(f ?x a)", "(f b c)", False),
        ("?x", "(g 1)", True),
        ("(f 1)", "(f 1 2)", False),
    ],
)
def test_may_unify(left, right, expected):
    assert may_unify(parse_term(left), parse_term(right)) is expected


def test_rule_layers_order_rules_by_their_constants():
    rules = program(
        "(<= (goal r 0) (not (goal r 50)) (not (goal r 100))) (<= (goal r 50) (not (goal r 100)))"
        "(<= (goal r 100) won)"
    ).rules
    layers = rule_layers(rules)
    assert [[str(rule.head) for rule in layer.rules] for layer in layers] == [
        ["(goal r 100)"],
        ["(goal r 50)"],
        ["(goal r 0)"],
    ]
    assert not any(layer.is_recursive for layer in layers)


def test_negative_cycle_is_shown_rule_by_rule():
    with pytest.raises(UnstratifiedError) as caught:
        rule_layers(program("(<= (p ?x) (q ?x)) (<= (q ?x) (e ?x) (not (r ?x))) (<= (r ?x) (p ?x))").rules)
    cycle = caught.value.cycle
    assert str(cycle.literal.atom) == "(r ?x)"
    assert [rule.head.name for rule in cycle.rules] == ["q", "r", "p"]


def test_propositions_with_and_without_parentheses_are_one_predicate():
    assert len(negative_cycles(program("(<= (p) (not q)) (<= q (not p))"))) == 1
