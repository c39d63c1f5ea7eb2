"""Chunk: the transitions of consecutive states, as the solver's kernels take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.jit.compiling import inlined
from ggp.jit.rows import Index


class Chunk(NamedTuple):
    """The transitions of states first .. first + state_count - 1; R roles, E transitions.

    move_count   uint16[state_count, R]: legal moves per role, all 0 in terminal states
    edge         uint32[E]: numbers of the successors, state by state, joint moves in lexicographic order
    """

    first: int
    state_count: int
    move_count: NDArray[np.uint16]
    edge: NDArray[np.uint32]


@inlined
def successor_count(chunk: Chunk, place: Index) -> Index:
    """The number of transitions of state first + place."""
    product = np.int64(1)
    for role in range(chunk.move_count.shape[1]):
        product *= np.int64(chunk.move_count[place, role])
    return product
