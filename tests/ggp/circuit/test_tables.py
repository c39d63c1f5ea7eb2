"""CircuitTables: the same outputs as the circuit, gates grouped by phase."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ggp.circuit.circuit import Circuit
from ggp.circuit.simplify.plan import simplify
from ggp.circuit.tables import CircuitTables, Phase, tabulate
from tests.oracles.naive_circuit import Outputs, evaluate
from tests.oracles.random_circuits import random_circuit


def evaluate_tables(tables: CircuitTables, circuit: Circuit, facts: list[bool], moves: list[int]) -> Outputs:
    """Settle every phase of one game, reading nothing but the tables."""
    value = np.zeros(tables.node_count, bool)
    value[0] = True
    value[1 : 1 + tables.fluent_count] = facts
    for role, move in enumerate(moves):
        value[1 + tables.fluent_count + tables.first_move[role] + move] = True
    for gate in range(tables.phase_end[Phase.SEES]):
        inputs = tables.input[tables.first_input[gate] : tables.first_input[gate + 1]]
        assert (inputs >> 1 < tables.gate0 + gate).all()
        value[tables.gate0 + gate] = (value[inputs >> 1] != (inputs & 1)).all()

    def holds(literal: int) -> bool:
        return bool(value[literal >> 1]) != bool(literal & 1)

    terms = circuit.terms
    every_move = [(role, move) for role, of_role in enumerate(terms.moves) for move in of_role]
    goals = zip(tables.goal_role, tables.goal_value, tables.goal_literal, strict=True)
    percepts = zip(tables.percept_role, terms.percepts, tables.percept_literal, strict=True)
    return Outputs(
        legal=frozenset(m for m, x in zip(every_move, tables.legal, strict=True) if holds(x)),
        terminal=holds(tables.terminal),
        goals=frozenset((int(role), int(value)) for role, value, x in goals if holds(x)),
        next=frozenset(f for f, x in zip(terms.fluents, tables.next, strict=True) if holds(x)),
        percepts=frozenset((int(role), term) for role, term, x in percepts if holds(x)),
    )


@pytest.mark.parametrize("seed", range(20))
def test_tables_agree_with_the_circuit(seed):
    rng = random.Random(seed)
    circuit = random_circuit(seed, moves=((4, 3), (5,))[seed % 2])
    if seed % 3 == 0:
        circuit = simplify(circuit)
    tables = tabulate(circuit)
    for _ in range(10):
        facts = [rng.random() < 0.5 for _ in circuit.terms.fluents]
        moves = [rng.randrange(len(of_role)) if of_role else 0 for of_role in circuit.terms.moves]
        if not all(circuit.terms.moves):
            continue
        expected = evaluate(
            circuit,
            frozenset(f for f, holds in zip(circuit.terms.fluents, facts, strict=True) if holds),
            {role: circuit.terms.moves[role][move] for role, move in enumerate(moves)},
        )
        assert evaluate_tables(tables, circuit, facts, moves) == expected


@pytest.mark.parametrize("seed", range(10))
def test_phases_read_only_what_is_settled_before_them(seed):
    circuit = random_circuit(seed)
    tables = tabulate(circuit)
    moves = range(1 + tables.fluent_count, tables.gate0)
    still = tables.input[: tables.first_input[tables.phase_end[Phase.GOAL]]] >> 1
    assert not np.isin(still, moves).any()
    end = tables.gate0 + tables.phase_end
    assert (tables.legal >> 1 < end[Phase.LEGAL]).all()
    assert tables.terminal >> 1 < end[Phase.LEGAL]
    assert (tables.goal_literal >> 1 < end[Phase.GOAL]).all()
    assert (tables.next >> 1 < end[Phase.NEXT]).all()
    assert tables.node_count == end[Phase.SEES]


def test_tables_hold_contiguous_int32():
    tables = tabulate(random_circuit(3))
    for name, field in tables._asdict().items():
        if isinstance(field, np.ndarray):
            assert field.dtype == (np.uint8 if name == "initial" else np.int32)
            assert field.flags.c_contiguous
