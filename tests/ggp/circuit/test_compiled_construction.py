"""Construction and factoring by kernels: the same circuits, gate for gate, as from the Python twins."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import chain
from time import thread_time

import numba
import numpy as np
import pytest

from gdl.grounding import ground
from gdl.syntax.parser import parse, parse_file
from ggp.circuit import construction as circuit_construction
from ggp.circuit import kernels as circuit_kernels
from ggp.circuit.circuit import Circuit, GateBuilder, phase_gates, without_dead_gates
from ggp.circuit.construction import build, prepare_kernels
from ggp.circuit.packed_gates import PackedGates, as_tuples, input_count, packed
from ggp.circuit.simplify import factoring
from ggp.circuit.simplify.kernels import factoring as factoring_kernels
from ggp.circuit.simplify.plan import simplify
from ggp.circuit.tables import tabulate
from tests.conftest import mostly_slow
from tests.oracles.naive_circuit import assert_same_play
from tests.oracles.random_circuits import random_circuit
from tests.oracles.random_programs import random_program


@pytest.fixture(autouse=True)
def _kernels_for_every_size(monkeypatch):
    monkeypatch.setattr(circuit_construction, "COMPILED_RULES", 0)
    monkeypatch.setattr(factoring, "COMPILED_LITERALS", 0)
    monkeypatch.setattr("ggp.jit.compiling.IS_COMPILED", True)


def built_plainly(monkeypatch, program) -> Circuit:
    monkeypatch.setattr(circuit_construction, "COMPILED_RULES", 10**9)
    return build(program)


def unfactored_circuit(seed: int) -> Circuit:
    """Nested sums of products over few literals, so that much is shared, equal, or already known."""
    rng = random.Random(seed)
    circuit = random_circuit(seed, fluents=8, moves=(4, 3))
    builder = GateBuilder(circuit.gate0)
    pool = [2 * node for node in range(1, circuit.gate0)]
    for _ in range(40):
        cubes = []
        for _ in range(rng.randint(1, 9)):
            chosen = rng.sample(pool[-14:] if rng.random() < 0.5 else pool[:9], rng.randint(1, 6))
            cubes.append(builder.conj([x ^ (rng.random() < 0.2) for x in chosen]))
        extra = [rng.choice(pool) ^ 1 for _ in range(rng.randint(0, 2))]
        pool.append(builder.conj([builder.disj(cubes), *extra]))
    following = tuple(rng.choice(pool[-20:]) ^ rng.randint(0, 1) for _ in circuit.next)
    percepts = tuple(percept._replace(literal=rng.choice(pool[-20:])) for percept in circuit.percepts)
    outputs = {"legal": (0,) * 7, "terminal": 1, "goals": (), "next": following, "percepts": percepts}
    return without_dead_gates(replace(circuit, gates=tuple(builder.gates), **outputs))


@pytest.mark.parametrize("seed", mostly_slow(range(30), 3))
def test_random_rules_build_the_same_circuit(seed, monkeypatch):
    program = ground(random_program(seed))
    built = build(program)
    assert built == built_plainly(monkeypatch, program)


@pytest.mark.parametrize(
    "name", mostly_slow(["peg", "reversi", "tron_10x10", "breakthrough", "checkers"], 3, first=3)
)
def test_real_sheets_build_and_factor_the_same(name, corpus_dir, monkeypatch):
    program = ground(parse_file(corpus_dir / "open" / "games" / f"{name}.kif"))
    built = build(program)
    assert isinstance(built.gates, PackedGates)
    assert built == built_plainly(monkeypatch, program)
    end = thread_time() + 100
    assert factoring.factor(built, end) == factoring.factor_plainly(built, end)


@pytest.mark.parametrize("seed", mostly_slow(range(60), 3))
def test_random_circuits_factor_the_same(seed):
    circuit = unfactored_circuit(seed)
    end = thread_time() + 100
    factored = factoring.factor(circuit, end)
    assert isinstance(factored.gates, PackedGates)
    assert factored == factoring.factor_plainly(circuit, end)
    assert factored.literal_count < circuit.literal_count
    assert_same_play(circuit, factored, seed=seed, steps=20)


@pytest.mark.parametrize("seed", range(10))
def test_factoring_past_its_deadline_agrees_with_the_twin(seed):
    circuit = unfactored_circuit(seed)
    assert factoring.factor(circuit, 0.0) == factoring.factor_plainly(circuit, 0.0)


def test_the_hash_table_grows(monkeypatch):
    monkeypatch.setattr(circuit_kernels, "MIN_SLOTS", 8)
    circuit, end = unfactored_circuit(1), thread_time() + 100
    assert factoring.factor(circuit, end) == factoring.factor_plainly(circuit, end)


def test_cubes_without_room_are_left_unfactored(monkeypatch):
    monkeypatch.setattr("ggp.circuit.simplify.kernels.cube_factoring.ROOM", 1)
    circuit = unfactored_circuit(2)
    assert_same_play(circuit, factoring.factor(circuit, thread_time() + 100), seed=2, steps=20)


def test_recursive_rules_are_left_to_the_twin(monkeypatch):
    text = """
        (role a) (init (f 1)) (init (f 2)) (index 1) (index 2) (index 3)
        (<= (legal a (go ?x)) (index ?x)) (<= (next (f ?x)) (true (f ?x))) (<= (next (f ?x)) (does a (go ?x)))
        (<= (linked ?x) (true (f ?x)) (does a (go 1))) (<= (linked 1) (linked 2)) (<= (linked 2) (linked 1))
        (<= (next (both)) (linked 1) (linked 2)) (<= terminal (true (both))) (<= (goal a 100) (true (both)))
    """
    program = ground(parse(text))
    assert build(program) == built_plainly(monkeypatch, program)


@pytest.mark.parametrize("seed", range(5))
def test_packed_circuits_simplify_and_tabulate_like_others(seed):
    circuit = unfactored_circuit(seed)
    arrays = replace(circuit, gates=packed(circuit.gates))
    assert arrays == circuit
    assert arrays.literal_count == circuit.literal_count == input_count(circuit.gates)
    for left, right in zip(tabulate(arrays), tabulate(circuit), strict=True):
        np.testing.assert_array_equal(left, right)
    assert as_tuples(simplify(arrays, seconds=20).gates) == as_tuples(simplify(circuit, seconds=20).gates)


def test_packed_gates_are_a_sequence():
    gates = packed(((2, 4), (3, 5, 6)))
    assert len(gates) == 2
    assert gates[1] == gates[-1] == (3, 5, 6)
    assert list(gates) == [(2, 4), (3, 5, 6)] == list(gates[:])
    assert gates == ((2, 4), (3, 5, 6))
    assert gates != ((2, 4),)
    assert hash(gates) == hash(packed(as_tuples(gates)))
    with pytest.raises(IndexError):
        gates[2]


@pytest.mark.parametrize("seed", range(5))
def test_phases_hold_the_gates_that_outputs_need(seed):
    circuit = unfactored_circuit(seed)
    phases = [phase.tolist() for phase in phase_gates(circuit)]
    assert sorted(gate for phase in phases for gate in phase) == list(range(len(circuit.gates)))
    settled: set[int] = set()
    for gate in chain.from_iterable(phases):
        read = [(x >> 1) - circuit.gate0 for x in circuit.gates[gate]]
        assert all(each < 0 or each in settled for each in read)
        settled.add(gate)


def test_prepared_kernels_are_those_that_run(monkeypatch):
    """That is, arguments have the same types: numba would compile again for others."""
    seen: dict[str, set[object]] = {}

    def recorded(name, kernel):
        def call(*arguments):
            seen[name].add(tuple(map(numba.typeof, arguments)))
            return kernel(*arguments)

        return call

    for module, name in (
        (factoring_kernels, "plan_reading"),
        (factoring_kernels, "factor_gates"),
        (circuit_kernels, "resolve_atoms"),
    ):
        seen[name] = set()
        monkeypatch.setattr(module, name, recorded(name, getattr(module, name)))
    circuit, program = unfactored_circuit(3), ground(random_program(2))
    factoring.prepare_kernels(circuit)
    prepare_kernels(program)
    prepared = {name: types.copy() for name, types in seen.items()}
    factoring.factor(circuit, thread_time() + 100)
    build(program)
    assert [len(types) for types in prepared.values()] == [1, 1, 1]
    assert seen == prepared
