"""State codes: states as keys of few bits, and lanes to keys and keys to lanes.

A *key* is D words of 64 bits, one state. Bit p of a key is its *plane* p; in rows, plane p of 64*W states is
one row. A group of n facts of which at most one holds (the content of a cell, the player in control) needs
ceil(log2(n + 1)) planes instead of n, so a plane is the OR of some fluents, and a fluent the AND of some
planes and negated planes. Disjoint groups are chosen greedily, those that save most first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.slices import slice_offsets
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


def make_code(
    fluent_count: int, exclusive: Iterable[Sequence[int]] = (), *, left_out: Sequence[int] = ()
) -> StateCode:
    """Make the state code of a game.

    At most one fluent of each group of `exclusive` may hold in any state.
    Fluent i of a chosen group (counted from 1) is the number i in the group's planes; 0 means none.
    Fluents `left_out`, which are in no group, are not in the key: their one digit is a plane that is always
    0, so that they decode as false, or as true where the digit is negated.

    >>> code = make_code(4, exclusive=[(0, 1, 2)])
    >>> states = np.array([[0, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0]], np.bool_)
    >>> encode_states(code, states).ravel().tolist()  # fluents 0..2 in two bits, fluent 3 in the next
    [3, 6, 0]
    >>> bool((decode_keys(code, encode_states(code, states)) == states).all())
    True
    """
    sources: list[list[int]] = []
    digits: list[list[int]] = [[] for _ in range(fluent_count)]
    is_coded = [False] * fluent_count
    for group in sorted(exclusive, key=lambda each: bits_saved(len(each)), reverse=True):
        members = [fluent for fluent in group if not is_coded[fluent]]
        if bits_saved(len(members)) <= 0:
            continue
        width = len(members).bit_length()
        first = len(sources)
        sources += [[] for _ in range(width)]
        for number, fluent in enumerate(members, start=1):
            is_coded[fluent] = True
            for bit in range(width):
                is_set = number >> bit & 1
                digits[fluent].append(2 * (first + bit) + 1 - is_set)
                if is_set:
                    sources[first + bit].append(fluent)
    dropped = frozenset(left_out)
    for fluent in range(fluent_count):
        if not is_coded[fluent] and fluent not in dropped:
            digits[fluent].append(2 * len(sources))
            sources.append([fluent])
    for fluent in dropped:
        digits[fluent].append(2 * len(sources))
    planes = len(sources) + bool(dropped)
    first_source, source = _flat(sources)
    first_digit, digit = _flat(digits)
    return StateCode(max(1, -(-planes // 64)), first_source, source, first_digit, digit)


def bits_saved(size: int) -> int:
    """Bits that a group of `size` facts saves.

    >>> bits_saved(3), bits_saved(9)
    (1, 5)
    """
    return size - size.bit_length()


def encode_states(code: StateCode, states: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The keys of states: bool[N, F] → uint64[N, D]."""
    planes = len(code.first_source) - 1
    bits = np.zeros((len(states), 64 * code.word_count), np.bool_)
    if planes:
        # Every plane has a source.
        bits[:, :planes] = np.logical_or.reduceat(states[:, code.source], code.first_source[:-1], axis=1)
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def decode_keys(code: StateCode, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """The states with these keys: uint64[N, D] → bool[N, F]."""
    bits = np.unpackbits(np.ascontiguousarray(keys).view(np.uint8), axis=1, bitorder="little").astype(
        np.bool_
    )
    fluents = len(code.first_digit) - 1
    states = np.ones((len(keys), fluents), np.bool_)
    for fluent in range(fluents):
        for signed in code.digit[code.first_digit[fluent] : code.first_digit[fluent + 1]]:
            states[:, fluent] &= bits[:, signed >> 1] ^ bool(signed & 1)
    return states


def _flat(lists: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Lists as one array: offsets and items."""
    offsets = slice_offsets(np.array(list(map(len, lists)), np.int32)).astype(np.int32)
    return offsets, np.array([item for each in lists for item in each], np.int32)


@inlined
def load_keys(
    keys: Keys,
    chosen: NDArray[np.int64],
    count: Index,
    words: Index,
    planes: Rows,
    block: NDArray[np.uint64],
) -> None:
    """Load the keys of states chosen[:count] into planes; lanes up to the next multiple of 64 get zeros.

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
    """Write planes from the rows of `value`; following: int32[F], the literal of each fluent."""
    first = code.first_source
    source = code.source
    for p in range(first.shape[0] - 1):
        x = fill(value, np.uint64(0))
        for j in range(first[p], first[p + 1]):
            x = x | literal(value, np.int64(following[source[j]]))
        store(planes, p, x)
