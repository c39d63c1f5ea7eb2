import pickle

import pytest
from hypothesis import given

from gdl.syntax.parser import parse_term
from gdl.terms import Compound, Span, Symbol, Variable, is_ground, match, substitute, variables
from tests.gdl.rule_strategies import terms


@given(terms)
def test_terms_survive_text_and_pickle(term):
    assert parse_term(str(term)) == term
    assert pickle.loads(pickle.dumps(term)) == term


def test_equality_ignores_places():
    assert Symbol("a", Span(1, 1, 1, 2)) == Symbol("a")
    assert parse_term("( f  a )") == parse_term("(f a)")
    assert hash(parse_term("( f  a )")) == hash(parse_term("(f a)"))


@pytest.mark.parametrize(
    ("left", "right"),
    [(Symbol("f"), Compound("f", ())), (Symbol("x"), Variable("x")), (Symbol("?x"), Variable("x"))],
)
def test_terms_of_different_kinds_differ(left, right):
    assert left != right
    assert right != left


def test_variables_come_left_to_right_with_repeats():
    assert [variable.name for variable in variables(parse_term("(f ?x (g ?y ?x))"))] == ["x", "y", "x"]
    assert not is_ground(parse_term("(f (g ?y))"))
    assert is_ground(parse_term("(f (g) y)"))


def test_substitute_replaces_once():
    term = parse_term("(f ?x (g ?y))")
    assert str(substitute(term, {"x": Variable("y"), "y": Symbol("a")})) == "(f ?y (g a))"
    assert substitute(term, {"z": Symbol("a")}) is term


@pytest.mark.parametrize(
    ("pattern", "ground", "expected"),
    [
        ("(f ?x ?y)", "(f a (g b))", {"x": "a", "y": "(g b)"}),
        ("(f ?x ?x)", "(f a a)", {"x": "a"}),
        ("(f ?x ?x)", "(f a b)", None),
        ("(f ?x)", "(g a)", None),
        ("(f ?x)", "(f a b)", None),
        ("(f)", "f", None),
        ("a", "a", {}),
        ("?x", "(f)", {"x": "(f)"}),
    ],
)
def test_match_binds_variables(pattern, ground, expected):
    found = match(parse_term(pattern), parse_term(ground))
    assert (found if found is None else {name: str(term) for name, term in found.items()}) == expected


def test_match_extends_bindings_without_changing_them():
    given_bindings = {"x": Symbol("a")}
    assert match(parse_term("(f ?x ?y)"), parse_term("(f b c)"), given_bindings) is None
    assert match(parse_term("(f ?x ?y)"), parse_term("(f a c)"), given_bindings) == {
        "x": Symbol("a"),
        "y": Symbol("c"),
    }
    assert given_bindings == {"x": Symbol("a")}
