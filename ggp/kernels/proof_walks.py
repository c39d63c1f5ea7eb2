"""Properties of all reachable states, walked backwards: the longest match, and what a role can force.

A chunk of transitions is walked from its last state to its first, as in `ggp.kernels.solver_backup`; walks
over all chunks are repeated until nothing changes.

Letters: N states, R roles, E transitions of the chunk.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.kernels.compiling import kernel
from ggp.kernels.solver_backup import successor_count

UNSETTLED = -1


@kernel
def settle_lengths(
    first: int,
    move_count: NDArray[np.uint16],
    edge: NDArray[np.uint32],
    roles: int,
    length: NDArray[np.int32],
) -> int:
    """Settle the states of one chunk whose successors are all settled; returns how many that were.

    first         number of the chunk's first state
    move_count    uint16[count*R], edge uint32[E]
    length        int32[N]: joint moves of the longest match from the state on, or UNSETTLED. States on
                  cycles, and those that lead to one, stay so
    """
    j = np.int64(edge.shape[0])
    settled = 0
    for s in range(move_count.shape[0] // roles - 1, -1, -1):
        count = successor_count(move_count, s * roles, roles)
        j -= count
        state = np.int64(first + s)
        if length[state] != UNSETTLED:
            continue
        longest = np.int32(-1)
        is_open = False
        for k in range(j, j + count):
            after = length[np.int64(edge[k])]
            if after == UNSETTLED:
                is_open = True
                break
            longest = max(longest, after)
        if not is_open:
            length[state] = longest + np.int32(1)
            settled += 1
    return settled


@kernel
def force_goal(
    first: int,
    move_count: NDArray[np.uint16],
    edge: NDArray[np.uint32],
    roles: int,
    forcing: int,
    is_won: NDArray[np.uint8],
) -> int:
    """Mark the states of one chunk in which role `forcing` has a move that leads only to marked states.

    It chooses before the others do. Returns how many states were marked.

    first         number of the chunk's first state
    move_count    uint16[count*R], edge uint32[E]
    is_won        uint8[N]
    """
    j = np.int64(edge.shape[0])
    marked = 0
    for s in range(move_count.shape[0] // roles - 1, -1, -1):
        count = successor_count(move_count, s * roles, roles)
        j -= count
        state = np.int64(first + s)
        if count == 0 or is_won[state]:
            continue
        inner = np.int64(1)
        for role in range(forcing + 1, roles):
            inner *= np.int64(move_count[s * roles + role])
        own = np.int64(move_count[s * roles + forcing])
        outer = count // (inner * own)
        for move in range(own):
            is_forced = True
            for before in range(outer):
                start = j + (before * own + move) * inner
                for k in range(start, start + inner):
                    if not is_won[np.int64(edge[k])]:
                        is_forced = False
                        break
                if not is_forced:
                    break
            if is_forced:
                is_won[state] = 1
                marked += 1
                break
    return marked
