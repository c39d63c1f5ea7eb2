"""search_forest: the tree search of `ggp.search.tree.kernels.search` from many roots, each in its own lane.

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
from ggp.jit.rows import Rows, load, store
from ggp.lanes.choose import choose_moves
from ggp.lanes.step import advance, settle_successors
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import CUT, MOVED, UNPROVEN, Parts, SearchMemory
from ggp.search.tree.kernels.ends import settle_and_end
from ggp.search.tree.kernels.search import launch_walker, serve_lanes


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
def launch_in_trees(search: SearchMemory, roots: Roots) -> None:
    """Begin the next playout in every free lane whose tree is not done; the others stay idle."""
    walkers = search.walkers
    counter = search.arrays.counter
    while counter[c.FREE_LANES] > 0:
        lane = walkers.free_lane[counter[c.FREE_LANES] - 1]
        root = np.int64(roots.node[lane])
        is_proven = search.settings.is_solving != 0 and search.tree.proof[root] != UNPROVEN
        if roots.left[lane] == 0 or is_proven:
            counter[c.FREE_LANES] -= 1
            continue
        roots.left[lane] -= 1
        launch_walker(search.arrays, walkers, root, 1)


@kernel
def search_forest(search: SearchMemory, parts: Parts, roots: Roots, ticks: int) -> bool:
    """Search for at most `ticks` ticks; return whether all trees are done. `parts`: NO_PARTS."""
    tables, arrays = search.tables, search.arrays
    value, counter = arrays.value, arrays.counter
    for _ in range(ticks):
        over, playing = settle_and_end(search)
        planes = search.settings.choice_planes
        stuck = choose_moves(tables, value, arrays.scratch, planes, arrays.random, playing)
        store(arrays.mask, CUT, over | stuck)
        serve_lanes(search, parts, 0)
        launch_in_trees(search, roots)
        settle_successors(tables, value, False)
        advance(tables, value, arrays.saved, load(arrays.mask, MOVED), roots.state, np.int64(0))
        counter[c.TICK] += 1
        if counter[c.LANES_BUSY] == 0:
            return True
    return False
