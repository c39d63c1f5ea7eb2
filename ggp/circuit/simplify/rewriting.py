"""Shared by stages: fan-outs, cost of a circuit, topological order."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ggp.circuit.circuit import Circuit, GateBuilder, rebuilt

GATE_COST = 1
"""Cost of a gate in addition to its inputs, counted in inputs."""


def cost(circuit: Circuit) -> int:
    """What stages minimize: gate inputs, and a little for each gate."""
    return circuit.literal_count + GATE_COST * len(circuit.gates)


def fanouts(circuit: Circuit) -> list[int]:
    """How many gates and outputs read each node."""
    count = [0] * (circuit.gate0 + len(circuit.gates))
    for inputs in circuit.gates:
        for x in inputs:
            count[x >> 1] += 1
    for literal in circuit.all_outputs():
        count[literal >> 1] += 1
    return count


def literal_fanouts(circuit: Circuit) -> list[int]:
    """How many gates read each literal."""
    count = [0] * (2 * (circuit.gate0 + len(circuit.gates)))
    for inputs in circuit.gates:
        for x in inputs:
            count[x] += 1
    return count


def in_order(circuit: Circuit, gates: Sequence[Collection[int]]) -> Circuit:
    """`circuit` over `gates`, numbered as before but in any order, sorted topologically.

    Gates that no output needs are dropped; equal gates become one.
    """
    gate0 = circuit.gate0
    builder = GateBuilder(gate0)
    literal_of = list(range(0, 2 * gate0, 2)) + [-1] * len(gates)
    for output in circuit.all_outputs():
        stack = [output >> 1]
        while stack:
            node = stack[-1]
            if literal_of[node] >= 0:
                stack.pop()
                continue
            missing = [x >> 1 for x in gates[node - gate0] if literal_of[x >> 1] < 0]
            if missing:
                stack.extend(missing)
            else:
                literal_of[node] = builder.conj([literal_of[x >> 1] ^ (x & 1) for x in gates[node - gate0]])
                stack.pop()
    return rebuilt(circuit, builder.gates, literal_of)
