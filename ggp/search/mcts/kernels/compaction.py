"""Between two searches: drop what is in flight, and move the subtree that is kept to the front."""

from __future__ import annotations

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import Index, in_words, words_of
from ggp.search.mcts.kernels import counters as c
from ggp.search.mcts.kernels.arrays import (
    BUSY,
    IN_TREE,
    MISSING,
    ROOT,
    SEVERAL,
    UNPROVEN,
    SearchArrays,
    Tree,
    Walkers,
)
from ggp.search.mcts.kernels.tree import find_bucket
from ggp.search.mcts.policies.rave import free_lost_tables, give_table


def abandon(arrays: SearchArrays, tree: Tree, walkers: Walkers, usable: int) -> None:
    """Drop everything in flight; afterwards all walkers and the first `usable` lanes are free.

    This and `clear_tree` are not kernels: they run once per move, and each would take a second to compile
    because of its many arguments.
    """
    counter = arrays.counter
    if counter[c.LANES_BUSY] > 0:
        busy = walkers.of_lane[walkers.of_lane != MISSING]
        is_edge = np.arange(walkers.path_edge.shape[1]) < walkers.depth[busy][:, None]
        np.subtract.at(tree.flight, walkers.path_edge[busy][is_edge], 1)
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
    """Only a root, not expanded. Nothing may be in flight."""
    counter = arrays.counter
    _clear_buckets(arrays, tree)
    counter[c.NODES] = 1
    counter[[c.EDGES, c.EXPANSIONS, c.ROOT_VISITS]] = 0
    tree.first_edge[ROOT, 0] = MISSING
    tree.parent[ROOT] = MISSING
    tree.proof[ROOT] = UNPROVEN
    if len(tree.playouts) > 1:  # GRAVE: the last table is the root's, the others are free
        last = len(tree.free_table) - 1
        tree.free_table[:] = np.arange(last + 1)
        counter[c.FREE_TABLES] = last
        tree.table_node[:] = MISSING
        tree.table_node[last] = ROOT
        tree.table[ROOT] = last
        tree.playouts[ROOT] = 0
        for of_table in (tree.table_playouts, tree.table_visits, tree.table_total):
            of_table[last] = 0


def _clear_buckets(arrays: SearchArrays, tree: Tree) -> None:
    """Empty the hash table; free of cost if it was never used."""
    expanded = tree.expanded[: arrays.counter[c.EXPANSIONS]]
    if (tree.decider[expanded] == SEVERAL).any():
        tree.bucket[:] = 0


def make_root(arrays: SearchArrays, tree: Tree, root: int) -> None:
    """Keep the subtree below `root`, which becomes node 0; everything else is room for new nodes.

    Nothing may be in flight.
    """
    _clear_buckets(arrays, tree)
    number = np.zeros(arrays.counter[c.NODES], np.int32)
    # In words it is compiled once for all widths of a row.
    _keep_subtree(in_words(arrays), tree, root, number, np.zeros(tree.came.shape[1], np.int32))


@inlined
def _number_kept_nodes(tree: Tree, nodes: Index, root: Index, number: Int32Array) -> Index:
    """number[n] = new number of node n, or MISSING; parents come first. Returns how many are kept."""
    kept = 0
    for node in range(nodes):
        number[node] = MISSING
        if node == root or (node > root and number[tree.parent[node]] != MISSING):
            number[node] = kept
            kept += 1
    return kept


@inlined
def _slide_edges(tree: Tree, expansions: Index, number: Int32Array) -> tuple[Index, Index]:
    """Move the edges of kept nodes to the front, in their old order; (edges, expansions) kept."""
    roles = tree.came.shape[1]
    has_rave = tree.rave_visits.shape[0] > 1
    e = np.int64(0)
    kept = np.int64(0)
    for i in range(expansions):
        node = tree.expanded[i]
        if number[node] == MISSING:
            continue
        first = np.int64(tree.first_edge[node, 0])
        end = np.int64(tree.first_edge[node, roles])
        shift = first - e
        for role in range(roles + 1):
            tree.first_edge[node, role] -= shift
        for old in range(first, end):
            tree.move[e] = tree.move[old]
            tree.visits[e] = tree.visits[old]
            tree.flight[e] = tree.flight[old]
            tree.total[e] = tree.total[old]
            tree.goal[e] = tree.goal[old]
            child = tree.child[old]
            tree.child[e] = number[child] if child != MISSING else MISSING
            if has_rave:
                tree.rave_visits[e] = tree.rave_visits[old]
                tree.rave_total[e] = tree.rave_total[old]
            e += 1
        tree.expanded[kept] = number[node]
        kept += 1
    return e, kept


@kernel
def _keep_subtree(arrays: SearchArrays, tree: Tree, root: int, number: Int32Array, path: Int32Array) -> None:
    """`make_root` after the hash table was emptied. number int32[N], path int32[R]: scratch."""
    counter = arrays.counter
    nodes = counter[c.NODES]
    kept = _number_kept_nodes(tree, nodes, root, number)
    edges, expansions = _slide_edges(tree, counter[c.EXPANSIONS], number)
    roles = tree.came.shape[1]
    has_tables = tree.playouts.shape[0] > 1
    if has_tables:
        free_lost_tables(arrays, tree, number)
    for node in range(root, nodes):
        new = number[node]
        if new == MISSING:
            continue
        for role in range(roles + 1):
            tree.first_edge[new, role] = tree.first_edge[node, role]
        for role in range(roles):
            tree.came[new, role] = tree.came[node, role]
        tree.decider[new] = tree.decider[node]
        tree.proof[new] = tree.proof[node]
        tree.parent[new] = number[tree.parent[node]] if node != root else MISSING
        if has_tables:
            tree.playouts[new] = tree.playouts[node]
            tree.table[new] = tree.table[node]
    counter[c.NODES] = kept
    counter[c.EDGES] = edges
    counter[c.EXPANSIONS] = expansions
    for node in range(1, kept):
        parent = tree.parent[node]
        if tree.decider[parent] == SEVERAL:
            first = tree.first_edge[parent, 0]
            for role in range(roles):
                path[role] = tree.came[node, role] + first
            tree.bucket[find_bucket(tree, parent, path)] = node
    if has_tables and tree.table[ROOT] == MISSING:
        give_table(arrays, tree, ROOT)
    counter[c.ROOT_VISITS] = 0
    if tree.first_edge[ROOT, 0] != MISSING:
        for e in range(tree.first_edge[ROOT, 0], tree.first_edge[ROOT, 1]):
            counter[c.ROOT_VISITS] += tree.visits[e]
