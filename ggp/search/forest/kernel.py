"""search_forest: the tree search of `ggp.search.mcts.kernels.search` from many roots, each in its own lane.

A tick is that of `search_tree`, stage by stage. Only the launch differs: a free lane begins the next playout
of its own tree, and a lane whose tree is done stays free. All trees share the arrays of one `Tree`, so a
forest is as large as its trees need, whatever their sizes; every node belongs to one tree, since children
are found by their parents. One tree alone is that of `search_tree` in one lane, node by node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import Row, Rows, any_lane, literal, load, store
from ggp.lanes.bits import set_lane
from ggp.lanes.layout import LaneTables
from ggp.lanes.playout import step_lanes
from ggp.lanes.settle import settle_apart
from ggp.search.mcts.kernels import counters as c
from ggp.search.mcts.kernels.arrays import BUSY, IN_TREE, MISSING, UNPROVEN, SearchMemory
from ggp.search.mcts.kernels.ends import end_lanes, lanes_at_an_end, lanes_to_cut
from ggp.search.mcts.kernels.search import descend
from ggp.search.mcts.policies.dispatch import choose_playout_moves


class Roots(NamedTuple):
    """Where each lane searches.

    node   int32[L]: root of the lane's tree
    left   int64[L]: playouts still to be started; 0 in lanes without a tree
    state  F rows: the root states
    """

    node: Int32Array
    left: NDArray[np.int64]
    state: Rows


@inlined
def _launch(search: SearchMemory, roots: Roots) -> None:
    """Begin the next playout in every free lane whose tree is not done; the others stay idle."""
    arrays = search.arrays
    walkers = search.walkers
    counter = arrays.counter
    while counter[c.FREE_LANES] > 0:
        counter[c.FREE_LANES] -= 1
        lane = np.int64(walkers.free_lane[counter[c.FREE_LANES]])
        root = roots.node[lane]
        is_proven = search.settings.is_solving != 0 and search.tree.proof[root] != UNPROVEN
        if roots.left[lane] == 0 or is_proven:
            continue
        roots.left[lane] -= 1
        counter[c.FREE_WALKERS] -= 1
        walker = np.int64(walkers.free[counter[c.FREE_WALKERS]])
        walkers.node[walker] = root
        walkers.leaf[walker] = root
        walkers.reference[walker] = MISSING
        walkers.depth[walker] = 0
        walkers.size[walker] = 1
        walkers.left[walker] = 1
        walkers.lane[walker, 0] = lane
        walkers.of_lane[lane] = walker
        walkers.start[lane] = counter[c.TICK] + 1
        set_lane(arrays.mask, BUSY, lane)
        set_lane(arrays.mask, IN_TREE, lane)
        walkers.descending[counter[c.DESCENDING]] = walker
        counter[c.DESCENDING] += 1
        counter[c.DESCENTS] += 1
        counter[c.LANES_BUSY] += 1


@inlined
def _put_roots(tables: LaneTables, value: Rows, state: Rows, restarted: Row) -> None:
    """The root state into the `restarted` lanes, all of whose fluents are false."""
    for f in range(tables.fluent_count):
        store(value, 1 + f, load(value, 1 + f) | (load(state, f) & restarted))


@kernel
def search_forest(search: SearchMemory, roots: Roots, ticks: int) -> bool:
    """Search for at most `ticks` ticks; returns whether all trees are done. `arrays.root` is all false."""
    tables = search.tables
    arrays = search.arrays
    value = arrays.value
    counter = arrays.counter
    for _ in range(ticks):
        settle_apart(tables, value, 0, 2)
        busy = load(arrays.mask, BUSY)
        over = literal(value, np.int64(tables.terminal)) & busy
        over = over | lanes_to_cut(arrays, search.walkers, search.settings)
        playing = busy & ~load(arrays.mask, IN_TREE) & ~over
        stuck = choose_playout_moves(search, playing)
        over = lanes_at_an_end(search, over | stuck)
        if any_lane(over):
            end_lanes(search, over)
        descend(search)
        moved = load(arrays.mask, BUSY)
        _launch(search, roots)
        settle_apart(tables, value, 2, 3)
        step_lanes(tables, value, arrays.saved, arrays.root, ~moved)
        _put_roots(tables, value, roots.state, ~moved)
        counter[c.TICK] += 1
        if counter[c.LANES_BUSY] == 0:
            return True
    return False
