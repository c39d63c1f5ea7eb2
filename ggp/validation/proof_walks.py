"""Kernels that evaluate all reachable states backwards: longest match, and goals a role can force.

A chunk of transitions is processed from its last state to its first, as in `ggp.solver.kernels.backup`;
passes over all chunks are repeated until nothing changes.

Letters: N states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import Index
from ggp.solver.space import Chunk, successor_count

UNSETTLED = -1


@kernel
def settle_lengths(chunk: Chunk, length: NDArray[np.int32]) -> int:
    """Settle the states of one chunk whose successors are all settled; return how many there were.

    length   int32[N]: joint moves of the longest match from the state on, or UNSETTLED. States on cycles, and
             those that lead to one, stay so
    """
    j = np.int64(chunk.edge.shape[0])
    settled = 0
    for s in range(chunk.move_count.shape[0] - 1, -1, -1):
        count = successor_count(chunk, s)
        j -= count
        state = np.int64(chunk.first + s)
        if length[state] != UNSETTLED:
            continue
        longest = np.int32(-1)
        is_open = False
        for k in range(j, j + count):
            after = length[np.int64(chunk.edge[k])]
            if after == UNSETTLED:
                is_open = True
                break
            longest = max(longest, after)
        if not is_open:
            length[state] = longest + np.int32(1)
            settled += 1
    return settled


@inlined
def _is_forced(
    edge: NDArray[np.uint32],
    start: Index,
    rows: Index,
    stride: Index,
    width: Index,
    is_won: NDArray[np.uint8],
) -> bool:
    """Whether a move leads only to marked states: by `rows` stretches of `width` edges, `stride` apart."""
    for row in range(rows):
        for k in range(start + row * stride, start + row * stride + width):
            if not is_won[np.int64(edge[k])]:
                return False
    return True


@kernel
def force_goal(chunk: Chunk, forcing: int, is_won: NDArray[np.uint8]) -> int:
    """Mark the states of one chunk in which role `forcing` has a move that leads only to marked states.

    It chooses before the others do. Returns how many states were marked.

    is_won   uint8[N]
    """
    edge = chunk.edge
    j = np.int64(edge.shape[0])
    marked = 0
    for s in range(chunk.move_count.shape[0] - 1, -1, -1):
        count = successor_count(chunk, s)
        j -= count
        state = np.int64(chunk.first + s)
        if count == 0 or is_won[state]:
            continue
        width = np.int64(1)
        for role in range(forcing + 1, chunk.move_count.shape[1]):
            width *= np.int64(chunk.move_count[s, role])
        stride = np.int64(chunk.move_count[s, forcing]) * width
        for start in range(j, j + stride, width):
            if _is_forced(edge, start, count // stride, stride, width, is_won):
                is_won[state] = 1
                marked += 1
                break
    return marked
