"""The transposition table of proof numbers.

An entry is a whole key, which is compared, and a word of data: proof number (22 bits), disproof number (22),
walkers below the state (8), logarithm of the nodes spent on it (5), number of the question (6), and a
bit that is set. In a full bucket the entry with the least work makes room, one without walkers if possible.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import Index, prefetch
from ggp.lanes.keys.key_table import hash_of
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import BUCKET, INFINITE, SearchMemory, Words

_NUMBER = np.uint64(INFINITE)
_DISPROOF, _BUSY, _WORK, _QUESTION = (np.uint64(bit) for bit in (22, 44, 52, 57))
_MAX_BUSY, _MAX_WORK = 255, 31
MAX_QUESTIONS = 64
_AHEAD = 16
"""Entries between prefetching a bucket and writing to it."""


@inlined
def pack_numbers(proof: Index, disproof: Index, busy: Index) -> np.uint64:
    """Numbers and walkers as the lower bits of an entry's data hold them."""
    busy = np.int64(min(_MAX_BUSY, max(0, busy)))
    return np.uint64(proof) | (np.uint64(disproof) << _DISPROOF) | (np.uint64(busy) << _BUSY)


@inlined
def same_numbers(x: np.uint64, y: np.uint64) -> bool:
    """Whether two data agree in numbers and walkers."""
    return bool((x ^ y) << (np.uint64(64) - _WORK) == np.uint64(0))


@inlined
def entry_proof(data: np.uint64) -> Index:
    return np.int64(data & _NUMBER)


@inlined
def entry_disproof(data: np.uint64) -> Index:
    return np.int64((data >> _DISPROOF) & _NUMBER)


@inlined
def entry_busy(data: np.uint64) -> Index:
    return np.int64((data >> _BUSY) & np.uint64(_MAX_BUSY))


@inlined
def entry_work(data: np.uint64) -> Index:
    return np.int64((data >> _WORK) & np.uint64(_MAX_WORK))


@inlined
def _tag(memory: SearchMemory) -> Any:
    """The upper bits of data for the question under search: its number, and the bit that is set."""
    return np.uint64(memory.option[c.QUESTION]) | np.uint64(MAX_QUESTIONS)


@inlined
def _bucket(memory: SearchMemory, place: Index) -> Any:
    """Where the bucket of the state at `place` of the arena begins in the table."""
    size = BUCKET * (memory.maker.code.word_count + 1)
    return np.int64(memory.hash[place] & np.uint64(memory.buckets - 1)) * size


@inlined
def hash_key(memory: SearchMemory, place: Index) -> None:
    """Hash the key at `place` of the arena."""
    words = memory.maker.code.word_count
    memory.hash[place] = hash_of(memory.key, place * words, words)


@inlined
def prefetch_bucket(memory: SearchMemory, place: Index) -> None:
    words = memory.maker.code.word_count
    bucket = _bucket(memory, place)
    prefetch(memory.table, bucket)
    if words > 1:
        prefetch(memory.table, bucket + BUCKET * (words + 1) - 1)


@inlined
def find_entry(memory: SearchMemory, place: Index) -> Any:
    """Where the table holds the state at `place` of the arena, for the question under search; -1: nowhere.

    All entries of the bucket are compared, without a branch that a processor could mispredict.
    """
    words = memory.maker.code.word_count
    bucket = _bucket(memory, place)
    tag = _tag(memory)
    found: Any = np.int64(-1)
    for e in range(BUCKET):
        entry = bucket + e * (words + 1)
        difference = (memory.table[entry + words] >> _QUESTION) ^ tag
        for d in range(words):
            difference |= memory.table[entry + d] ^ memory.key[place * words + d]
        found = entry if difference == np.uint64(0) else found
    return found


@inlined
def find_data(memory: SearchMemory, place: Index) -> np.uint64:
    """The data about the state at `place` of the arena; 0 if there is none."""
    entry = find_entry(memory, place)
    data = memory.table[max(entry, np.int64(0)) + memory.maker.code.word_count]
    return np.uint64(data if entry >= 0 else np.uint64(0))


@inlined
def _protection(data: np.uint64) -> Any:
    """How little an entry should make room: least for none."""
    if data == np.uint64(0):
        return np.int64(-1)
    return entry_work(data) + (64 if entry_busy(data) > 0 else 0)


@inlined
def _make_room(memory: SearchMemory, place: Index) -> Any:
    """Write the key at `place` of the arena to the entry of its bucket that is worth least; return which."""
    words = memory.maker.code.word_count
    bucket = _bucket(memory, place)
    target: Any = bucket
    least: Any = np.int64(1 << 30)
    for e in range(BUCKET):
        entry = bucket + e * (words + 1)
        protection = _protection(memory.table[entry + words])
        target = entry if protection < least else target
        least = min(least, protection)
    memory.counter[c.STORED] += least < 0
    for d in range(words):
        memory.table[target + d] = memory.key[place * words + d]
    memory.table[target + words] = np.uint64(0)
    return target


@inlined
def store_entry(
    memory: SearchMemory, place: Index, proof: Index, disproof: Index, more_busy: Index, work: Index
) -> None:
    """Store the numbers of the state at `place`, below which there are now `more_busy` walkers more.

    An answer that another walker has found meanwhile stays.
    """
    words = memory.maker.code.word_count
    entry = find_entry(memory, place)
    if entry < 0:
        entry = _make_room(memory, place)
        busy: Any = np.int64(0)
        earlier: Any = np.int64(0)
    else:
        data = np.uint64(memory.table[entry + words])
        if entry_proof(data) == 0 or entry_disproof(data) == 0:
            proof, disproof = entry_proof(data), entry_disproof(data)
        busy, earlier = entry_busy(data), entry_work(data)
    numbers = pack_numbers(proof, disproof, busy + more_busy)
    work = np.int64(max(work, earlier))
    memory.table[entry + words] = numbers | (np.uint64(work) << _WORK) | (_tag(memory) << _QUESTION)


def answers_in(data: Words) -> NDArray[np.int64]:
    """YES, NO or OPEN for each of some data, int64; for Python, not for kernels.

    >>> data = np.array([INFINITE << 22, INFINITE, 1 | 1 << 22], np.uint64)
    >>> answers_in(data).tolist() == [c.YES, c.NO, c.OPEN]
    True
    """
    is_yes, is_no = data & _NUMBER == 0, (data >> _DISPROOF) & _NUMBER == 0
    return np.where(is_yes, c.YES, np.where(is_no, c.NO, c.OPEN))


@kernel
def copy_entries(old: Words, new: Words, words: int) -> int:
    """Copy the entries of a table to an empty one that is larger; return how many there are.

    old, new   uint64[*]; words: of a key
    """
    size = words + 1
    buckets = np.uint64(new.shape[0] // (BUCKET * size) - 1)
    copied = 0
    for entry in range(0, old.shape[0], size):
        ahead = entry + _AHEAD * size
        if ahead < old.shape[0]:
            prefetch(new, np.int64(hash_of(old, ahead, words) & buckets) * BUCKET * size)
        if old[entry + words] == np.uint64(0):
            continue
        target = np.int64(hash_of(old, entry, words) & buckets) * BUCKET * size
        while new[target + words] != np.uint64(0):
            target += size
        # Entries of one bucket come from one bucket of the old table, so that there is room.
        for d in range(size):
            new[target + d] = old[entry + d]
        copied += 1
    return copied
