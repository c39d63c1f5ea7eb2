"""The legal moves lane by lane, for NST, whose weights differ from lane to lane.

Rows hold one move in all lanes. The rows of 64 lanes are transposed at once into a set of moves per lane.
"""

from __future__ import annotations

import numpy as np

from ggp.kernels.compiling import inlined
from ggp.kernels.indices import transpose_bits
from ggp.kernels.lane_bits import literal_word
from ggp.kernels.lane_tables import LaneTables
from ggp.kernels.rows import Index, lowest_bit
from ggp.kernels.tree_arrays import SearchArrays


@inlined
def read_legal(tables: LaneTables, arrays: SearchArrays, w: Index) -> None:
    """arrays.legal[g, i] = which of slots 64 g .. 64 g + 63 are legal in lane 64 w + i."""
    slots = np.int64(tables.first_slot[tables.role_count])
    block = arrays.block
    for group in range((slots + 63) // 64):
        for i in range(64):
            s = 64 * group + i
            block[i] = np.uint64(0)
            if s < slots:
                block[i] = literal_word(arrays.value, np.int64(tables.slot_literal[s]), w)
        transpose_bits(block)
        for i in range(64):
            arrays.legal[group, i] = block[i]


@inlined
def list_options(tables: LaneTables, arrays: SearchArrays, bit: Index) -> bool:
    """arrays.option = the legal moves in lane `bit` of the word that was read; whether each role has one.

    Those of role r are option_first[r] .. option_first[r + 1] - 1.
    """
    slots = np.int64(tables.first_slot[tables.role_count])
    n = 0
    role = 0
    arrays.option_first[0] = 0
    for group in range((slots + 63) // 64):
        bits = arrays.legal[group, bit]
        while bits != np.uint64(0):
            s = 64 * group + lowest_bit(bits)
            bits = bits & (bits - np.uint64(1))
            while s >= tables.first_slot[role + 1]:
                role += 1
                arrays.option_first[role] = n
            arrays.option[n] = tables.slot_node[s] - tables.move0
            n += 1
    while role < tables.role_count:
        role += 1
        arrays.option_first[role] = n
    has_all = True
    for r in range(tables.role_count):
        has_all = has_all and arrays.option_first[r] < arrays.option_first[r + 1]
    return has_all
