"""Greedy playouts: the move with the best mean, but a uniform one with probability epsilon.

Source: Tak, Winands & Björnsson, "N-Grams and the Last-Good-Reply Policy" (2012). The order of the moves
comes from `ggp.search.mcts.policies.mast`; NST has a greedy form of its own.
"""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined
from ggp.jit.rows import Index, Row, fill, literal, load, store
from ggp.lanes.layout import LaneTables
from ggp.lanes.random_rows import next_random
from ggp.search.mcts.kernels.arrays import MoveStatistics, SearchArrays, Settings

EPSILON_BITS = 10


@inlined
def draw_with_probability(arrays: SearchArrays, numerator: Index) -> Row:
    """Lanes with probability numerator / 1024 each."""
    older = load(arrays.random, 0)
    newer = load(arrays.random, 1)
    drawn = fill(arrays.value, np.uint64(0))
    for b in range(EPSILON_BITS):
        older, newer, x = next_random(older, newer)
        if (numerator >> b) & 1:
            drawn = drawn | x
        else:
            drawn = drawn & x
    store(arrays.random, 0, older)
    store(arrays.random, 1, newer)
    if numerator >= 1 << EPSILON_BITS:
        drawn = drawn | ~drawn
    return drawn


@inlined
def choose_best(
    tables: LaneTables, arrays: SearchArrays, statistics: MoveStatistics, settings: Settings, lanes: Row
) -> None:
    """In each of `lanes`, instead of the move selected, the legal one that comes first in the order."""
    value = arrays.value
    for role in range(tables.role_count):
        if role == settings.chance:
            continue
        left = lanes
        first = arrays.first_move[role]
        for i in range(first, arrays.first_move[role + 1]):
            move = np.int64(statistics.order[i])
            slot = tables.first_slot[role] + move - first
            x = literal(value, np.int64(tables.slot_literal[slot])) & left
            node = np.int64(tables.move0) + move
            store(value, node, (load(value, node) & ~lanes) | x)
            left = left & ~x
