"""Counting chains become adders; other chains stay."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from time import thread_time

import pytest

from gdl.grounding import ground
from gdl.syntax.parser import parse
from gdl.terms import Symbol
from ggp.circuit.circuit import Circuit, CircuitTerms, GateBuilder, Goal
from ggp.circuit.construction import build
from ggp.circuit.simplify.counting import add_up, binary_sum
from ggp.circuit.simplify.plan import simplify
from tests.oracles.naive_circuit import assert_same_play, evaluate

CELLS = 10


def counting_circuit(is_negated: bool) -> Circuit:
    """Goal n is worth n: exactly n of ten facts hold (or do not hold)."""
    gates = GateBuilder(2 + CELLS)
    row = [0]
    for cell in range(CELLS):
        literal = 2 * (1 + cell) ^ is_negated
        new = []
        for number in range(len(row) + 1):
            more = gates.conj([literal, row[number - 1]]) if number else 1
            same = gates.conj([literal ^ 1, row[number]]) if number < len(row) else 1
            new.append(gates.disj([more, same]))
        row = new
    names = tuple(Symbol(f"f{cell}") for cell in range(CELLS))
    return Circuit(
        terms=CircuitTerms((Symbol("r"),), names, ((Symbol("m"),),), ()),
        initial=(False,) * CELLS,
        gates=tuple(gates.gates),
        legal=(0,),
        terminal=1,
        goals=tuple(Goal(0, number, literal) for number, literal in enumerate(row)),
        next=tuple(2 * (1 + cell) for cell in range(CELLS)),
        percepts=(),
    )


@pytest.mark.parametrize("is_negated", [False, True])
def test_chain_becomes_an_adder_that_counts_alike(is_negated):
    circuit = counting_circuit(is_negated)
    smaller = add_up(circuit, thread_time() + 10)
    assert smaller.literal_count < circuit.literal_count
    for number in (0, 1, 2, 5, 9, 10):
        facts = frozenset(circuit.terms.fluents[:number])
        expected = CELLS - number if is_negated else number
        assert evaluate(smaller, facts, {}).goals == {(0, expected)}


def test_broken_chain_is_left_as_it_is():
    circuit = counting_circuit(False)
    broken = replace(circuit, goals=(Goal(0, 1, circuit.goals[3].literal),))
    kept = add_up(broken, thread_time() + 10)
    for number in range(CELLS + 1):
        facts = frozenset(circuit.terms.fluents[:number])
        assert evaluate(kept, facts, {}).goals == ({(0, 1)} if number == 3 else set())


@pytest.mark.parametrize("count", range(1, 9))
def test_binary_sum_adds(count):
    gates = GateBuilder(1 + count)
    bits = binary_sum([2 * (1 + i) for i in range(count)], gates)
    for values in product((False, True), repeat=count):
        rows = [True, *values]
        for inputs in gates.gates:
            rows.append(all(rows[x >> 1] != bool(x & 1) for x in inputs))
        total = sum((rows[bit >> 1] != bool(bit & 1)) << place for place, bit in enumerate(bits))
        assert total == sum(values)


def test_majority_game_plays_alike():
    cells = " ".join(f"(cell {i}) (follows {i} {i + 1})" for i in range(8))
    rules = f"""
    (role a) (role b) {cells} (follows 8 9)
    (<= (legal a (take ?c)) (cell ?c) (not (true (taken ?c a))) (not (true (taken ?c b))))
    (<= (legal b (take ?c)) (cell ?c) (not (true (taken ?c b))) (not (true (taken ?c a))))
    (legal a pass) (legal b pass)
    (<= (next (taken ?c ?r)) (does ?r (take ?c)))
    (<= (next (taken ?c ?r)) (true (taken ?c ?r)))
    (<= (count 0 ?r 1) (true (taken 0 ?r)))
    (<= (count 0 ?r 0) (role ?r) (not (true (taken 0 ?r))))
    (<= (count ?d ?r ?m) (follows ?c ?d) (cell ?d) (count ?c ?r ?n) (true (taken ?d ?r)) (follows ?n ?m))
    (<= (count ?d ?r ?n) (follows ?c ?d) (cell ?d) (count ?c ?r ?n) (not (true (taken ?d ?r))))
    (<= (above ?n ?m) (follows ?m ?n))
    (<= (above ?n ?m) (follows ?k ?n) (above ?k ?m))
    (<= full (count 7 a ?n) (above ?n 4))
    (<= terminal full)
    (<= (goal ?r 100) (count 7 ?r ?n) (above ?n 3))
    (<= (goal ?r 0) (count 7 ?r ?n) (not (above ?n 3)))
    """
    circuit = build(ground(parse(rules)))
    assert_same_play(circuit, add_up(circuit, thread_time() + 10), seed=1, steps=60)
    assert_same_play(circuit, simplify(circuit), seed=2, steps=60)
