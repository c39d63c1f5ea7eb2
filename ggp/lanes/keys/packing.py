"""Packing of states: lanes into keys and keys into lanes.

A *key* is D words of 64 bits, one state. Bit p of a key is its *plane* p; in rows, plane p of 64*W states is
one row. Facts that exclude each other share planes (`ggp.lanes.keys.state_code`), so a plane is the OR of
some fluents, and a fluent the AND of some planes and negated planes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined
from ggp.jit.rows import ALL_ONES, Index, Rows, fill, get_word, literal, set_word, store
from ggp.lanes.indices import transpose_bits

Keys = NDArray[np.uint64]


class StateCode(NamedTuple):
    """State code: how facts become bits. P planes, F fluents.

    word_count     D, words per key
    first_source   int32[P+1]; plane p is the OR of the fluents source[first_source[p] : first_source[p+1]]
    source         int32[*]
    first_digit    int32[F+1]; fluent f is the AND of digit[first_digit[f] : first_digit[f+1]]
    digit          int32[*]; literals 2*plane + negated
    """

    word_count: int
    first_source: Int32Array
    source: Int32Array
    first_digit: Int32Array
    digit: Int32Array


@inlined
def load_keys(
    keys: Keys,
    chosen: NDArray[np.int64],
    count: Index,
    words: Index,
    planes: Rows,
    block: NDArray[np.uint64],
) -> None:
    """Load the keys of states chosen[:count] into planes.

    One per lane; lanes up to the next multiple of 64 get zeros.

    keys     uint64[N*D], state by state
    planes   64*words rows
    """
    for w in range((count + 63) >> 6):
        start = 64 * w
        members = min(64, count - start)
        for d in range(words):
            for i in range(members):
                block[i] = keys[words * chosen[start + i] + d]
            for i in range(members, 64):
                block[i] = np.uint64(0)
            transpose_bits(block)
            for i in range(64):
                set_word(planes, 64 * d + i, w, block[i])


@inlined
def store_keys(planes: Rows, count: Index, words: Index, reached: Keys, block: NDArray[np.uint64]) -> None:
    """Store the keys of the first `count` lanes in `reached`. The count is rounded up to a multiple of 64."""
    for w in range((count + 63) >> 6):
        for d in range(words):
            for i in range(64):
                block[i] = get_word(planes, 64 * d + i, w)
            transpose_bits(block)
            for i in range(64):
                reached[words * (64 * w + i) + d] = block[i]


@inlined
def decode_planes(code: StateCode, planes: Rows, value: Rows) -> None:
    """Write the fluent rows of `value` (1 .. F) from planes."""
    first = code.first_digit
    digit = code.digit
    for f in range(first.shape[0] - 1):
        x = fill(value, ALL_ONES)
        for j in range(first[f], first[f + 1]):
            x = x & literal(planes, np.int64(digit[j]))
        store(value, 1 + f, x)


@inlined
def encode_planes(code: StateCode, following: Int32Array, value: Rows, planes: Rows) -> None:
    """Write planes from the rows of `value`.

    following   int32[F]: the literal of each fluent
    """
    first = code.first_source
    source = code.source
    for p in range(first.shape[0] - 1):
        x = fill(value, np.uint64(0))
        for j in range(first[p], first[p + 1]):
            x = x | literal(value, np.int64(following[source[j]]))
        store(planes, p, x)
