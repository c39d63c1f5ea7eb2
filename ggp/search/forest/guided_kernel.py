"""search_guided: trees that a network guides, from many roots, each in its own lanes.

The tick of `search_forest`, with PUCT (Rosin 2011; Silver et al. 2017) in place of UCT: a node is expanded as
soon as a walker reaches it, and the network gives its moves their prior and its state a value. The walker
then ends with that value, or continues into a playout. Several lanes may search one tree: moves in flight
count as losses.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ggp.jit.compiling import inlined, kernel, stage
from ggp.jit.rows import Index, Row, any_lane, fill, get_word, literal, load, lowest_bit, store, word_count
from ggp.lanes.bits import clear_lane, set_lane
from ggp.lanes.choose import choose_moves
from ggp.lanes.step import advance, settle_states, settle_successors
from ggp.networks.kernels import NetworkTables, logit_of, read_state, value_of
from ggp.networks.network import Float32Array
from ggp.search.forest.kernel import Roots, launch_in_trees
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import BUSY, CUT, IN_TREE, MISSING, UNPROVEN, Parts, SearchMemory
from ggp.search.tree.kernels.ends import add_lanes, end_lane, lanes_to_cut, note_end, read_result
from ggp.search.tree.kernels.tree import (
    BEST_GOAL,
    EXPANDED,
    FULL,
    STUCK,
    add_child,
    child_of,
    expand,
    random_below,
)

EXPLORATION = 100.0
"""C of PUCT, on the scale of the goals."""

REDUCTION = 10.0
"""What an untried move is worth less than the mean of those tried, in goals."""


class Guide(NamedTuple):
    """A network and how it is used.

    prior      float32[E]: of each edge of the tree
    expected   float32[L, R]: the goals that the network expected of the playout in a lane
    share      0..1: of the network's value in the result; the rest is the playout's, which 1 leaves out
    """

    network: NetworkTables
    prior: Float32Array
    expected: Float32Array
    share: float


@stage
def _end_lanes(search: SearchMemory, parts: Parts, guide: Guide, ended: Row) -> None:
    """Back up every lane of `ended`: at a proven or terminal node, or at the end of its playout."""
    arrays, walkers = search.arrays, search.walkers
    store(arrays.mask, CUT, ended)
    for w in range(word_count(arrays.value)):
        bits = get_word(arrays.mask, CUT, w)
        while bits != np.uint64(0):
            lane = 64 * w + lowest_bit(bits)
            bits = bits & (bits - np.uint64(1))
            walker = np.int64(walkers.of_lane[lane])
            node = np.int64(walkers.node[walker])
            is_of_state = read_result(search, walker, lane)
            if is_of_state and node == MISSING:
                for role in range(search.tables.role_count):
                    playout = (1.0 - guide.share) * arrays.goal[role]
                    arrays.goal[role] = playout + guide.share * guide.expected[lane, role]
            elif is_of_state and search.settings.is_solving != 0:
                note_end(arrays, search.tree, walkers, walker, node)
            end_lane(search, parts, 0, lane)


@inlined
def _put_priors(search: SearchMemory, guide: Guide, node: Index) -> None:
    """The softmax of the logits of each role's moves, for the edges of `node`."""
    tree = search.tree
    for role in range(search.tables.role_count):
        first, end = np.int64(tree.first_edge[node, role]), np.int64(tree.first_edge[node, role + 1])
        highest = -math.inf
        for e in range(first, end):
            guide.prior[e] = logit_of(guide.network, np.int64(tree.move[e]))
            highest = max(highest, guide.prior[e])
        total = 0.0
        for e in range(first, end):
            guide.prior[e] = math.exp(guide.prior[e] - highest)
            total += guide.prior[e]
        for e in range(first, end):
            guide.prior[e] /= total


@stage
def _reach_nodes(search: SearchMemory, parts: Parts, guide: Guide) -> Row:
    """Expand and value the nodes that walkers have reached; return the lanes at proven nodes or stuck ones.
    A walker that ends with the network's value does so here; one that continues leaves the tree."""
    tables, arrays, tree, walkers = search.tables, search.arrays, search.tree, search.walkers
    settings = search.settings
    store(arrays.mask, CUT, fill(arrays.value, np.uint64(0)))
    for i in range(arrays.counter[c.DESCENDING]):
        walker = np.int64(walkers.descending[i])
        if walkers.left[walker] == 0:
            continue
        node = np.int64(walkers.node[walker])
        lane = np.int64(walkers.lane[walker, 0])
        found: Index = FULL
        if node != MISSING:
            if settings.is_solving != 0 and tree.proof[node] != UNPROVEN:
                set_lane(arrays.mask, CUT, lane)
                continue
            if tree.first_edge[node, 0] == MISSING:
                found = expand(tables, arrays, tree, node, lane)
                if found == STUCK:
                    set_lane(arrays.mask, CUT, lane)
                    continue
            elif walkers.depth[walker] < walkers.path_node.shape[1]:
                continue
        read_state(guide.network, arrays.value, lane)
        if found == EXPANDED:
            _put_priors(search, guide, node)
        for role in range(tables.role_count):
            is_player = role != settings.chance
            arrays.goal[role] = BEST_GOAL * value_of(guide.network, role) if is_player else 0.0
        if guide.share < 1.0:
            for role in range(tables.role_count):
                guide.expected[lane, role] = arrays.goal[role]
            walkers.node[walker] = MISSING
            clear_lane(arrays.mask, IN_TREE, lane)
            walkers.out[walker] = arrays.counter[c.TICK]
        else:
            end_lane(search, parts, 0, lane)
    return load(arrays.mask, CUT)


@stage
def _select_edge(search: SearchMemory, guide: Guide, node: Index, role: Index) -> Index:
    """PUCT: the first edge with the highest mean plus C · prior · sqrt(N) / (1 + n)."""
    tree, settings = search.tree, search.settings
    first, end = np.int64(tree.first_edge[node, role]), np.int64(tree.first_edge[node, role + 1])
    if end - first == 1:
        return first
    if role == settings.chance:
        return first + random_below(search.arrays.seed, end - first)
    tried, ended = 0, 0
    total = 0.0
    for e in range(first, end):
        tried += tree.started[e]
        ended += tree.visits[e]
        total += tree.total[e]
    mean = total / ended if ended > 0 else 0.0
    bonus = EXPLORATION * math.sqrt(max(1, tried))
    best: Index = first
    highest = -math.inf
    for e in range(first, end):
        count = tree.started[e]
        value = tree.total[e] / count if count > 0 else mean - REDUCTION
        value += bonus * guide.prior[e] / (1 + count)
        if settings.is_solving != 0 and tree.goal[e] != UNPROVEN:
            value = float(tree.goal[e])
        if value > highest:
            highest = value
            best = e
    return best


@stage
def _descend(search: SearchMemory, guide: Guide) -> None:
    """Move every walker in the tree by one edge; the list keeps only those."""
    walkers, tree, arrays, tables = search.walkers, search.tree, search.arrays, search.tables
    kept = 0
    for i in range(arrays.counter[c.DESCENDING]):
        walker = np.int64(walkers.descending[i])
        node = np.int64(walkers.node[walker])
        if walkers.left[walker] == 0 or node == MISSING:
            continue
        depth = np.int64(walkers.depth[walker])
        path_edge = walkers.path_edge[walker, depth]
        for role in range(tables.role_count):
            e = _select_edge(search, guide, node, role)
            path_edge[role] = e
            tree.started[e] += 1
            add_lanes(arrays.value, np.int64(tables.move0) + np.int64(tree.move[e]), walkers, walker)
        walkers.path_node[walker, depth] = node
        walkers.depth[walker] = depth + 1
        child = child_of(tree, node, path_edge)
        if child == MISSING:
            child = add_child(arrays, tree, node, path_edge)
        walkers.node[walker] = child
        walkers.leaf[walker] = child
        if child == MISSING:  # no room: valued at the next tick, not yet in a playout
            walkers.out[walker] = arrays.counter[c.TICK] + 1
        walkers.descending[kept] = walker
        kept += 1
    arrays.counter[c.DESCENDING] = kept


@kernel
def search_guided(search: SearchMemory, parts: Parts, guide: Guide, roots: Roots, ticks: int) -> bool:
    """Search for at most `ticks` ticks; return whether all trees are done. `parts`: NO_PARTS."""
    tables, arrays = search.tables, search.arrays
    value, counter = arrays.value, arrays.counter
    for _ in range(ticks):
        settle_states(tables, value)
        busy = load(arrays.mask, BUSY)
        over = literal(value, np.int64(tables.terminal)) & busy
        over = over | (lanes_to_cut(arrays, search.walkers, search.settings) & ~load(arrays.mask, IN_TREE))
        if any_lane(over):
            _end_lanes(search, parts, guide, over)
        # Only lanes at new nodes or in running playouts are busy.
        over = _reach_nodes(search, parts, guide)
        playing = load(arrays.mask, BUSY) & ~load(arrays.mask, IN_TREE)
        planes = search.settings.choice_planes
        over = over | choose_moves(tables, value, arrays.scratch, planes, arrays.random, playing)
        if any_lane(over):
            _end_lanes(search, parts, guide, over)
        # Every busy lane is in the tree, or has a move of its playout.
        _descend(search, guide)
        moved = load(arrays.mask, BUSY)
        launch_in_trees(search, roots)
        settle_successors(tables, value, False)
        advance(tables, value, arrays.saved, moved, roots.state, np.int64(0))
        counter[c.TICK] += 1
        if counter[c.LANES_BUSY] == 0:
            return True
    return False
