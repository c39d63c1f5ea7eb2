"""The policy at work: the kernels that `search_tree` calls to choose in playouts, record and learn.

Each is compiled separately when a search first needs it; `link_parts` finds those of a policy, here and in
the policies' modules. All take the memory of the search; what else is in their signatures.
"""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import kernel
from ggp.jit.entry_points import entry_point
from ggp.jit.rows import Index, store
from ggp.jit.unboxed import Unboxed, unboxed
from ggp.lanes.choose import choose_moves
from ggp.lanes.indices import numbers_of_planes, planes_of_indices
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import CUT, Parts, SearchMemory
from ggp.search.tree.kernels.lane_half import finish_tick, lanes_in_playouts, settle_and_end
from ggp.search.tree.kernels.tree import is_untried, random_below
from ggp.search.tree.policies.fast_kernels import choose_by_cases, level_in_lane, weight_of_level
from ggp.search.tree.policies.mast import choose_by_weights, learn_moves, learn_tree_moves
from ggp.search.tree.policies.past import choose_by_facts, learn_pairs, record_states
from ggp.search.tree.policies.policy import ALL_MOVES, FAST, GIBBS, NO_MOVES, PAST, UNIFORM
from ggp.search.tree.policies.rave import back_up_grave, back_up_rave, mix_in


@kernel
def choose_uniformly(memory: Unboxed[SearchMemory]) -> None:
    """First half of a tick: in playouts every legal move alike. Lanes that are over or stuck: mask CUT."""
    search = unboxed(memory)
    arrays = search.arrays
    over = settle_and_end(search)
    playing = lanes_in_playouts(arrays, over)
    planes = search.settings.choice_planes
    stuck = choose_moves(search.tables, arrays.value, arrays.scratch, planes, arrays.random, playing)
    store(arrays.mask, CUT, over | stuck)


@kernel
def choose_with_mast(memory: Unboxed[SearchMemory]) -> None:
    """The same by the weights of the moves."""
    search = unboxed(memory)
    arrays = search.arrays
    over = settle_and_end(search)
    playing = lanes_in_playouts(arrays, over)
    stuck = choose_by_weights(search.tables, arrays, search.statistics, playing)
    store(arrays.mask, CUT, over | stuck)


@kernel
def choose_with_past(memory: Unboxed[SearchMemory]) -> None:
    """The same by the facts that hold, which are recorded."""
    search = unboxed(memory)
    arrays = search.arrays
    over = settle_and_end(search)
    playing = lanes_in_playouts(arrays, over)
    record_states(search.tables, arrays)
    store(arrays.mask, CUT, over | choose_by_facts(search, playing))


@kernel
def choose_with_fast(memory: Unboxed[SearchMemory]) -> None:
    """The same by the cases of the moves."""
    search = unboxed(memory)
    arrays = search.arrays
    over = settle_and_end(search)
    playing = lanes_in_playouts(arrays, over)
    cases = search.contexts.cases
    stuck = choose_by_cases(
        search.tables, arrays.value, cases, arrays.roulette.planes, arrays.random, playing
    )
    store(arrays.mask, CUT, over | stuck)


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
        if is_untried(tree, e):
            level = level_in_lane(arrays.value, cases, np.int64(tree.move[e]), lane)
            arrays.score[e - first] = level
            top = level if level < top else top
    total: Index = 0
    for e in range(first, end):
        if is_untried(tree, e):
            total += weight_of_level(cases, role, np.int64(arrays.score[e - first]), top)
    k = random_below(arrays.seed, total)
    for e in range(first, end):
        if is_untried(tree, e):
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


def link_parts(memory: Unboxed[SearchMemory]) -> Parts:
    """The parts of a search by its settings, compiled or loaded from the cache."""
    settings = memory.value.settings
    parts = Parts(
        choose=entry_point(_CHOOSE[settings.playout], memory), finish=entry_point(finish_tick, memory)
    )
    has_amaf = settings.rave_k > 0.0
    if has_amaf or settings.learning == ALL_MOVES:
        parts = parts._replace(record=entry_point(record_moves, memory))
    if settings.learning != NO_MOVES:
        learn = learn_moves if settings.learning == ALL_MOVES else learn_tree_moves
        parts = parts._replace(learn=entry_point(learn, memory, 0, 0))
    if has_amaf:
        learn = back_up_grave if settings.grave_reference > 0 else back_up_rave
        mix = entry_point(mix_in, memory, 0, 0, 0, 0)
        parts = parts._replace(learn_amaf=entry_point(learn, memory, 0, 0), mix=mix)
    if settings.playout == PAST:
        parts = parts._replace(learn_context=entry_point(learn_pairs, memory, 0, 0))
    if settings.playout == FAST:
        parts = parts._replace(draw=entry_point(draw_with_fast, memory, 0, 0, 0, 0))
    return parts
