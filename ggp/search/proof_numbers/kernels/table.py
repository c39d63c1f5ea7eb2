"""The transposition table of proof numbers.

An entry is a whole key, which is compared, and a word of data: proof number (22 bits), disproof number (22),
walkers below the state (8), logarithm of the nodes spent on it (5), number of the question (6), and a
bit that is set. In a full bucket the entry with the least work makes room, one without walkers if possible.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import Index, prefetch
from ggp.lanes.keys.key_table import hash_of
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import BUCKET, INFINITE, SearchMemory, Words

_NUMBER = np.uint64(INFINITE)
_QUESTION_SHIFT = 57
_USED = np.uint64(1 << 63)
_NOT_QUESTION = np.uint64((1 << _QUESTION_SHIFT) - 1)
_MAX_BUSY, _MAX_WORK = 255, 31
MAX_QUESTIONS = 64
_AHEAD = 16
"""Entries between prefetching a bucket and writing to it."""


@inlined
def pack_entry(proof: Index, disproof: Index, busy: Index, work: Index, question: Index) -> np.uint64:
    numbers = np.uint64(proof | (disproof << 22) | (busy << 44) | (work << 52))
    return numbers | (np.uint64(question) << np.uint64(_QUESTION_SHIFT)) | _USED


@inlined
def entry_proof(data: np.uint64) -> Index:
    return np.int64(data & _NUMBER)


@inlined
def entry_disproof(data: np.uint64) -> Index:
    return np.int64((data >> np.uint64(22)) & _NUMBER)


@inlined
def entry_busy(data: np.uint64) -> Index:
    return np.int64((data >> np.uint64(44)) & np.uint64(_MAX_BUSY))


@inlined
def entry_work(data: np.uint64) -> Index:
    return np.int64((data >> np.uint64(52)) & np.uint64(_MAX_WORK))


@inlined
def _bucket(memory: SearchMemory, place: Index) -> Any:
    """Where the bucket of the state at `place` of the arena begins in the table."""
    size = BUCKET * (memory.maker.code.word_count + 1)
    return np.int64(memory.hash[place] & np.uint64(memory.buckets - 1)) * size


@inlined
def hash_and_prefetch(memory: SearchMemory, place: Index) -> None:
    """Hash the key at `place` of the arena and prefetch its bucket."""
    words = memory.maker.code.word_count
    memory.hash[place] = hash_of(memory.key, place * words, words)
    bucket = _bucket(memory, place)
    prefetch(memory.table, bucket)
    if words > 1:
        prefetch(memory.table, bucket + BUCKET * (words + 1) - 1)


@inlined
def _is_at(memory: SearchMemory, entry: Index, place: Index) -> bool:
    """Whether the entry is one of the state at `place` of the arena, for the question under search."""
    words = memory.maker.code.word_count
    d = 0
    while d < words and memory.table[entry + d] == memory.key[place * words + d]:
        d += 1
    question = (memory.table[entry + words] & ~_USED) >> np.uint64(_QUESTION_SHIFT)
    return d == words and np.int64(question) == memory.option[c.QUESTION]


@inlined
def find_entry(memory: SearchMemory, place: Index) -> np.uint64:
    """The data about the state at `place` of the arena; 0 if there is none."""
    words = memory.maker.code.word_count
    bucket = _bucket(memory, place)
    for e in range(BUCKET):
        entry = bucket + e * (words + 1)
        data = memory.table[entry + words]
        if data != np.uint64(0) and _is_at(memory, entry, place):
            return np.uint64(data)
    return np.uint64(0)


@inlined
def _protection(data: np.uint64) -> Any:
    """How little an entry should make room: least for none."""
    if data == np.uint64(0):
        return np.int64(-1)
    return entry_work(data) + (64 if entry_busy(data) > 0 else 0)


@inlined
def store_entry(
    memory: SearchMemory, place: Index, proof: Index, disproof: Index, more_busy: Index, work: Index
) -> None:
    """Store the numbers of the state at `place`, below which there are now `more_busy` walkers more.

    An answer that another walker has found meanwhile stays.
    """
    words = memory.maker.code.word_count
    bucket = _bucket(memory, place)
    target: Any = bucket
    least: Any = np.int64(1 << 30)
    busy: Any = np.int64(0)
    for e in range(BUCKET):
        entry = bucket + e * (words + 1)
        data = memory.table[entry + words]
        if data != np.uint64(0) and _is_at(memory, entry, place):
            if entry_proof(data) == 0 or entry_disproof(data) == 0:
                proof, disproof = entry_proof(data), entry_disproof(data)
            busy = entry_busy(data)
            work = max(work, entry_work(data))
            target, least = entry, np.int64(0)
            break
        if _protection(data) < least:
            target, least = entry, _protection(data)
    memory.counter[c.STORED] += least < 0
    for d in range(words):
        memory.table[target + d] = memory.key[place * words + d]
    busy = min(_MAX_BUSY, max(0, busy + more_busy))
    memory.table[target + words] = pack_entry(proof, disproof, busy, work, memory.option[c.QUESTION])


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
