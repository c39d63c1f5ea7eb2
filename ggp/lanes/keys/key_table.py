"""The key table: from keys to state numbers, in batches.

States are numbered in the order of their discovery; `keys` holds the key of each. A slot of the table is 0,
or the upper half of a state's hash and its number + 1, so that hardly any key is compared (one more cache
miss) in vain. A batch first prefetches slots, then keys, and only then looks them up: dozens of cache misses
are under way at once. The full key is always compared, so equal hashes never merge two states.

Letters: N states, D words per key, B keys of a batch, S slots (a power of two).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import Index, prefetch

Words = NDArray[np.uint64]
ABSENT = -1
_LOW = np.uint64(0xFFFF_FFFF)
_HALF = np.uint64(32)
_BATCH = 256


@inlined
def hash_of(keys: Words, place: Index, words: Index) -> np.uint64:
    """64-bit hash of the key that begins at word `place`. Multiply and shift, as in MurmurHash3. For the
    tables of the solver, alpha-beta and the tree search."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for d in range(words):
        mixed = (mixed ^ keys[place + d]) * np.uint64(0xFF51AFD7ED558CCD)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xC4CEB9FE1A85EC53)
        mixed = mixed ^ (mixed >> np.uint64(29))
    return mixed


@inlined
def slot_of(table: Words, keys: Words, words: Index, reached: Words, place: Index, mixed: np.uint64) -> Index:
    """The slot of the key at word `place` of `reached`; if it is new, the empty slot where it belongs."""
    mask = np.uint64(table.shape[0] - 1)
    slot = mixed & mask
    tag = mixed >> _HALF
    while True:
        entry = table[slot]
        if entry == np.uint64(0):
            return np.int64(slot)
        if entry >> _HALF == tag:
            other = words * (np.int64(entry & _LOW) - 1)
            d = 0
            while d < words and keys[other + d] == reached[place + d]:
                d += 1
            if d == words:
                return np.int64(slot)
        slot = (slot + np.uint64(1)) & mask


@inlined
def prefetch_batch(
    table: Words, keys: Words, words: Index, reached: Words, first: Index, end: Index, mixed: Words
) -> None:
    """Hash the keys first .. end-1 of `reached` into mixed[0 ..] and prefetch their lookups."""
    mask = np.uint64(table.shape[0] - 1)
    for i in range(first, end):
        mixed[i - first] = hash_of(reached, words * i, words)
        prefetch(table, np.int64(mixed[i - first] & mask))
    for i in range(first, end):
        entry = table[mixed[i - first] & mask]
        if entry >> _HALF == mixed[i - first] >> _HALF:
            prefetch(keys, words * (np.int64(entry & _LOW) - 1))


class KeyTable(NamedTuple):
    """The keys of all numbered states and the hash table that finds them.

    table        uint64[S]
    keys         uint64[N*D]
    word_count   D
    """

    table: Words
    keys: Words
    word_count: int


@inlined
def number_states(
    known: KeyTable,
    state_count: Index,
    reached: Words,
    count: Index,
    mixed: Words,
    edge: NDArray[np.uint32],
    first_edge: Index,
) -> Index:
    """Number the `count` keys of `reached`, appending new states to the keys; return the new state count.

    known         with room for `count` keys more
    state_count   N
    reached       uint64[B*D]
    mixed         uint64[B], scratch
    edge          edge[first_edge + i] = number of key i
    """
    table = known.table
    keys = known.keys
    words = known.word_count
    for first in range(0, count, _BATCH):
        end = min(count, first + _BATCH)
        prefetch_batch(table, keys, words, reached, first, end, mixed)
        for i in range(first, end):
            h = mixed[i - first]
            slot = slot_of(table, keys, words, reached, words * i, h)
            entry = table[slot]
            if entry == np.uint64(0):
                for d in range(words):
                    keys[words * state_count + d] = reached[words * i + d]
                state_count += 1
                entry = (h >> _HALF << _HALF) | np.uint64(state_count)
                table[slot] = entry
            edge[first_edge + i] = np.uint32((entry & _LOW) - np.uint64(1))
    return state_count


@kernel
def insert_states(table: Words, keys: Words, words: int, first: int, end: int) -> None:
    """Insert states first .. end-1, which are not in the table; it stays larger than the number of states."""
    mask = np.uint64(table.shape[0] - 1)
    ahead = 24
    for state in range(first, end):
        if state + ahead < end:
            prefetch(table, np.int64(hash_of(keys, words * (state + ahead), words) & mask))
        h = hash_of(keys, words * state, words)
        slot = h & mask
        while table[slot] != np.uint64(0):
            slot = (slot + np.uint64(1)) & mask
        table[slot] = (h >> _HALF << _HALF) | np.uint64(state + 1)


@kernel
def find_states(table: Words, keys: Words, words: int, wanted: Words, number: NDArray[np.int64]) -> None:
    """number[i] = the state with key i of `wanted` (uint64[B*D]), or ABSENT."""
    for i in range(number.shape[0]):
        slot = slot_of(table, keys, words, wanted, words * i, hash_of(wanted, words * i, words))
        entry = table[slot]
        number[i] = np.int64(entry & _LOW) - 1 if entry != np.uint64(0) else ABSENT
