"""Rewriting preserves the meaning of rules: splits and unfoldings compared with a brute-force join."""

import random
from itertools import product

import pytest

import gdl.grounding
import gdl.grounding.demand as demand
import gdl.grounding.splitting as splitting
import gdl.grounding.unfolding as unfolding
from gdl.grounding import ground, rewrite
from gdl.grounding.estimation import estimate
from gdl.grounding.simplification import canonical, simplify, unify
from gdl.grounding.splitting import cost, split
from gdl.normalize import normalize
from gdl.program import Predicate, Program
from gdl.syntax.parser import parse, parse_term
from tests.oracles.naive_ground import NaiveGround

CONSTANTS = ["a", "b", "c"]


@pytest.fixture
def eager(monkeypatch):
    """Apply every possible split and unfolding, profitable or not."""
    monkeypatch.setattr(splitting, "WORTHWHILE_COST", 0.0)
    monkeypatch.setattr(demand, "MIN_ARITY", 1)
    for module in (gdl.grounding, demand, unfolding):
        monkeypatch.setattr(module, "COSTLY", -1.0)
    for module in (splitting, unfolding):
        monkeypatch.setattr(module, "CLEAR_GAIN", 1e9)


def random_sheet(seed: int) -> tuple[str, set[tuple[str, ...]]]:
    """A sheet whose moves come from one long rule, and the expected moves."""
    rng = random.Random(seed)
    relations = {
        name: {row for row in product(CONSTANTS, repeat=2) if rng.random() < 0.5} | {("a", "a")}
        for name in ("p", "q", "r")
    }
    relations["link"] = composed(relations["q"], relations["r"])
    relations["chain"] = composed(relations["r"], relations["q"])
    names = ["x", "y", "z", "u", "v"][: rng.randint(3, 5)]
    kinds = ["p", "q", "r", "link", "chain", "link", "chain"]
    positive = [("p", "x", "y")] + [
        (rng.choice(kinds), rng.choice(names), rng.choice(names)) for _ in range(rng.randint(2, 4))
    ]
    bound = sorted({name for _, left, right in positive for name in (left, right)})
    negative = [(rng.choice(kinds), rng.choice(bound), rng.choice(bound)) for _ in range(rng.randint(0, 1))]
    unequal = [(rng.choice(bound), rng.choice(bound)) for _ in range(rng.randint(0, 2))]
    head = [rng.choice(bound) for _ in range(2)]
    expected = set()
    for values in product(CONSTANTS, repeat=len(bound)):
        of = dict(zip(bound, values, strict=True))
        if (
            all((of[left], of[right]) in relations[name] for name, left, right in positive)
            and not any((of[left], of[right]) in relations[name] for name, left, right in negative)
            and all(of[left] != of[right] for left, right in unequal)
        ):
            expected.add(tuple(of[name] for name in head))
    body = [f"(true ({name} ?{left} ?{right}))" for name, left, right in positive[:1]]
    body += [f"({name} ?{left} ?{right})" for name, left, right in positive[1:]]
    body += [f"(not ({name} ?{left} ?{right}))" for name, left, right in negative]
    body += [f"(different ?{left} ?{right})" for left, right in unequal]
    facts = [f"({name} {a} {b})" for name in "pqr" for a, b in sorted(relations[name])]
    initial = [f"(init {fact})" for fact in facts]
    keep = "(<= (next (p ?x ?y)) (true (p ?x ?y)) (does robot noop)) (legal robot noop)"
    rule = f"(<= (legal robot (m ?{head[0]} ?{head[1]})) {' '.join(body)})"
    different = " ".join(f"(d {one})" for one in CONSTANTS)
    different += " (<= (different ?x ?y) (d ?x) (d ?y) (distinct ?x ?y))"
    composite = "(<= (link ?x ?y) (q ?x ?z) (r ?z ?y)) (<= (chain ?x ?y) (true (r ?x ?z)) (q ?z ?y))"
    return "\n".join(["(role robot)", *facts, *initial, keep, rule, different, composite]), expected


def composed(left: set[tuple[str, ...]], right: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    return {(a, c) for a, b in left for d, c in right if b == d}


@pytest.mark.parametrize("seed", range(12))
def test_rewriting_keeps_the_meaning_of_long_bodies(seed, eager):
    sheet, expected = random_sheet(seed)
    naive = NaiveGround(ground(parse(sheet)))
    found = {str(move) for move in naive.legal_moves(naive.model(naive.initial_state()), 0)}
    assert found == {"noop", *(f"(m {a} {b})" for a, b in expected)}


def frame_axiom(size: int) -> Program:
    numbers = " ".join(f"(n {number})" for number in range(size))
    cells = " ".join(f"(init (cell {x} {y} b))" for x in range(size) for y in range(size))
    rules = f"""
        (role robot) {numbers} {cells}
        (<= (legal robot (move ?x ?y)) (n ?x) (n ?y))
        (<= (next (cell ?x ?y x)) (does robot (move ?x ?y)))
        (<= (next (cell ?x ?y ?p)) (true (cell ?x ?y ?p)) (does robot (move ?u ?v)) (other ?x ?y ?u ?v))
        (<= (other ?x ?y ?u ?v) (n ?x) (n ?y) (n ?u) (n ?v) (distinct ?x ?u))
        (<= (other ?x ?y ?u ?v) (n ?x) (n ?y) (n ?u) (n ?v) (distinct ?y ?v))
        (<= terminal (true (cell 0 0 x)))"""
    return normalize(parse(rules))


def test_split_takes_the_cross_product_out_of_a_frame_axiom():
    program = frame_axiom(8)
    rules = simplify(program.rules, program.source)
    parts = rewrite(program)
    assert len(parts) > len(rules)
    before = sum(cost(estimate(rules), rule.literals) for rule in rules)
    after = sum(cost(estimate(parts), rule.literals) for rule in parts)
    assert after < before / 2
    assert ground(program).rule_count < 5000  # unsplit: more than 8,000


def test_split_leaves_cheap_rules_alone():
    rules = simplified("(role a) (p 1) (q 1) (<= (legal a (m ?x)) (p ?x) (q ?y) (q ?z))")
    assert split(rules, estimate(rules)) == rules


def test_guard_grounds_only_what_callers_ask_for(monkeypatch):
    monkeypatch.setattr(gdl.grounding, "COSTLY", 0.0)
    monkeypatch.setattr(unfolding, "CLEAR_GAIN", 0.0)
    numbers = " ".join(f"(n {number})" for number in range(20))
    text = f"""
        (role robot) {numbers} (init (lit 0)) (init (at 1 2 3)) (init (at 3 3 4))
        (<= (next (pair ?x ?y)) (n ?x) (n ?y) (true (lit ?z)))
        (<= (next (at ?x ?y ?z)) (true (at ?x ?y ?z)) (does robot wait))
        (<= (blocked ?x ?y ?z) (true (pair ?x ?y)) (true (pair ?y ?z)))
        (<= (legal robot (go ?x ?y ?z)) (true (at ?x ?y ?z)) (not (blocked ?x ?y ?z)))
        (legal robot wait)
    """
    printed = []
    for costly in (1e12, 0.0):
        monkeypatch.setattr(demand, "COSTLY", costly)
        counts = [0]
        program = ground(parse(text), progress=lambda rules, seconds, counts=counts: counts.append(rules))
        printed.append(max(counts))
        naive = NaiveGround(program)
        moves = naive.legal_moves(naive.model(naive.initial_state()), 0)
        assert [str(move) for move in moves] == ["(go 1 2 3)", "(go 3 3 4)", "wait"]
    assert printed[1] < printed[0] / 3


def simplified(text):
    program = normalize(parse(text))
    return simplify(program.rules, program.source)


def test_simplify_drops_duplicate_and_unneeded_rules():
    rules = simplified("""
        (role a) (role a) (p 1) (unused 1)
        (<= (legal a ?x) (p ?x)) (<= (legal a ?y) (p ?y))
        (<= (useless ?x) (p ?x) (unused ?x))
        (<= (next f) (p ?x) (distinct ?x ?x))
        (<= (next g) (p ?x) (undefined ?x))""")
    assert [str(rule.head) for rule in rules] == ["(role a)", "(p 1)", "(legal a ?x)"]


def test_simplify_reads_frozen_facts_from_init():
    rules = simplified("""
        (role a) (init (wall 1)) (init (at 1))
        (<= (next (wall ?x)) (true (wall ?x)))
        (<= (next (at ?x)) (true (at ?x)) (true (wall ?x)))
        (<= (legal a m) (true ?f))""")
    bodies = {str(rule.head): [str(one.atom) for one in rule.literals] for rule in rules}
    assert bodies["(next (wall ?x))"] == ["(init (wall ?x))"]
    assert bodies["(next (at ?x))"] == ["(true (at ?x))", "(init (wall ?x))"]


def test_simplify_freezes_no_fact_that_a_general_rule_may_restore():
    text = "(role a) (init (w 1)) (<= (next (w ?x)) (true (w ?x))) (<= (next ?f) (does a ?f))"
    rules = simplified(text)
    assert all(one.atom.name != "init" for rule in rules for one in rule.literals)


def test_canonical_ignores_names_of_variables():
    rules = parse("(<= (p ?x ?y) (q ?x ?y)) (<= (p ?a ?b) (q ?a ?b)) (<= (p ?a ?b) (q ?b ?a))").rules
    assert canonical(rules[0]) == canonical(rules[1]) != canonical(rules[2])


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("?x", "a", {"?x": "a"}),
        ("(f ?x b)", "(f a ?y)", {"?x": "a", "?y": "b"}),
        ("(f ?x ?x)", "(f ?y (g ?z))", {"?x": "(g ?z)", "?y": "(g ?z)"}),
        ("?x", "(f ?x)", None),
        ("(f a)", "(f b)", None),
        ("f", "(f)", None),
        ("?x", "?x", {}),
    ],
)
def test_unify_finds_the_most_general_substitution(left, right, expected):
    found = unify(parse_term(left), parse_term(right))
    assert (found and {f"?{name}": str(term) for name, term in found.items()}) == expected


def test_estimate_counts_facts_and_joins():
    program = frame_axiom(8)
    estimates = estimate(simplify(program.rules, program.source))
    by_name = {(relation.kind, relation.name): size for relation, size in estimates.sizes.items()}
    assert by_name["predicate", "n"] == 8
    assert by_name["move", "move"] == 64
    assert 64 <= by_name["state", "cell"] <= 128
    assert program.rules_for(*Predicate("terminal", 0))
