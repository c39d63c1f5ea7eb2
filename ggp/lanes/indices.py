"""Which move each lane made, as integers.

For statistics and trees, which work lane by lane.
The selected move rows of a role are one-hot. OR-ing each into the binary digits of its index gives index
*planes*; transposing blocks of 64x64 bits turns planes (a row per digit) into numbers (a word per lane).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, piece
from ggp.jit.rows import (
    ALL_ONES,
    Index,
    Row,
    Rows,
    any_lane,
    fill,
    get_word,
    load,
    shift_left,
    shift_right,
    store,
    word_count,
)

INDEX_PLANES = 32


@inlined
def _swap_halves(block: NDArray[np.uint64], width: Index, low: np.uint64) -> None:
    """Swap two opposite quarters of each square of 2*width bits; `low` has the bits of its lower half."""
    shift = np.uint64(width)
    for first in range(0, 64, 2 * width):
        for i in range(first, first + width):
            swapped = ((block[i] >> shift) ^ block[i + width]) & low
            block[i] = block[i] ^ (swapped << shift)
            block[i + width] = block[i + width] ^ swapped


@piece
def transpose_bits(block: NDArray[np.uint64]) -> None:
    """Transpose 64x64 bits in place (Hacker's Delight 7-3), eight words at a time where they lie together.
    Bit j of word i becomes bit i of word j."""
    _swap_halves(block, 32, np.uint64(0x0000_0000_FFFF_FFFF))
    _swap_halves(block, 16, np.uint64(0x0000_FFFF_0000_FFFF))
    _swap_halves(block, 8, np.uint64(0x00FF_00FF_00FF_00FF))
    _swap_halves(block, 4, np.uint64(0x0F0F_0F0F_0F0F_0F0F))
    _swap_halves(block, 2, np.uint64(0x3333_3333_3333_3333))
    _swap_halves(block, 1, np.uint64(0x5555_5555_5555_5555))


@inlined
def transpose_rows(rows: Rows, first: Index, size: Index) -> None:
    """Transpose squares of `size` x `size` bits in place: rows first .. first + size - 1, all words at once.

    Bit j of a word of row `first + i` becomes bit size * (j // size) + i of row `first + j % size`.
    size   8, 16, 32 or 64; for one word per row `transpose_bits` is quicker
    """
    width = size >> 1
    if size == 64:
        _swap_eights(rows, first, size, 8)
        width = 4
    while width > 4:
        for start in range(first, first + size, 2 * width):
            for i in range(start, start + width):
                x, y = _swapped(rows, load(rows, i), load(rows, i + width), width)
                store(rows, i, x)
                store(rows, i + width, y)
        width >>= 1
    _swap_eights(rows, first, size, 1)


@inlined
def _swapped(rows: Rows, x: Row, y: Row, width: Index) -> tuple[Row, Row]:
    """Swap the upper halves of groups of 2*width bits of x with the lower halves of those of y."""
    shift = np.uint64(width)
    low = fill(rows, ALL_ONES // ((np.uint64(1) << shift) + np.uint64(1)))
    swapped = (shift_right(x, shift) ^ y) & low
    return x ^ shift_left(swapped, shift), y ^ swapped


@inlined
def _swap_eights(rows: Rows, first: Index, size: Index, width: Index) -> None:
    """Three passes in one, of widths 4*width, 2*width and `width`: rows are read and written once."""
    for start in range(first, first + size, 8 * width):
        for i in range(start, start + width):
            a, b = load(rows, i), load(rows, i + width)
            c, d = load(rows, i + 2 * width), load(rows, i + 3 * width)
            e, f = load(rows, i + 4 * width), load(rows, i + 5 * width)
            g, h = load(rows, i + 6 * width), load(rows, i + 7 * width)
            a, e = _swapped(rows, a, e, 4 * width)
            b, f = _swapped(rows, b, f, 4 * width)
            c, g = _swapped(rows, c, g, 4 * width)
            d, h = _swapped(rows, d, h, 4 * width)
            a, c = _swapped(rows, a, c, 2 * width)
            b, d = _swapped(rows, b, d, 2 * width)
            e, g = _swapped(rows, e, g, 2 * width)
            f, h = _swapped(rows, f, h, 2 * width)
            a, b = _swapped(rows, a, b, width)
            c, d = _swapped(rows, c, d, width)
            e, f = _swapped(rows, e, f, width)
            g, h = _swapped(rows, g, h, width)
            store(rows, i, a)
            store(rows, i + width, b)
            store(rows, i + 2 * width, c)
            store(rows, i + 3 * width, d)
            store(rows, i + 4 * width, e)
            store(rows, i + 5 * width, f)
            store(rows, i + 6 * width, g)
            store(rows, i + 7 * width, h)


@inlined
def planes_of_indices(value: Rows, first_node: Index, count: Index, planes: Rows) -> Index:
    """Write the index + 1 of the one-hot rows first_node .. first_node+count-1 as planes, 0 if none is set;
    return how many planes that takes. Three of them are written in any case."""
    zero = fill(value, np.uint64(0))
    low, middle, high = zero, zero, zero
    used = 0
    while (count >> used) != 0:
        store(planes, used, zero)
        used += 1
    # Number n is that of row n - 1. Of eight numbers the lower three planes stay in registers.
    for n in range(0, count + 1, 8):
        a, b = _numbered(value, first_node, n, count), _numbered(value, first_node, n + 1, count)
        c, d = _numbered(value, first_node, n + 2, count), _numbered(value, first_node, n + 3, count)
        e, f = _numbered(value, first_node, n + 4, count), _numbered(value, first_node, n + 5, count)
        g, h = _numbered(value, first_node, n + 6, count), _numbered(value, first_node, n + 7, count)
        upper = e | f | g | h
        low = low | b | d | f | h
        middle = middle | c | d | g | h
        high = high | upper
        every = a | b | c | d | upper
        if any_lane(every):
            for p in range(3, used):
                if (n >> p) & 1:
                    store(planes, p, load(planes, p) | every)
    store(planes, 0, low)
    store(planes, 1, middle)
    store(planes, 2, high)
    return used


@inlined
def _numbered(value: Rows, first_node: Index, n: Index, count: Index) -> Row:
    return load(value, first_node + n - 1) if 0 < n <= count else fill(value, np.uint64(0))


@inlined
def numbers_of_planes(
    planes: Rows,
    first: Index,
    used: Index,
    offset: Index,
    block: NDArray[np.uint64],
    numbers: Int32Array,
) -> None:
    """numbers[lane] = the lane's number in planes first .. first+used-1, plus offset."""
    spacing = 1
    while spacing < used:
        spacing <<= 1
    group = 64 // spacing
    mask = ALL_ONES >> np.uint64(64 - spacing)
    words = word_count(planes)
    for word in range(0, words, group):
        members = min(group, words - word)
        for i in range(64):
            block[i] = np.uint64(0)
        for member in range(members):
            for p in range(used):
                block[member * spacing + p] = get_word(planes, first + p, word + member)
        transpose_bits(block)
        for member in range(members):
            shift = np.uint64(member * spacing)
            start = 64 * (word + member)
            for lane in range(64):
                numbers[start + lane] = np.int64((block[lane] >> shift) & mask) + offset
