"""The tree: expanding nodes, choosing edges, finding and making children.

Shapes and letters: `ggp.search.tree.kernels.arrays`. The plain-Python twin is
`ggp.search.tree.reference.search`; both draw the same random numbers in the same order and compute every
float by the same operations, so that they build the same tree, while no node has more than ROOT_LOGS visits:
then this one rounds logarithms.

Each term of what UCT compares has a short loop of its own, from 0 on, over slices, without branches that
depend on the edge: so LLVM computes several edges at a time, and a search with many moves per state runs up
to 1.4 times as fast as with all terms in one loop. Loops run over whole blocks of edges, so that a node with
few of them is computed like that as well. `value` is scratch: value[i] is that of edge first + i of a role.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, stage
from ggp.jit.entry_points import NO_ENTRY, call_entry
from ggp.jit.rows import Index
from ggp.lanes.bits import has_lane, literal_in_lane
from ggp.lanes.layout import LaneTables
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import (
    EDGE_BLOCK,
    MISSING,
    NO_ROLE,
    SEVERAL,
    UNPROVEN,
    Float64Array,
    Parts,
    SearchArrays,
    SearchMemory,
    Tree,
)
from ggp.search.tree.kernels.graph import shared_node

EXPANDED, STUCK, FULL = range(3)
BEST_GOAL = 100
NEUTRAL_GOAL = 50.0
LN_16 = math.log(16)
SETTLED = -1.0
"""Value of a root move with a proven goal: below that of every other."""


@inlined
def random_below(seed: NDArray[np.uint64], bound: Index) -> Index:
    """A number 0 .. bound-1, bound < 2**32: SplitMix64 (Steele, Lea & Flood 2014), its high half scaled."""
    seed[0] = seed[0] + np.uint64(0x9E37_79B9_7F4A_7C15)
    z = seed[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64(((z >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@inlined
def list_legal(tables: LaneTables, arrays: SearchArrays, role: Index, lane: Index) -> Index:
    """arrays.option = the legal moves of a role in a lane, ascending; return how many.

    Without branches that depend on the state, which no processor foresees.
    """
    option, turns, leaf_row = arrays.option, tables.turns, arrays.counter[c.LEAF_ROW]
    count = 0
    if leaf_row == 0 or turns.literal.shape[0] <= 1:
        first_slot, first_move = np.int64(tables.first_slot[role]), arrays.first_move[role]
        for i in range(arrays.first_move[role + 1] - first_move):
            option[count] = first_move + i
            count += literal_in_lane(arrays.value, tables.slot_literal[first_slot + i], lane)
        return count
    for t in range(turns.first[role], turns.first[role + 1]):
        if literal_in_lane(arrays.value, turns.literal[t], lane):
            first = np.int64(turns.first_leaf[t])
            for i in range(turns.first_leaf[t + 1] - first):
                option[count] = turns.leaf_move[first + i]
                count += has_lane(arrays.scratch, leaf_row + i, lane)
            return count
    option[0] = turns.waiting[role]
    return 1


@inlined
def random_move(tables: LaneTables, arrays: SearchArrays, role: Index, lane: Index) -> Index:
    """The place in arrays.option of a uniformly random legal move of the role; MISSING if it has none."""
    chosen: Index = np.int64(MISSING)
    for i in range(list_legal(tables, arrays, role, lane)):
        if random_below(arrays.seed, i + 1) == 0:
            chosen = np.int64(i)
    return chosen


@inlined
def read_goals(tables: LaneTables, arrays: SearchArrays, chance: Index, lane: Index) -> None:
    """arrays.goal[r] = goal of role r in the lane's state; 0 for chance, and unless there is exactly one."""
    for role in range(tables.role_count):
        found = 0
        goal = 0.0
        # Without branches, which no processor foresees here.
        for q in range(tables.goal_first[role], tables.goal_first[role + 1]):
            holds = literal_in_lane(arrays.value, tables.goal_literal[q], lane)
            found += holds
            goal += holds * arrays.goal_value[q]
        arrays.goal[role] = goal if found == 1 and role != chance else 0.0


@stage
def expand(tables: LaneTables, arrays: SearchArrays, tree: Tree, node: Index, lane: Index) -> Index:
    """Give `node` its edges: the legal moves in `lane`. STUCK where a role has none, FULL without room."""
    counter = arrays.counter
    e = counter[c.EDGES]
    if e + tables.move_count + EDGE_BLOCK > tree.move.shape[0]:
        counter[c.REFUSED] += 1
        return FULL
    decider = NO_ROLE
    # Room for all moves was checked: edges are written without looking, role after role, and the node has
    # them once every role has one.
    for role in range(tables.role_count):
        first = e
        for i in range(list_legal(tables, arrays, role, lane)):
            tree.move[e] = arrays.option[i]
            tree.visits[e] = 0
            tree.started[e] = 0
            tree.total[e] = 0.0
            tree.child[e] = MISSING
            tree.goal[e] = UNPROVEN
            if tree.rave_visits.shape[0] > 1:
                tree.rave_visits[e] = 0
                tree.rave_total[e] = 0.0
            e += 1
        if e == first:
            tree.first_edge[node, 0] = MISSING
            return STUCK
        if e - first > 1:
            decider = role if decider == NO_ROLE else SEVERAL
        tree.first_edge[node, role] = first
    tree.first_edge[node, tables.role_count] = e
    tree.decider[node] = decider
    tree.expanded[counter[c.EXPANSIONS]] = node
    counter[c.EXPANSIONS] += 1
    counter[c.EDGES] = e
    return EXPANDED


@inlined
def count_visits(tree: Tree, first: Index, end: Index) -> tuple[Index, bool]:
    """Total visits of the edges, those in flight included; and whether an edge has none."""
    count = end - first
    started = tree.started[first : first + in_blocks(count)]
    all_visits: Index = 0
    untried: Index = 0
    for i in range(in_blocks(count)):
        n = started[i] if i < count else 0
        all_visits += n
        untried += n == 0 and i < count
    return all_visits, bool(untried > 0)


@inlined
def in_blocks(count: Index) -> Index:
    """A number of edges, rounded up to whole blocks. What is computed for the edges behind is never read."""
    return (count + EDGE_BLOCK - 1) & -EDGE_BLOCK


@inlined
def put_means(tree: Tree, first: Index, end: Index, value: Float64Array) -> None:
    """Mean goals; that of the node, or a neutral one, if all visits of an edge are in flight."""
    count = end - first
    visits = tree.visits[first : first + in_blocks(count)]
    total = tree.total[first : first + in_blocks(count)]
    unknown: Index = 0
    for i in range(in_blocks(count)):
        value[i] = total[i] / max(visits[i], 1)
        unknown += visits[i] == 0 and i < count
    if unknown > 0:
        ended = 0
        sum_of_goals = 0.0
        for i in range(count):
            ended += visits[i]
            sum_of_goals += total[i]
        mean = sum_of_goals / ended if ended > 0 else NEUTRAL_GOAL
        for i in range(count):
            value[i] = value[i] if visits[i] > 0 else mean


@inlined
def root_of_log(known: Float64Array, n: Index) -> float:
    """sqrt(ln n), n > 0; where `known` ends, that of the leading nine or more bits of n. Most descents pass
    several such nodes, and their logarithms would take a tenth of the search."""
    rest = 0.0
    while n >= known.shape[0]:
        n >>= 4
        rest += LN_16
    return math.sqrt(known[n] * known[n] + rest) if rest > 0.0 else known[n]


@inlined
def add_bonus(tree: Tree, bonus: float, first: Index, end: Index, value: Float64Array) -> None:
    """`bonus` / sqrt(n), where visits in flight count in n (WU-UCT: Liu et al. 2020)."""
    count = in_blocks(end - first)
    started = tree.started[first : first + count]
    for i in range(count):
        value[i] += bonus / math.sqrt(max(started[i], 1))


@inlined
def put_proofs(tree: Tree, first: Index, end: Index, is_root: bool, value: Float64Array) -> None:
    """A proven goal needs no estimate; at the root no more visits either, or a draw would take them all."""
    goal = tree.goal[first:end]
    for i in range(end - first):
        value[i] = value[i] if goal[i] == UNPROVEN else SETTLED if is_root else goal[i]


@inlined
def first_highest(value: Float64Array) -> Index:
    best: Index = 0
    best_value = value[0]
    for i in range(1, value.shape[0]):
        if value[i] > best_value:
            best_value = value[i]
            best = i
    return best


@stage
def select_edge(
    search: SearchMemory, parts: Parts, memory: Index, node: Index, role: Index, lane: Index
) -> Index:
    """UCT: an untried edge, drawn by the weights of the moves; else the first with the highest value.

    lane   one that is in the state of the node
    """
    tree, arrays, settings = search.tree, search.arrays, search.settings
    first = np.int64(tree.first_edge[node, role])
    end = np.int64(tree.first_edge[node, role + 1])
    if end - first == 1:
        return first
    if role == settings.chance:
        return first + random_below(arrays.seed, end - first)
    all_visits, has_untried = count_visits(tree, first, end)
    if has_untried:
        if parts.draw != NO_ENTRY:
            return np.int64(call_entry(parts.draw, memory, first, end, role, lane))
        return _draw_untried(tree, search.statistics.weight, arrays, first, end)
    # From the mean of each edge, over all-moves-as-first means and the bonus, to the goal if it is proven.
    value = arrays.score
    put_means(tree, first, end, value)
    if parts.mix != NO_ENTRY:
        call_entry(parts.mix, memory, first, end, all_visits)
    bonus = settings.exploration * root_of_log(arrays.root_log, all_visits)
    add_bonus(tree, bonus, first, end, value)
    if settings.is_solving != 0:
        put_proofs(tree, first, end, bool(node == arrays.counter[c.ROOT_NODE]), value)
    return first + first_highest(value[: end - first])


@stage
def _draw_untried(tree: Tree, weight: Int32Array, arrays: SearchArrays, first: Index, end: Index) -> Index:
    """An untried edge, by the weights of the moves, which are all 1 where nothing is learned."""
    total: Index = 0
    for e in range(first, end):
        total += weight[tree.move[e]] * (tree.started[e] == 0)
    k = random_below(arrays.seed, total)
    for e in range(first, end):
        k -= weight[tree.move[e]] * (tree.started[e] == 0)
        if k < 0:
            return e
    return first


@inlined
def find_bucket(tree: Tree, node: Index, path_edge: NDArray[np.int32]) -> Index:
    """The bucket of the child of `node` by these edges in the hash table, or the empty one for it."""
    mask = tree.bucket.shape[0] - 1
    first = np.int64(tree.first_edge[node, 0])
    h = np.uint64(node) * np.uint64(0x9E37_79B9_7F4A_7C15)
    for role in range(path_edge.shape[0]):
        h = (h ^ np.uint64(path_edge[role] - first)) * np.uint64(0xBF58_476D_1CE4_E5B9)
        h = h ^ (h >> np.uint64(29))
    b = np.int64(h & np.uint64(mask))
    while tree.bucket[b] != 0:
        child = tree.bucket[b]
        is_same = tree.parent[child] == node
        for role in range(path_edge.shape[0]):
            is_same = is_same and tree.came[child, role] == path_edge[role] - first
        if is_same:
            return b
        b = (b + 1) & mask
    return b


@inlined
def child_of(tree: Tree, node: Index, path_edge: NDArray[np.int32]) -> Index:
    """The node behind the joint move path_edge int32[R], or MISSING."""
    decider = tree.decider[node]
    if decider == SEVERAL:
        child = np.int64(tree.bucket[find_bucket(tree, node, path_edge)])
        if child == 0:
            return MISSING
    else:
        child = np.int64(tree.child[path_edge[max(decider, 0)]])
        if child == MISSING:
            return MISSING
    return shared_node(tree, child)


@inlined
def add_child(arrays: SearchArrays, tree: Tree, node: Index, path_edge: NDArray[np.int32]) -> Index:
    """Make the node behind a joint move, not expanded yet; MISSING if there is no room."""
    child = arrays.counter[c.NODES]
    if child >= tree.decider.shape[0]:
        arrays.counter[c.REFUSED] += 1
        return MISSING
    arrays.counter[c.NODES] += 1
    tree.first_edge[child, 0] = MISSING
    tree.proof[child] = UNPROVEN
    tree.parent[child] = node
    first = tree.first_edge[node, 0]
    for role in range(path_edge.shape[0]):
        tree.came[child, role] = path_edge[role] - first
    decider = tree.decider[node]
    if decider == SEVERAL:
        tree.bucket[find_bucket(tree, node, path_edge)] = child
    else:
        tree.child[path_edge[max(decider, 0)]] = child
    return np.int64(child)
