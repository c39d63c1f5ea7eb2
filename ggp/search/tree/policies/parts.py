"""The kernels that `search_tree` calls: those of its policy, and what serves all lanes at once.

Each is compiled by itself, for the width of a row, when a search first needs it; `link_parts` finds those of
a policy, here and in the policies' modules.
"""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import kernel
from ggp.jit.entry_points import entry_point
from ggp.jit.rows import Index, load, store
from ggp.jit.unboxed import Unboxed, unboxed
from ggp.lanes.choose import advance_all, choose_moves, draw_all, is_fused, leaf_row, settle_and_count
from ggp.lanes.indices import numbers_of_planes, planes_of_indices
from ggp.lanes.roulette import roulette_moves
from ggp.lanes.step import advance, settle_states, settle_successors
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import CUT, MOVED, Parts, SearchMemory
from ggp.search.tree.kernels.ends import find_ends, settle_and_end
from ggp.search.tree.kernels.tree import random_below
from ggp.search.tree.policies.fast_kernels import choose_by_cases, level_in_lane, weight_of_level
from ggp.search.tree.policies.mast import learn_moves, learn_tree_moves, refresh_weights
from ggp.search.tree.policies.past import choose_by_facts, learn_pairs, record_states
from ggp.search.tree.policies.policy import ALL_MOVES, FAST, GIBBS, NO_MOVES, PAST, TREE_MOVES, UNIFORM
from ggp.search.tree.policies.rave import back_up_rave, mix_in


@kernel
def choose_uniformly(memory: Unboxed[SearchMemory]) -> None:
    """First half of a tick: in playouts every legal move alike. Lanes that are over or stuck: mask CUT."""
    search = unboxed(memory)
    tables, arrays, planes = search.tables, search.arrays, search.settings.choice_planes
    value, scratch = arrays.value, arrays.scratch
    # The history of all-moves-as-first reads the rows of moves.
    fused = search.settings.rave_k == 0.0 and is_fused(tables, value)
    arrays.counter[c.LEAF_ROW] = leaf_row(tables, planes) if fused else 0
    if fused:
        settle_and_count(tables, value, scratch)
    else:
        settle_states(tables, value)
    over, playing = find_ends(search)
    if fused:
        stuck = draw_all(tables, value, scratch, planes, arrays.random, playing)
    else:
        stuck = choose_moves(tables, value, scratch, planes, arrays.random, playing)
    store(arrays.mask, CUT, over | stuck)


@kernel
def choose_with_mast(memory: Unboxed[SearchMemory]) -> None:
    """The same by the weights of the moves."""
    search = unboxed(memory)
    arrays = search.arrays
    over, playing = settle_and_end(search)
    weight, legal = search.statistics.weight, arrays.legal
    stuck = roulette_moves(search.tables, arrays.value, weight, legal, arrays.random, playing)
    store(arrays.mask, CUT, over | stuck)


@kernel
def choose_with_past(memory: Unboxed[SearchMemory]) -> None:
    """The same by the facts that hold, which are recorded."""
    search = unboxed(memory)
    over, playing = settle_and_end(search)
    record_states(search.tables, search.arrays)
    store(search.arrays.mask, CUT, over | choose_by_facts(search, playing))


@kernel
def choose_with_fast(memory: Unboxed[SearchMemory]) -> None:
    """The same by the cases of the moves."""
    search = unboxed(memory)
    arrays = search.arrays
    over, playing = settle_and_end(search)
    cases = search.contexts.cases
    stuck = choose_by_cases(search.tables, arrays.value, cases, arrays.random, playing)
    store(arrays.mask, CUT, over | stuck)


@kernel
def finish_tick(memory: Unboxed[SearchMemory]) -> None:
    """Second half: settle the next states, and step; lanes that made no move take the root state."""
    search = unboxed(memory)
    tables, arrays = search.tables, search.arrays
    moved = load(arrays.mask, MOVED)
    if arrays.counter[c.LEAF_ROW] != 0:
        advance_all(tables, arrays.value, arrays.scratch, search.settings.choice_planes, ~moved)
    else:
        settle_successors(tables, arrays.value, False)
        root = np.int64(arrays.scratch.shape[0] - tables.fluent_count)
        advance(tables, arrays.value, arrays.saved, moved, arrays.scratch, root)


@kernel
def record_moves(memory: Unboxed[SearchMemory]) -> None:
    """Enter the move of every role in every lane into the history of this tick."""
    search = unboxed(memory)
    arrays = search.arrays
    ticks = arrays.history.shape[0]
    t = arrays.counter[c.TICK] & (ticks - 1)
    for role in range(search.tables.role_count):
        first = arrays.first_move[role]
        count = arrays.first_move[role + 1] - first
        used = planes_of_indices(arrays.value, np.int64(search.tables.move0) + first, count, arrays.planes)
        numbers_of_planes(arrays.planes, 0, used, first - 1, arrays.block, arrays.history[t, role])


@kernel
def draw_with_fast(memory: Unboxed[SearchMemory], first: int, end: int, role: int, lane: int) -> int:
    """An untried edge of `first` .. `end` - 1, by the weights that FAST gives in the state of `lane`."""
    search = unboxed(memory)
    tree = search.tree
    arrays = search.arrays
    cases = search.contexts.cases
    top: Index = cases.weight.shape[1]
    # score holds the levels of untried edges, and top the best of them, on which all weights depend.
    for e in range(first, end):
        if tree.started[e] == 0:
            level = level_in_lane(arrays.value, cases, np.int64(tree.move[e]), lane)
            arrays.score[e - first] = level
            top = level if level < top else top
    total: Index = 0
    for e in range(first, end):
        if tree.started[e] == 0:
            total += weight_of_level(cases, role, np.int64(arrays.score[e - first]), top)
    k = random_below(arrays.seed, total)
    for e in range(first, end):
        if tree.started[e] == 0:
            k -= weight_of_level(cases, role, np.int64(arrays.score[e - first]), top)
            if k < 0:
                return e
    return first


_CHOOSE = {
    UNIFORM: choose_uniformly,
    GIBBS: choose_with_mast,
    PAST: choose_with_past,
    FAST: choose_with_fast,
}
_LEARN = {ALL_MOVES: learn_moves, TREE_MOVES: learn_tree_moves}


def link_parts(memory: Unboxed[SearchMemory]) -> Parts:
    """The parts of a search by its settings, compiled or loaded from the cache."""
    settings = memory.value.settings
    choose = _CHOOSE[settings.playout]
    parts = Parts(choose=entry_point(choose, memory), finish=entry_point(finish_tick, memory))
    has_amaf = settings.rave_k > 0.0
    if has_amaf or settings.learning == ALL_MOVES:
        parts = parts._replace(record=entry_point(record_moves, memory))
    if settings.learning != NO_MOVES:
        learn = entry_point(_LEARN[settings.learning], memory, 0, 0)
        parts = parts._replace(learn=learn, refresh=entry_point(refresh_weights, memory))
    if has_amaf:
        mix = entry_point(mix_in, memory, 0, 0, 0)
        parts = parts._replace(learn_amaf=entry_point(back_up_rave, memory, 0, 0), mix=mix)
    if settings.playout == PAST:
        parts = parts._replace(learn_context=entry_point(learn_pairs, memory, 0, 0))
    if settings.playout == FAST:
        parts = parts._replace(draw=entry_point(draw_with_fast, memory, 0, 0, 0, 0))
    return parts
