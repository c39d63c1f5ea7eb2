"""The policy at work: where playouts choose, what they record, and what a finished one teaches.

Each branch below calls the module of one policy. Which branches a search takes is decided by its `Settings`;
those for members that are None are not compiled.
"""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined, stage
from ggp.jit.rows import Index, Row, any_lane
from ggp.lanes.choose import choose_moves
from ggp.lanes.indices import numbers_of_planes, planes_of_indices
from ggp.lanes.layout import LaneTables
from ggp.search.mcts.kernels import counters as c
from ggp.search.mcts.kernels.arrays import SearchArrays, SearchMemory
from ggp.search.mcts.policies.fast_kernels import choose_by_cases
from ggp.search.mcts.policies.greedy import choose_best, draw_with_probability
from ggp.search.mcts.policies.mast import choose_by_weights, learn_moves, learn_tree_moves, refresh_weights
from ggp.search.mcts.policies.nst import choose_by_ngrams, learn_ngrams, record_choices
from ggp.search.mcts.policies.past import choose_by_facts, learn_pairs, record_states
from ggp.search.mcts.policies.policy import (
    ALL_MOVES,
    FAST,
    GIBBS,
    GREEDY,
    GREEDY_NGRAMS,
    NGRAMS,
    NO_MOVES,
    PAST,
    TREE_MOVES,
)
from ggp.search.mcts.policies.rave import back_up_grave, back_up_rave


@stage
def choose_playout_moves(search: SearchMemory, lanes: Row) -> Row:
    """Select one move per role in each of `lanes` by the policy; returns the lanes that are stuck.

    Before that, enter what the policy looks at besides moves into the history of this tick, in all lanes.
    """
    tables = search.tables
    arrays = search.arrays
    settings = search.settings
    statistics = search.statistics
    contexts = search.contexts
    greedy = lanes & ~lanes
    if statistics is not None:
        if contexts is not None:
            if settings.playout == PAST:
                record_states(tables, arrays)
                return choose_by_facts(tables, arrays, statistics, contexts, settings, lanes)
            if settings.playout == FAST:
                return choose_by_cases(
                    tables, arrays.value, contexts.cases, arrays.roulette.planes, arrays.random, lanes
                )
            if settings.playout == NGRAMS or settings.playout == GREEDY_NGRAMS:
                record_choices(tables, arrays)
                start = search.walkers.start
                return choose_by_ngrams(tables, arrays, statistics, contexts, settings, start, lanes)
        if settings.playout == GIBBS:
            return choose_by_weights(tables, arrays, statistics, lanes)
        if settings.playout == GREEDY and any_lane(lanes):
            greedy = lanes & ~draw_with_probability(arrays, settings.epsilon)
    stuck = choose_moves(tables, arrays.value, arrays.scratch, settings.choice_planes, arrays.random, lanes)
    if statistics is not None and settings.playout == GREEDY:
        choose_best(tables, arrays, statistics, settings, greedy & ~stuck)
    return stuck


@stage
def record_moves(search: SearchMemory) -> None:
    """Enter the moves of this tick into the history, for policies that learn from the moves of playouts."""
    if search.statistics is not None:
        settings = search.settings
        if settings.rave_k > 0.0 or settings.learning == ALL_MOVES:
            _record_moves(search.tables, search.arrays)


@inlined
def _record_moves(tables: LaneTables, arrays: SearchArrays) -> None:
    """Enter the move of every role in every lane into the history of this tick."""
    ticks = arrays.history.shape[0]
    t = arrays.counter[c.TICK] & (ticks - 1)
    for role in range(tables.role_count):
        first = arrays.first_move[role]
        count = arrays.first_move[role + 1] - first
        used = planes_of_indices(arrays.value, np.int64(tables.move0) + first, count, arrays.planes)
        numbers_of_planes(arrays.planes, 0, used, first - 1, arrays.block, arrays.history[t, role])


@stage
def learn_from_playout(search: SearchMemory, walker: Index, lane: Index) -> None:
    """Teach the policies the playout that ends in `lane` before the move of this tick."""
    arrays = search.arrays
    tree = search.tree
    walkers = search.walkers
    settings = search.settings
    statistics = search.statistics
    contexts = search.contexts
    tick = arrays.counter[c.TICK]
    start = walkers.start[lane]
    if statistics is not None:
        if settings.learning == ALL_MOVES:
            learn_moves(arrays, statistics, lane, start, tick)
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
            learn_pairs(arrays, contexts, settings, lane, start, tick)
        if settings.playout == NGRAMS or settings.playout == GREEDY_NGRAMS:
            learn_ngrams(arrays, contexts, settings, lane, start, tick)
