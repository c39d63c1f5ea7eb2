"""The halves of a tick that serve all lanes at once, before and after the tree has served them one by one.
Compiled for each width of a row. Letters of the shapes: `ggp.search.tree.kernels.arrays`."""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined, kernel, stage
from ggp.jit.rows import Row, fill, literal, load, store
from ggp.jit.unboxed import Unboxed, unboxed
from ggp.lanes.bits import set_lane
from ggp.lanes.step import advance_or_restart, settle_states, settle_successors
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import (
    BUSY,
    CUT,
    IN_TREE,
    MISSING,
    MOVED,
    SearchArrays,
    SearchMemory,
    Settings,
    Walkers,
)


@inlined
def lanes_to_cut(arrays: SearchArrays, walkers: Walkers, settings: Settings) -> Row:
    """Lanes whose playout has reached its limit of joint moves; checked only when the oldest may have."""
    counter = arrays.counter
    limit = settings.step_limit
    store(arrays.mask, CUT, fill(arrays.value, np.uint64(0)))
    if counter[c.TICK] < counter[c.NEXT_CUT]:
        return load(arrays.mask, CUT)
    # `oldest` is the earliest first tick of the running playouts: none is cut before its limit.
    oldest = counter[c.TICK]
    for lane in range(walkers.of_lane.shape[0]):
        walker = walkers.of_lane[lane]
        if walker != MISSING and walkers.node[walker] == MISSING:
            if counter[c.TICK] - walkers.out[lane] >= limit:
                set_lane(arrays.mask, CUT, lane)
            else:
                oldest = min(oldest, walkers.out[lane])
    counter[c.NEXT_CUT] = oldest + limit
    return load(arrays.mask, CUT)


@stage
def settle_and_end(search: SearchMemory) -> Row:
    """Settle the inputs of choices; return the busy lanes that are over: terminal, or to be cut."""
    tables = search.tables
    arrays = search.arrays
    settle_states(tables, arrays.value)
    over = literal(arrays.value, np.int64(tables.terminal)) & load(arrays.mask, BUSY)
    return over | lanes_to_cut(arrays, search.walkers, search.settings)


@inlined
def lanes_in_playouts(arrays: SearchArrays, over: Row) -> Row:
    """The lanes outside the tree that are not over: those whose moves the policy chooses."""
    return load(arrays.mask, BUSY) & ~load(arrays.mask, IN_TREE) & ~over


@kernel
def finish_tick(memory: Unboxed[SearchMemory]) -> None:
    """Settle the next states, and step; lanes that made no move take the root state."""
    search = unboxed(memory)
    tables = search.tables
    arrays = search.arrays
    settle_successors(tables, arrays.value, False)
    advance_or_restart(tables, arrays.value, arrays.saved, arrays.root, ~load(arrays.mask, MOVED))
