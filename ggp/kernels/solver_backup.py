"""back up: values of states from the values of their successors, where one role at a time has a choice.

A chunk of transitions is walked from its last state to its first. Where transitions only lead to higher
numbers one walk over all chunks, the last first, values everything; else walks are repeated until nothing
changes. States that depend on themselves (cycles) stay UNKNOWN; `improve` then moves bounds towards
each other.

Letters: N states, R roles, E transitions of the chunk.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.kernels.compiling import inlined, kernel
from ggp.kernels.prefetch import prefetch
from ggp.kernels.rows import Index
from ggp.kernels.solver_expand import UNKNOWN

ENDLESS = 65535
"""Depth of states whose best play never ends, or is not known to."""
_AHEAD = 32
# What an entry of `fixed` says.
OPEN, FIXED = 0, 1


@inlined
def _mover_of(move_count: NDArray[np.uint16], place: Index, roles: Index) -> Index:
    """The role that has a choice; 0 where none has."""
    mover = 0
    for role in range(roles):
        if move_count[place + role] > 1:
            mover = role
    return mover


@inlined
def successor_count(move_count: NDArray[np.uint16], place: Index, roles: Index) -> Index:
    """Transitions of the state whose numbers of moves begin at `place`."""
    product = np.int64(1)
    for role in range(roles):
        product *= np.int64(move_count[place + role])
    return product


@kernel
def back_up(
    first: int,
    move_count: NDArray[np.uint16],
    edge: NDArray[np.uint32],
    roles: int,
    value: NDArray[np.uint8],
    depth: NDArray[np.uint16],
) -> int:
    """Value the states of one chunk whose successors are all known; returns how many others are left.

    The mover takes what is best for itself; of such moves the one that ends the game soonest if it gets more
    than 50, or is alone, else the one that ends it latest; of those the first.

    first         number of the chunk's first state
    move_count    uint16[count*R]
    edge          uint32[E]
    value         uint8[N*R]; UNKNOWN entries are filled
    depth         uint16[N]; joint moves to the end along such play; entries of terminal states must be 0
    """
    j = np.int64(edge.shape[0])
    left = 0
    for s in range(move_count.shape[0] // roles - 1, -1, -1):
        count = successor_count(move_count, s * roles, roles)
        j -= count
        state = np.int64(first + s)
        if count == 0 or value[state * roles] != UNKNOWN:
            continue
        mover = _mover_of(move_count, s * roles, roles)
        best = np.int64(-1)
        best_depth: Any = np.int64(0)
        chosen = np.int64(0)
        for k in range(j, j + count):
            if k >= _AHEAD:
                ahead = np.int64(edge[k - _AHEAD])
                prefetch(value, ahead * roles)
                prefetch(depth, ahead)
            successor = np.int64(edge[k])
            worth = np.int64(value[successor * roles + mover])
            if worth == UNKNOWN:
                chosen = np.int64(-1)
                break
            if worth >= best:
                length = np.int64(depth[successor])
                is_sooner = length < best_depth
                if (
                    worth > best
                    or (is_sooner and (worth > 50 or roles == 1))
                    or (length > best_depth and not (worth > 50 or roles == 1))
                ):
                    best = worth
                    best_depth = length
                    chosen = successor
        if chosen < 0:
            left += 1
            continue
        for role in range(roles):
            value[state * roles + role] = value[chosen * roles + role]
        depth[state] = np.uint16(min(best_depth + 1, ENDLESS - 1))
    return left


@kernel
def improve(
    first: int,
    move_count: NDArray[np.uint16],
    edge: NDArray[np.uint32],
    roles: int,
    bound: NDArray[np.uint8],
    fixed: NDArray[np.uint8],
) -> int:
    """Recompute a bound of role 0's value in every state of a chunk that is not fixed; how many changed.

    For games of one role, or of two with constant sum: role 0 maximizes, role 1 minimizes.

    bound   uint8[N]: bounds of one kind, all lower or all upper, that hold
    fixed   uint8[N]: FIXED where the bound is the value
    """
    j = np.int64(edge.shape[0])
    changed = 0
    for s in range(move_count.shape[0] // roles - 1, -1, -1):
        count = successor_count(move_count, s * roles, roles)
        j -= count
        state = first + s
        if count == 0 or fixed[state] == FIXED:
            continue
        is_minimizing = _mover_of(move_count, s * roles, roles) == 1
        best = bound[edge[j]]
        for k in range(j + 1, j + count):
            worth = bound[edge[k]]
            if (worth < best) == is_minimizing:
                best = worth
        if best != bound[state]:
            bound[state] = best
            changed += 1
    return changed


@kernel
def improve_depth(
    first: int,
    move_count: NDArray[np.uint16],
    edge: NDArray[np.uint32],
    roles: int,
    value: NDArray[np.uint8],
    depth: NDArray[np.uint16],
    fixed: NDArray[np.uint8],
    endless: int,
) -> int:
    """Shorten the known lines to the end in the states of a chunk that are not fixed; how many changed.

    The side that does better than endless play hurries, the other one delays, both among their best moves.

    depth     uint16[N]; ENDLESS where no end is known yet
    endless   what endless play is worth to role 0
    """
    j = np.int64(edge.shape[0])
    changed = 0
    for s in range(move_count.shape[0] // roles - 1, -1, -1):
        count = successor_count(move_count, s * roles, roles)
        j -= count
        state = first + s
        if count == 0 or fixed[state] == FIXED:
            continue
        worth = value[state * roles]
        mover = _mover_of(move_count, s * roles, roles)
        hurries = roles == 1 or (worth > endless if mover == 0 else worth < endless)
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
            changed += 1
    return changed
