"""Shared by stages: fan-outs, cost of a circuit, topological order."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ggp.circuit.circuit import Circuit, GateBuilder, rebuilt
from ggp.circuit.packed_gates import packed

GATE_COST = 1
"""Cost of a gate in addition to its inputs, counted in inputs."""


def cost(circuit: Circuit) -> int:
    """What stages minimize: gate inputs, and a little for each gate."""
    return circuit.literal_count + GATE_COST * len(circuit.gates)


def fanouts(circuit: Circuit) -> list[int]:
    """How many gates and outputs read each node."""
    literals = [packed(circuit.gates).input, np.array(circuit.all_outputs(), np.int32)]
    count: list[int] = np.bincount(
        np.concatenate(literals) >> 1, minlength=circuit.gate0 + len(circuit.gates)
    ).tolist()
    return count


def shared_gates(circuit: Circuit) -> list[bool]:
    """Per gate: whether it is an output, or the number of its readers is not one."""
    is_shared = [count != 1 for count in fanouts(circuit)[circuit.gate0 :]]
    for literal in circuit.all_outputs():
        if literal >> 1 >= circuit.gate0:
            is_shared[(literal >> 1) - circuit.gate0] = True
    return is_shared


def literal_fanouts(circuit: Circuit) -> list[int]:
    """How many gates read each literal."""
    nodes = circuit.gate0 + len(circuit.gates)
    count: list[int] = np.bincount(packed(circuit.gates).input, minlength=2 * nodes).tolist()
    return count


def in_order(circuit: Circuit, gates: Sequence[Collection[int]]) -> Circuit:
    """`circuit` over `gates`, numbered as before in any order, sorted; equal and dead gates go."""
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
