"""Factoring of one OR of ANDs in compiled code.

The twin is `ggp.circuit.simplify.factoring.factor_cubes`. Cubes are runs of literals in a pool. The recursion
of the twin is a stack of frames: a frame is a list of cubes that is being factored; the frame above it holds
what is left of one group of its cubes after the literals common to the group are taken out.

Letters: P literals in the pool, C cubes, L literals of the circuit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ggp.circuit.kernels import GateTable, conj, hash_of, sort
from ggp.circuit.packed_gates import Int32Array, Int64Array
from ggp.circuit.simplify.rewriting import DEPTH_LIMIT
from ggp.jit.compiling import piece
from ggp.jit.rows import Index

ROOM = 8
"""How many copies of the cubes of one gate the pool has room for."""
LOW, HIGH, GROUPS, NEXT_GROUP, FIRST_OUT, COMMON, COMMON_END, POOL_TOP, GROUP_TOP, COLUMNS = range(10)
"""Columns of CubePool.frame: its cubes, its groups and the next one to factor, its first result, the
literals taken out of its cubes, and where its room in the pool and among the groups begins."""


class CubePool(NamedTuple):
    """Cubes and the scratch memory of factoring them.

    literal    int32[P]; the literals of cubes, sorted within each
    begin, end    int64[C]; cube c is literal[begin[c] : end[c]]
    following  int32[C]; the next cube of the same group, or -1
    is_taken   int32[C]; whether the cube is in a group
    group      int32[C]; the first cube of each group
    frame      int64[DEPTH_LIMIT + 3, COLUMNS]
    out        int32[P + C]; results of the frames under way, one frame's above the other's
    held      int32[L]; zeros between uses: cubes that hold a literal
    holder, holder_end    int32[L]; where the cubes that hold a literal are listed
    holders    int32[P]; these lists
    distinct   int32[P]; the literals in use
    heap, heap_count    int32[P]; literals and how many cubes held them when they were put in
    slot       int32[*]; power of two; the hash table that finds equal cubes
    reads      int32[L]; how often a literal is read in the circuit
    """

    literal: Int32Array
    begin: Int64Array
    end: Int64Array
    following: Int32Array
    is_taken: Int32Array
    group: Int32Array
    frame: Int64Array
    out: Int32Array
    held: Int32Array
    holder: Int32Array
    holder_end: Int32Array
    holders: Int32Array
    distinct: Int32Array
    heap: Int32Array
    heap_count: Int32Array
    slot: Int32Array
    reads: Int32Array


def make_cube_pool(literals: int, circuit_literals: int) -> CubePool:
    """Allocate room for cubes of `literals` literals in all.

    circuit_literals   literals of the circuit

    Memory that is not reached is not touched. A rest has lost a literal in every frame it went through, so
    there are never more cubes than literals in all frames together; the literals themselves may run out of
    room, and are then not factored any further.
    """
    size = 2 * literals + 16
    slots = 64
    while slots < 2 * literals:
        slots *= 2

    def empty() -> Int32Array:
        return np.empty(size, np.int32)

    return CubePool(
        literal=np.empty(ROOM * literals + 16, np.int32),
        begin=np.empty(size, np.int64),
        end=np.empty(size, np.int64),
        following=empty(),
        is_taken=empty(),
        group=empty(),
        frame=np.empty((DEPTH_LIMIT + 3, COLUMNS), np.int64),
        out=empty(),
        held=np.zeros(circuit_literals, np.int32),
        holder=np.empty(circuit_literals, np.int32),
        holder_end=np.empty(circuit_literals, np.int32),
        holders=empty(),
        distinct=empty(),
        heap=empty(),
        heap_count=empty(),
        slot=np.zeros(slots, np.int32),
        reads=np.zeros(circuit_literals, np.int32),
    )


@piece
def factor_cubes(pool: CubePool, table: GateTable, cubes: Index) -> Index:
    """Factor the OR of cubes 0 .. cubes-1. Writes literals whose OR that is to `out`; returns how many."""
    frame, out = pool.frame, pool.out
    depth: Index = np.int64(0)
    frame[0, LOW], frame[0, HIGH] = 0, cubes
    frame[0, FIRST_OUT] = 0
    frame[0, COMMON] = frame[0, COMMON_END] = frame[0, POOL_TOP] = pool.end[cubes - 1]
    frame[0, GROUP_TOP] = 0
    _open(pool, depth)
    top: Index = np.int64(0)
    while True:
        if frame[depth, NEXT_GROUP] < frame[depth, GROUPS]:
            group = frame[depth, GROUP_TOP] + frame[depth, NEXT_GROUP]
            frame[depth, NEXT_GROUP] += 1
            literal = _take_out(pool, table, depth, pool.group[group])
            if literal >= 0:
                out[top] = literal
                top += 1
            else:
                depth += 1
                frame[depth, FIRST_OUT] = top
                _open(pool, depth)
            continue
        top = _conj_others(pool, table, depth, top)
        if depth == 0:
            return top
        first = frame[depth, FIRST_OUT]
        out[first] = _with_common(pool, table, depth, _disj(pool.out, first, top, table))
        top = first + 1
        depth -= 1


@piece
def _open(pool: CubePool, depth: Index) -> None:
    """Drop equal cubes of a frame and put those that share literals into groups.

    A single cube, cubes nested too deeply, and cubes whose rests would not fit the pool stay ungrouped.
    """
    frame = pool.frame
    low = frame[depth, LOW]
    high = _drop_equal(pool, low, frame[depth, HIGH])
    frame[depth, HIGH] = high
    frame[depth, GROUPS] = frame[depth, NEXT_GROUP] = 0
    needed: Index = frame[depth, POOL_TOP]
    for cube in range(low, high):
        pool.is_taken[cube] = 0
        needed += pool.end[cube] - pool.begin[cube]
    if high - low > 1 and depth <= DEPTH_LIMIT and needed <= pool.literal.shape[0]:
        frame[depth, GROUPS] = _group(pool, low, high, frame[depth, GROUP_TOP])


@piece
def _drop_equal(pool: CubePool, low: Index, high: Index) -> Index:
    """Keep the first of equal cubes. Returns the new end. The cubes stay in order."""
    slot, begin, end, literal = pool.slot, pool.begin, pool.end, pool.literal
    slots: Index = np.int64(8)
    while slots < 2 * (high - low):
        slots *= 2
    for empty in range(slots):
        slot[empty] = 0
    kept: Index = np.int64(low)
    for cube in range(low, high):
        place: Index = hash_of(literal, begin[cube], end[cube]) & (slots - 1)
        is_new = True
        while slot[place]:
            other = np.int64(slot[place]) - 1 + low
            length = end[cube] - begin[cube]
            if end[other] - begin[other] == length:
                same: Index = np.int64(0)
                while same < length and literal[begin[other] + same] == literal[begin[cube] + same]:
                    same += 1
                if same == length:
                    is_new = False
                    break
            place = (place + 1) & (slots - 1)
        if is_new:
            begin[kept], end[kept] = begin[cube], end[cube]
            kept += 1
            slot[place] = kept - low
    return kept


@piece
def _group(pool: CubePool, low: Index, high: Index, first_group: Index) -> Index:
    """Put the cubes with the most shared literal into a group, repeatedly. Returns the number of groups."""
    held = pool.held
    distinct = _list_holders(pool, low, high)
    size: Index = np.int64(0)
    for i in range(distinct):
        x = pool.distinct[i]
        if held[x] > 1:
            size = _push(pool, size, x)
    groups: Index = np.int64(0)
    while size > 0:
        x = pool.heap[0]
        before = pool.heap_count[0]
        size = _pop(pool, size)
        if held[x] < 2:
            continue
        if held[x] < before:
            size = _push(pool, size, x)
            continue
        last: Index = np.int64(-1)
        for i in range(pool.holder[x], pool.holder_end[x]):
            cube = np.int64(pool.holders[i])
            if pool.is_taken[cube]:
                continue
            pool.is_taken[cube] = 1
            pool.following[cube] = -1
            if last < 0:
                pool.group[first_group + groups] = cube
            else:
                pool.following[last] = cube
            last = cube
            for place in range(pool.begin[cube], pool.end[cube]):
                held[pool.literal[place]] -= 1
        groups += 1
    for i in range(distinct):
        held[pool.distinct[i]] = 0
    return groups


@piece
def _list_holders(pool: CubePool, low: Index, high: Index) -> Index:
    """Count the cubes that hold each literal and list them. Returns how many literals there are."""
    held, literal = pool.held, pool.literal
    distinct: Index = np.int64(0)
    for cube in range(low, high):
        for place in range(pool.begin[cube], pool.end[cube]):
            x = literal[place]
            if held[x] == 0:
                pool.distinct[distinct] = x
                distinct += 1
            held[x] += 1
    first: Index = np.int64(0)
    for i in range(distinct):
        x = pool.distinct[i]
        pool.holder[x] = pool.holder_end[x] = first
        first += held[x]
    for cube in range(low, high):
        for place in range(pool.begin[cube], pool.end[cube]):
            x = literal[place]
            pool.holders[pool.holder_end[x]] = cube
            pool.holder_end[x] += 1
    return distinct


@piece
def _is_before(pool: CubePool, held: Index, x: Index, other_count: Index, other: Index) -> bool:
    """Whether literal x is taken out before `other`.

    First by more cubes, then by fewer readers, then by the lower number.
    """
    if held != other_count:
        return bool(held > other_count)
    if pool.reads[x] != pool.reads[other]:
        return bool(pool.reads[x] < pool.reads[other])
    return bool(x < other)


@piece
def _push(pool: CubePool, size: Index, x: Index) -> Index:
    """Put literal x into the heap; returns its size."""
    heap, heap_count = pool.heap, pool.heap_count
    held = pool.held[x]
    place = size
    while place > 0:
        parent = (place - 1) >> 1
        if not _is_before(pool, held, x, heap_count[parent], heap[parent]):
            break
        heap[place], heap_count[place] = heap[parent], heap_count[parent]
        place = parent
    heap[place], heap_count[place] = x, held
    return size + 1


@piece
def _pop(pool: CubePool, size: Index) -> Index:
    """Remove the first literal of the heap; returns its size."""
    heap, heap_count = pool.heap, pool.heap_count
    size -= 1
    x, held = heap[size], heap_count[size]
    place: Index = np.int64(0)
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and _is_before(
            pool, heap_count[child + 1], heap[child + 1], heap_count[child], heap[child]
        ):
            child += 1
        if not _is_before(pool, heap_count[child], heap[child], held, x):
            break
        heap[place], heap_count[place] = heap[child], heap_count[child]
        place = child
    heap[place], heap_count[place] = x, held
    return size


@piece
def _take_out(pool: CubePool, table: GateTable, depth: Index, head: Index) -> Index:
    """Factor the group that begins with cube `head`; returns its OR.

    Returns -1 if the rests must be factored in turn; they are then the cubes of the next frame.
    """
    frame, held, literal = pool.frame, pool.held, pool.literal
    members: Index = np.int64(0)
    cube = head
    while cube >= 0:
        members += 1
        for place in range(pool.begin[cube], pool.end[cube]):
            held[literal[place]] += 1
        cube = np.int64(pool.following[cube])
    above = depth + 1
    top: Index = frame[depth, POOL_TOP]
    frame[above, COMMON] = top
    for place in range(pool.begin[head], pool.end[head]):
        if held[literal[place]] == members:
            literal[top] = literal[place]
            top += 1
    frame[above, COMMON_END] = top
    low = frame[depth, HIGH]
    rest = low
    longest, shortest = np.int64(0), np.int64(1)
    cube = head
    while cube >= 0:
        pool.begin[rest] = top
        for place in range(pool.begin[cube], pool.end[cube]):
            if held[literal[place]] != members:
                literal[top] = literal[place]
                top += 1
        pool.end[rest] = top
        longest = max(longest, top - pool.begin[rest])
        shortest = min(shortest, top - pool.begin[rest])
        rest += 1
        cube = np.int64(pool.following[cube])
    cube = head
    while cube >= 0:
        for place in range(pool.begin[cube], pool.end[cube]):
            held[literal[place]] = 0
        cube = np.int64(pool.following[cube])
    if shortest == 0:
        return _with_common(pool, table, above, -1)
    if longest == 1:
        return _with_common(pool, table, above, _disj(literal, pool.begin[low], top, table))
    frame[above, LOW], frame[above, HIGH] = low, rest
    frame[above, POOL_TOP] = top
    frame[above, GROUP_TOP] = frame[depth, GROUP_TOP] + frame[depth, GROUPS]
    return np.int64(-1)


@piece
def _disj(items: Int32Array, begin: Index, end: Index, table: GateTable) -> Index:
    """The OR of items[begin:end]."""
    for i in range(begin, end):
        table.key[i - begin] = items[i] ^ 1
    return conj(table, end - begin) ^ 1


@piece
def _with_common(pool: CubePool, table: GateTable, depth: Index, literal: Index) -> Index:
    """The AND of a frame's common literals and of `literal`. A negative `literal` is left out."""
    length = np.int64(0)
    for place in range(pool.frame[depth, COMMON], pool.frame[depth, COMMON_END]):
        table.key[length] = pool.literal[place]
        length += 1
    if literal >= 0:
        table.key[length] = literal
        length += 1
    return conj(table, length)


@piece
def _conj_others(pool: CubePool, table: GateTable, depth: Index, top: Index) -> Index:
    """Add the gates of ungrouped cubes to the results. Returns the new top."""
    for cube in range(pool.frame[depth, LOW], pool.frame[depth, HIGH]):
        if not pool.is_taken[cube]:
            pool.out[top] = conj_cube(pool, table, cube)
            top += 1
    return top


@piece
def conj_cube(pool: CubePool, table: GateTable, cube: Index) -> Index:
    """The gate of one cube."""
    begin = pool.begin[cube]
    for place in range(begin, pool.end[cube]):
        table.key[place - begin] = pool.literal[place]
    return conj(table, pool.end[cube] - begin)


@piece
def add_cube(pool: CubePool, cube: Index, top: Index) -> Index:
    """Make literal[begin[cube] : top] a cube: sorted, each literal once. Returns the new top."""
    begin = pool.begin[cube]
    sort(pool.literal, begin, top)
    kept = np.int64(begin)
    for place in range(begin, top):
        if kept == begin or pool.literal[kept - 1] != pool.literal[place]:
            pool.literal[kept] = pool.literal[place]
            kept += 1
    pool.end[cube] = kept
    return kept
