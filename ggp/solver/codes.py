"""How the states of one game become keys of few bits.

A group of facts of which at most one holds (a cell's content, the player in control) of size n needs
ceil(log2(n + 1)) bits instead of n. Disjoint groups are chosen greedily, those that save most first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ggp.kernels.solver_codes import StateCode


def make_code(fluent_count: int, exclusive: Iterable[Sequence[int]] = ()) -> StateCode:
    """The code for states of `fluent_count` fluents, of which each group of `exclusive` holds at most one.

    Fluent i of a chosen group (counted from 1) is the number i in the group's planes, 0 means none.
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
    for fluent in range(fluent_count):
        if not is_coded[fluent]:
            digits[fluent].append(2 * len(sources))
            sources.append([fluent])
    first_source, source = _flat(sources)
    first_digit, digit = _flat(digits)
    return StateCode(max(1, -(-len(sources) // 64)), first_source, source, first_digit, digit)


def bits_saved(size: int) -> int:
    """Bits that a group of `size` facts saves."""
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
    """CSR: offsets and items."""
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int32)
    return offsets, np.array([item for each in lists for item in each], np.int32)
