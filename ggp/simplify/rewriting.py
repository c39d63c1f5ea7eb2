"""What every stage needs: how often nodes are read, and making a circuit over again gate by gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ggp.circuit import Circuit, GateBuilder, with_outputs, without_dead_gates


def fanouts(circuit: Circuit) -> list[int]:
    """How many gates and outputs read each node."""
    count = [0] * (circuit.gate0 + len(circuit.gates))
    for inputs in circuit.gates:
        for x in inputs:
            count[x >> 1] += 1
    for literal in circuit.all_outputs():
        count[literal >> 1] += 1
    return count


def rewrite(circuit: Circuit, conj: Callable[[GateBuilder, Sequence[int]], int]) -> Circuit:
    """`circuit` with every gate made anew by `conj(builder, inputs)`, which returns its literal."""
    gate0 = circuit.gate0
    builder = GateBuilder(gate0)
    literal_of = list(range(0, 2 * gate0, 2))
    for inputs in circuit.gates:
        literal_of.append(conj(builder, [literal_of[x >> 1] ^ (x & 1) for x in inputs]))
    return without_dead_gates(with_outputs(circuit, builder.gates, lambda x: literal_of[x >> 1] ^ (x & 1)))
