"""settle: the interpreter of circuits; only `ggp.lanes.step` calls it. Shapes: value holds L+1 rows of W
words (see `ggp.lanes.layout`)."""

from __future__ import annotations

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, piece
from ggp.jit.rows import Index, Rows, fill, load, store
from ggp.lanes.layout import GateRuns


@inlined
def settle(schedule: GateRuns, value: Rows, first_phase: Index, end_phase: Index) -> None:
    """Recompute the gates of phases first_phase .. end_phase-1, run by run, in topological order.

    value   rows of gates of these phases are overwritten; the rows that they read must be valid
    Cost: about 0.7 ns per gate input for all 512 lanes at W = 8 with AVX-512.
    """
    run, source, target = schedule.run, schedule.source, schedule.target
    j: Index = np.int64(schedule.phase_source[first_phase])
    out = np.int64(schedule.phase_gate[first_phase])
    for q in range(schedule.phase_run[first_phase], schedule.phase_run[end_phase]):
        positive = run[q, 0]
        negated = run[q, 1]
        count = run[q, 2]
        end = out + count
        if positive == 2 and negated == 0:
            for gate in range(out, end):
                store(value, target[gate], load(value, source[j]) & load(value, source[j + 1]))
                j += 2
        elif positive == 1 and negated == 1:
            for gate in range(out, end):
                store(value, target[gate], load(value, source[j]) & ~load(value, source[j + 1]))
                j += 2
        elif positive == 0 and negated == 2:
            for gate in range(out, end):
                store(value, target[gate], ~(load(value, source[j]) | load(value, source[j + 1])))
                j += 2
        elif positive + negated == 3:
            j = _settle_three(value, source, target, positive, j, out, end)
        else:
            j = _settle_many(value, source, target, positive, negated, j, out, end)
        out = end


@inlined
def _settle_three(
    value: Rows,
    source: Int32Array,
    target: Int32Array,
    positive: Index,
    j: Index,
    out: Index,
    end: Index,
) -> Index:
    if positive == 3:
        for gate in range(out, end):
            x = load(value, source[j]) & load(value, source[j + 1])
            store(value, target[gate], x & load(value, source[j + 2]))
            j += 3
    elif positive == 2:
        for gate in range(out, end):
            x = load(value, source[j]) & load(value, source[j + 1])
            store(value, target[gate], x & ~load(value, source[j + 2]))
            j += 3
    elif positive == 1:
        for gate in range(out, end):
            x = load(value, source[j + 1]) | load(value, source[j + 2])
            store(value, target[gate], load(value, source[j]) & ~x)
            j += 3
    else:
        for gate in range(out, end):
            x = load(value, source[j]) | load(value, source[j + 1])
            store(value, target[gate], ~(x | load(value, source[j + 2])))
            j += 3
    return j


@inlined
def _settle_many(
    value: Rows,
    source: Int32Array,
    target: Int32Array,
    positive: Index,
    negated: Index,
    j: Index,
    out: Index,
    end: Index,
) -> Index:
    for gate in range(out, end):
        x = fill(value, np.uint64(0))
        for i in range(j, j + negated):
            x = x | load(value, source[i])
        x = ~x
        j += negated
        for i in range(j, j + positive):
            x = x & load(value, source[i])
        j += positive
        store(value, target[gate], x)
    return j


@piece
def settle_apart(schedule: GateRuns, value: Rows, first_phase: Index, end_phase: Index) -> None:
    """`settle` as a separate function, for kernels that do much else.

    It runs faster there, because its loops have the registers for themselves, and is compiled once for all of
    its callers. LLVM does not inline it because it is large; if it did, only speed would be lost.
    """
    settle(schedule, value, first_phase, end_phase)
