import dataclasses
import pickle

import numpy as np
import pytest

from gdl import work_clock
from gdl.errors import GroundingError
from gdl.grounding import (
    FALSE_ATOM,
    TRUE_ATOM,
    ExplodingRulesError,
    GroundProgram,
    ground,
)
from gdl.grounding.gringo import GroundingLimitError
from gdl.syntax.parser import parse, parse_term
from tests.oracles.naive_ground import NaiveGround

COUNTER = """
(role robot)
(init (step 0))
(succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal robot wait) (true (step ?n)))
(<= (legal robot (jump ?n)) (true (step ?n)) (succ ?n ?m))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= terminal (true (step 3)))
(<= (goal robot 100) (true (step 3)))
(<= (goal robot 0) (not (true (step 3))))
"""

ENDLESS = """
(role robot)
(init (n 0))
(<= (next (n (s ?x))) (true (n ?x)))
(<= (legal robot wait)
    (true (n ?x)))
"""


def ground_text(text: str, **options) -> GroundProgram:
    return ground(parse(text, name="game.kif"), **options)


def texts(terms) -> list[str]:
    return [str(term) for term in terms]


def test_ground_numbers_facts_and_moves_sorted_by_text():
    program = ground_text(COUNTER)
    assert texts(program.roles) == ["robot"]
    assert texts(program.fluents) == ["(step 0)", "(step 1)", "(step 2)", "(step 3)"]
    assert texts(program.moves[0]) == ["(jump 0)", "(jump 1)", "(jump 2)", "wait"]
    assert program.initial.tolist() == [True, False, False, False]
    assert program.fluent_atom.tolist() == [2, 3, 4, 5]
    assert program.move_atom[0].tolist() == [6, 7, 8, 9]
    assert [value for value, _ in program.goals[0]] == [0, 100]


def test_ground_plays_the_rules():
    naive = NaiveGround(ground_text(COUNTER))
    state = naive.initial_state()
    for step in range(3):
        assert naive.facts(state) == [f"(step {step})"]
        model = naive.model(state)
        assert texts(naive.legal_moves(model, 0)) == [f"(jump {step})", "wait"]
        assert naive.goals(model, 0) == [0]
        assert not naive.is_terminal(model)
        state = naive.next_state(naive.model(state, [parse_term("wait")]))
    assert naive.is_terminal(naive.model(state))
    assert naive.goals(naive.model(state), 0) == [100]


def test_ground_program_holds_no_constants_in_rules():
    program = ground_text(COUNTER)
    assert np.abs(program.body).min() > TRUE_ATOM
    assert program.rule_head.min() > TRUE_ATOM
    inputs = {*program.fluent_atom.tolist(), *program.move_atom[0].tolist()}
    assert not set(program.rule_head.tolist()) & inputs


def test_ground_turns_facts_into_the_true_atom():
    program = ground_text("(role a) (legal a m) (next f) (init g) terminal (goal a 50)")
    assert texts(program.fluents) == ["f", "g"]
    assert program.next_atom.tolist() == [TRUE_ATOM, FALSE_ATOM]
    assert program.legal_atom[0].tolist() == [TRUE_ATOM]
    assert program.terminal_atom == TRUE_ATOM
    assert program.goals == (((50, TRUE_ATOM),),)
    assert program.rule_count == 0


def test_ground_without_terminal_or_init():
    program = ground_text("(role a) (legal a m) (<= (next f) (does a m))")
    assert program.terminal_atom == FALSE_ATOM
    assert program.initial.tolist() == [False]
    assert program.rule_head.tolist() == program.next_atom.tolist()
    assert program.body.tolist() == program.move_atom[0].tolist()


AWKWARD = [
    "0", "1", "01", "001", "-1", "-01", "123456789012345678901234567890", "1.5", "+", "<", ">", "<=x", "a-b",
    "a_b", "a__b", "a_2d_b", "_", "_x", "nots", "x:y", "#show", "#inf", "\"q\"", "'", "%", "@f", "p0", "c0",
    "ünïcödé", "true", "legal", "v0", "v_0",
]  # fmt: skip


def test_ground_keeps_names_apart_and_exact():
    facts = [*AWKWARD, *(f"({name})" for name in AWKWARD), *(f"({name} {name} b)" for name in AWKWARD)]
    text = "(role a) (legal a m) " + " ".join(f"(init {fact})" for fact in facts)
    assert texts(ground_text(text).fluents) == sorted(facts)


def test_ground_distinguishes_a_symbol_from_a_compound_without_arguments():
    program = ground_text(
        """
        (role a) (init f) (init (p (f)))
        (<= (legal a symbol) (true f))
        (<= (legal a compound) (true (f)))
        (<= (legal a inner) (true (p f)))
        (<= (next (f)) (true f))
        """
    )
    naive = NaiveGround(program)
    state = naive.initial_state()
    assert naive.facts(state) == ["(p (f))", "f"]
    assert texts(naive.legal_moves(naive.model(state), 0)) == ["symbol"]
    state = naive.next_state(naive.model(state))
    assert texts(naive.legal_moves(naive.model(state), 0)) == ["compound"]


def test_ground_reports_percepts_and_the_random_role():
    program = ground_text(
        """
        (role random) (role guesser)
        (legal random (roll 1)) (legal random (roll 2)) (legal guesser wait)
        (<= (sees guesser (rolled ?n)) (does random (roll ?n)))
        (<= (next (die ?n)) (does random (roll ?n)))
        """
    )
    assert texts(program.roles) == ["random", "guesser"]
    assert [texts(term for term, _ in own) for own in program.percepts] == [[], ["(rolled 1)", "(rolled 2)"]]
    naive = NaiveGround(program)
    model = naive.model(naive.initial_state(), [parse_term("(roll 2)"), parse_term("wait")])
    assert texts(naive.percepts(model, 1)) == ["(rolled 2)"]


def test_ground_leaves_out_goals_that_are_not_integers_from_0_to_100():
    goals = "(goal a 07) (goal a -3) (goal a 101) (<= (goal a high) (true f))"
    program = ground_text(f"(role a) (legal a m) (init f) {goals}")
    assert [value for value, _ in program.goals[0]] == [7]


def test_ground_ignores_moves_goals_and_percepts_of_unknown_roles():
    program = ground_text(
        """
        (role a) (legal a m) (legal stranger n) (goal stranger 100) (sees stranger x)
        (<= (next f) (does stranger n))
        (<= (next g) (not (does stranger n)))
        """
    )
    assert texts(program.moves[0]) == ["m"]
    assert dict(zip(texts(program.fluents), program.next_atom.tolist(), strict=True))["g"] == TRUE_ATOM


def test_ground_neither_needs_nor_trusts_base():
    program = ground_text(COUNTER + "(base (step 0)) (base nonsense) (input robot fly)")
    assert texts(program.fluents) == ["(step 0)", "(step 1)", "(step 2)", "(step 3)"]
    assert "fly" not in texts(program.moves[0])


def test_ground_handles_negation_through_a_predicate_cycle_that_constants_break():
    naive = NaiveGround(
        ground_text(
            """
            (role a) (role b) (legal a m) (legal b m) (init f) (init g)
            (<= (next g) (true g))
            (<= (goal a 100) (true f))
            (<= (goal a 0) (not (goal a 100)))
            (<= (goal b 100) (goal a 0))
            (<= (goal b 0) (not (goal b 100)))
            """
        )
    )
    first = naive.initial_state()
    second = naive.next_state(naive.model(first))
    assert [naive.goals(naive.model(first), role) for role in (0, 1)] == [[100], [0]]
    assert [naive.goals(naive.model(second), role) for role in (0, 1)] == [[0], [100]]


def test_ground_decides_initial_facts_through_negation():
    program = ground_text("(role a) (legal a m) (p 1) (p 2) (q 2) (<= (init (f ?x)) (p ?x) (not (q ?x)))")
    assert texts(program.fluents) == ["(f 1)"]
    assert program.initial.tolist() == [True]


def test_ground_treats_facts_that_no_move_can_change_as_constants():
    walls = " ".join(f"(init (wall {x} {x}))" for x in range(5))
    program = ground_text(
        f"""
        (role a) {walls} (init (at 0)) (next (at 1))
        (<= (next (wall ?x ?y)) (true (wall ?x ?y)))
        (<= (legal a (go ?x)) (true (wall ?x ?x)))
        """
    )
    assert program.legal_atom[0].tolist() == [TRUE_ATOM] * 5
    naive = NaiveGround(program)
    state = naive.next_state(naive.model(naive.initial_state()))
    assert naive.facts(state) == ["(at 1)", *(f"(wall {x} {x})" for x in range(5))]


def test_ground_undefined_atoms_are_false():
    program = ground_text("(role a) (legal a m) (<= (next f) (nowhere)) (<= (next g) (not (nowhere 1)))")
    assert texts(program.fluents) == ["g"]


def test_ground_reads_a_doubly_negated_distinct_as_equality():
    rule = "(<= (legal a (m ?x ?y)) (d ?x) (d ?y) (not (distinct ?x ?y)))"
    assert texts(ground_text(f"(role a) (d 1) (d 2) {rule}").moves[0]) == ["(m 1 1)", "(m 2 2)"]


def test_ground_handles_positive_recursion_in_the_state():
    rules = " ".join(f"(init (edge {x} {y}))" for x, y in [(1, 2), (2, 3), (3, 1), (4, 4)])
    naive = NaiveGround(
        ground_text(
            f"""
            (role a) {rules}
            (<= (next (edge ?x ?y)) (true (edge ?x ?y)) (not (does a (cut ?x ?y))))
            (<= (legal a (cut ?x ?y)) (true (edge ?x ?y)))
            (<= (path ?x ?y) (true (edge ?x ?y)))
            (<= (path ?x ?z) (path ?x ?y) (true (edge ?y ?z)))
            (<= (goal a 100) (path 1 1))
            (<= (goal a 0) (not (path 1 1)))
            """
        )
    )
    state = naive.initial_state()
    assert naive.goals(naive.model(state), 0) == [100]
    state = naive.next_state(naive.model(state, [parse_term("(cut 2 3)")]))
    assert naive.goals(naive.model(state), 0) == [0]


def test_ground_is_deterministic_and_can_be_pickled():
    one, other = ground_text(COUNTER), pickle.loads(pickle.dumps(ground_text(COUNTER)))
    for field in dataclasses.fields(one):
        np.testing.assert_equal(getattr(one, field.name), getattr(other, field.name))


@pytest.mark.slow
def test_ground_names_the_rule_that_never_ends():
    told = r"^game\.kif:4: .* rule for next/1 probably has the most instances"
    with pytest.raises(ExplodingRulesError, match=told) as raised:
        ground_text(ENDLESS, seconds=1, mebibytes=400)
    error = pickle.loads(pickle.dumps(raised.value))
    assert (str(error.rule.predicate), error.rule.span.line) == ("next/1", 4)


@pytest.mark.slow
def test_ground_stops_at_its_memory_limit():
    numbers = " ".join(f"(d {n})" for n in range(300))
    text = f"(role a) {numbers} (<= (legal a (m ?x ?y ?z)) (d ?x) (d ?y) (d ?z))"
    with pytest.raises(ExplodingRulesError, match="250 MiB"):
        ground_text(text, seconds=60, mebibytes=250)


def test_ground_reports_progress():
    seen: list[tuple[int, float]] = []
    ground_text(COUNTER, progress=lambda rules, seconds: seen.append((rules, seconds)))
    assert seen
    assert seen[-1][0] > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(legal a m)", "no role"),
        ("(role a)\n(<= (legal a ?m) (role ?x))", r"game\.kif:2: \?m of a rule for legal/2"),
        ("(role a) (legal a m)\n(<= terminal (not (role ?x)))", r"game\.kif:2: \?x"),
    ],
)
def test_ground_rejects_rules_without_meaning(text, message):
    with pytest.raises(GroundingError, match=message):
        ground_text(text)


def test_limit_ends_a_child_that_gets_no_cpu_time(monkeypatch):
    monkeypatch.setattr(work_clock, "_cpu_seconds", lambda pid: 0.0)
    with pytest.raises(GroundingLimitError):
        ground_text(ENDLESS, seconds=0.1, mebibytes=4000)
