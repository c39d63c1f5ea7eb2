"""Playout policies: how lanes outside the tree choose, and what a finished playout teaches.

A policy is a way to choose (`settings.playout`) on top of what was learned (`settings.learning`):

    uniform     every legal move alike                                        UNIFORM
    MAST        Gibbs sampling, weight exp(mean goal of the move / tau)       GIBBS, learning ALL_MOVES
    TO-MAST     the same, learned from moves made in the tree only            GIBBS, learning TREE_MOVES
    PAST        means per fact that holds and move, see `policies_past`       PAST, learning ALL_MOVES
    FAST        values learned for features of states, see `policies_fast`    FAST
    NST         means of N-grams, see `policies_ngrams`    NGRAMS or GREEDY_NGRAMS, learning ALL_MOVES
    greedy      the best mean, but a uniform move with probability epsilon    GREEDY

Source: Finnsson & Björnsson, "Learning Simulation Control in General Game-Playing Agents" (AAAI 2010);
epsilon-greedy: Tak, Winands & Björnsson (2012). Moves not made yet count like the best one made.
"""

from __future__ import annotations

import numpy as np

from ggp.kernels.choose import choose_moves
from ggp.kernels.compiling import inlined, piece, stage
from ggp.kernels.lane_tables import LaneTables
from ggp.kernels.policies_fast import choose_by_cases
from ggp.kernels.policies_ngrams import choose_by_ngrams
from ggp.kernels.policies_past import choose_by_facts
from ggp.kernels.random_rows import next_random
from ggp.kernels.roulette import FEWEST, SPARSE, gibbs_weight, roulette_moves
from ggp.kernels.rows import Index, Row, any_lane, fill, literal, load, store, word_count
from ggp.kernels.tree_arrays import (
    FAST,
    GIBBS,
    GREEDY,
    GREEDY_NGRAMS,
    NGRAMS,
    PAST,
    REFRESH_IN,
    ContextStatistics,
    Float64Array,
    MoveStatistics,
    SearchArrays,
    Settings,
    Walkers,
)
from ggp.tables import Int32Array

EPSILON_BITS = 10
FEW_STEPS = 8
"""Places by which moves go up on average where their order is nearly right."""


@stage
def choose_playout_moves(
    tables: LaneTables,
    arrays: SearchArrays,
    statistics: MoveStatistics | None,
    contexts: ContextStatistics | None,
    settings: Settings,
    walkers: Walkers,
    planes: Index,
    lanes: Row,
) -> Row:
    """Select one move per role in each of `lanes` by the policy; returns the lanes that are stuck."""
    value = arrays.value
    greedy = lanes & ~lanes
    if statistics is not None:
        if contexts is not None:
            if settings.playout == PAST:
                return choose_by_facts(tables, arrays, statistics, contexts, settings, lanes)
            if settings.playout == FAST:
                return choose_by_cases(
                    tables, value, contexts.cases, arrays.wheel.planes, arrays.random, lanes
                )
            if settings.playout == NGRAMS or settings.playout == GREEDY_NGRAMS:
                return choose_by_ngrams(tables, arrays, statistics, contexts, settings, walkers.start, lanes)
        if settings.playout == GIBBS:
            fewest = FEWEST * word_count(value)
            weight = statistics.weight
            return roulette_moves(tables, value, weight, arrays.wheel, arrays.random, lanes, SPARSE, fewest)
        if settings.playout == GREEDY and any_lane(lanes):
            greedy = lanes & ~_draw_with_probability(arrays, settings.epsilon)
    stuck = choose_moves(tables, value, arrays.scratch, planes, arrays.random, lanes)
    if statistics is not None and settings.playout == GREEDY:
        _choose_best(tables, arrays, statistics, settings, greedy & ~stuck)
    return stuck


@inlined
def _draw_with_probability(arrays: SearchArrays, numerator: Index) -> Row:
    """Lanes with probability numerator / 1024 each."""
    older = load(arrays.random, 0)
    newer = load(arrays.random, 1)
    drawn = fill(arrays.value, np.uint64(0))
    for b in range(EPSILON_BITS):
        older, newer, x = next_random(older, newer)
        if (numerator >> b) & 1:
            drawn = drawn | x
        else:
            drawn = drawn & x
    store(arrays.random, 0, older)
    store(arrays.random, 1, newer)
    if numerator >= 1 << EPSILON_BITS:
        drawn = drawn | ~drawn
    return drawn


@inlined
def _choose_best(
    tables: LaneTables, arrays: SearchArrays, statistics: MoveStatistics, settings: Settings, lanes: Row
) -> None:
    """In each of `lanes`, instead of the move selected, the legal one that comes first in the order."""
    value = arrays.value
    for role in range(tables.role_count):
        if role == settings.chance:
            continue
        left = lanes
        first = arrays.first_move[role]
        for i in range(first, arrays.first_move[role + 1]):
            move = np.int64(statistics.order[i])
            slot = tables.first_slot[role] + move - first
            x = literal(value, np.int64(tables.slot_literal[slot])) & left
            node = np.int64(tables.move0) + move
            store(value, node, (load(value, node) & ~lanes) | x)
            left = left & ~x


@inlined
def learn_moves(
    arrays: SearchArrays, statistics: MoveStatistics, lane: Index, first_tick: Index, end_tick: Index
) -> None:
    """Enter the moves that `lane` made from first_tick to before end_tick, with the goals in arrays.goal."""
    ticks = arrays.history.shape[0]
    first_tick = max(first_tick, end_tick - ticks)
    for tick in range(first_tick, end_tick):
        t = tick & (ticks - 1)
        for role in range(arrays.history.shape[1]):
            move = arrays.history[t, role, lane]
            statistics.visits[move] += 1.0
            statistics.total[move] += arrays.goal[role]


@inlined
def refresh_weights(arrays: SearchArrays, statistics: MoveStatistics, settings: Settings) -> None:
    """After every `settings.refresh` playouts: the weights (or the order) of the moves from their means."""
    arrays.counter[REFRESH_IN] -= 1
    if arrays.counter[REFRESH_IN] > 0:
        return
    arrays.counter[REFRESH_IN] = settings.refresh
    for role in range(arrays.first_move.shape[0] - 1):
        if role == settings.chance:
            continue
        first = arrays.first_move[role]
        end = arrays.first_move[role + 1]
        best = 0.0
        for move in range(first, end):
            if statistics.visits[move] > 0.0:
                best = max(best, statistics.total[move] / statistics.visits[move])
        is_as_before = best == statistics.best[role]
        statistics.best[role] = best
        for move in range(first, end):
            key = best
            if statistics.visits[move] > 0.0:
                key = statistics.total[move] / statistics.visits[move]
            if is_as_before and key == statistics.key[move]:
                continue  # a playout makes few of the moves, and computing weights takes longest here
            statistics.key[move] = key
            statistics.weight[move] = gibbs_weight(key, best, settings.temperature, end - first)
        if settings.playout == GREEDY:
            sort_by_key(statistics, first, end)


@inlined
def sort_by_key(statistics: MoveStatistics, first: Index, end: Index) -> None:
    """Best first, of equals the lower move. The order hardly changes between refreshes: insertion sort.

    Where it does, in the first ones, that takes seconds for tens of thousands of moves: Shell's sort then.
    """
    order = statistics.order[first:end]
    moves = end - first
    if _insert_by_key(order, statistics.key, 1, FEW_STEPS * moves):
        return
    gap = 1
    while gap < moves // 3:
        gap = 3 * gap + 1
    while gap > 0:
        _insert_by_key(order, statistics.key, gap, moves * moves)
        gap //= 3


@piece
def _insert_by_key(order: Int32Array, key: Float64Array, gap: Index, most_steps: Index) -> bool:
    """Sort moves `gap` places apart among themselves; whether it was done in about `most_steps` steps.

    Where it takes more, what is left stays unsorted.
    """
    steps = 0
    for i in range(gap, order.shape[0]):
        move = order[i]
        j = i - gap
        while j >= 0 and (key[order[j]] < key[move] or (key[order[j]] == key[move] and order[j] > move)):
            order[j + gap] = order[j]
            j -= gap
            steps += 1
        order[j + gap] = move
        if steps > most_steps:
            return False
    return True
