"""The end of a playout: its goals go up the path, teach the policies, and the lane becomes free."""

from __future__ import annotations

import numpy as np

from ggp.kernels.compiling import inlined, stage
from ggp.kernels.lane_bits import clear_lane
from ggp.kernels.policies import learn_moves, refresh_weights
from ggp.kernels.policies_ngrams import learn_ngrams
from ggp.kernels.policies_past import learn_pairs
from ggp.kernels.rows import Index
from ggp.kernels.tree_amaf import back_up_grave, back_up_rave
from ggp.kernels.tree_arrays import (
    ALL_MOVES,
    BUSY,
    DEEPEST,
    DEPTH_SUM,
    FINISHED,
    FREE_LANES,
    FREE_WALKERS,
    GREEDY_NGRAMS,
    IN_TREE,
    LANES_BUSY,
    MISSING,
    NGRAMS,
    NO_MOVES,
    PAST,
    ROOT_VISITS,
    STEPS,
    TICK,
    TREE_MOVES,
    ContextStatistics,
    MoveStatistics,
    SearchArrays,
    Settings,
    Tree,
    Walkers,
)


@inlined
def back_up(arrays: SearchArrays, tree: Tree, walkers: Walkers, walker: Index) -> None:
    """Count one playout with the goals in arrays.goal on every edge of the walker's path."""
    for d in range(walkers.depth[walker]):
        for role in range(arrays.goal.shape[0]):
            e = walkers.path_edge[walker, d, role]
            tree.visits[e] += 1
            tree.flight[e] -= 1
            tree.total[e] += arrays.goal[role]


@inlined
def learn_tree_moves(
    arrays: SearchArrays, tree: Tree, walkers: Walkers, statistics: MoveStatistics, walker: Index
) -> None:
    """Enter the moves of the walker's path, with the goals in arrays.goal (TO-MAST)."""
    for d in range(walkers.depth[walker]):
        for role in range(arrays.goal.shape[0]):
            move = tree.move[walkers.path_edge[walker, d, role]]
            statistics.visits[move] += 1.0
            statistics.total[move] += arrays.goal[role]


@stage
def end_lane(
    arrays: SearchArrays,
    tree: Tree,
    walkers: Walkers,
    statistics: MoveStatistics | None,
    contexts: ContextStatistics | None,
    settings: Settings,
    lane: Index,
) -> None:
    """Enter the playout that ends in `lane` now, before the move of this tick, and free the lane."""
    counter = arrays.counter
    tick = counter[TICK]
    walker = np.int64(walkers.of_lane[lane])
    back_up(arrays, tree, walkers, walker)
    if statistics is not None:
        if settings.learning == ALL_MOVES:
            learn_moves(arrays, statistics, lane, walkers.start[lane], tick)
        elif settings.learning == TREE_MOVES:
            learn_tree_moves(arrays, tree, walkers, statistics, walker)
        if settings.learning != NO_MOVES:
            refresh_weights(arrays, statistics, settings)
        if settings.grave_reference > 0:
            back_up_grave(arrays, tree, walkers, statistics, settings, walker, lane, tick)
        elif settings.rave_k > 0.0:
            back_up_rave(arrays, tree, walkers, statistics, walker, lane, tick)
    if contexts is not None:
        if settings.playout == PAST:
            learn_pairs(arrays, contexts, settings, lane, walkers.start[lane], tick)
        if settings.playout == NGRAMS or settings.playout == GREEDY_NGRAMS:
            learn_ngrams(arrays, contexts, settings, lane, walkers.start[lane], tick)
    depth = np.int64(walkers.depth[walker])
    counter[FINISHED] += 1
    counter[ROOT_VISITS] += 1
    counter[STEPS] += tick - walkers.start[lane]
    counter[DEPTH_SUM] += depth
    counter[DEEPEST] = max(counter[DEEPEST], depth)
    free_lane(arrays, walkers, lane, walker)


@inlined
def free_lane(arrays: SearchArrays, walkers: Walkers, lane: Index, walker: Index) -> None:
    """The lane is at nobody's service; a walker without lanes is free too."""
    counter = arrays.counter
    walkers.of_lane[lane] = MISSING
    clear_lane(arrays.mask, BUSY, lane)
    clear_lane(arrays.mask, IN_TREE, lane)
    walkers.free_lane[counter[FREE_LANES]] = lane
    counter[FREE_LANES] += 1
    counter[LANES_BUSY] -= 1
    walkers.left[walker] -= 1
    if walkers.left[walker] == 0:
        walkers.free[counter[FREE_WALKERS]] = walker
        counter[FREE_WALKERS] += 1
