"""share_rows: rows whose readers are done are used again.

Of the values of a circuit of half a million gates, only a few thousand are still to be read at any time. Rows
that are soon written again stay in the processor's caches; half a million rows do not.

Rows are shared only within a phase: a gate that a later phase or an output reads keeps its row, so that any
phase may be settled again after the phases before it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import kernel

NEVER = -1


def share_rows(
    first_source: NDArray[np.int64],
    source: NDArray[np.int64],
    phase_gate: NDArray[np.int64],
    is_kept: NDArray[np.bool_],
) -> tuple[Int32Array, int]:
    """Row of each gate, counted from 0, and the number of rows.

    Gates are in the order of settling.

    first_source   int64[G+1]
    source         int64[E]: gates that gate g reads, from first_source[g] on; negative for other inputs
    phase_gate     int64[P+1]: where each phase begins
    is_kept        bool[G]: read by outputs
    """
    gates = len(first_source) - 1
    reader = np.repeat(np.arange(gates), np.diff(first_source))
    phase = np.searchsorted(phase_gate[1:], np.arange(gates), side="right")
    read = source >= 0
    last_reader = np.full(gates, NEVER, np.int64)
    np.maximum.at(last_reader, source[read], reader[read])
    stays = is_kept | (last_reader == NEVER)
    read_later = read & (phase[source] != phase[reader])
    stays[source[read_later]] = True
    last_reader[stays] = NEVER
    row = np.empty(gates, np.int32)
    row[stays] = np.arange(stays.sum())
    free = np.empty(gates, np.int32)
    count = _give_rows(first_source, source, phase_gate, last_reader, int(stays.sum()), free, row)
    return row, count


@kernel
def _give_rows(
    first_source: NDArray[np.int64],
    source: NDArray[np.int64],
    phase_gate: NDArray[np.int64],
    last_reader: NDArray[np.int64],
    first_row: int,
    free: Int32Array,
    row: Int32Array,
) -> int:
    """Assign rows from first_row on to the gates with a last reader.

    Returns the number of rows.

    free   int32[G], scratch: a stack of free rows, the one freed last on top
    """
    end_row = first_row
    for p in range(phase_gate.shape[0] - 1):
        top = 0
        for r in range(end_row - 1, first_row - 1, -1):
            free[top] = r
            top += 1
        for g in range(phase_gate[p], phase_gate[p + 1]):
            if last_reader[g] != NEVER:
                if top > 0:
                    top -= 1
                    row[g] = free[top]
                else:
                    row[g] = end_row
                    end_row += 1
            for i in range(first_source[g], first_source[g + 1]):
                other = source[i]
                if other >= 0 and last_reader[other] == g:
                    free[top] = row[other]
                    top += 1
    return end_row
