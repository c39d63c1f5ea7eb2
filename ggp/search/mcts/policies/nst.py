"""NST, N-gram selection technique: the value of a move depends on the moves before it.

An N-gram of a role is one of its moves after the N-1 joint moves before it. For N = 2 and 3 there is a mean
goal per N-gram, N = 1 is MAST. The value of a legal move is the average of its means with enough visits.
Moves without an alternative (of the role whose turn it is not) teach nothing here. The simulation begins at
the root: joint moves before it do not count.

Weights differ from lane to lane, so this works lane by lane; what makes it bearable is that weights are
looked up instead of computed, and that a 3-gram is looked up only if the 2-gram, which has at least as
many visits, is known. N-grams live in a hash table of fixed size; if it is full, one with few visits is
replaced.
Source: Tak, Winands & Björnsson, "N-Grams and the Last-Good-Reply Policy" (2012), with k = 7.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ggp.jit.compiling import inlined, stage
from ggp.jit.prefetch import prefetch
from ggp.jit.rows import (
    Index,
    Row,
    get_word,
    load,
    lowest_bit,
    set_word,
    store,
    word_count,
)
from ggp.lanes.bits import has_lane, literal_word
from ggp.lanes.indices import transpose_bits
from ggp.lanes.layout import LaneTables
from ggp.lanes.roulette import LARGEST_WEIGHT
from ggp.lanes.row_loops import clear_moves, several_true
from ggp.search.mcts.kernels import counters as c
from ggp.search.mcts.kernels.arrays import (
    CUT,
    GIBBS_STEPS,
    MISSING,
    ContextStatistics,
    MoveStatistics,
    SearchArrays,
    Settings,
)
from ggp.search.mcts.kernels.tree import random_below
from ggp.search.mcts.policies.policy import GREEDY_NGRAMS

PROBES = 8
NOTHING_BEFORE = np.uint64(0)


def fill_gibbs(contexts: ContextStatistics, temperature: float) -> None:
    """Fill the table of weights by the distance to the best mean, as `gibbs_weight` of MAST would."""
    for i in range(GIBBS_STEPS + 1):
        contexts.gibbs[i] = max(1, math.floor(LARGEST_WEIGHT * math.exp(-i / 8 / temperature) + 0.5))


@inlined
def record_choices(tables: LaneTables, arrays: SearchArrays) -> None:
    """Enter into the history of this tick in which lanes each role has several legal moves."""
    ticks = arrays.history.shape[0]
    first_row = (arrays.counter[c.TICK] & (ticks - 1)) * tables.role_count
    for role in range(tables.role_count):
        slot, end = tables.first_slot[role], tables.first_slot[role + 1]
        several = several_true(arrays.value, tables.slot_literal, slot, end)
        store(arrays.choosing, first_row + role, several)


@inlined
def _read_legal(tables: LaneTables, arrays: SearchArrays, w: Index) -> None:
    """arrays.legal[g, i] = which of slots 64 g .. 64 g + 63 are legal in lane 64 w + i."""
    slots = np.int64(tables.first_slot[tables.role_count])
    block = arrays.block
    for group in range((slots + 63) // 64):
        for i in range(64):
            s = 64 * group + i
            block[i] = np.uint64(0)
            if s < slots:
                block[i] = literal_word(arrays.value, np.int64(tables.slot_literal[s]), w)
        transpose_bits(block)
        for i in range(64):
            arrays.legal[group, i] = block[i]


@inlined
def _list_options(tables: LaneTables, arrays: SearchArrays, bit: Index) -> bool:
    """arrays.option = the legal moves in lane `bit` of the word that was read; whether each role has one.

    Those of role r are option_first[r] .. option_first[r + 1] - 1.
    """
    slots = np.int64(tables.first_slot[tables.role_count])
    n = 0
    role = 0
    arrays.option_first[0] = 0
    for group in range((slots + 63) // 64):
        bits = arrays.legal[group, bit]
        while bits != np.uint64(0):
            s = 64 * group + lowest_bit(bits)
            bits = bits & (bits - np.uint64(1))
            while s >= tables.first_slot[role + 1]:
                role += 1
                arrays.option_first[role] = n
            arrays.option[n] = tables.slot_node[s] - tables.move0
            n += 1
    while role < tables.role_count:
        role += 1
        arrays.option_first[role] = n
    has_all = True
    for r in range(tables.role_count):
        has_all = has_all and arrays.option_first[r] < arrays.option_first[r + 1]
    return has_all


@inlined
def _mix(h: np.uint64, x: Index) -> np.uint64:
    h = (h ^ np.uint64(x + 1)) * np.uint64(0xBF58_476D_1CE4_E5B9)
    return h ^ (h >> np.uint64(31))


@inlined
def _hash_of_moves_before(
    arrays: SearchArrays, lane: Index, tick: Index, length: Index, first_tick: Index
) -> np.uint64:
    """Hash of the `length` joint moves before that of `tick`; NOTHING_BEFORE if first_tick is later."""
    if tick - length < first_tick:
        return NOTHING_BEFORE
    ticks = arrays.history.shape[0]
    h = np.uint64(length)
    for t in range(tick - length, tick):
        for role in range(arrays.history.shape[1]):
            h = _mix(h, np.int64(arrays.history[t & (ticks - 1), role, lane]))
    return h | np.uint64(1)


@inlined
def _find_gram(contexts: ContextStatistics, before: np.uint64, move: Index) -> Index:
    """Where the N-gram is in the table, or MISSING."""
    h = _mix(before, move)
    key = np.uint32(h >> np.uint64(32)) | np.uint32(1)
    mask = contexts.gram_key.shape[0] - 1
    for i in range(PROBES):
        g: Index = (np.int64(h & np.uint64(mask)) + i) & mask
        found = contexts.gram_key[g]
        if found == key:
            return g
        if found == np.uint32(0):
            return MISSING
    return MISSING


@inlined
def _count_gram(
    contexts: ContextStatistics, settings: Settings, before: np.uint64, move: Index, goal: float
) -> None:
    """Enter one visit. Without room, replace the N-gram with the fewest visits, unless it has enough."""
    h = _mix(before, move)
    key = np.uint32(h >> np.uint64(32)) | np.uint32(1)
    mask = contexts.gram_key.shape[0] - 1
    least = np.float64(settings.gram_visits)
    chosen: Index = MISSING
    for i in range(PROBES):
        g = (np.int64(h & np.uint64(mask)) + i) & mask
        found = contexts.gram_key[g]
        if found == key:
            contexts.gram[2 * g] += 1.0
            contexts.gram[2 * g + 1] += goal
            return
        if found == np.uint32(0):
            chosen = g
            break
        if contexts.gram[2 * g] < least:
            least = contexts.gram[2 * g]
            chosen = g
    if chosen != MISSING:
        contexts.gram_key[chosen] = key
        contexts.gram[2 * chosen] = 1.0
        contexts.gram[2 * chosen + 1] = goal


@inlined
def _value_of(
    statistics: MoveStatistics,
    contexts: ContextStatistics,
    settings: Settings,
    move: Index,
    shorter: np.uint64,
    longer: np.uint64,
) -> float:
    """The average of the means of the N-grams that end with `move` after these joint moves."""
    value = float(statistics.key[move])
    if shorter == NOTHING_BEFORE:
        return value
    g = _find_gram(contexts, shorter, move)
    if g == MISSING or contexts.gram[2 * g] < settings.gram_visits:
        return value
    value += float(contexts.gram[2 * g + 1] / contexts.gram[2 * g])
    if longer != NOTHING_BEFORE:
        g = _find_gram(contexts, longer, move)
        if g != MISSING and contexts.gram[2 * g] >= settings.gram_visits:
            return (value + float(contexts.gram[2 * g + 1] / contexts.gram[2 * g])) / 3.0
    return value / 2.0


@inlined
def _ask_for_grams(
    arrays: SearchArrays, contexts: ContextStatistics, before: np.uint64, first: Index, end: Index
) -> None:
    """Prefetch the N-grams of all options."""
    mask = np.uint64(contexts.gram_key.shape[0] - 1)
    for i in range(first, end):
        g = np.int64(_mix(before, np.int64(arrays.option[i])) & mask)
        prefetch(contexts.gram_key, g)
        prefetch(contexts.gram, 2 * g)


@inlined
def _draw_option(
    arrays: SearchArrays,
    statistics: MoveStatistics,
    contexts: ContextStatistics,
    settings: Settings,
    role: Index,
    is_uniform: bool,
    shorter: np.uint64,
    longer: np.uint64,
) -> Index:
    first = arrays.option_first[role]
    end = arrays.option_first[role + 1]
    if end - first == 1:
        return np.int64(arrays.option[first])
    if role == settings.chance or is_uniform:
        return np.int64(arrays.option[first + random_below(arrays.seed, end - first)])
    if shorter != NOTHING_BEFORE:
        _ask_for_grams(arrays, contexts, shorter, first, end)
    best = -1.0
    chosen = first
    for i in range(first, end):
        value = _value_of(statistics, contexts, settings, np.int64(arrays.option[i]), shorter, longer)
        arrays.score[i] = value
        if value > best:
            best = value
            chosen = i
    if settings.playout == GREEDY_NGRAMS:
        return np.int64(arrays.option[chosen])
    total = 0
    for i in range(first, end):
        weight = contexts.gibbs[np.int64(8.0 * (best - arrays.score[i]))]
        arrays.score[i] = float(weight)
        total += weight
    k = random_below(arrays.seed, total)
    for i in range(first, end):
        k -= np.int64(arrays.score[i])
        if k < 0:
            return np.int64(arrays.option[i])
    return np.int64(arrays.option[chosen])


@stage
def choose_by_ngrams(
    tables: LaneTables,
    arrays: SearchArrays,
    statistics: MoveStatistics,
    contexts: ContextStatistics,
    settings: Settings,
    start: NDArray[np.int64],
    lanes: Row,
) -> Row:
    """Select one move per role in each of `lanes`; returns the lanes that are stuck.

    start   int64[L]: tick of the first move of the lane's simulation
    """
    value = arrays.value
    clear_moves(tables, value)
    store(arrays.mask, CUT, lanes)
    tick = arrays.counter[c.TICK]
    for w in range(word_count(value)):
        bits = get_word(arrays.mask, CUT, w)
        set_word(arrays.mask, CUT, w, np.uint64(0))
        if bits != np.uint64(0):
            _read_legal(tables, arrays, w)
        while bits != np.uint64(0):
            number = lowest_bit(bits)
            bit = np.uint64(1) << np.uint64(number)
            bits = bits ^ bit
            if not _list_options(tables, arrays, number):
                set_word(arrays.mask, CUT, w, get_word(arrays.mask, CUT, w) | bit)
                continue
            lane = 64 * w + number
            shorter = _hash_of_moves_before(arrays, lane, tick, 1, start[lane])
            longer = _hash_of_moves_before(arrays, lane, tick, 2, start[lane])
            is_uniform = False
            if settings.playout == GREEDY_NGRAMS:
                is_uniform = bool(random_below(arrays.seed, 1024) < settings.epsilon)
            for role in range(tables.role_count):
                chosen = _draw_option(
                    arrays, statistics, contexts, settings, role, is_uniform, shorter, longer
                )
                node = np.int64(tables.move0) + chosen
                set_word(value, node, w, get_word(value, node, w) | bit)
    return load(arrays.mask, CUT)


@inlined
def learn_ngrams(
    arrays: SearchArrays,
    contexts: ContextStatistics,
    settings: Settings,
    lane: Index,
    first_tick: Index,
    end_tick: Index,
) -> None:
    """Enter the N-grams of `lane` from first_tick to before end_tick, with the goals in arrays.goal."""
    ticks = arrays.history.shape[0]
    roles = arrays.history.shape[1]
    earliest = max(first_tick, end_tick - ticks)
    for tick in range(earliest + 1, end_tick):
        t = tick & (ticks - 1)
        shorter = _hash_of_moves_before(arrays, lane, tick, 1, earliest)
        longer = _hash_of_moves_before(arrays, lane, tick, 2, earliest)
        for role in range(roles):
            if role == settings.chance or not has_lane(arrays.choosing, t * roles + role, lane):
                continue
            move = np.int64(arrays.history[t, role, lane])
            _count_gram(contexts, settings, shorter, move, arrays.goal[role])
            if longer != NOTHING_BEFORE:
                _count_gram(contexts, settings, longer, move, arrays.goal[role])
