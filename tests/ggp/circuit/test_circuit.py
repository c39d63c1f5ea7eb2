"""Construction of circuits: constants, equal gates, phases, recursion."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gdl.grounding import GroundProgram
from gdl.terms import Compound, Symbol
from ggp.circuit.circuit import (
    FALSE_LITERAL,
    TRUE_LITERAL,
    CircuitError,
    GateBuilder,
    Phase,
    phase_gates,
)
from ggp.circuit.construction import build
from tests.oracles.naive_circuit import evaluate

FLUENTS = tuple(Symbol(f"f{i}") for i in range(4))
MOVES = (tuple(Symbol(f"m{i}") for i in range(3)), tuple(Symbol(f"n{i}") for i in range(2)))
FIRST_DERIVED = 2 + 4 + 5


def ground_program(rules: list[tuple[int, list[int]]], **outputs: object) -> GroundProgram:
    """A program over four fluents (atoms 2..5), three and two moves (6..8, 9..10); derived atoms from 11."""
    first = np.cumsum([0, *(len(body) for _, body in rules)])
    given = {
        "legal_atom": (np.ones(3, np.int32), np.ones(2, np.int32)),
        "next_atom": np.zeros(4, np.int32),
        "terminal_atom": 0,
        "goals": ((), ()),
        "percepts": ((), ()),
    } | outputs
    return GroundProgram(
        roles=(Symbol("left"), Symbol("right")),
        fluents=FLUENTS,
        moves=MOVES,
        atom_count=max([FIRST_DERIVED, *(abs(x) for head, body in rules for x in (head, *body))]),
        fluent_atom=np.arange(2, 6, dtype=np.int32),
        move_atom=(np.arange(6, 9, dtype=np.int32), np.arange(9, 11, dtype=np.int32)),
        initial=np.array([True, False, False, False]),
        rule_head=np.array([head for head, _ in rules], np.int32),
        first_body=first.astype(np.int32),
        body=np.array([x for _, body in rules for x in body], np.int32),
        **given,  # type: ignore[arg-type]
    )


def least_model(layers: list[list[int]], rules: list[tuple[int, list[int]]], inputs: set[int]) -> set[int]:
    """The atoms that hold, layer by layer."""
    true = set(inputs) | {1}
    for layer in layers:
        here = [(head, body) for head, body in rules if head in layer]
        while True:
            new = {head for head, body in here if all((abs(x) in true) == (x > 0) for x in body)} - true
            if not new:
                break
            true |= new
    return true


def test_conj_folds_constants_and_repeats():
    builder = GateBuilder(5)
    assert builder.conj([]) == TRUE_LITERAL
    assert builder.conj([TRUE_LITERAL, 4]) == 4
    assert builder.conj([4, FALSE_LITERAL, 6]) == FALSE_LITERAL
    assert builder.conj([4, 4]) == 4
    assert builder.conj([4, 8, 5]) == FALSE_LITERAL
    assert builder.disj([4, 5]) == TRUE_LITERAL
    assert builder.disj([]) == FALSE_LITERAL
    assert not builder.gates


def test_conj_finds_equal_gates():
    builder = GateBuilder(5)
    first = builder.conj([4, 6])
    assert builder.conj([6, 4, TRUE_LITERAL]) == first
    assert builder.disj([5, 7]) == first ^ 1
    assert builder.gates == [(4, 6)]


def test_build_makes_no_gate_for_renaming_rules():
    circuit = build(ground_program([(11, [2]), (12, [11])], terminal_atom=12))
    assert circuit.terminal == 2
    assert circuit.gates == ()


def test_build_separates_phases():
    rules = [(11, [2, 3]), (12, [11, 4]), (13, [12, 6]), (14, [13, 5])]
    circuit = build(
        ground_program(
            rules,
            terminal_atom=11,
            goals=(((100, 12),), ()),
            next_atom=np.array([13, 0, 0, 0], np.int32),
            percepts=((), ((Compound("saw", (Symbol("x"),)), 14),)),
        )
    )
    assert [len(gates) for gates in phase_gates(circuit)] == [1, 1, 1, 1]
    seen = evaluate(circuit, frozenset(FLUENTS), {0: MOVES[0][0], 1: MOVES[1][0]})
    assert seen.terminal
    assert seen.goals == {(0, 100)}
    assert seen.next == {FLUENTS[0]}
    assert {role for role, _ in seen.percepts} == {1}


def test_build_leaves_out_what_no_output_needs():
    circuit = build(ground_program([(11, [2, 3]), (12, [2, 4])], terminal_atom=12))
    assert [x >> 1 for x in circuit.gates[0]] == [1, 3]
    assert len(circuit.gates) == 1


def test_build_drops_support_from_itself():
    rules = [(11, [12]), (12, [11]), (13, [13, 2]), (13, [3])]
    circuit = build(ground_program(rules, terminal_atom=11, next_atom=np.array([13, 0, 0, 0], np.int32)))
    assert circuit.terminal == FALSE_LITERAL
    assert circuit.next[0] == 4


def test_build_rejects_negation_within_recursion():
    following = np.array([0, 13, 0, 0], np.int32)
    with pytest.raises(CircuitError, match=r"\(next f1\).*negation"):
        build(ground_program([(11, [12]), (12, [-11]), (13, [11, 2])], next_atom=following))


@pytest.mark.parametrize("seed", range(60))
def test_build_gives_the_least_model_of_random_rules(seed):
    rng = random.Random(seed)
    layers = [list(range(11, 17)), list(range(17, 25))]
    rules = []
    for depth, layer in enumerate(layers):
        below = list(range(2, layer[0]))
        for _ in range(rng.randint(6, 22)):
            body = [rng.choice((1, -1)) * rng.choice(below) for _ in range(rng.randint(0, 2))]
            body += [rng.choice(layer) for _ in range(rng.randint(0, 1 + seed % 3))]
            rules.append((rng.choice(layer), body))
        assert depth < 2
    atoms = layers[0][:2] + layers[1][:2]
    ground = ground_program(
        rules,
        terminal_atom=layers[1][2],
        next_atom=np.array(atoms, np.int32),
        goals=(((50, layers[1][3]),), ((0, layers[0][3]),)),
    )
    circuit = build(ground)
    assert all(len(inputs) > 1 and list(inputs) == sorted(set(inputs)) for inputs in circuit.gates)
    for _ in range(12):
        facts = {f for f in range(4) if rng.random() < 0.5}
        moves = (rng.randrange(3), rng.randrange(2))
        true = least_model(layers, rules, {2 + f for f in facts} | {6 + moves[0], 9 + moves[1]})
        seen = evaluate(
            circuit, frozenset(FLUENTS[f] for f in facts), {0: MOVES[0][moves[0]], 1: MOVES[1][moves[1]]}
        )
        assert seen.terminal == (layers[1][2] in true)
        assert seen.next == {FLUENTS[f] for f in range(4) if atoms[f] in true}
        assert seen.goals == {
            goal for goal, atom in (((0, 50), layers[1][3]), ((1, 0), layers[0][3])) if atom in true
        }


def test_build_rejects_circuits_beyond_the_limit(monkeypatch):
    monkeypatch.setattr("ggp.circuit.construction.GATE_INPUT_LIMIT", 3)
    with pytest.raises(CircuitError, match="3 gate inputs"):
        build(ground_program([(11, [2, 3]), (12, [4, 5, 11])], terminal_atom=12))


def test_build_solves_reachability_on_a_board_without_exploding():
    """Connection on a 9 by 9 board: 81 atoms, each supported by its neighbors."""
    size = 9
    cells = [(x, y) for x in range(size) for y in range(size)]
    atom = {cell: 11 + place for place, cell in enumerate(cells)}
    open_atom = {cell: 2 + place % 4 for place, cell in enumerate(cells)}
    rules = []
    for x, y in cells:
        if x == 0:
            rules.append((atom[x, y], [open_atom[x, y]]))
        around = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
        rules += [(atom[x, y], [atom[other], open_atom[x, y]]) for other in around if other in atom]
    circuit = build(ground_program(rules, terminal_atom=atom[8, 4]))
    # 4,771 if chains from a to b and from b to a were different gates.
    assert circuit.literal_count < 4_000
    for pattern in range(16):
        facts = {f for f in range(4) if pattern >> f & 1}
        true = least_model([list(atom.values())], rules, {2 + f for f in facts})
        seen = evaluate(circuit, frozenset(FLUENTS[f] for f in facts), {})
        assert seen.terminal == (atom[8, 4] in true)


def test_outputs_cover_every_phase():
    circuit = build(ground_program([(11, [2, 3])], terminal_atom=11))
    assert len(circuit.outputs(Phase.LEGAL)) == 6
    assert len(circuit.outputs(Phase.NEXT)) == 4
