"""Compaction after a move: drop playouts in flight, move the root, and its subtree to the front."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import Index, in_words, words_of
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import (
    BUSY,
    IN_TREE,
    MISSING,
    ROOT,
    SAME_AS,
    SEVERAL,
    UNPROVEN,
    SearchArrays,
    Tree,
    Walkers,
)
from ggp.search.tree.kernels.graph import MIN_SLOTS, fill_slots, has_graph, shared_node
from ggp.search.tree.kernels.tree import find_bucket


def abandon(arrays: SearchArrays, tree: Tree, walkers: Walkers, usable: int) -> None:
    """Drop all playouts in flight; afterwards all walkers and the first `usable` lanes are free.

    This and `clear_tree` are not kernels: they run once per move, and each would take a second to compile
    because of its many arguments.
    """
    counter = arrays.counter
    if counter[c.LANES_BUSY] > 0:
        busy = walkers.of_lane[walkers.of_lane != MISSING]
        depth = walkers.depth[busy]
        steps = np.arange(depth.max())
        np.subtract.at(tree.started, walkers.path_edge[busy, : len(steps)][steps < depth[:, None]], 1)
    lanes = len(walkers.of_lane)
    walkers.of_lane[:] = MISSING
    walkers.free_lane[:] = usable - 1 - np.arange(lanes)
    walkers.free[:] = lanes - 1 - np.arange(lanes)
    walkers.left[:] = 0
    words_of(arrays.mask)[[BUSY, IN_TREE]] = 0
    counter[c.FREE_LANES] = usable
    counter[c.FREE_WALKERS] = lanes
    counter[[c.LANES_BUSY, c.DESCENDING, c.LAUNCHES_LEFT, c.NEXT_CUT]] = 0


def clear_tree(arrays: SearchArrays, tree: Tree) -> None:
    """Reset the tree to an unexpanded root. Nothing may be in flight."""
    counter = arrays.counter
    _clear_buckets(arrays, tree)
    counter[c.NODES] = 1
    counter[[c.EDGES, c.EXPANSIONS, c.ROOT_VISITS, c.ROOT_NODE]] = 0
    counter[c.SLOTS] = min(MIN_SLOTS, len(tree.slot))
    tree.slot[: counter[c.SLOTS]] = 0
    tree.first_edge[ROOT, 0] = MISSING
    tree.parent[ROOT] = MISSING
    tree.proof[ROOT] = UNPROVEN


def _clear_buckets(arrays: SearchArrays, tree: Tree) -> bool:
    """Empty the hash table, unless it was never used; return whether SEVERAL decide at any node."""
    expanded = tree.expanded[: arrays.counter[c.EXPANSIONS]]
    has_several = bool((tree.decider[expanded] == SEVERAL).any())
    if has_several:
        tree.bucket[:] = 0
    return has_several


class KeepScratch(NamedTuple):
    """Scratch of `move_root`; all empty: nothing is dropped.

    number    int32[N]: new number of a node, or MISSING; before it is numbered, 0 if it is kept
    waiting   int32[N]: kept nodes whose children have not been looked at
    eldest, sibling   int32[N]: the children of nodes where SEVERAL decide, as lists; empty if none do
    path      int32[R]
    """

    number: Int32Array
    waiting: Int32Array
    eldest: Int32Array
    sibling: Int32Array
    path: Int32Array


def move_root(arrays: SearchArrays, tree: Tree, root: int, *, is_late: bool = False) -> None:
    """Keep the subtree of `root`, which becomes node 0, and free all else. Nothing may be in flight.

    is_late   move in constant time; a later call drops the rest
    """
    nodes = 0 if is_late else int(arrays.counter[c.NODES])
    listed = nodes if nodes and _clear_buckets(arrays, tree) else 0
    scratch = KeepScratch(
        number=np.full(nodes, MISSING, np.int32),
        waiting=np.zeros(nodes, np.int32),
        eldest=np.full(listed, MISSING, np.int32),
        sibling=np.full(listed, MISSING, np.int32),
        path=np.zeros(tree.came.shape[1], np.int32),
    )
    # In words it is compiled once for all widths of a row.
    _follow(in_words(arrays), tree, root, scratch)


@inlined
def _mark(tree: Tree, node: Index, root: Index, waiting: Index, scratch: KeepScratch) -> Index:
    """Mark a node; return how many wait, this one included if anything may be below it.

    The old root is dropped even where states recur and something leads back to it: so no new number is higher
    than the old one.
    """
    if scratch.number[node] != MISSING or (node == ROOT and root != ROOT):
        return waiting
    scratch.number[node] = 0
    if tree.first_edge[node, 0] == MISSING:
        return waiting
    scratch.waiting[waiting] = node
    return waiting + 1


@inlined
def _mark_below(tree: Tree, root: Index, scratch: KeepScratch) -> None:
    for younger in range(1, scratch.eldest.shape[0]):
        parent = tree.parent[younger]
        if parent != MISSING and tree.decider[parent] == SEVERAL:
            scratch.sibling[younger] = scratch.eldest[parent]
            scratch.eldest[parent] = younger
    # Depth first: `waiting` holds marked nodes whose children are not, until all below the root are.
    waiting = _mark(tree, root, root, 0, scratch)
    while waiting > 0:
        waiting -= 1
        node = np.int64(scratch.waiting[waiting])
        stands = shared_node(tree, node)
        if stands != node:
            waiting = _mark(tree, stands, root, waiting, scratch)
            continue
        decider = np.int64(tree.decider[node])
        if decider == SEVERAL:
            child: Index = np.int64(scratch.eldest[node])
            while child != MISSING:
                waiting = _mark(tree, child, root, waiting, scratch)
                child = np.int64(scratch.sibling[child])
            continue
        role: Index = decider if decider > 0 else 0
        for e in range(tree.first_edge[node, role], tree.first_edge[node, role + 1]):
            if tree.child[e] != MISSING:
                child = shared_node(tree, np.int64(tree.child[e]))
                waiting = _mark(tree, child, root, waiting, scratch)


@inlined
def _slide_edges(
    tree: Tree, expansions: Index, number: Int32Array, state_words: Index
) -> tuple[Index, Index]:
    """Move the edges of kept nodes to the front, in their old order; (edges, expansions) kept."""
    roles = tree.came.shape[1]
    has_rave = tree.rave_visits.shape[0] > 1
    e = np.int64(0)
    kept = np.int64(0)
    # In the order of expansion edges only move to the front, over what has been moved or dropped.
    for i in range(expansions):
        node = tree.expanded[i]
        if number[node] == MISSING:
            continue
        # The node's edges are first .. end - 1 before, and e .. afterwards; children have their new numbers.
        first = np.int64(tree.first_edge[node, 0])
        end = np.int64(tree.first_edge[node, roles])
        shift = first - e
        for role in range(roles + 1):
            tree.first_edge[node, role] -= shift
        for old in range(first, end):
            tree.move[e] = tree.move[old]
            tree.visits[e] = tree.visits[old]
            tree.started[e] = tree.started[old]
            tree.total[e] = tree.total[old]
            tree.goal[e] = tree.goal[old]
            child = np.int64(tree.child[old])
            tree.child[e] = number[shared_node(tree, child)] if child != MISSING else MISSING
            if has_rave:
                tree.rave_visits[e] = tree.rave_visits[old]
                tree.rave_total[e] = tree.rave_total[old]
            e += 1
        for d in range(state_words):
            tree.key[state_words * kept + d] = tree.key[state_words * i + d]
        tree.expanded[kept] = number[node]
        kept += 1
    return e, kept


@inlined
def _move_node(tree: Tree, node: Index, number: Int32Array) -> None:
    """Move the data of a kept node, except its edges, to its new number."""
    new = number[node]
    roles = tree.came.shape[1]
    stands = shared_node(tree, node)
    for role in range(roles + 1):
        tree.first_edge[new, role] = tree.first_edge[node, role]
    if stands != node:  # the old root, which is dropped, may have stood for it
        tree.first_edge[new, 0] = SAME_AS - number[stands] if number[stands] != MISSING else MISSING
    for role in range(roles):
        tree.came[new, role] = tree.came[node, role]
    tree.decider[new] = tree.decider[node]
    tree.proof[new] = tree.proof[node]
    parent = tree.parent[node]
    tree.parent[new] = number[parent] if parent != MISSING and new != ROOT else MISSING


@inlined
def _keep_subtree(arrays: SearchArrays, tree: Tree, root: Index, scratch: KeepScratch) -> None:
    """Number the nodes below the root and move them to the front, after the table of children was emptied."""
    counter = arrays.counter
    nodes = counter[c.NODES]
    number, path = scratch.number, scratch.path
    _mark_below(tree, root, scratch)
    # The root comes first, the others in their old order: no new number is higher than the old one.
    kept: Index = 1
    for node in range(1, nodes):
        if node != root and number[node] != MISSING:
            number[node] = kept
            kept += 1
    state_words = tree.key.shape[0] // tree.decider.shape[0] if has_graph(tree) else 0
    edges, expansions = _slide_edges(tree, counter[c.EXPANSIONS], number, state_words)
    # Hence nothing is overwritten unread.
    _move_node(tree, root, number)
    for node in range(1, nodes):
        if node != root and number[node] != MISSING:
            _move_node(tree, node, number)
    counter[c.NODES] = kept
    counter[c.EDGES] = edges
    counter[c.EXPANSIONS] = expansions
    # Children of nodes where SEVERAL decide enter the hash table, which was emptied, by their new numbers.
    for node in range(1, kept):
        parent = tree.parent[node]
        if parent != MISSING and tree.decider[parent] == SEVERAL:
            first = tree.first_edge[parent, 0]
            for role in range(path.shape[0]):
                path[role] = tree.came[node, role] + first
            tree.bucket[find_bucket(tree, parent, path)] = node
    if has_graph(tree):
        while counter[c.SLOTS] > MIN_SLOTS and 4 * expansions <= counter[c.SLOTS]:
            counter[c.SLOTS] //= 2
        fill_slots(arrays, tree, state_words)


@kernel
def _follow(arrays: SearchArrays, tree: Tree, node: int, scratch: KeepScratch) -> None:
    """Make `node` the root; drop all that is not below it if there is scratch for that."""
    counter = arrays.counter
    root: Index = node
    if scratch.number.shape[0] > 0:
        _keep_subtree(arrays, tree, root, scratch)
        root = ROOT
    counter[c.ROOT_NODE] = root
    counter[c.ROOT_VISITS] = 0
    if tree.first_edge[root, 0] != MISSING:
        for e in range(tree.first_edge[root, 0], tree.first_edge[root, 1]):
            counter[c.ROOT_VISITS] += tree.visits[e]
