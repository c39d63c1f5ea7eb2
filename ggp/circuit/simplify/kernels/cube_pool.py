"""Memory for factoring an OR of ANDs ("cubes"), see `ggp.circuit.simplify.kernels.cube_factoring`.

Letters: P literals in the pool, C cubes, L literals of the circuit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ggp.circuit.packed_gates import Int32Array, Int64Array

DEPTH_LIMIT = 60
"""Nesting at which factoring stops taking out literals."""
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
