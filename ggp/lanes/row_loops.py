"""Loops over rows that several kernels need."""

from __future__ import annotations

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined
from ggp.jit.rows import Index, Row, Rows, fill, literal, store
from ggp.lanes.layout import LaneTables


@inlined
def clear_moves(tables: LaneTables, value: Rows) -> None:
    """Select no move in any lane."""
    none = fill(value, np.uint64(0))
    for node in range(tables.move0, tables.move0 + tables.move_count):
        store(value, node, none)


@inlined
def several_true(value: Rows, literals: Int32Array, first: Index, end: Index) -> Row:
    """Lanes in which two or more of literals[first:end] hold."""
    one = fill(value, np.uint64(0))
    several = one
    for i in range(first, end):
        x = literal(value, np.int64(literals[i]))
        several = several | (one & x)
        one = one | x
    return several
