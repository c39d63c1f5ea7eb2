"""The transposition table of alpha-beta: bounds and best moves of positions searched before.

Slots come in pairs. The first of a pair keeps what was searched deeper, or of equal depth what came last;
the second what it displaced or what was not as deep. The whole key is stored and compared, so an entry never
speaks for another position.

An entry's data, from the lowest bit: score + 2**15 (16 bits), bound (2), depth (8), move + 1 (32).
"""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined
from ggp.jit.rows import Index, prefetch
from ggp.lanes.keys.key_table import hash_of
from ggp.search.alphabeta.kernels.arrays import AlphaBetaMemory

_OFFSET = 1 << 15
_EMPTY_DATA = np.uint64(0)


@inlined
def pack_entry(score: Index, bound: Index, depth: Index, move: Index) -> np.uint64:
    return np.uint64((score + _OFFSET) | (bound << 16) | (depth << 18) | ((move + 1) << 26))


@inlined
def entry_score(data: np.uint64) -> Index:
    return np.int64(data & np.uint64(0xFFFF)) - _OFFSET


@inlined
def entry_bound(data: np.uint64) -> Index:
    return np.int64((data >> np.uint64(16)) & np.uint64(3))


@inlined
def entry_depth(data: np.uint64) -> Index:
    return np.int64((data >> np.uint64(18)) & np.uint64(255))


@inlined
def entry_move(data: np.uint64) -> Index:
    return np.int64(data >> np.uint64(26)) - 1


@inlined
def _is_at(memory: AlphaBetaMemory, slot: Index, place: Index, words: Index) -> bool:
    d = 0
    while d < words and memory.table_key[slot * words + d] == memory.key[place * words + d]:
        d += 1
    return d == words


@inlined
def probe(memory: AlphaBetaMemory, place: Index, words: Index) -> np.uint64:
    """The entry of the position at `place` of the arena; 0 if there is none."""
    slots = np.uint64(memory.table_data.shape[0] - 1)
    slot = np.int64(hash_of(memory.key, place * words, words) & slots)
    if memory.table_data[slot] != _EMPTY_DATA and _is_at(memory, slot, place, words):
        return np.uint64(memory.table_data[slot])
    if memory.table_data[slot ^ 1] != _EMPTY_DATA and _is_at(memory, slot ^ 1, place, words):
        return np.uint64(memory.table_data[slot ^ 1])
    return _EMPTY_DATA


@inlined
def prefetch_entries(memory: AlphaBetaMemory, words: Index, first: Index, count: Index) -> None:
    """Prefetch the table entries of `count` positions from `first` on."""
    slots = np.uint64(memory.table_data.shape[0] - 1)
    for place in range(first, first + count):
        slot = np.int64(hash_of(memory.key, place * words, words) & slots)
        prefetch(memory.table_data, slot)
        prefetch(memory.table_key, slot * words)


@inlined
def store_entry(memory: AlphaBetaMemory, place: Index, words: Index, data: np.uint64) -> None:
    """Store an entry for the position at `place` of the arena."""
    slots = np.uint64(memory.table_data.shape[0] - 1)
    home = np.int64(hash_of(memory.key, place * words, words) & slots)
    slot = home & ~np.int64(1)
    other = slot | 1
    # `slot` becomes the one to write: that of the position's older entry, else the first unless it is deeper.
    # What is displaced from the first moves to the second.
    if memory.table_data[other] != _EMPTY_DATA and _is_at(memory, other, place, words):
        slot = other
    elif memory.table_data[slot] != _EMPTY_DATA and not _is_at(memory, slot, place, words):
        if entry_depth(memory.table_data[slot]) > entry_depth(data):
            slot = other
        else:
            memory.table_data[other] = memory.table_data[slot]
            for d in range(words):
                memory.table_key[other * words + d] = memory.table_key[slot * words + d]
    memory.table_data[slot] = data
    for d in range(words):
        memory.table_key[slot * words + d] = memory.key[place * words + d]
