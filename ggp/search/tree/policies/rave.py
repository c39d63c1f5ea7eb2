"""RAVE: all-moves-as-first values in the edges of a node, their schedule and back-up.

In plain Python: `ggp.search.tree.reference.tree`. Source: Gelly & Silver (2007).
"""

from __future__ import annotations

import math

import numpy as np

from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import Index
from ggp.jit.unboxed import Unboxed, unboxed
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import SearchMemory


@inlined
def rave_weight(k: float, visits: Index) -> float:
    """The schedule: beta = sqrt(k / (3 N + k)), 1 at first and falling with the N visits of the node."""
    return math.sqrt(k / (3.0 * visits + k))


@kernel
def mix_in(memory: Unboxed[SearchMemory], first: int, end: int, all_visits: int) -> None:
    """Mix all-moves-as-first means into arrays.score, means of edges first .. end - 1, with weight beta."""
    search = unboxed(memory)
    value = search.arrays.score
    tree = search.tree
    beta = rave_weight(search.settings.rave_k, all_visits)
    for i in range(end - first):
        seen = tree.rave_visits[first + i]
        if seen > 0:
            value[i] = beta * (tree.rave_total[first + i] / seen) + (1.0 - beta) * value[i]


@inlined
def _first_tick_outside(search: SearchMemory, walker: Index, lane: Index) -> Index:
    """Tick of the lane's first move outside the tree that the history still holds."""
    history = search.arrays.history.shape[0]
    outside = search.walkers.start[walker] + np.int64(search.walkers.depth[walker])
    return np.int64(max(outside, search.arrays.counter[c.TICK] - history))


@kernel
def back_up_rave(memory: Unboxed[SearchMemory], walker: int, lane: int) -> None:
    """In each node of the path, count the edges whose move was made there or later, each move once."""
    search = unboxed(memory)
    arrays, tree, walkers = search.arrays, search.tree, search.walkers
    stamp = search.statistics.stamp
    search.statistics.epoch[0] += 1
    epoch = search.statistics.epoch[0]
    roles = arrays.goal.shape[0]
    ticks = arrays.history.shape[0]
    for tick in range(_first_tick_outside(search, walker, lane), arrays.counter[c.TICK]):
        for role in range(roles):
            stamp[arrays.history[tick & (ticks - 1), role, lane]] = epoch
    # From the leaf up, so that at each node exactly the moves made there or later are stamped.
    for d in range(np.int64(walkers.depth[walker]) - 1, -1, -1):
        node = walkers.path_node[walker, d]
        for role in range(roles):
            stamp[tree.move[walkers.path_edge[walker, d, role]]] = epoch
        for role in range(roles):
            first = tree.first_edge[node, role]
            end = tree.first_edge[node, role + 1]
            if end - first == 1:
                continue
            for e in range(first, end):
                if stamp[tree.move[e]] == epoch:
                    tree.rave_visits[e] += 1
                    tree.rave_total[e] += arrays.goal[role]
