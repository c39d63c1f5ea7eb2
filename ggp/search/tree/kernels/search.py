"""search_tree: Monte-Carlo tree search in which every lane is an asynchronous walker.

One *tick* serves all lanes at once:

1. *choose*: the circuit is settled; lanes outside the tree select a move by the playout policy, bit-sliced;
2. *end*: lanes whose playout is over (terminal, stuck or cut) back up their goals and become free;
3. *descend*: walkers in the tree choose by UCT, one after the other, and put their moves into their lanes;
4. *launch*: free lanes become walkers at the root state, several lanes to a walker;
5. *finish*: all lanes take their next state; those that made no move take the root state.

In one lane this is plain UCT: descend, expand one node, play out, back up, and again.

Where lanes are served one by one (2 to 4) it does not matter how wide a row is, so `search_tree` takes rows
as words and is compiled once. What serves all lanes at once, and what depends on the policy, are its *parts*:
kernels of their own, which it calls by their addresses (`ggp.search.tree.policies.parts`).
Letters of the shapes: `ggp.search.tree.kernels.arrays`.
"""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined, kernel, stage
from ggp.jit.entry_points import NO_ENTRY, call_entry
from ggp.jit.rows import Index, get_word, set_word, word_count
from ggp.jit.unboxed import Unboxed, unboxed
from ggp.lanes.bits import set_lane
from ggp.lanes.choose import drawn_row
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import (
    BUSY,
    IN_TREE,
    MISSING,
    MOVED,
    UNPROVEN,
    Parts,
    SearchArrays,
    SearchMemory,
    Walkers,
)
from ggp.search.tree.kernels.ends import add_ends_in_tree, add_lanes, end_lanes
from ggp.search.tree.kernels.tree import add_child, child_of, random_move, select_edge


@inlined
def _leave_tree(search: SearchMemory, walker: Index) -> None:
    """Start the playouts of the walker's lanes, each by itself, from the next tick on."""
    arrays, walkers = search.arrays, search.walkers
    walkers.node[walker] = MISSING
    walkers.out[walker] = arrays.counter[c.TICK] + 1
    for w in range(word_count(walkers.lanes)):
        left = get_word(arrays.mask, IN_TREE, w) & ~get_word(walkers.lanes, walker, w)
        set_word(arrays.mask, IN_TREE, w, left)


@inlined
def _enter_move(search: SearchMemory, role: Index, move: Index, number: Index, walker: Index) -> None:
    """Enter a role's move in all lanes of the walker: `number` among its legal ones, `move` among all."""
    arrays, walkers = search.arrays, search.walkers
    if arrays.counter[c.LEAF_ROW] == 0:
        add_lanes(arrays.value, np.int64(search.tables.move0) + move, walkers, walker)
        return
    row = drawn_row(search.tables, search.settings.choice_planes, role)
    while number > 0:
        if number & 1:
            add_lanes(arrays.scratch, row, walkers, walker)
        number >>= 1
        row += 1


@stage
def _choose_in_tree(search: SearchMemory, parts: Parts, memory: Index, walker: Index) -> None:
    """Choose each role's edge at the walker's node and move to the child, or out of the tree."""
    tree, walkers, tables, settings = search.tree, search.walkers, search.tables, search.settings
    node = np.int64(walkers.node[walker])
    depth = np.int64(walkers.depth[walker])
    path_edge = walkers.path_edge[walker, depth]
    lane = np.int64(walkers.lane[walker, 0])
    # Each role has an edge on the path, under way from now on, and its move in all lanes of the walker.
    for role in range(tables.role_count):
        e = select_edge(search, parts, memory, node, role, lane)
        path_edge[role] = e
        tree.started[e] += walkers.size[walker]
        _enter_move(search, role, np.int64(tree.move[e]), e - tree.first_edge[node, role], walker)
    walkers.path_node[walker, depth] = node
    walkers.depth[walker] = depth + 1
    child = child_of(tree, node, path_edge)
    if child == MISSING:
        walkers.leaf[walker] = add_child(search.arrays, tree, node, path_edge)
        _leave_tree(search, walker)
        return
    walkers.leaf[walker] = child
    is_proven = settings.is_solving != 0 and tree.proof[child] != UNPROVEN  # it ends there, at any depth
    if depth + 1 == walkers.path_node.shape[1] and not is_proven:
        _leave_tree(search, walker)
        return
    walkers.node[walker] = child


@stage
def _descend(search: SearchMemory, parts: Parts, memory: Index) -> None:
    """Move every walker in the tree by one edge; those that leave it are dropped from the list."""
    tables, arrays, walkers, counter = search.tables, search.arrays, search.walkers, search.arrays.counter
    kept = 0
    # descending[:kept] are those that continue; the list is compacted in place, in its order.
    for i in range(counter[c.DESCENDING]):
        walker = np.int64(walkers.descending[i])
        if walkers.left[walker] == 0:
            continue
        if search.tree.first_edge[walkers.node[walker], 0] == MISSING:
            # Its edges found no room: a uniformly random legal move of each role.
            for role in range(tables.role_count):
                number = random_move(tables, arrays, role, np.int64(walkers.lane[walker, 0]))
                if number != MISSING:
                    _enter_move(search, role, np.int64(arrays.option[number]), number, walker)
            walkers.leaf[walker] = MISSING
            _leave_tree(search, walker)
        else:
            _choose_in_tree(search, parts, memory, walker)
        if walkers.node[walker] != MISSING:
            walkers.descending[kept] = walker
            kept += 1
    counter[c.DESCENDING] = kept


@stage
def serve_lanes(search: SearchMemory, parts: Parts, memory: Index) -> None:
    """End playouts, those of the lanes in mask CUT and those that end in the tree, and descend.

    parts    by which the policy takes part; memory: what they are called with
    Enters the lanes that have made a move into mask MOVED.
    """
    mask = search.arrays.mask
    add_ends_in_tree(search)
    end_lanes(search, parts, memory)
    _descend(search, parts, memory)
    if parts.record != NO_ENTRY:
        call_entry(parts.record, memory)
    for w in range(word_count(mask)):
        set_word(mask, MOVED, w, get_word(mask, BUSY, w))


@inlined
def _most_in_flight(search: SearchMemory) -> Index:
    """Lanes that may be busy, by the visits of the root or by its untried moves. Those are tried in any case
    before UCT compares, so trying them at the same time costs nothing."""
    tree, counter = search.tree, search.arrays.counter
    most: Index = max(1, counter[c.MIN_IN_FLIGHT], counter[c.ROOT_VISITS] // search.settings.ramp)
    root = counter[c.ROOT_NODE]
    if tree.first_edge[root, 0] == MISSING:
        return most
    for role in range(tree.first_edge.shape[1] - 1):
        edges = np.int64(tree.first_edge[root, role + 1] - tree.first_edge[root, role])
        most = max(most, edges - counter[c.ROOT_VISITS])
    return most


@inlined
def launch_walker(arrays: SearchArrays, walkers: Walkers, root: Index, size: Index) -> None:
    """Make a walker at node `root` of the `size` lanes that became free last."""
    counter = arrays.counter
    # Both stacks give up what was freed last; the walker begins with the next tick.
    counter[c.FREE_WALKERS] -= 1
    walker = np.int64(walkers.free[counter[c.FREE_WALKERS]])
    walkers.node[walker] = root
    walkers.leaf[walker] = root
    walkers.depth[walker] = 0
    walkers.size[walker] = size
    walkers.left[walker] = size
    walkers.start[walker] = counter[c.TICK] + 1
    for w in range(word_count(walkers.lanes)):
        set_word(walkers.lanes, walker, w, np.uint64(0))
    for i in range(size):
        counter[c.FREE_LANES] -= 1
        lane = np.int64(walkers.free_lane[counter[c.FREE_LANES]])
        walkers.lane[walker, i] = lane
        walkers.of_lane[lane] = walker
        set_lane(walkers.lanes, walker, lane)
    add_lanes(arrays.mask, BUSY, walkers, walker)
    add_lanes(arrays.mask, IN_TREE, walkers, walker)
    walkers.descending[counter[c.DESCENDING]] = walker
    counter[c.DESCENDING] += 1
    counter[c.DESCENTS] += 1
    counter[c.LANES_BUSY] += size


@inlined
def _launch(search: SearchMemory) -> None:
    """Make walkers of free lanes, as long as there are enough and playouts are left to start."""
    settings, counter = search.settings, search.arrays.counter
    if settings.is_solving != 0 and search.tree.proof[counter[c.ROOT_NODE]] != UNPROVEN:
        return
    most = _most_in_flight(search) if settings.ramp > 0 else 0
    # The size of a descent grows with the root; near the limit in flight it is what is left, at least one.
    while counter[c.LAUNCHES_LEFT] > 0 and counter[c.FREE_LANES] > 0:
        size = min(settings.lanes_per_leaf, counter[c.LAUNCHES_LEFT])
        if settings.leaf_growth > 0:
            size = min(size, max(1, counter[c.ROOT_VISITS] // settings.leaf_growth))
        if settings.ramp > 0:
            size = min(size, most - counter[c.LANES_BUSY])
            if size <= 0:
                return
        if counter[c.FREE_LANES] < size:
            return
        counter[c.LAUNCHES_LEFT] -= size
        launch_walker(search.arrays, search.walkers, counter[c.ROOT_NODE], size)


@kernel
def search_tree(search_in_words: Unboxed[SearchMemory], parts: Parts, memory: int, ticks: int) -> bool:
    """Search for at most `ticks` ticks; return whether nothing is in flight and nothing left to start.

    search_in_words   with rows as words
    memory            address of the same with rows, which the parts are called with
    Start with `compaction.abandon`, which frees all lanes, and counter[LAUNCHES_LEFT] playouts to start.
    """
    search = unboxed(search_in_words)
    counter = search.arrays.counter
    for _ in range(ticks):
        call_entry(parts.choose, memory)
        serve_lanes(search, parts, memory)
        _launch(search)
        call_entry(parts.finish, memory)
        counter[c.TICK] += 1
        if counter[c.LANES_BUSY] == 0:
            return True
    return False
