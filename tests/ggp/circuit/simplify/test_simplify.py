"""Simplified circuits play like the rules: each stage alone, all but one, and stopped early."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from time import thread_time

import pytest

from gdl.grounding import ground
from gdl.syntax.parser import parse, parse_file
from ggp.circuit.circuit import Circuit, CircuitTerms, GateBuilder
from ggp.circuit.construction import build
from ggp.circuit.simplify.exclusive_facts import Sampler, find_exclusive_facts
from ggp.circuit.simplify.factoring import factor
from ggp.circuit.simplify.plan import LARGE_PLAN, PLAN, STAGES, simplify
from ggp.circuit.simplify.rewriting import cost
from ggp.circuit.tables import Phase
from tests.conftest import mostly_slow
from tests.oracles.naive_circuit import assert_same_play
from tests.oracles.random_circuits import random_circuit

TICTACTOE_LIKE = """
(role x) (role o)
(cell 1) (cell 2) (cell 3)
(init (mark 1 b)) (init (mark 2 b)) (init (mark 3 b)) (init (control x))
(<= (legal ?r (put ?c)) (true (control ?r)) (true (mark ?c b)))
(<= (legal x noop) (true (control o)))
(<= (legal o noop) (true (control x)))
(<= (next (mark ?c ?r)) (does ?r (put ?c)))
(<= (next (mark ?c ?v)) (true (mark ?c ?v)) (distinct ?v b))
(<= (next (mark ?c b)) (true (mark ?c b)) (does ?r (put ?d)) (distinct ?c ?d))
(<= (next (control x)) (true (control o)))
(<= (next (control o)) (true (control x)))
(<= open (true (mark ?c b)))
(<= terminal (not open))
(<= (goal ?r 100) (role ?r) (true (mark 1 ?r)))
(<= (goal x 0) (not (true (mark 1 x))))
(<= (goal o 0) (not (true (mark 1 o))))
(<= (next (ghost)) (true (ghost)))
(<= (legal x haunt) (true (ghost)))
"""
CORPUS_GAMES = ["ticTacToe", "connectFour", "eightPuzzle", "peg", "tron_10x10", "biddingTicTacToe", "pentago"]


# 103, 118 and 225 have cones with gates that are never true.
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(
    ("seed", "seconds"),
    [*((seed, 20) for seed in (*range(12), 103, 118, 225)), *((seed, -1) for seed in range(100, 106))],
)
def test_stage_alone_keeps_play_also_past_its_deadline(stage, seed, seconds):
    circuit = random_circuit(seed)
    assert_same_play(circuit, STAGES[stage](circuit, thread_time() + seconds), seed=seed, steps=60)


@pytest.mark.parametrize("seed", range(40))
def test_all_stages_keep_play(seed):
    circuit = random_circuit(seed, gates=60, moves=((3, 6), (7,), (2, 2, 3))[seed % 3])
    assert_same_play(circuit, simplify(circuit), seed=seed, steps=80)


@pytest.mark.parametrize("left_out", STAGES)
def test_all_stages_but_one_keep_play(left_out):
    circuit = build(ground(parse(TICTACTOE_LIKE)))
    smaller = simplify(circuit, stages=[stage for stage in STAGES if stage != left_out])
    assert cost(smaller) <= cost(circuit)
    assert_same_play(circuit, smaller, seed=5, steps=80)


@pytest.mark.parametrize("name", mostly_slow(CORPUS_GAMES, 4))
def test_real_sheets_play_alike(corpus_dir, name):
    circuit = build(ground(parse_file(corpus_dir / "open" / "games" / f"{name}.kif")))
    smaller = simplify(circuit)
    assert smaller.literal_count < circuit.literal_count
    assert_same_play(circuit, smaller, seed=3, steps=60, limit=60)


def test_every_planned_stage_has_a_switch():
    assert set(PLAN) == set(LARGE_PLAN) == set(STAGES)


@pytest.mark.parametrize("seed", range(6))
def test_the_plan_for_large_circuits_keeps_play(seed, monkeypatch):
    monkeypatch.setattr("ggp.circuit.simplify.plan.LARGE_LITERALS", 0)
    circuit = random_circuit(seed, gates=60)
    assert_same_play(circuit, simplify(circuit, seconds=10), seed=seed, steps=30)


def test_unknown_stage_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"magic.*stages are constants"):
        simplify(random_circuit(1), stages=["magic"])


def test_report_has_an_entry_per_stage():
    report = []
    circuit = build(ground(parse(TICTACTOE_LIKE)))
    smaller = simplify(circuit, stages=["factoring", "sharing"], report=report)
    names = [entry.stage for entry in report]
    assert names[0] == "rules"
    assert set(names[1:]) == {"factoring", "sharing"}
    assert sum(report[0].literals) == circuit.literal_count
    assert sum(report[-1].literals) == smaller.literal_count
    assert sum(report[-1].gates) == len(smaller.gates)


def test_facts_never_true_and_moves_never_legal_are_left_out():
    circuit = simplify(build(ground(parse(TICTACTOE_LIKE))))
    assert "(ghost)" not in map(str, circuit.terms.fluents)
    assert "haunt" not in [str(move) for move in circuit.terms.moves[0]]


def fact_circuit(gates: GateBuilder, fluents: int, moves: int, terminal: int) -> Circuit:
    names = tuple(f"t{i}" for i in range(max(fluents, moves)))
    return Circuit(
        terms=CircuitTerms(("r",), names[:fluents], (names[:moves],), ()),  # type: ignore[arg-type]
        initial=(True,) * fluents,
        gates=tuple(gates.gates),
        legal=(0,) * moves,
        terminal=terminal,
        goals=(),
        next=tuple(2 * (1 + f) for f in range(fluents)),
        percepts=(),
    )


def test_factoring_takes_out_the_shared_literal():
    gates = GateBuilder(1 + 6)
    a, b, c, d, e = (2 * node for node in range(1, 6))
    terminal = gates.disj([gates.conj([a, b]), gates.conj([a, c]), gates.conj([a, d, e])])
    smaller = factor(fact_circuit(gates, 5, 1, terminal), thread_time() + 10)
    assert smaller.literal_count == 2 + 3 + 2
    assert (smaller.terminal & 1, len(smaller.gates)) == (0, 3)


def test_moves_of_most_of_a_role_become_the_complement():
    gates = GateBuilder(1 + 1 + 9)
    moves = [2 * node for node in range(2, 11)]
    circuit = fact_circuit(gates, 1, 9, 1)
    nested = gates.disj([gates.disj(moves[:4]), gates.disj(moves[3:7])])
    circuit = replace(circuit, gates=tuple(gates.gates), next=(nested,))
    assert circuit.literal_count == 4 + 4 + 2
    smaller = STAGES["exactly_one_move"](circuit, thread_time() + 10)
    assert smaller.gates == ((moves[7] ^ 1, moves[8] ^ 1),)
    assert smaller.next == (2 * 11,)


def test_exclusive_facts_hold_in_play_and_are_found():
    circuit = build(ground(parse(TICTACTOE_LIKE)))
    proved = find_exclusive_facts(circuit, thread_time() + 20)
    groups = {frozenset(str(circuit.terms.fluents[f]) for f in group) for group in proved.exclusive}
    assert {"(control x)", "(control o)"} in groups
    assert {"(mark 2 b)", "(mark 2 x)", "(mark 2 o)"} in groups
    assert_exclusive(proved, 64, seed=9, steps=30)


def assert_exclusive(circuit, games, seed, steps):
    """No sampled state holds two facts of a group."""
    for sample, _ in zip(Sampler(circuit, games, seed=seed).steps(), range(steps), strict=False):
        for group in circuit.exclusive:
            for first, second in combinations(group, 2):
                assert not sample.rows[1 + first] & sample.rows[1 + second]


@pytest.mark.parametrize("seed", range(200, 230))
def test_exclusive_facts_of_random_circuits_hold_in_play(seed):
    proved = find_exclusive_facts(random_circuit(seed), thread_time() + 20)
    assert_exclusive(proved, 256, seed=seed, steps=60)


def test_sampler_selects_one_legal_move_per_role():
    circuit = random_circuit(7)
    sampler = Sampler(circuit, 128, seed=1)
    first = circuit.first_move
    for sample, _ in zip(sampler.steps(), range(10), strict=False):
        for role in range(len(circuit.terms.roles)):
            chosen = [sample.rows[circuit.move0 + move] for move in range(first[role], first[role + 1])]
            assert all(not a & b for a, b in combinations(chosen, 2))
            assert sum(chosen) & sample.running == sample.running
    assert len(sampler.order) == len(Phase)
