"""search_tree: Monte-Carlo tree search in which every lane is an asynchronous walker.

One *tick* serves all lanes at once. It settles the circuit, then

1. *choose*: lanes outside the tree select a move by the playout policy, bit-sliced;
2. *end*: lanes whose playout is over (terminal, stuck or cut) back up their goals and become free;
3. *descend*: walkers in the tree choose by UCT, one after the other, and put their moves into their lanes;
4. *launch*: free lanes become walkers at the root state, several lanes to a walker;
5. *step*: all lanes take their next state; those that made no move take the root state.

In one lane this is plain UCT: descend, expand one node, play out, back up, and again.
Letters of the shapes: `ggp.kernels.tree_arrays`.
"""

from __future__ import annotations

import numpy as np

from ggp.kernels.compiling import inlined, kernel, stage
from ggp.kernels.indices import numbers_of_planes, planes_of_indices
from ggp.kernels.lane_bits import clear_lane, literal_in_lane, set_lane
from ggp.kernels.lane_tables import LaneTables
from ggp.kernels.playout import step_lanes
from ggp.kernels.policies import choose_playout_moves
from ggp.kernels.policies_ngrams import record_choices
from ggp.kernels.policies_past import record_states
from ggp.kernels.rows import Index, any_lane, literal, load
from ggp.kernels.settle import settle_apart
from ggp.kernels.tree import add_child, child_of, random_below, select_edge
from ggp.kernels.tree_amaf import reference_at
from ggp.kernels.tree_arrays import (
    ALL_MOVES,
    BUSY,
    DESCENDING,
    DESCENTS,
    FREE_LANES,
    FREE_WALKERS,
    GREEDY_NGRAMS,
    IN_TREE,
    LANES_BUSY,
    LAUNCHES_LEFT,
    LEAST_IN_FLIGHT,
    MISSING,
    NGRAMS,
    PAST,
    ROOT,
    ROOT_VISITS,
    TICK,
    UNPROVEN,
    ContextStatistics,
    MoveStatistics,
    SearchArrays,
    Settings,
    Tree,
    Walkers,
)
from ggp.kernels.tree_ends import end_lanes, lanes_at_an_end, lanes_to_cut


@inlined
def _put_move(arrays: SearchArrays, walkers: Walkers, walker: Index, node: Index) -> None:
    """Select the move with row `node` in all lanes of the walker."""
    for i in range(walkers.size[walker]):
        set_lane(arrays.value, node, np.int64(walkers.lane[walker, i]))


@inlined
def _leave_tree(arrays: SearchArrays, walkers: Walkers, walker: Index) -> None:
    """The walker's lanes play out, each by itself, from the next tick on."""
    walkers.node[walker] = MISSING
    counter = arrays.counter
    for i in range(walkers.size[walker]):
        lane = np.int64(walkers.lane[walker, i])
        clear_lane(arrays.mask, IN_TREE, lane)
        walkers.out[lane] = counter[TICK] + 1


@inlined
def _move_at_random(tables: LaneTables, arrays: SearchArrays, walkers: Walkers, walker: Index) -> None:
    """Select a uniformly random legal move of each role: there is no room for the node's edges."""
    lane = np.int64(walkers.lane[walker, 0])
    for role in range(tables.role_count):
        chosen = np.int64(0)
        count = 0
        for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
            if literal_in_lane(arrays.value, tables.slot_literal[s], lane):
                count += 1
                if random_below(arrays.seed, count) == 0:
                    chosen = np.int64(tables.slot_node[s])
        if count > 0:
            _put_move(arrays, walkers, walker, chosen)


@stage
def _choose_in_tree(
    tables: LaneTables,
    arrays: SearchArrays,
    tree: Tree,
    walkers: Walkers,
    statistics: MoveStatistics | None,
    contexts: ContextStatistics | None,
    settings: Settings,
    walker: Index,
) -> None:
    """Choose each role's edge at the walker's node and go on to the child, or out of the tree."""
    node = np.int64(walkers.node[walker])
    depth = np.int64(walkers.depth[walker])
    path_edge = walkers.path_edge[walker, depth]
    size = walkers.size[walker]
    lane = np.int64(walkers.lane[walker, 0])
    reference: Index = np.int64(walkers.reference[walker])
    if settings.grave_reference > 0:
        reference = reference_at(tree, settings, node, reference)
        walkers.reference[walker] = reference
    for role in range(tables.role_count):
        e = select_edge(tree, statistics, contexts, arrays, settings, node, role, reference, lane)
        path_edge[role] = e
        tree.flight[e] += size
        _put_move(arrays, walkers, walker, np.int64(tables.move0) + np.int64(tree.move[e]))
    walkers.path_node[walker, depth] = node
    walkers.depth[walker] = depth + 1
    child = child_of(tree, node, path_edge)
    if child == MISSING:
        walkers.leaf[walker] = add_child(arrays, tree, node, path_edge)
        _leave_tree(arrays, walkers, walker)
        return
    walkers.leaf[walker] = child
    if depth + 1 == walkers.path_node.shape[1]:
        _leave_tree(arrays, walkers, walker)
        return
    walkers.node[walker] = child


@stage
def _descend(
    tables: LaneTables,
    arrays: SearchArrays,
    tree: Tree,
    walkers: Walkers,
    statistics: MoveStatistics | None,
    contexts: ContextStatistics | None,
    settings: Settings,
) -> None:
    """One move of every walker in the tree; those that leave it are dropped from the list."""
    counter = arrays.counter
    kept = 0
    for i in range(counter[DESCENDING]):
        walker = np.int64(walkers.descending[i])
        if walkers.left[walker] == 0:
            continue
        if tree.first_edge[walkers.node[walker], 0] == MISSING:
            _move_at_random(tables, arrays, walkers, walker)
            walkers.leaf[walker] = MISSING
            _leave_tree(arrays, walkers, walker)
        else:
            _choose_in_tree(tables, arrays, tree, walkers, statistics, contexts, settings, walker)
        if walkers.node[walker] != MISSING:
            walkers.descending[kept] = walker
            kept += 1
    counter[DESCENDING] = kept


@inlined
def _most_in_flight(arrays: SearchArrays, tree: Tree, settings: Settings) -> Index:
    """Lanes that may be busy: as many as the visits of the root bear, or as it has moves that nobody tried.

    Those are tried in any case before UCT compares, so trying them at the same time costs nothing.
    """
    counter = arrays.counter
    most: Index = max(1, counter[LEAST_IN_FLIGHT], counter[ROOT_VISITS] // settings.ramp)
    if tree.first_edge[ROOT, 0] == MISSING:
        return most
    for role in range(tree.first_edge.shape[1] - 1):
        edges = np.int64(tree.first_edge[ROOT, role + 1] - tree.first_edge[ROOT, role])
        most = max(most, edges - counter[ROOT_VISITS])
    return most


@inlined
def _launch(arrays: SearchArrays, tree: Tree, walkers: Walkers, settings: Settings) -> None:
    """Make walkers of free lanes as long as there are enough of them and playouts to be started."""
    counter = arrays.counter
    if settings.is_solving != 0 and tree.proof[ROOT] != UNPROVEN:
        return
    most = _most_in_flight(arrays, tree, settings) if settings.ramp > 0 else 0
    while counter[LAUNCHES_LEFT] > 0 and counter[FREE_LANES] > 0:
        size = min(settings.lanes_per_leaf, counter[LAUNCHES_LEFT])
        if settings.leaf_growth > 0:
            size = min(size, max(1, counter[ROOT_VISITS] // settings.leaf_growth))
        if settings.ramp > 0:
            size = min(size, most - counter[LANES_BUSY])
            if size <= 0:
                return
        if counter[FREE_LANES] < size:
            return
        counter[FREE_WALKERS] -= 1
        walker = np.int64(walkers.free[counter[FREE_WALKERS]])
        walkers.node[walker] = ROOT
        walkers.leaf[walker] = ROOT
        walkers.reference[walker] = MISSING
        walkers.depth[walker] = 0
        walkers.size[walker] = size
        walkers.left[walker] = size
        for i in range(size):
            counter[FREE_LANES] -= 1
            lane = np.int64(walkers.free_lane[counter[FREE_LANES]])
            walkers.lane[walker, i] = lane
            walkers.of_lane[lane] = walker
            walkers.start[lane] = counter[TICK] + 1
            set_lane(arrays.mask, BUSY, lane)
            set_lane(arrays.mask, IN_TREE, lane)
        walkers.descending[counter[DESCENDING]] = walker
        counter[DESCENDING] += 1
        counter[DESCENTS] += 1
        counter[LANES_BUSY] += size
        counter[LAUNCHES_LEFT] -= size


@inlined
def _record_moves(tables: LaneTables, arrays: SearchArrays) -> None:
    """Enter the move of every role in every lane into the history of this tick."""
    ticks = arrays.history.shape[0]
    t = arrays.counter[TICK] & (ticks - 1)
    for role in range(tables.role_count):
        first = arrays.first_move[role]
        count = arrays.first_move[role + 1] - first
        used = planes_of_indices(arrays.value, np.int64(tables.move0) + first, count, arrays.planes)
        numbers_of_planes(arrays.planes, 0, used, first - 1, arrays.block, arrays.history[t, role])


@kernel
def search_tree(
    tables: LaneTables,
    arrays: SearchArrays,
    tree: Tree,
    walkers: Walkers,
    statistics: MoveStatistics | None,
    contexts: ContextStatistics | None,
    settings: Settings,
    planes: int,
    ticks: int,
) -> bool:
    """Search for at most `ticks` ticks; whether nothing is in flight any more and nothing to be started.

    statistics, contexts   None where the policy needs none: what uses them is then not compiled
    planes                 choice_planes(tables)
    Start with `tree_compact.abandon`, which frees all lanes, and counter[LAUNCHES_LEFT] playouts to start.
    """
    value = arrays.value
    counter = arrays.counter
    is_recording = settings.rave_k > 0.0 or settings.learning == ALL_MOVES
    is_pairing = settings.playout == PAST
    is_counting_choices = settings.playout == NGRAMS or settings.playout == GREEDY_NGRAMS
    for _ in range(ticks):
        settle_apart(tables, value, 0, 2)
        busy = load(arrays.mask, BUSY)
        over = literal(value, np.int64(tables.terminal)) & busy
        over = over | lanes_to_cut(arrays, walkers, settings)
        playing = busy & ~load(arrays.mask, IN_TREE) & ~over
        if contexts is not None:
            if is_pairing:
                record_states(tables, arrays)
            if is_counting_choices:
                record_choices(tables, arrays)
        stuck = choose_playout_moves(tables, arrays, statistics, contexts, settings, walkers, planes, playing)
        over = lanes_at_an_end(tables, arrays, tree, walkers, settings, over | stuck)
        if any_lane(over):
            end_lanes(tables, arrays, tree, walkers, statistics, contexts, settings, over)
        _descend(tables, arrays, tree, walkers, statistics, contexts, settings)
        if statistics is not None and is_recording:
            _record_moves(tables, arrays)
        moved = load(arrays.mask, BUSY)
        _launch(arrays, tree, walkers, settings)
        settle_apart(tables, value, 2, 3)
        step_lanes(tables, value, arrays.aside, arrays.root, ~moved)
        counter[TICK] += 1
        if counter[LANES_BUSY] == 0:
            return True
    return False
