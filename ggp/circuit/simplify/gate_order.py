"""Gate order: gates are settled close to the gates that read them.

A row that was just written is still in the cache. So the cone of each output is settled depth first, and of
the inputs of a gate the one that needs most rows at once comes first (Sethi and Ullman, 1970): few rows then
wait to be read. Only the order changes. Kernels that sort gates into runs of the same shape keep this order
only within a run.
"""

from __future__ import annotations

from dataclasses import replace

from ggp.circuit.circuit import Circuit
from ggp.circuit.simplify.rewriting import in_order


def order_gates(circuit: Circuit, deadline: float) -> Circuit:
    """`circuit` with its gates in depth-first order. Ignores `deadline`, since it is one quick pass."""
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
