"""Where the playouts of a tree search end: over, stuck, cut off or proven; and with which goals."""

from __future__ import annotations

import numpy as np

from ggp.kernels.compiling import inlined, stage
from ggp.kernels.lane_bits import has_lane, literal_in_lane, set_lane
from ggp.kernels.lane_tables import LaneTables
from ggp.kernels.rows import Index, Row, fill, get_word, load, lowest_bit, store, word_count
from ggp.kernels.tree import BEST_GOAL, STUCK, expand, has_other_sum, read_goals, read_goals_of_cut
from ggp.kernels.tree_arrays import (
    CUT,
    DESCENDING,
    HAS_OTHER_SUMS,
    IS_CONSTANT_SUM,
    MISSING,
    NEXT_CUT,
    TICK,
    UNPROVEN,
    ContextStatistics,
    MoveStatistics,
    SearchArrays,
    Settings,
    Tree,
    Walkers,
)
from ggp.kernels.tree_backup import end_lane
from ggp.kernels.tree_proofs import note_terminal, stop_proving


@inlined
def _playout_limit(settings: Settings) -> Index:
    """Joint moves of a playout at most."""
    return min(settings.step_limit, settings.cutoff) if settings.cutoff > 0 else settings.step_limit


@inlined
def _read_goals_of_end(
    tables: LaneTables, arrays: SearchArrays, walkers: Walkers, settings: Settings, walker: Index, lane: Index
) -> None:
    """arrays.goal = what a playout that ends in `lane` counts, whether it is over or was cut."""
    counter = arrays.counter
    steps = counter[TICK] - walkers.out[lane] if walkers.node[walker] == MISSING else 0
    is_cut = 0 < settings.cutoff <= steps and not literal_in_lane(arrays.value, tables.terminal, lane)
    if is_cut:
        read_goals_of_cut(tables, arrays, settings, lane)
    else:
        read_goals(tables, arrays, settings, lane)
    if settings.cutoff > 0 and has_other_sum(arrays, settings):
        counter[HAS_OTHER_SUMS] = 1


@inlined
def _watch_sum(tables: LaneTables, arrays: SearchArrays, tree: Tree, settings: Settings, lane: Index) -> None:
    """Proofs are sound while the goals of two roles, now in arrays.goal, sum up to 100 at every end."""
    if settings.is_solving == 0 or arrays.counter[IS_CONSTANT_SUM] == 0:
        return
    if has_other_sum(arrays, settings) and literal_in_lane(arrays.value, tables.terminal, lane):
        stop_proving(arrays, tree)


@inlined
def lanes_to_cut(arrays: SearchArrays, walkers: Walkers, settings: Settings) -> Row:
    """Lanes whose playout has made as many joint moves as it may. Looks only when the oldest may have."""
    counter = arrays.counter
    limit = _playout_limit(settings)
    store(arrays.mask, CUT, fill(arrays.value, np.uint64(0)))
    if counter[TICK] < counter[NEXT_CUT]:
        return load(arrays.mask, CUT)
    oldest = counter[TICK]
    for lane in range(walkers.of_lane.shape[0]):
        walker = walkers.of_lane[lane]
        if walker != MISSING and walkers.node[walker] == MISSING:
            if counter[TICK] - walkers.out[lane] >= limit:
                set_lane(arrays.mask, CUT, lane)
            else:
                oldest = min(oldest, walkers.out[lane])
    counter[NEXT_CUT] = oldest + limit
    return load(arrays.mask, CUT)


@stage
def end_lanes(
    tables: LaneTables,
    arrays: SearchArrays,
    tree: Tree,
    walkers: Walkers,
    statistics: MoveStatistics | None,
    contexts: ContextStatistics | None,
    settings: Settings,
    ended: Row,
) -> None:
    """Back up every lane of `ended`, in the order of the lanes."""
    store(arrays.mask, CUT, ended)
    for w in range(word_count(arrays.value)):
        bits = get_word(arrays.mask, CUT, w)
        while bits != np.uint64(0):
            lane = 64 * w + lowest_bit(bits)
            bits = bits & (bits - np.uint64(1))
            walker = np.int64(walkers.of_lane[lane])
            node = np.int64(walkers.node[walker])
            if settings.is_solving != 0 and node != MISSING and tree.proof[node] != UNPROVEN:
                arrays.goal[0] = float(tree.proof[node])
                if tables.role_count > 1:
                    arrays.goal[1] = BEST_GOAL - arrays.goal[0]
            else:
                _read_goals_of_end(tables, arrays, walkers, settings, walker, lane)
                _watch_sum(tables, arrays, tree, settings, lane)
                is_leaf = arrays.counter[TICK] == walkers.start[lane] + walkers.depth[walker]
                if settings.is_solving != 0 and is_leaf:
                    note_terminal(arrays, tree, walkers, walker, np.int64(walkers.leaf[walker]))
            end_lane(arrays, tree, walkers, statistics, contexts, settings, lane)


@stage
def lanes_at_an_end(
    tables: LaneTables,
    arrays: SearchArrays,
    tree: Tree,
    walkers: Walkers,
    settings: Settings,
    over: Row,
) -> Row:
    """Expand the nodes where walkers stand, and return the lanes that go no further.

    Those are at a proven node, or where a role is stuck. Lanes of `over` are left alone.
    """
    store(arrays.mask, CUT, over)
    for i in range(arrays.counter[DESCENDING]):
        walker = np.int64(walkers.descending[i])
        node = np.int64(walkers.node[walker])
        lane = np.int64(walkers.lane[walker, 0])
        if has_lane(arrays.mask, CUT, lane):
            continue
        is_end = settings.is_solving != 0 and tree.proof[node] != UNPROVEN
        if not is_end and tree.first_edge[node, 0] == MISSING:
            is_end = expand(tables, arrays, tree, node, lane) == STUCK
        if is_end:
            for k in range(walkers.size[walker]):
                set_lane(arrays.mask, CUT, np.int64(walkers.lane[walker, k]))
    return load(arrays.mask, CUT)
