"""The transposition table of proof numbers.

An entry is a whole key, which is compared, and a word of data: proof number (22 bits), disproof number (22),
walkers below the state (8), logarithm of the nodes spent on it (5), number of the question (6), and a
bit that is set. In a full bucket the entry with the least work makes room, one without walkers if possible.

Where walkers go in order two bits take the place of the numbers: whether the state is answered with yes or
with no. The other 42 bits are free for the end of the key, so that more buckets are one cache line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import ALL_ONES, Index, prefetch
from ggp.lanes.keys.key_table import hash_of
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import BUCKET, INFINITE, AnyMemory, Words

_NUMBER = np.uint64(INFINITE)
_DISPROOF, _ANSWER, _BUSY, _WORK, _QUESTION = (np.uint64(bit) for bit in (22, 42, 44, 52, 57))
KEY_BITS = 42
"""Of a key that the data of an entry can hold where walkers go in order."""
KEY_MASK = (1 << KEY_BITS) - 1
YES, NO = np.uint64(1) << _ANSWER, np.uint64(2) << _ANSWER
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
def _tag(memory: AnyMemory) -> Any:
    """The upper bits of data for the question under search: its number, and the bit that is set."""
    return np.uint64(memory.option[c.QUESTION]) | np.uint64(MAX_QUESTIONS)


@inlined
def is_answered(data: np.uint64) -> bool:
    return entry_proof(data) == 0 or entry_disproof(data) == 0


@inlined
def logarithm(number: Index) -> Any:
    """The binary logarithm of work."""
    digits: Any = np.int64(0)
    while number > 1:
        number >>= 1
        digits += 1
    return digits


@inlined
def _bucket(memory: AnyMemory, mixed: np.uint64) -> Any:
    """Where the bucket of keys with this hash begins in the table."""
    return np.int64(mixed & np.uint64(memory.buckets - 1)) * BUCKET * memory.entry_words


@inlined
def prefetch_bucket(memory: AnyMemory, mixed: np.uint64) -> None:
    bucket, words = _bucket(memory, mixed), BUCKET * memory.entry_words
    prefetch(memory.table, bucket)
    if words > 8:
        prefetch(memory.table, bucket + words - 1)


@inlined
def find_entry(memory: AnyMemory, keys: Words, start: Index, mixed: np.uint64) -> Any:
    """Where the table holds the key from keys[start] on, for the question under search; -1: nowhere.

    All entries of the bucket are compared, without a branch that a processor could mispredict.
    """
    last = memory.entry_words - 1
    bucket = _bucket(memory, mixed)
    wanted = (keys[start + last] & memory.key_mask) | (_tag(memory) << _QUESTION)
    compared = memory.key_mask | (ALL_ONES << _QUESTION)
    found: Any = np.int64(-1)
    for e in range(BUCKET):
        entry = bucket + e * (last + 1)
        difference = (memory.table[entry + last] ^ wanted) & compared
        for d in range(last):
            difference |= memory.table[entry + d] ^ keys[start + d]
        found = entry if difference == np.uint64(0) else found
    return found


@inlined
def data_of(memory: AnyMemory, entry: Index) -> np.uint64:
    """The data of an entry that `find_entry` returned; 0 if there is none."""
    data = memory.table[max(entry, np.int64(0)) + memory.entry_words - 1]
    return np.uint64(data if entry >= 0 else np.uint64(0))


@inlined
def _protection(data: np.uint64) -> Any:
    """How little an entry should make room: least for none."""
    if data >> np.uint64(63) == np.uint64(0):
        return np.int64(-1)
    return entry_work(data) + (64 if entry_busy(data) > 0 else 0)


@inlined
def make_room(memory: AnyMemory, keys: Words, start: Index, mixed: np.uint64) -> Any:
    """Write a key to the entry of its bucket that is worth least; return which."""
    last = memory.entry_words - 1
    bucket = _bucket(memory, mixed)
    target: Any = bucket
    least: Any = np.int64(1 << 30)
    for e in range(BUCKET):
        entry = bucket + e * (last + 1)
        protection = _protection(memory.table[entry + last])
        target = entry if protection < least else target
        least = min(least, protection)
    memory.counter[c.STORED] += least < 0
    for d in range(last):
        memory.table[target + d] = keys[start + d]
    memory.table[target + last] = keys[start + last] & memory.key_mask
    return target


@inlined
def settled_entry(memory: AnyMemory, keys: Words, start: Index, mixed: np.uint64) -> Any:
    """Where the table holds a key from now on."""
    entry = find_entry(memory, keys, start, mixed)
    return entry if entry >= 0 else make_room(memory, keys, start, mixed)


@inlined
def store_numbers(
    memory: AnyMemory, entry: Index, proof: Index, disproof: Index, more_busy: Index, work: Index
) -> None:
    """Store the numbers of the state of an entry, below which there are now `more_busy` walkers more.

    An answer that another walker has found meanwhile stays.
    """
    place = entry + memory.entry_words - 1
    data = np.uint64(memory.table[place])
    if data != np.uint64(0) and is_answered(data):
        proof, disproof = entry_proof(data), entry_disproof(data)
    numbers = pack_numbers(proof, disproof, entry_busy(data) + more_busy)
    work = np.int64(max(work, entry_work(data)))
    memory.table[place] = numbers | (np.uint64(work) << _WORK) | (_tag(memory) << _QUESTION)


@inlined
def store_answer(memory: AnyMemory, entry: Index, answer: np.uint64, more_busy: Index, work: Index) -> None:
    """The same where walkers go in order. answer: YES, NO or 0."""
    place = entry + memory.entry_words - 1
    data = np.uint64(memory.table[place])
    busy = np.uint64(min(_MAX_BUSY, max(0, entry_busy(data) + more_busy)))
    spent = np.uint64(max(work, entry_work(data)))
    kept = (data & (memory.key_mask | YES | NO)) | answer
    memory.table[place] = kept | (busy << _BUSY) | (spent << _WORK) | (_tag(memory) << _QUESTION)


@inlined
def _hash_in(table: Words, entry: Index, words: Index, mask: np.uint64) -> np.uint64:
    """The hash of the key of an entry, of whose last word `mask` has the bits."""
    last = table[entry + words - 1]
    table[entry + words - 1] = last & mask
    mixed = hash_of(table, entry, words)
    table[entry + words - 1] = last
    return np.uint64(mixed)


@kernel
def copy_entries(old: Words, new: Words, words: int, size: int) -> int:
    """Copy the entries of a table to an empty one that is larger; return how many there are.

    old, new      uint64[*]
    words, size   of a key and of an entry
    """
    mask = np.uint64(KEY_MASK) if size == words else ALL_ONES  # of the last word of a key
    buckets = np.uint64(new.shape[0] // (BUCKET * size) - 1)
    copied = 0
    for entry in range(0, old.shape[0], size):
        ahead = entry + _AHEAD * size
        if ahead < old.shape[0]:
            prefetch(new, np.int64(_hash_in(old, ahead, words, mask) & buckets) * BUCKET * size)
        if old[entry + size - 1] == np.uint64(0):
            continue
        target = np.int64(_hash_in(old, entry, words, mask) & buckets) * BUCKET * size
        while new[target + size - 1] != np.uint64(0):
            target += size
        # Entries of one bucket come from one bucket of the old table, so that there is room.
        for d in range(size):
            new[target + d] = old[entry + d]
        copied += 1
    return copied
