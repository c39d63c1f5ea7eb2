"""Single lanes of rows, for code that works lane by lane."""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined
from ggp.jit.rows import ALL_ONES, Index, Rows, get_word, set_word


@inlined
def has_lane(rows: Rows, row: Index, lane: Index) -> bool:
    return bool((get_word(rows, row, lane >> 6) >> np.uint64(lane & 63)) & np.uint64(1))


@inlined
def set_lane(rows: Rows, row: Index, lane: Index) -> None:
    word = lane >> 6
    set_word(rows, row, word, get_word(rows, row, word) | (np.uint64(1) << np.uint64(lane & 63)))


@inlined
def set_lanes(rows: Rows, row: Index, first: Index, end: Index) -> None:
    """Set lanes first .. end-1."""
    for word in range(first >> 6, (end + 63) >> 6):
        begin, length = max(first - 64 * word, 0), min(end - 64 * word, 64)
        bits = (ALL_ONES >> np.uint64(64 - length)) & (ALL_ONES << np.uint64(begin))
        set_word(rows, row, word, get_word(rows, row, word) | bits)


@inlined
def clear_lane(rows: Rows, row: Index, lane: Index) -> None:
    word = lane >> 6
    set_word(rows, row, word, get_word(rows, row, word) & ~(np.uint64(1) << np.uint64(lane & 63)))


@inlined
def literal_word(value: Rows, literal: Index, w: Index) -> np.uint64:
    """The value of a literal in the 64 lanes of word `w`."""
    return get_word(value, literal >> 1, w) ^ (np.uint64(0) - np.uint64(literal & 1))


@inlined
def literal_in_lane(value: Rows, literal: Index, lane: Index) -> bool:
    """The value of a literal in one lane."""
    word = get_word(value, np.int64(literal) >> 1, lane >> 6)
    return bool(((word >> np.uint64(lane & 63)) ^ np.uint64(literal)) & np.uint64(1))
