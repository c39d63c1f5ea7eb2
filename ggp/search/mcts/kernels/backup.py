"""Back-up of a finished playout: goals go up the path, the policy learns, the lane is released."""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined, stage
from ggp.jit.entry_points import NO_ENTRY, call_entry
from ggp.jit.rows import Index
from ggp.lanes.bits import clear_lane
from ggp.search.mcts.kernels import counters as c
from ggp.search.mcts.kernels.arrays import (
    BUSY,
    IN_TREE,
    MISSING,
    Parts,
    SearchArrays,
    SearchMemory,
    Tree,
    Walkers,
)


@inlined
def back_up(arrays: SearchArrays, tree: Tree, walkers: Walkers, walker: Index) -> None:
    """Count one playout with the goals in arrays.goal on every edge of the walker's path."""
    for d in range(walkers.depth[walker]):
        for role in range(arrays.goal.shape[0]):
            e = walkers.path_edge[walker, d, role]
            tree.visits[e] += 1
            tree.flight[e] -= 1
            tree.total[e] += arrays.goal[role]


@stage
def end_lane(search: SearchMemory, parts: Parts, memory: Index, lane: Index) -> None:
    """Enter the playout that ends in `lane` now, before the move of this tick, and free the lane."""
    walkers = search.walkers
    counter = search.arrays.counter
    tick = counter[c.TICK]
    walker = np.int64(walkers.of_lane[lane])
    back_up(search.arrays, search.tree, walkers, walker)
    if parts.learn != NO_ENTRY:
        call_entry(parts.learn, memory, walker, lane)
    if parts.learn_amaf != NO_ENTRY:
        call_entry(parts.learn_amaf, memory, walker, lane)
    if parts.learn_context != NO_ENTRY:
        call_entry(parts.learn_context, memory, walker, lane)
    depth = np.int64(walkers.depth[walker])
    counter[c.FINISHED] += 1
    counter[c.ROOT_VISITS] += 1
    counter[c.STEPS] += tick - walkers.start[lane]
    counter[c.DEPTH_SUM] += depth
    counter[c.DEEPEST] = max(counter[c.DEEPEST], depth)
    free_lane(search.arrays, walkers, lane, walker)


@inlined
def free_lane(arrays: SearchArrays, walkers: Walkers, lane: Index, walker: Index) -> None:
    """Release the lane, and its walker if this was its last lane."""
    counter = arrays.counter
    walkers.of_lane[lane] = MISSING
    clear_lane(arrays.mask, BUSY, lane)
    clear_lane(arrays.mask, IN_TREE, lane)
    walkers.free_lane[counter[c.FREE_LANES]] = lane
    counter[c.FREE_LANES] += 1
    counter[c.LANES_BUSY] -= 1
    walkers.left[walker] -= 1
    if walkers.left[walker] == 0:
        walkers.free[counter[c.FREE_WALKERS]] = walker
        counter[c.FREE_WALKERS] += 1
