from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlValidationError
from gdl.normalize import normalize
from gdl.program import Conjunction, Formula, Literal, Negation, Program, Rule, literals_in
from gdl.syntax.parser import parse
from gdl.syntax.printer import to_kif
from gdl.terms import Symbol
from tests.gdl.rule_strategies import formulas, programs


def bodies(text):
    return [" ".join(to_kif(part) for part in rule.body) for rule in normalize(parse(text)).rules]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(<= p (or a b) c)", ["a c", "b c"]),
        ("(<= p (or a b) (or c d))", ["a c", "a d", "b c", "b d"]),
        ("(<= p (not (or a (not b))))", ["(not a) b"]),
        ("(<= p (not (and a (not b))))", ["(not a)", "b"]),
        ("(<= p (not (not a)))", ["a"]),
        ("(<= p (not (not (not a))))", ["(not a)"]),
        ("(<= p (and a (and b c)) (or d))", ["a b c d"]),
        ("(<= p (or))", []),
        ("(<= p (not (and)))", []),
        ("(<= p (and) (not (or)))", [""]),
        ("(<= p (not (distinct ?x a)) (q ?x))", ["(not (distinct ?x a)) (q ?x)"]),
        ("(<= p a (or a b))", ["a", "a b"]),
        ("p", [""]),
        ("(<= p (or) " + "(or a b)" * 100 + ")", []),
    ],
)
def test_bodies_become_lists_of_literals(text, expected):
    assert bodies(text) == expected


def test_alternatives_keep_the_place_of_their_rule():
    first, second = normalize(parse("\n(<= p (or a b))")).rules
    assert first.span == second.span
    assert second.span is not None
    assert second.span[:2] == (2, 1)
    assert second.literals[0].span[:2] == (2, 13)


@given(programs)
@pytest.mark.slow
def test_normal_form_is_stable(program):
    plain = normalize(program)
    assert all(isinstance(part, Literal) for rule in plain.rules for part in rule.body)
    assert normalize(plain) == plain


def holds(formula: Formula, true_names: set[str]) -> bool:
    """The truth value of a propositional formula, by definition."""
    if isinstance(formula, Literal):
        return (str(formula.atom) in true_names) == formula.is_positive
    if isinstance(formula, Negation):
        return not holds(formula.operand, true_names)
    truths = [holds(operand, true_names) for operand in formula.operands]
    return all(truths) if isinstance(formula, Conjunction) else any(truths)


@given(st.data())
def test_normal_form_means_the_same(data):
    formula = data.draw(formulas)
    plain = normalize(Program((Rule(Symbol("h"), (formula,)),)))
    atoms = sorted({str(literal.atom) for literal, _ in literals_in(formula)})[:8]
    for chosen in product([False, True], repeat=len(atoms)):
        true_names = {atom for atom, is_true in zip(atoms, chosen, strict=True) if is_true}
        alternatives = [all(holds(part, true_names) for part in rule.body) for rule in plain.rules]
        assert any(alternatives) == holds(formula, true_names)


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "(or a b)" * 14,
        "(or a b)" * 50_000,
        "(or)(and (or)" + "(or a b)" * 5 + ")(or" + " x" * 10_001 + ")",
        "(not (or " + "(and a b)" * 20 + "))",
        "(or" + " x" * 10_001 + ")",
    ],
)
def test_exponential_rules_are_rejected(body):
    program = parse(f"(p)\n(<= q {body})")
    with pytest.raises(GdlValidationError) as caught:
        normalize(program)
    assert [(error.code, error.span[:2]) for error in caught.value.diagnostics] == [("GDL210", (2, 1))]


def test_many_large_rules_are_rejected():
    rule = "(<= q " + "(or a b)" * 13 + ")\n"
    with pytest.raises(GdlValidationError) as caught:
        normalize(parse(rule * 30))
    assert [error.code for error in caught.value.diagnostics] == ["GDL211"]


@pytest.mark.slow
def test_bodies_up_to_the_limit_are_built():
    assert len(bodies("(<= p (or" + " x" * 10_000 + "))")) == 10_000
