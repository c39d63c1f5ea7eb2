"""CircuitTables: a circuit as int32 arrays, as kernels read it.

Letters used in every shape: F fluents, M moves (all roles together), R roles, G gates, E gate
inputs in all, K nodes.

Nodes are numbered 0..K-1: node 0 is the constant TRUE, then F fluents, then M moves role by role,
then G gates. A literal is `2*node + negated`; so literal 0 is true and literal 1 is false. Every gate
is the AND of its input literals (an OR is a negated AND of negated literals). Gates stand in
topological order: an input of a gate is the constant, a fluent, a move or an earlier gate.

Gates come in four phases, each a range of gates, to be settled in this order:

    LEGAL  what `legal` and `terminal` need     reads fluents only
    GOAL   what `goal` needs as well            reads fluents only
    NEXT   what `next` needs as well            reads fluents and moves
    SEES   what `sees` needs as well            reads fluents and moves

NEXT and SEES are valid only while exactly one move of every role is selected; LEGAL and GOAL
never depend on the move rows. A phase may read gates of the phases before it, so NEXT needs LEGAL and
GOAL settled, SEES all three. Simplified circuits may differ from the rules in states that no play from
the initial state can reach.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gdl.slices import slice_offsets, slice_places
from ggp.circuit.circuit import (
    FALSE_LITERAL,
    TRUE_LITERAL,
    Circuit,
    CircuitTerms,
    Goal,
    Percept,
    Phase,
    phase_gates,
)
from ggp.circuit.packed_gates import Int32Array, PackedGates, packed

__all__ = [
    "FALSE_LITERAL",
    "TRUE_LITERAL",
    "CircuitTables",
    "CircuitTerms",
    "Int32Array",
    "Phase",
    "circuit_of",
    "tabulate",
]


class CircuitTables(NamedTuple):
    """What the kernels need of one game. Arrays are C-contiguous.

    node_count     K = 1 + F + M + G
    fluent_count   F; fluent f is node 1 + f
    role_count     R
    first_move     int32[R+1]; the moves of role r are first_move[r] .. first_move[r+1]-1, and
                   move m (counted over all roles) is node 1 + F + m; M = first_move[R]
    gate0          node of gate 0, = 1 + F + M
    phase_end      int32[4]; the gates of phase p are phase_end[p-1] (0 for p = 0) .. phase_end[p]-1;
                   G = phase_end[3]
    first_input    int32[G+1]; gate g reads input[first_input[g] : first_input[g+1]], two or more
    input          int32[E]; literals
    legal          int32[M]; literal that says whether the move is legal (settled by LEGAL)
    terminal       literal (settled by LEGAL)
    next           int32[F]; literal of the fluent in the next state (settled by NEXT)
    initial        uint8[F]; 1 if the fluent holds in the initial state
    goal_role, goal_value, goal_literal    int32[*]; role index, goal 0..100 and the literal of `goal`,
                   sorted by role, then by value (settled by GOAL)
    percept_role, percept_literal    int32[*]; role index and literal of each `sees`, sorted by role
                   (settled by SEES); their terms are `CircuitTerms.percepts`
    """

    node_count: int
    fluent_count: int
    role_count: int
    first_move: Int32Array
    gate0: int
    phase_end: Int32Array
    first_input: Int32Array
    input: Int32Array
    legal: Int32Array
    terminal: int
    next: Int32Array
    initial: NDArray[np.uint8]
    goal_role: Int32Array
    goal_value: Int32Array
    goal_literal: Int32Array
    percept_role: Int32Array
    percept_literal: Int32Array


def tabulate(circuit: Circuit) -> CircuitTables:
    """Lay out `circuit` as arrays; the terms behind their numbers are `circuit.terms`.

    Gates are grouped by phase and keep their order within one. Raises OverflowError past 2**30 nodes.
    """
    gate0 = circuit.gate0
    gates = packed(circuit.gates)
    phases = phase_gates(circuit)
    order = np.concatenate(phases)
    moved = np.arange(gate0 + len(gates), dtype=np.int64)
    moved[order + gate0] = np.arange(gate0, gate0 + len(order))
    if gate0 + len(order) > 2**30:
        raise OverflowError("the circuit has more nodes than an int32 literal can number")

    def renumbered(literals: ArrayLike) -> Int32Array:
        array = np.array(literals, dtype=np.int64)
        return _int32(2 * moved[array >> 1] | array & 1)

    begin = gates.first[order]
    length = gates.first[order + 1] - begin
    return CircuitTables(
        node_count=gate0 + len(order),
        fluent_count=circuit.fluent_count,
        role_count=len(circuit.terms.roles),
        first_move=_int32(circuit.first_move),
        gate0=gate0,
        phase_end=_int32(list(accumulate(map(len, phases)))),
        first_input=_int32(slice_offsets(length)),
        input=renumbered(gates.input[slice_places(begin, length)]),
        legal=renumbered(circuit.legal),
        terminal=int(renumbered([circuit.terminal])[0]),
        next=renumbered(circuit.next),
        initial=np.array(circuit.initial, dtype=np.uint8),
        goal_role=_int32([goal.role for goal in circuit.goals]),
        goal_value=_int32([goal.value for goal in circuit.goals]),
        goal_literal=renumbered([goal.literal for goal in circuit.goals]),
        percept_role=_int32([percept.role for percept in circuit.percepts]),
        percept_literal=renumbered([percept.literal for percept in circuit.percepts]),
    )


def circuit_of(
    tables: CircuitTables, terms: CircuitTerms, exclusive: tuple[tuple[int, ...], ...] = ()
) -> Circuit:
    """Restore the circuit that `tabulate` laid out. Its gates are in the order of `tables`."""
    goals = tables.goal_role.tolist(), tables.goal_value.tolist(), tables.goal_literal.tolist()
    return Circuit(
        terms=terms,
        initial=tuple(tables.initial.astype(bool).tolist()),
        gates=PackedGates(tables.first_input.astype(np.int64), tables.input),
        legal=tuple(tables.legal.tolist()),
        terminal=tables.terminal,
        goals=tuple(map(Goal, *goals)),
        next=tuple(tables.next.tolist()),
        percepts=tuple(map(Percept, tables.percept_role.tolist(), tables.percept_literal.tolist())),
        exclusive=exclusive,
    )


def _int32(values: ArrayLike) -> Int32Array:
    return np.array(values, dtype=np.int32)
