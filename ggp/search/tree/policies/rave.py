"""RAVE and GRAVE: all-moves-as-first values, their schedule, back-up and memory.

RAVE keeps the values in the edges of a node; it knows of the node's own moves only, and little while the
node is young. GRAVE reads the nearest node on the way that has taken in `grave_reference` playouts, so its
values are of all moves of all roles: a *table*. A node is given one when that many playouts have passed
through it (the root at once), while there is room. In plain Python: `ggp.search.tree.reference.tree`.
Sources: Gelly & Silver (2007); Cazenave, "Generalized Rapid Action Value Estimation" (IJCAI 2015).
"""

from __future__ import annotations

import math

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import Index
from ggp.jit.unboxed import Unboxed, unboxed
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import MISSING, MoveStatistics, SearchArrays, SearchMemory, Settings, Tree


@inlined
def rave_weight(k: float, visits: Index) -> float:
    """The schedule: beta = sqrt(k / (3 N + k)), 1 at first and falling with the N visits of the node."""
    return math.sqrt(k / (3.0 * visits + k))


@kernel
def mix_in(memory: Unboxed[SearchMemory], first: int, end: int, all_visits: int, reference: int) -> None:
    """Mix all-moves-as-first means into arrays.score, the means of edges first .. end - 1, with weight beta.
    They are those of the node (RAVE) or of the table `reference` (GRAVE)."""
    search = unboxed(memory)
    value = search.arrays.score
    tree, settings = search.tree, search.settings
    beta = rave_weight(settings.rave_k, all_visits)
    for i in range(end - first):
        if settings.grave_reference > 0:
            move = tree.move[first + i]
            seen = tree.table_visits[reference, move]
            total = tree.table_total[reference, move]
        else:
            seen = tree.rave_visits[first + i]
            total = tree.rave_total[first + i]
        if seen > 0:
            value[i] = beta * (total / seen) + (1.0 - beta) * value[i]


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


@kernel
def back_up_grave(memory: Unboxed[SearchMemory], walker: int, lane: int) -> None:
    """In each node of the path that has a table, enter every move that was made there or later, once."""
    search = unboxed(memory)
    arrays, tree, walkers = search.arrays, search.tree, search.walkers
    search.statistics.epoch[0] += 1
    roles = arrays.goal.shape[0]
    ticks = arrays.history.shape[0]
    made: Index = 0
    for tick in range(_first_tick_outside(search, walker, lane), arrays.counter[c.TICK]):
        for role in range(roles):
            move = np.int64(arrays.history[tick & (ticks - 1), role, lane])
            made = _note_made(arrays, search.statistics, made, move, role)
    # From the leaf up, so that at each node `option` holds exactly the moves made there or later.
    for d in range(np.int64(walkers.depth[walker]) - 1, -1, -1):
        node = np.int64(walkers.path_node[walker, d])
        for role in range(roles):
            move = np.int64(tree.move[walkers.path_edge[walker, d, role]])
            made = _note_made(arrays, search.statistics, made, move, role)
        table = np.int64(tree.table[node])
        tree.playouts[node] += 1
        if table != MISSING:
            tree.table_playouts[table] += 1
            for i in range(made):
                tree.table_visits[table, arrays.option[i]] += 1
                tree.table_total[table, arrays.option[i]] += arrays.score[i]
        elif tree.playouts[node] == search.settings.grave_reference:
            give_table(arrays, tree, node)


@inlined
def _note_made(
    arrays: SearchArrays, statistics: MoveStatistics, made: Index, move: Index, role: Index
) -> Index:
    """Append `move` to the moves made in this playout unless it is there; return their number."""
    if statistics.stamp[move] == statistics.epoch[0]:
        return made
    statistics.stamp[move] = statistics.epoch[0]
    arrays.option[made] = move
    arrays.score[made] = arrays.goal[role]
    return made + 1


@inlined
def give_table(arrays: SearchArrays, tree: Tree, node: Index) -> None:
    """Give `node` an empty table, if one is left."""
    if arrays.counter[c.FREE_TABLES] == 0:
        return
    arrays.counter[c.FREE_TABLES] -= 1
    table = np.int64(tree.free_table[arrays.counter[c.FREE_TABLES]])
    tree.table[node] = table
    tree.table_node[table] = node
    tree.table_playouts[table] = 0
    for move in range(tree.table_visits.shape[1]):
        tree.table_visits[table, move] = 0
        tree.table_total[table, move] = 0.0


@inlined
def reference_at(tree: Tree, settings: Settings, node: Index, above: Index) -> Index:
    """The table to read at `node`: its own if that has enough playouts, else the one from above."""
    table = np.int64(tree.table[node])
    if table != MISSING and tree.table_playouts[table] >= settings.grave_reference:
        return table
    return above


@inlined
def free_lost_tables(arrays: SearchArrays, tree: Tree, number: Int32Array) -> None:
    """Free the tables of nodes that are not kept; number int32[N] = new number of a node, or MISSING."""
    free = 0
    for table in range(tree.free_table.shape[0]):
        owner = tree.table_node[table]
        if owner != MISSING:
            owner = number[owner]
            tree.table_node[table] = owner
        if owner == MISSING:
            tree.free_table[free] = table
            free += 1
    arrays.counter[c.FREE_TABLES] = free
