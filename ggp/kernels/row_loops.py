"""Loops over rows that several kernels have."""

from __future__ import annotations

import numpy as np

from ggp.kernels.compiling import inlined
from ggp.kernels.lane_tables import LaneTables
from ggp.kernels.rows import Index, Row, Rows, fill, literal, store
from ggp.tables import Int32Array


@inlined
def clear_moves(tables: LaneTables, value: Rows) -> None:
    """Nobody makes a move in any lane."""
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
