"""Transpositions: nodes with the same state are one, so that the tree is a graph.

The first walker that leaves a node looks up its state. If another node has it, that one stands
for this one from then on, with all that is below it: moves, statistics and proofs. Statistics are those of
edges, so that each parent keeps its own of the way to the shared node: UCT1 of Childs, Brodeur & Kocsis,
"Transpositions and move groups in Monte Carlo tree search" (2008). A proof reaches the other parents when a
walker comes from them. Keys are compared whole.

The root stands for no other node. Where states recur a walker may loop until it reaches the depth limit;
proofs only come from ends, so that none rests on itself.
"""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined, piece, stage
from ggp.jit.rows import Index, Rows
from ggp.lanes.bits import has_lane
from ggp.lanes.keys.key_table import Words, entry_of, hash_of, slot_of
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import MISSING, ROOT, SAME_AS, SearchArrays, StatePlanes, Tree

MIN_SLOTS = 1024
"""Minimum slots of the hash table of states; it grows with the graph: at least two slots per state."""

_LOW = np.uint64(0xFFFF_FFFF)


@inlined
def has_graph(tree: Tree) -> bool:
    return bool(tree.slot.shape[0] > 1)


@inlined
def shared_node(tree: Tree, node: Index) -> Index:
    """The node that represents `node`: usually itself."""
    first = np.int64(tree.first_edge[node, 0])
    return node if first >= MISSING else SAME_AS - first


@stage
def read_key(planes: StatePlanes, value: Rows, lane: Index) -> None:
    """planes.key = the key of the state in a lane."""
    first, source, key = planes.first_source, planes.source, planes.key
    for d in range(key.shape[0]):
        key[d] = np.uint64(0)
    for p in range(first.shape[0] - 1):
        for j in range(first[p], first[p + 1]):
            if has_lane(value, 1 + np.int64(source[j]), lane):
                key[p >> 6] |= np.uint64(1) << np.uint64(p & 63)
                break


@stage
def node_with_key(arrays: SearchArrays, tree: Tree, planes: StatePlanes) -> Index:
    """The expanded node whose state has the key read last, or MISSING."""
    words = np.int64(planes.key.shape[0])
    table = tree.slot[: arrays.counter[c.SLOTS]]
    mixed = hash_of(planes.key, np.int64(0), words)
    entry = table[slot_of(table, tree.key, words, planes.key, np.int64(0), mixed)]
    if entry == np.uint64(0):
        return MISSING
    return np.int64(tree.expanded[np.int64(entry & _LOW) - 1])


@stage
def enter_key(arrays: SearchArrays, tree: Tree, planes: StatePlanes) -> None:
    """Enter the node that was expanded last under the key read last."""
    counter = arrays.counter
    words = np.int64(planes.key.shape[0])
    number = counter[c.EXPANSIONS] - 1
    for d in range(words):
        tree.key[words * number + d] = planes.key[d]
    if tree.expanded[number] == ROOT:
        return
    if 2 * counter[c.EXPANSIONS] > counter[c.SLOTS] and 2 * counter[c.SLOTS] <= tree.slot.shape[0]:
        counter[c.SLOTS] *= 2
        fill_slots(arrays, tree, words)
        return
    _enter_expansion(tree.slot[: counter[c.SLOTS]], tree, words, number)


@inlined
def _enter_expansion(table: Words, tree: Tree, words: Index, number: Index) -> None:
    mixed = hash_of(tree.key, words * number, words)
    slot = slot_of(table, tree.key, words, tree.key, words * number, mixed)
    table[slot] = entry_of(table, slot, mixed, number)


@piece
def fill_slots(arrays: SearchArrays, tree: Tree, words: Index) -> None:
    """Make the hash table of all expanded nodes but the root."""
    table = tree.slot[: arrays.counter[c.SLOTS]]
    table[:] = 0
    for number in range(arrays.counter[c.EXPANSIONS]):
        if tree.expanded[number] != ROOT:
            _enter_expansion(table, tree, words, number)


@inlined
def join(tree: Tree, node: Index, other: Index) -> None:
    """Let `other` represent `node`, which is not expanded."""
    tree.first_edge[node, 0] = SAME_AS - other
