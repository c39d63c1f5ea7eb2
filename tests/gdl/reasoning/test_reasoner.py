"""The reasoner compared with its naive twin, and on unusual constructs of real sheets."""

import random

import pytest

from gdl.errors import GdlValidationError, ReasoningError
from gdl.normalize import normalize
from gdl.reasoning.reasoner import Reasoner
from gdl.reasoning.values import term_of, value_of
from gdl.syntax.parser import parse, parse_term
from gdl.terms import Compound, Symbol
from gdl.validation import require_valid
from tests.conftest import mostly_slow
from tests.oracles.naive_reasoner import derive
from tests.oracles.random_programs import ROLES, random_fluents, random_moves, random_program


def reasoner_for(text: str) -> Reasoner:
    program = normalize(parse(text))
    require_valid(program)
    return Reasoner(program)


def legal(reasoner: Reasoner, role: str, *facts: str) -> set[str]:
    context = reasoner.context(frozenset(value_of(parse_term(fact)) for fact in facts))
    return {str(term_of(move)) for move in reasoner.legal_moves(context, role)}


def following(reasoner: Reasoner, moves: dict[str, str], *facts: str) -> set[str]:
    context = reasoner.context(
        frozenset(value_of(parse_term(fact)) for fact in facts),
        {role: value_of(parse_term(move)) for role, move in moves.items()},
    )
    return {str(term_of(fact)) for fact in reasoner.next_facts(context)}


@pytest.mark.parametrize("seed", mostly_slow(range(100), 6))
def test_reasoner_agrees_with_naive_derivation(seed):
    program = normalize(random_program(seed))
    require_valid(program)
    reasoner = Reasoner(program)
    rng = random.Random(seed)
    for _ in range(3):
        facts, moves = random_fluents(rng), random_moves(rng)
        given = [Compound("true", (parse_term(fact),)) for fact in facts]
        given += [Compound("does", (Symbol(r), parse_term(m))) for r, m in zip(ROLES, moves, strict=True)]
        expected = {str(atom) for atom in derive(program, given)}
        context = reasoner.context(frozenset(value_of(parse_term(fact)) for fact in facts))
        following = reasoner.with_moves(
            context, {r: value_of(parse_term(m)) for r, m in zip(ROLES, moves, strict=True)}
        )
        found = {f"(next {term_of(fact)})" for fact in reasoner.next_facts(following)}
        if reasoner.is_terminal(context):
            found.add("terminal")
        for role in ROLES:
            found |= {f"(legal {role} {term_of(move)})" for move in reasoner.legal_moves(context, role)}
            found |= {f"(goal {role} {term_of(value)})" for value in reasoner.goals(context, role)}
        asked = ("(next ", "(legal ", "(goal ", "terminal")
        assert found == {atom for atom in expected if atom.startswith(asked)}


CLEAR = """
    (role r) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (n 1) (n 2) (n 3) (n 4) (n 5)
    (<= (clear ?x ?y ?i) (succ ?x ?y) (n ?i)) (<= (clear ?x ?y ?i) (succ ?x ?i) (clear ?i ?y ?i))
    (<= (clear ?x ?y ?i) (succ ?x ?z) (not (true (full ?z))) (clear ?z ?y ?i))
    (<= (legal r (go ?x ?y ?i)) (true (piece ?x)) (true (target ?y)) (true (gone ?i)) (clear ?x ?y ?i))"""
"""Calls bind both ends and an ignored cell; the rules leave the ignored cell open."""
PATHS = """(<= (path ?x ?y) (true (edge ?x ?y))) (<= (path ?x ?z) (true (edge ?x ?y)) (path ?y ?z))
    (<= (legal r (go ?x (to ?y))) (path ?x ?y))"""
SWAPPED = """(<= (p ?x ?y) (true (e ?x ?y))) (<= (p ?x ?y) (q ?y ?x))
    (<= (q ?x ?y) (p ?x ?y)) (<= (legal r (m ?x ?y)) (q ?x ?y))"""
DOUBLED = "(<= (legal r (same ?x)) (true (pair ?x ?x))) (<= (legal r (deep ?x)) (true (box (in ?x) ?x)))"
EMPTY = "(<= (legal r one) (true (f))) (<= (legal r two) (true f)) (<= (legal r ?x) (true (g ?x)))"
UNDEFINED = "(<= (legal r a) (nothing ?x)) (<= (legal r b) (not (nothing c))) (<= terminal (never))"
DISTINCT = "(<= (legal r (m ?x ?y)) (distinct ?x ?y) (true (p ?x)) (true (p ?y)))"
HOSTILE = """(<= (legal r ?x) (true (p ?x '"__import__"')))"""


@pytest.mark.parametrize(
    ("rules", "facts", "moves"),
    [
        (PATHS, "(edge a b) (edge b c) (edge c a)", [f"(go {x} (to {y}))" for x in "abc" for y in "abc"]),
        (CLEAR, "(piece 1) (target 4) (target 5) (gone 3) (full 3)", ["(go 1 4 3)", "(go 1 5 3)"]),
        (CLEAR, "(piece 1) (target 4) (target 5) (gone 3) (full 3) (full 4)", ["(go 1 4 3)"]),
        (CLEAR, "(piece 1) (target 4) (target 5) (gone 2) (full 3)", []),
        (SWAPPED, "(e a b)", ["(m a b)", "(m b a)"]),
        (DOUBLED, "(pair a a) (pair a b) (box (in c) c) (box (in c) d) (box c c)", ["(deep c)", "(same a)"]),
        (EMPTY, "(f)", ["one"]),  # a compound without arguments is no constant
        (EMPTY, "f", ["two"]),
        (EMPTY, "(g (f))", ["(f)"]),
        (UNDEFINED, "", ["b"]),
        (DISTINCT, "(p a) (p b)", ["(m a b)", "(m b a)"]),  # before the literals that bind its variables
        (HOSTILE, """(p a '"__import__"')""", ["a"]),  # names never reach generated code
    ],
)
def test_legal_moves_follow_from_the_facts(rules, facts, moves):
    reasoner = reasoner_for(f"(role r) {rules}")
    assert legal(reasoner, "r", *(str(rule.head) for rule in parse(facts).rules)) == set(moves)
    assert not reasoner.is_terminal(reasoner.context(frozenset()))


def test_facts_and_empty_bodies_may_define_keywords():
    reasoner = reasoner_for(
        "(role r) (legal r noop) (<= (next (step 1))) (next fixed) terminal (<= (init s))"
    )
    assert reasoner.initial_facts == {"s"}
    assert legal(reasoner, "r") == {"noop"}
    assert following(reasoner, {"r": "noop"}) == {"(step 1)", "fixed"}
    assert reasoner.is_terminal(reasoner.context(frozenset()))


def test_init_may_be_derived_or_missing():
    derived = reasoner_for("(role r) (i 1) (i 2) (<= (init (at ?x)) (i ?x))")
    assert derived.initial_facts == {("at", "1"), ("at", "2")}
    assert reasoner_for("(role r)").initial_facts == frozenset()


def test_whole_facts_and_moves_may_be_variables():
    reasoner = reasoner_for("""
        (role r) (<= (next ?f) (true ?f) (not (removed ?f))) (<= (removed ?f) (does r (take ?f)))
        (<= (next (last ?m)) (does r ?m)) (<= (legal r (take ?f)) (true ?f))""")
    assert following(reasoner, {"r": "(take (a 1))"}, "(a 1)", "b") == {"b", "(last (take (a 1)))"}
    assert legal(reasoner, "r", "(a 1)", "b") == {"(take (a 1))", "(take b)"}


def test_constants_resolve_negation_in_a_cycle_of_predicates():
    reasoner = reasoner_for("""
        (role r) (<= (goal r 100) (true won)) (<= (goal r 50) (true drawn) (not (goal r 100)))
        (<= (goal r 0) (not (goal r 100)) (not (goal r 50)))""")
    for facts, value in ((["won"], "100"), (["won", "drawn"], "100"), (["drawn"], "50"), ([], "0")):
        assert reasoner.goals(reasoner.context(frozenset(facts)), "r") == [value]


def test_negation_in_a_cycle_of_rules_is_rejected():
    with pytest.raises(GdlValidationError, match="GDL207"):
        reasoner_for("(role r) (<= p (not q)) (<= q (not p))")


@pytest.mark.slow
def test_long_bodies_and_long_chains_compile():
    count = 60
    body = " ".join(f"(true (p{i} ?x{i})) (distinct ?x{i} none)" for i in range(count))
    chain = "\n".join(f"(<= (c{i + 1} ?x) (c{i} ?x) (true (p0 ?x)))" for i in range(2000))
    reasoner = reasoner_for(
        f"(role r) (<= (legal r (m {' '.join(f'?x{i}' for i in range(count))})) {body})"
        f"(<= (c0 ?x) (true (p0 ?x))) {chain} (<= terminal (c2000 a))"
    )
    facts = [f"(p{i} a)" for i in range(count)]
    assert legal(reasoner, "r", *facts) == {f"(m {' '.join(['a'] * count)})"}
    assert reasoner.is_terminal(reasoner.context(frozenset(value_of(parse_term(f)) for f in facts)))
    assert not reasoner.is_terminal(reasoner.context(frozenset()))


def test_roles_keep_the_order_of_the_sheet():
    assert reasoner_for("(role z) (role a) (role m)").roles == ("z", "a", "m")


def test_percepts_depend_on_moves():
    reasoner = reasoner_for(
        "(role a) (role b) (<= (sees ?r (heard ?m)) (role ?r) (does ?o ?m) (distinct ?r ?o))"
    )
    context = reasoner.context(frozenset(), {"a": "hi", "b": ("say", "yo")})
    assert reasoner.percepts(context, "a") == [("heard", ("say", "yo"))]
    assert reasoner.percepts(context, "b") == [("heard", "hi")]


LAYERS = " ".join(f"(<= (t{n + 1} (f ?x ?x)) (t{n} ?x))" for n in range(60))


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("(p a) (<= (p (s ?x)) (p ?x)) (<= (init (v ?x)) (p ?x))", "nested deeper"),
        (
            f"(t0 a) {LAYERS} (<= (init (v ?x)) (t60 ?x))",
            r"rule for t1\d/1 derives .* 10000 parts",
        ),
    ],
)
def test_terms_that_grow_without_bound_or_double_are_an_error(rules, message):
    with pytest.raises(ReasoningError, match=message):
        reasoner_for(f"(role r) {rules}")


def test_wide_terms_of_large_values_in_bodies_are_an_error():
    wide = f"(g {' '.join(['?x'] * 1000)})"
    rules = f"""(role r) (t0 a) (<= (t1 {wide}) (t0 ?x)) (<= (z ?x) (true ?x))
        (<= (legal r ?x) (t0 ?x) (not (z {wide}))) (<= (legal r b) (t1 ?x) (not (z (h {wide} {wide}))))"""
    with pytest.raises(ReasoningError, match="many variables, h, derives terms of more than 10000 parts"):
        legal(reasoner_for(rules), "r")
    assert legal(reasoner_for(rules.replace("(t1 ?x) (not", "(t0 ?x) (not")), "r") == {"a", "b"}


DEEP, END = "(s " * 150, ")" * 150
WIDE = " (s ?y)" * 150


@pytest.mark.parametrize(
    ("pattern", "fact", "other"),
    [
        (f"{DEEP}?x{END}", f"{DEEP}a{END}", f"{DEEP[3:]}a{END[1:]}"),
        (f"?x{WIDE}", f"a{WIDE.replace('?y', 'b')}", f"b{WIDE.replace('(s ?y)', 'b')}"),
        ("?x" + " ?x" * 900, "a" + " a" * 900, "b" + " b" * 899 + " a"),
    ],
    ids=["deep", "wide", "repeated"],
)
def test_patterns_may_be_deep_and_wide(pattern, fact, other):
    reasoner = reasoner_for(f"(role r) (q {fact}) (q {other}) (<= (legal r ?x) (q {pattern}))")
    assert legal(reasoner, "r") == {"a"}
