"""The key table: from keys to state numbers, in batches.

States are numbered in the order of their discovery; `keys` holds the key of each. A slot of the table is 0,
or a tag, part of a state's hash, above the state's number + 1, so that hardly any key is compared (one more
cache miss) in vain. Eight slots are a bucket, one cache line, whose tags are compared at once; it fills from
its first slot on, then the next bucket takes what belongs in it, with tags that say so. Buckets, and keys
that are compared, are prefetched long before they are looked up: dozens of cache misses are under way.
Keys are found or numbered without a branch unless their bucket is full.

Equal hashes never merge two states: the full key is compared, or it is so short that bucket and tag together
are a permutation of its bits, and nothing is left to compare (*quotienting*: Knuth, The Art of Computer
Programming 3, exercise 6.4-13).

Letters: N states, D words per key, B keys of a batch, S slots (a power of two, at least BUCKET).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import Index, lowest_bit, make_rows, prefetch, upper_halves_equal, words_of

Words = NDArray[np.uint64]
ABSENT = -1
_LOW = np.uint64(0xFFFF_FFFF)
_HALF = np.uint64(32)
_TAG_BITS = 31
"""Of a hash; the lowest bit of a tag says that its state is in the bucket where it belongs."""
SCRATCH = 1024
"""Keys of a batch."""
_AHEAD = 64
"""Keys whose buckets are on their way while one is looked up, where nothing else is prefetched."""
BUCKET = 8


def make_key_table(slots: int) -> Words:
    """An empty table of at least `slots` slots, a power of two, whose buckets are cache lines.

    >>> make_key_table(2).shape
    (8,)
    """
    return words_of(make_rows(max(1, slots // BUCKET), BUCKET)).reshape(-1)


@inlined
def hash_of(keys: Words, place: Index, words: Index) -> np.uint64:
    """64-bit hash of the key that begins at word `place`. Multiply and shift, as in MurmurHash3."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for d in range(words):
        mixed = (mixed ^ keys[place + d]) * np.uint64(0xFF51AFD7ED558CCD)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xC4CEB9FE1A85EC53)
        mixed = mixed ^ (mixed >> np.uint64(29))
    return mixed


@inlined
def _exact_bits(table: Words) -> Index:
    """Maximum length, in bits, of keys that bucket and tag determine."""
    return lowest_bit(np.uint64(table.shape[0] // BUCKET)) + _TAG_BITS


@inlined
def _hash_in(table: Words, keys: Words, place: Index, words: Index) -> np.uint64:
    """The hash of a key: its bucket in the lower half, its tag in the upper one."""
    if words > 1:
        return hash_of(keys, place, words)
    bits = np.uint64(_exact_bits(table))
    mask = (np.uint64(1) << bits) - np.uint64(1)
    # Each step permutes the numbers of `bits` bits; of longer keys the upper bits are mixed in first.
    mixed: np.uint64 = (keys[place] ^ (keys[place] >> bits) * np.uint64(0x9E3779B97F4A7C15)) & mask
    mixed = mixed * np.uint64(0xFF51AFD7ED558CCD) & mask
    mixed = (mixed ^ (mixed >> (bits >> np.uint64(1)))) * np.uint64(0xC4CEB9FE1A85EC53) & mask
    return (mixed << np.uint64(33)) | (mixed >> np.uint64(_TAG_BITS)) * np.uint64(BUCKET)


@inlined
def entry_of(table: Words, slot: Index, mixed: np.uint64, number: Index) -> np.uint64:
    """What `slot` of the table holds of state `number`."""
    is_home = slot & -BUCKET == _bucket_of(table, mixed)
    tag = _tag_of(mixed) if is_home else _displaced(_tag_of(mixed))
    return (tag << _HALF) | np.uint64(number + 1)


@inlined
def _displaced(tag: np.uint64) -> np.uint64:
    """The tag of a state in a later bucket than its own: even, not 0."""
    return (tag ^ np.uint64(1)) | np.uint64(2)


@inlined
def _tag_of(mixed: np.uint64) -> np.uint64:
    return (mixed >> _HALF) | np.uint64(1)


@inlined
def _bucket_of(table: Words, mixed: np.uint64) -> Index:
    """The first slot of the bucket where a key with this hash belongs."""
    return np.int64(mixed & np.uint64(table.shape[0] - BUCKET))


@inlined
def slot_of(table: Words, keys: Words, words: Index, reached: Words, place: Index, mixed: np.uint64) -> Index:
    """The slot of the key at word `place` of `reached`; if it is new, the empty slot where it belongs."""
    bucket = _bucket_of(table, mixed)
    tag = _tag_of(mixed)
    while True:
        same = upper_halves_equal(table, bucket, tag)
        while same != np.uint64(0):
            slot = bucket + lowest_bit(same)
            other = words * (np.int64(table[slot] & _LOW) - 1)
            d = 0
            while d < words and keys[other + d] == reached[place + d]:
                d += 1
            if d == words:
                return slot
            same &= same - np.uint64(1)
        slot = _empty_slot(table, bucket)
        if slot >= 0:
            return slot
        bucket = (bucket + BUCKET) & (table.shape[0] - 1)
        tag = _displaced(tag | np.uint64(1))


@inlined
def _empty_slot(table: Words, bucket: Index) -> Index:
    """The first empty slot of a bucket, or ABSENT."""
    empty = upper_halves_equal(table, bucket, np.uint64(0))
    return bucket + lowest_bit(empty) if empty != np.uint64(0) else np.int64(ABSENT)


@inlined
def _candidate(table: Words, mixed: np.uint64, default: Index) -> Index:
    """The first state in the bucket of a hash with its tag; if there is none, `default`. Without a branch."""
    bucket = _bucket_of(table, mixed)
    same = upper_halves_equal(table, bucket, _tag_of(mixed))
    entry = table[bucket + (lowest_bit(same) & (BUCKET - 1))]
    return np.int64(entry & _LOW) - 1 if same != np.uint64(0) else default


@inlined
def prefetch_batch(
    table: Words, keys: Words, words: Index, reached: Words, first: Index, end: Index, mixed: Words
) -> None:
    """Hash the keys first .. end-1 of `reached` into mixed[0 ..] and prefetch their lookups."""
    _hash_keys(table, words, reached, first, end, mixed)
    for i in range(end - first):
        prefetch(table, _bucket_of(table, mixed[i]))
    for i in range(first, end):
        prefetch(keys, words * _candidate(table, mixed[i - first], np.int64(0)))


@inlined
def _hash_keys(table: Words, words: Index, reached: Words, first: Index, end: Index, mixed: Words) -> None:
    for i in range(first, end):
        mixed[i - first] = _hash_in(table, reached, words * i, words)


class KeyTable(NamedTuple):
    """The keys of all numbered states and the hash table that finds them.

    table        uint64[S]
    keys         uint64[N*D]
    word_count   D
    bits         of a key, if known to be less than 64: all others are 0
    """

    table: Words
    keys: Words
    word_count: int
    bits: int = 64


@inlined
def _number_keys(
    known: KeyTable,
    state_count: Index,
    reached: Words,
    first: Index,
    end: Index,
    mixed: Words,
    edge: NDArray[np.uint32],
    first_edge: Index,
    words: Index,
    is_exact: bool,
) -> Index:
    """Number the keys first .. end-1, hashed in `mixed`; see `number_states`.

    As if new: each key behind the others, and its entry in its bucket. Without a branch, unless that is full
    or, behind the same tag, holds another key.
    """
    table, keys = known.table, known.keys
    for i in range(first, end):
        h = mixed[i - first]
        if is_exact:
            prefetch(table, _bucket_of(table, mixed[min(i + _AHEAD, end - 1) - first]))
        for d in range(words):
            keys[words * state_count + d] = reached[words * i + d]
        bucket = _bucket_of(table, h)
        same = upper_halves_equal(table, bucket, _tag_of(h))
        empty = upper_halves_equal(table, bucket, np.uint64(0))
        is_new = same == np.uint64(0)
        slot = bucket + (lowest_bit(empty if is_new else same) & (BUCKET - 1))
        # A choice of what is loaded would become a branch; empty slots are 0.
        entered = (_tag_of(h) << _HALF) | np.uint64(state_count + 1)
        entry = table[slot] | (entered if is_new else np.uint64(0))
        differing = np.uint64(is_new & (empty == np.uint64(0)))
        if not is_exact:
            other = words * min(np.int64(entry & _LOW) - 1, state_count)
            for d in range(words):
                differing |= keys[other + d] ^ reached[words * i + d]
        if differing != np.uint64(0):
            slot = slot_of(table, keys, words, reached, words * i, h)
            entry = table[slot]
            is_new = entry == np.uint64(0)
            entry = entry_of(table, slot, h, state_count) if is_new else entry
        table[slot] = entry
        edge[first_edge + i] = np.uint32((entry & _LOW) - np.uint64(1))
        state_count += np.int64(is_new)
    return state_count


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
    mixed         uint64[SCRATCH]
    edge          edge[first_edge + i] = number of key i
    """
    table, keys, words = known.table, known.keys, known.word_count
    for first in range(0, count, SCRATCH):
        end = min(count, first + SCRATCH)
        if words == 1 and known.bits <= _exact_bits(table):
            _hash_keys(table, np.int64(1), reached, first, end, mixed)
            for i in range(min(_AHEAD, end - first)):
                prefetch(table, _bucket_of(table, mixed[i]))
            state_count = _number_keys(
                known, state_count, reached, first, end, mixed, edge, first_edge, np.int64(1), True
            )
        else:
            prefetch_batch(table, keys, words, reached, first, end, mixed)
            state_count = _number_keys(
                known, state_count, reached, first, end, mixed, edge, first_edge, np.int64(words), False
            )
    return state_count


@kernel
def insert_states(table: Words, keys: Words, words: int, first: int, end: int) -> None:
    """Insert states first .. end-1, which are not in the table; it stays larger than the number of states."""
    ahead = 24
    for state in range(first, end):
        if state + ahead < end:
            prefetch(table, _bucket_of(table, _hash_in(table, keys, words * (state + ahead), words)))
        h = _hash_in(table, keys, words * state, words)
        bucket = _bucket_of(table, h)
        slot = _empty_slot(table, bucket)
        while slot < 0:
            bucket = (bucket + BUCKET) & (table.shape[0] - 1)
            slot = _empty_slot(table, bucket)
        table[slot] = entry_of(table, slot, h, state)


@kernel
def find_states(table: Words, keys: Words, words: int, wanted: Words, number: NDArray[np.int64]) -> None:
    """number[i] = the state with key i of `wanted` (uint64[B*D]), or ABSENT."""
    for i in range(number.shape[0]):
        slot = slot_of(table, keys, words, wanted, words * i, _hash_in(table, wanted, words * i, words))
        entry = table[slot]
        number[i] = np.int64(entry & _LOW) - 1 if entry != np.uint64(0) else ABSENT
