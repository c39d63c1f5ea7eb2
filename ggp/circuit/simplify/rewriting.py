"""Shared by stages: fan-outs, cost of a circuit, topological order; and the stage that orders gates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from ggp.circuit.circuit import Circuit, GateBuilder, rebuilt
from ggp.circuit.packed_gates import packed

DEPTH_LIMIT = 60
"""Nesting at which factoring stops taking out literals."""
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


def order_gates(circuit: Circuit, deadline: float) -> Circuit:
    """`circuit` with its gates settled close to those that read them. Ignores `deadline`, being quick.

    A row that was just written is still in the cache. So the cone of each output is settled depth first, and
    of the inputs of a gate the one that needs most rows at once comes first (Sethi and Ullman, 1970): few
    rows then wait to be read. Kernels that sort gates into runs keep this order only within a run.
    """
    gate0 = circuit.gate0
    needed: list[int] = []
    for inputs in circuit.gates:
        rows = sorted((needed[(x >> 1) - gate0] for x in inputs if x >> 1 >= gate0), reverse=True)
        needed.append(max((count + place for place, count in enumerate(rows)), default=1))

    def last_first(literal: int) -> int:
        """Sort key; inputs are visited from the end."""
        node = literal >> 1
        return needed[node - gate0] if node >= gate0 else 0

    arranged = [sorted(inputs, key=last_first) for inputs in circuit.gates]
    return in_order(replace(circuit, gates=tuple(map(tuple, arranged))), arranged)
