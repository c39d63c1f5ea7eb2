"""State codes: which bits of a key facts share.

A group of n facts of which at most one holds (the content of a cell, the player in control) needs
ceil(log2(n + 1)) bits instead of n. Disjoint groups are chosen greedily, those that save most first.
Keys are hashed in `ggp.lanes.keys.hashing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from gdl.slices import slice_offsets
from ggp.lanes.keys.packing import StateCode


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
        for literal in code.digit[code.first_digit[fluent] : code.first_digit[fluent + 1]]:
            states[:, fluent] &= bits[:, literal >> 1] ^ bool(literal & 1)
    return states


def _flat(lists: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Lists as one array: offsets and items."""
    offsets = slice_offsets(np.array(list(map(len, lists)), np.int32)).astype(np.int32)
    return offsets, np.array([item for each in lists for item in each], np.int32)
