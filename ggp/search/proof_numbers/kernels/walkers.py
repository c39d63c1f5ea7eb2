"""walk: depth-first proof-number search by many walkers at once, over one table.

Each walker does what Nagai's df-pn does (2002): below a node it stays in the child with the least number for
the node's mover until that is a quarter larger than the second least, or the node's own limits are reached;
then it stores the node's numbers and climbs. Walkers that are below a child make its number larger for the
others ("virtual proof numbers", Kaneko 2010), so that they spread over the most promising lines and help each
other through the table.

A *tick* serves all walkers: each needs the children of one node. They are made together, 256 at a time
(`make_children`), hashed, and their table entries prefetched; then each walker takes its children's numbers
from the table, climbs as far as its limits say, and descends to the next node without children. No walker
searches on before its node is complete. They climb in turn, a node at a time, so that the entry that each
reads next is on its way to the cache meanwhile.

An answer holds whatever the order: a node is answered by answered children only. So states that occur again
in a line spoil no answer, but a walker could follow them for ever; it gives up instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import Index, get_word, set_word
from ggp.lanes.keys.key_table import hash_of
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import INFINITE, SearchMemory
from ggp.search.proof_numbers.kernels.children import make_children, note_place
from ggp.search.proof_numbers.kernels.table import (
    data_of,
    entry_busy,
    entry_disproof,
    entry_proof,
    find_entry,
    is_answered,
    logarithm,
    pack_numbers,
    prefetch_bucket,
    same_numbers,
    settled_entry,
    store_numbers,
)

_JUST_MADE = -2
"""In `chosen`: the entries of all children were read in this tick."""
_CHECK_EVERY = 32
"""Nodes after which a walker looks whether others have answered what it is below."""
_RANK_BITS = 16
"""For a child's number among its node's, next to one of its proof numbers."""


@inlined
def _is_second(note: Index) -> Index:
    """Whether role 1 moves in the state with this note."""
    return (note >> c.MOVER_BIT) & 1


@inlined
def _moves_in(note: Index) -> Index:
    return ((note >> c.COUNT_BIT) & ((1 << c.COUNT_PLANES) - 1)) + 1


@inlined
def _hash_key(memory: SearchMemory, place: Index) -> None:
    """Hash the key at `place` of the arena."""
    words = memory.maker.code.word_count
    memory.hash[place] = hash_of(memory.key, place * words, words)


@inlined
def _prefetch(memory: SearchMemory, place: Index) -> None:
    prefetch_bucket(memory, memory.hash[place])


@inlined
def _find_data(memory: SearchMemory, place: Index) -> np.uint64:
    """The data about the state at `place` of the arena; 0 if there is none."""
    start = place * memory.maker.code.word_count
    return data_of(memory, find_entry(memory, memory.key, start, memory.hash[place]))


@inlined
def _store(
    memory: SearchMemory, place: Index, proof: Index, disproof: Index, more_busy: Index, work: Index
) -> None:
    """Store the numbers of the state at `place` of the arena: see `store_numbers`."""
    start = place * memory.maker.code.word_count
    entry = settled_entry(memory, memory.key, start, memory.hash[place])
    store_numbers(memory, entry, proof, disproof, more_busy, work)


@inlined
def _enter(memory: SearchMemory, k: Index, ply: Index, place: Index, proof: Index, disproof: Index) -> None:
    """Make the node at `place` of the arena the one that walker k waits for, with these limits."""
    f = k * memory.plies + ply
    first = place + 1
    if ply > 0:
        first = memory.first[f - 1] + memory.children[f - 1]
    memory.ply[k] = ply
    memory.place[f] = place
    memory.first[f] = first
    memory.children[f] = _moves_in(memory.note[place])
    memory.made[f] = 0
    memory.most_proof[f] = proof
    memory.most_disproof[f] = disproof
    memory.work[f] = 1
    memory.visits[k] += 1
    if ply + 1 >= memory.plies or first + memory.children[f] > (k + 1) * memory.places:
        memory.counter[c.FAULT] = c.NO_ROOM


@kernel
def begin(memory: SearchMemory, note: int) -> None:
    """Put all walkers at the root, whose key is at place 0 of the arena of walker 0."""
    words = memory.maker.code.word_count
    for k in range(memory.option[c.WALKERS]):
        root = k * memory.places
        for d in range(words):
            memory.key[root * words + d] = memory.key[d]
        memory.note[root] = note
        _hash_key(memory, root)
        _enter(memory, k, np.int64(0), root, np.int64(INFINITE), np.int64(INFINITE))


@inlined
def _hand_out_lanes(memory: SearchMemory) -> Any:
    """Give lanes to the walkers' nodes in turn, write keys and numbers of moves; return how many lanes."""
    words = memory.maker.code.word_count
    used: Any = np.int64(0)
    walkers = memory.option[c.WALKERS]
    waiting: Any = np.int64(-1)
    for j in range(walkers):
        k = memory.counter[c.FIRST] + j
        if k >= walkers:
            k -= walkers
        f = k * memory.plies + memory.ply[k]
        lanes = min(memory.children[f] - memory.made[f], c.LANES - used)
        memory.first_lane[k] = used
        memory.lanes[k] = lanes
        start = memory.place[f] * words
        for i in range(lanes):
            lane = used + i
            for d in range(words):
                set_word(
                    memory.maker.keys,
                    64 * d + (lane >> c.WORD_BITS),
                    lane & (c.WORDS - 1),
                    memory.key[start + d],
                )
            memory.maker.note_of[note_place(lane)] = memory.made[f] + i
        used += lanes
        if memory.made[f] + lanes == memory.children[f]:
            memory.counter[c.NODES] += 1
        elif waiting < 0:
            waiting = k
    memory.counter[c.FIRST] = max(waiting, 0)  # comes first in the next tick
    return used


@inlined
def _collect_children(memory: SearchMemory) -> None:
    """Copy keys and notes of all children to the arenas; hash and prefetch those that are not decided."""
    words = memory.maker.code.word_count
    for k in range(memory.option[c.WALKERS]):
        f = k * memory.plies + memory.ply[k]
        child0 = memory.first[f] + memory.made[f]
        for i in range(memory.lanes[k]):
            lane, child = memory.first_lane[k] + i, child0 + i
            for d in range(words):
                memory.key[child * words + d] = get_word(
                    memory.maker.keys, 64 * d + (lane >> c.WORD_BITS), lane & (c.WORDS - 1)
                )
            note = np.int64(memory.maker.note_of[note_place(lane)])
            memory.note[child] = note
            if not (note >> c.DECIDED_BIT) & 1:
                _hash_key(memory, child)
                _prefetch(memory, child)


@inlined
def _take_numbers(memory: SearchMemory, child: Index) -> None:
    """Set the numbers of a child that was just made: final, from the table, or by its count of moves."""
    note = np.int64(memory.note[child])
    proof: Any = np.int64(1)
    disproof: Any = _moves_in(note)
    if _is_second(note):
        proof, disproof = disproof, proof
    if (note >> c.DECIDED_BIT) & 1:
        is_yes = (note >> c.YES_BIT) & 1
        proof, disproof = INFINITE - INFINITE * is_yes, INFINITE * is_yes
    memory.data[child] = pack_numbers(proof, disproof, np.int64(0))
    if not (note >> c.DECIDED_BIT) & 1:
        data = _find_data(memory, child)
        memory.data[child] = data if data != np.uint64(0) else memory.data[child]


@inlined
def _best_child(memory: SearchMemory, f: Index) -> tuple[Any, Any, Any, Any]:
    """Return the child to descend to, the second least number, and the numbers of the node in frame f.

    Numbers are the mover's: its own is the least of its children's, the other's their sum. Walkers below a
    child make its own number larger, by one each and a quarter.
    """
    is_second = _is_second(memory.note[memory.place[f]])
    first = memory.first[f]
    least: Any = np.int64(INFINITE)
    lowest: Any = np.int64((INFINITE + 1) << _RANK_BITS)  # a number and, below, the child it belongs to
    second: Any = np.int64(INFINITE << _RANK_BITS)
    total: Any = np.int64(0)
    for i in range(memory.children[f]):
        data = memory.data[first + i]
        own = entry_disproof(data) if is_second else entry_proof(data)
        total += entry_proof(data) if is_second else entry_disproof(data)
        least = min(least, own)
        busy = entry_busy(data)
        loaded = min(np.int64(INFINITE - 1), own + busy + ((own * busy) >> 2))
        rank = ((loaded if 0 < own < INFINITE else own) << _RANK_BITS) | i
        second = min(second, max(lowest, rank))
        lowest = min(lowest, rank)
    if least == 0:
        total = np.int64(INFINITE)
    elif least < INFINITE:
        total = min(total, np.int64(INFINITE - 1))
    else:
        total = np.int64(0)
    return first + (lowest & ((1 << _RANK_BITS) - 1)), second >> _RANK_BITS, least, total


@inlined
def _leave(memory: SearchMemory, k: Index, f: Index, proof: Index, disproof: Index) -> None:
    """Store the numbers of a node and hand them to its parent."""
    place = memory.place[f]
    _store(memory, place, proof, disproof, np.int64(-1), logarithm(memory.work[f]))
    memory.data[place] = pack_numbers(proof, disproof, entry_busy(memory.data[place]) - 1)
    if memory.ply[k] > 0:
        memory.work[f - 1] += memory.work[f]
        _prefetch(memory, memory.place[f - 1])
    memory.ply[k] -= 1


@inlined
def _descend(memory: SearchMemory, k: Index, child: Index, second: Index, other: Index) -> None:
    """Enter a child with limits: its own number beyond the second least, or what the node's limits leave.

    second, other   the mover's number of the second best child, and the other role's number of the node
    """
    ply = memory.ply[k]
    f = k * memory.plies + ply
    is_second = _is_second(memory.note[memory.place[f]])
    most_own, most_other = np.int64(memory.most_proof[f]), np.int64(memory.most_disproof[f])
    proof, disproof = entry_proof(memory.data[child]), entry_disproof(memory.data[child])
    own, child_other = proof, disproof
    if is_second:
        most_own, most_other = most_other, most_own
        own, child_other = disproof, proof
    # Both limits are larger than the child's numbers, or it would be left at once.
    own_limit = min(np.int64(INFINITE), max(min(most_own, second + (second >> 2) + 1), own + 1))
    other_limit = np.int64(INFINITE)
    if most_other < INFINITE:
        other_limit = min(other_limit, max(most_other - other, np.int64(1)) + child_other)
    _store(memory, child, proof, disproof, np.int64(1), np.int64(0))
    memory.data[child] = pack_numbers(proof, disproof, entry_busy(memory.data[child]) + 1)
    if is_second:
        _enter(memory, k, ply + 1, child, other_limit, own_limit)
    else:
        _enter(memory, k, ply + 1, child, own_limit, other_limit)


@inlined
def _is_repeated(memory: SearchMemory, k: Index, child: Index) -> bool:
    """Whether a child is a state that walker k is below."""
    words = memory.maker.code.word_count
    for ply in range(memory.ply[k] + 1):
        place = memory.place[k * memory.plies + ply]
        d = 0
        while d < words and memory.key[place * words + d] == memory.key[child * words + d]:
            d += 1
        if d == words:
            return True
    return False


@inlined
def _move_on(memory: SearchMemory, k: Index) -> bool:
    """Let walker k, whose node has its children, climb to its parent or descend to a child; return whether
    it has to move on.

    A child's entry is prefetched first and read when the walker is called again: meanwhile others move.
    """
    f = k * memory.plies + memory.ply[k]
    best, second, own, other = _best_child(memory, f)
    is_second = _is_second(memory.note[memory.place[f]])
    proof, disproof = (other, own) if is_second else (own, other)
    if own == 0 or other == 0 or proof >= memory.most_proof[f] or disproof >= memory.most_disproof[f]:
        if memory.ply[k] == 0:
            memory.counter[c.ANSWER] = c.YES if proof == 0 else c.NO
            memory.counter[c.BEST] = best - memory.first[f] if own == 0 else np.int64(-1)
        _leave(memory, k, f, proof, disproof)
        memory.chosen[k] = -1
        return bool(memory.ply[k] >= 0)
    if memory.chosen[k] != best and memory.chosen[k] != _JUST_MADE:
        memory.chosen[k] = best
        _prefetch(memory, best)
        return True
    # Others may have searched the child since its numbers were read.
    data = _find_data(memory, best)
    if data != np.uint64(0) and not same_numbers(data, memory.data[best]):
        memory.data[best] = data
        return True
    if entry_busy(memory.data[best]) > 0 and _is_repeated(memory, k, best):
        memory.counter[c.FAULT] = c.REPETITION
    _descend(memory, k, best, second, other)
    return False


@inlined
def _climb_to_answers(memory: SearchMemory, k: Index) -> None:
    """Let walker k climb above the highest node that others have answered, if there is one."""
    for ply in range(1, memory.ply[k] + 1):
        _prefetch(memory, memory.place[k * memory.plies + ply])
    for ply in range(1, memory.ply[k] + 1):
        data = _find_data(memory, memory.place[k * memory.plies + ply])
        if data != np.uint64(0) and is_answered(data):
            while memory.ply[k] >= ply:
                f = k * memory.plies + memory.ply[k]
                known = _find_data(memory, memory.place[f])
                if known == np.uint64(0):
                    known = memory.data[memory.place[f]]
                _leave(memory, k, f, entry_proof(known), entry_disproof(known))
            memory.chosen[k] = -1
            break


@inlined
def _tick(memory: SearchMemory) -> None:
    """Make children for all walkers and let those whose nodes are complete move on."""
    lanes = _hand_out_lanes(memory)
    make_children(memory.maker, lanes, memory.option[c.GOAL], memory.counter)
    memory.counter[c.TICKS] += 1
    memory.counter[c.CHILDREN] += lanes
    _collect_children(memory)
    # The arenas hold the new children, and their entries are on the way to the caches.

    moving: Any = np.int64(0)
    for k in range(memory.option[c.WALKERS]):
        f = k * memory.plies + memory.ply[k]
        made = memory.first[f] + memory.made[f]
        for child in range(made, made + memory.lanes[k]):
            _take_numbers(memory, child)
        memory.made[f] += memory.lanes[k]
        if memory.lanes[k] > 0 and memory.made[f] == memory.children[f]:
            memory.moving[moving] = k
            moving += 1
            memory.chosen[k] = _JUST_MADE
            if memory.visits[k] % _CHECK_EVERY == 0:
                _climb_to_answers(memory, k)
    # All children have numbers; `moving` lists the walkers whose nodes are complete.

    while moving > 0 and memory.counter[c.ANSWER] == c.OPEN:
        left: Any = np.int64(0)
        for i in range(moving):
            k = memory.moving[i]
            if memory.counter[c.ANSWER] == c.OPEN and _move_on(memory, k):
                memory.moving[left] = k
                left += 1
        moving = left


@kernel
def walk(memory: SearchMemory, ticks: int) -> int:
    """Search for at most `ticks` ticks; return counter[ANSWER].

    It ends early at counter[STOP], counter[FAULT] or option[NODE_LIMIT]; the next call resumes.
    """
    counter = memory.counter
    for _ in range(ticks):
        is_over = counter[c.ANSWER] != c.OPEN or counter[c.NODES] > memory.option[c.NODE_LIMIT]
        if is_over or counter[c.STOP] or counter[c.FAULT]:
            break
        _tick(memory)
    return counter[c.ANSWER]  # type: ignore[no-any-return]
