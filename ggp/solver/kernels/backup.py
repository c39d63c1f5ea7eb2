"""back_up: values of states from the values of their successors, where one role at a time has a choice.

A chunk of transitions is walked from its last state to its first. Where all transitions lead to higher
numbers, one walk over all chunks, the last first, values everything; otherwise walks are repeated until
nothing changes. States that depend on themselves (cycles) stay UNKNOWN; `improve` then narrows bounds of
their values, and `improve_depth` finds the lines to the end.

Letters: N states, R roles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.jit.compiling import inlined, kernel, stage
from ggp.jit.rows import Index, prefetch
from ggp.solver.kernels.expand import UNKNOWN
from ggp.solver.space import Chunk, successor_count

SLICE_TRANSITIONS = 1 << 17
"""Transitions per kernel call: some milliseconds, after which limits are checked."""
# Indices of a cursor, int64[3]: states and transitions of a chunk that are still to be walked, the result.
STATES_LEFT, EDGES_LEFT, FOUND = range(3)
ENDLESS = 65535
"""Depth of states whose best play never ends, or is not known to."""
_AHEAD = 32
# Entries of `fixed`.
OPEN, FIXED = 0, 1


@inlined
def _mover_of(chunk: Chunk, place: Index) -> Index:
    """The role that has a choice in state first + place; 0 where none has."""
    mover = 0
    for role in range(chunk.move_count.shape[1]):
        if chunk.move_count[place, role] > 1:
            mover = role
    return mover


@inlined
def _is_preferred(worth: Index, best: Index, length: Index, best_length: Index, roles: Index) -> bool:
    """Whether an outcome is better for the mover, or as good and at a better time; see `back_up`."""
    if worth != best:
        return bool(worth > best)
    hurries = worth > 50 or roles == 1
    return bool(length < best_length if hurries else length > best_length)


def make_cursor(chunk: Chunk) -> NDArray[np.int64]:
    """A cursor at the end of `chunk`: kernels walk from the last state to the first."""
    return np.array([chunk.move_count.shape[0], chunk.edge.shape[0], 0], np.int64)


@stage
def _best_successor(
    edge: NDArray[np.uint32],
    start: Index,
    end: Index,
    mover: Index,
    roles: Index,
    value: NDArray[np.uint8],
    depth: NDArray[np.uint16],
) -> Index:
    """The successor among edge[start:end] that `mover` prefers; -1 if one of them has no value yet."""
    best = np.int64(-1)
    best_depth: Any = np.int64(0)
    chosen = np.int64(0)
    for k in range(start, end):
        if k >= _AHEAD:
            ahead = np.int64(edge[k - _AHEAD])
            prefetch(value, ahead * roles)
            prefetch(depth, ahead)
        successor = np.int64(edge[k])
        worth = np.int64(value[successor * roles + mover])
        if worth == UNKNOWN:
            return np.int64(-1)
        if worth >= best:
            length = np.int64(depth[successor])
            if _is_preferred(worth, best, length, best_depth, roles):
                best = worth
                best_depth = length
                chosen = successor
    return chosen


@kernel
def back_up(
    chunk: Chunk, value: NDArray[np.uint8], depth: NDArray[np.uint16], cursor: NDArray[np.int64]
) -> bool:
    """Value the states of one chunk whose successors all have values, and add the others to cursor[FOUND].

    From `cursor` on, for SLICE_TRANSITIONS or to the end of the chunk; return whether that was reached.

    The mover takes what is best for itself; of such moves the one that ends the game soonest if the mover
    gets more than 50 or is the only role, else the one that ends it latest; of those the first.

    value   uint8[N*R]; UNKNOWN entries are filled
    depth   uint16[N]: joint moves to the end along such play; entries of terminal states must be 0
    """
    roles = chunk.move_count.shape[1]
    j: Any = cursor[EDGES_LEFT]
    s: Any = cursor[STATES_LEFT]
    until = j + s - SLICE_TRANSITIONS
    while s > 0 and j + s > until:
        s -= 1
        count = successor_count(chunk, s)
        j -= count
        state = np.int64(chunk.first + s)
        if count == 0 or value[state * roles] != UNKNOWN:
            continue
        chosen = _best_successor(chunk.edge, j, j + count, _mover_of(chunk, s), roles, value, depth)
        if chosen < 0:
            cursor[FOUND] += 1
            continue
        for role in range(roles):
            value[state * roles + role] = value[chosen * roles + role]
        length: Any = np.int64(depth[chosen]) + 1
        depth[state] = np.uint16(min(length, ENDLESS - 1))
    cursor[STATES_LEFT], cursor[EDGES_LEFT] = s, j
    return bool(s == 0)


@kernel
def improve(
    chunk: Chunk, bound: NDArray[np.uint8], fixed: NDArray[np.uint8], cursor: NDArray[np.int64]
) -> bool:
    """Recompute a bound of role 0's value in the open states of a chunk, and add those that change to
    cursor[FOUND]. For games of one role, or of two with constant sum: role 0 maximizes, role 1 minimizes.

    cursor and the result are those of `back_up`.

    bound   uint8[N]: valid bounds of one kind, all lower or all upper
    fixed   uint8[N]: FIXED where the bound is the value
    """
    edge = chunk.edge
    j: Any = cursor[EDGES_LEFT]
    s: Any = cursor[STATES_LEFT]
    until = j + s - SLICE_TRANSITIONS
    while s > 0 and j + s > until:
        s -= 1
        count = successor_count(chunk, s)
        j -= count
        state = chunk.first + s
        if count == 0 or fixed[state] == FIXED:
            continue
        is_minimizing = _mover_of(chunk, s) == 1
        best = bound[edge[j]]
        for k in range(j + 1, j + count):
            worth = bound[edge[k]]
            if (worth < best) == is_minimizing:
                best = worth
        if best != bound[state]:
            bound[state] = best
            cursor[FOUND] += 1
    cursor[STATES_LEFT], cursor[EDGES_LEFT] = s, j
    return bool(s == 0)


@kernel
def improve_depth(
    chunk: Chunk,
    value: NDArray[np.uint8],
    depth: NDArray[np.uint16],
    fixed: NDArray[np.uint8],
    endless: int,
    cursor: NDArray[np.int64],
) -> bool:
    """Shorten the known lines to the end in the open states of a chunk, and add them to cursor[FOUND].

    The side that does better than endless play hurries, the other one delays, both among their best moves.
    cursor and the result are those of `back_up`.

    value     uint8[N*R]
    depth     uint16[N]; ENDLESS where no end is known yet
    fixed     uint8[N], as in `improve`
    endless   what endless play is worth to role 0
    """
    roles = chunk.move_count.shape[1]
    edge = chunk.edge
    j: Any = cursor[EDGES_LEFT]
    s: Any = cursor[STATES_LEFT]
    until = j + s - SLICE_TRANSITIONS
    while s > 0 and j + s > until:
        s -= 1
        count = successor_count(chunk, s)
        j -= count
        state = chunk.first + s
        if count == 0 or fixed[state] == FIXED:
            continue
        worth = value[state * roles]
        hurries = roles == 1 or (worth > endless if _mover_of(chunk, s) == 0 else worth < endless)
        length: Any = np.int64(ENDLESS) if hurries else np.int64(-1)
        for k in range(j, j + count):
            successor = np.int64(edge[k])
            if value[successor * roles] == worth:
                other = np.int64(depth[successor])
                length = min(length, other) if hurries else max(length, other)
        if length < ENDLESS:
            length = min(length + 1, ENDLESS - 1)
        if length < depth[state]:
            depth[state] = np.uint16(length)
            cursor[FOUND] += 1
    cursor[STATES_LEFT], cursor[EDGES_LEFT] = s, j
    return bool(s == 0)
