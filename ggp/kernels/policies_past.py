"""PAST: predicate-average sampling. What a move is worth depends on the facts that hold.

For every pair of a fact and a move: the mean goal of the playouts that made the move while the fact held. A
legal move is worth the largest mean among the facts of the state, if enough playouts stand behind it, and
else its own mean (MAST). Weights differ from lane to lane, so this works lane by lane, several times
slower than policies whose weights are the same in all lanes. Source: Finnsson & Björnsson (2010).
"""

from __future__ import annotations

import numpy as np

from ggp.kernels.compiling import inlined, stage
from ggp.kernels.indices import transpose_bits
from ggp.kernels.lane_options import list_options, read_legal
from ggp.kernels.lane_tables import LaneTables
from ggp.kernels.roulette import gibbs_weight
from ggp.kernels.row_loops import clear_moves
from ggp.kernels.rows import (
    Index,
    Row,
    get_word,
    load,
    lowest_bit,
    set_word,
    store,
    word_count,
)
from ggp.kernels.tree import random_below
from ggp.kernels.tree_arrays import CUT, TICK, ContextStatistics, MoveStatistics, SearchArrays, Settings


@inlined
def record_states(tables: LaneTables, arrays: SearchArrays) -> None:
    """Enter the state of every lane into the history of this tick."""
    t = arrays.counter[TICK] & (arrays.states.shape[0] - 1)
    for group in range(arrays.states.shape[1]):
        count = min(64, tables.fluent_count - 64 * group)
        for w in range(word_count(arrays.value)):
            for i in range(64):
                arrays.block[i] = get_word(arrays.value, 1 + 64 * group + i, w) if i < count else np.uint64(0)
            transpose_bits(arrays.block)
            for i in range(64):
                arrays.states[t, group, 64 * w + i] = arrays.block[i]


@inlined
def _read_facts(arrays: SearchArrays, tick: Index, lane: Index) -> Index:
    """arrays.fact[:n] = the fluents that held in `lane` before the move of `tick`; returns n."""
    t = tick & (arrays.states.shape[0] - 1)
    n = 0
    for group in range(arrays.states.shape[1]):
        bits = arrays.states[t, group, lane]
        while bits != np.uint64(0):
            arrays.fact[n] = 64 * group + lowest_bit(bits)
            bits = bits & (bits - np.uint64(1))
            n += 1
    return n


@inlined
def _value_of(
    arrays: SearchArrays, statistics: MoveStatistics, contexts: ContextStatistics, move: Index, facts: Index
) -> float:
    mean, fact = contexts.pair_mean, arrays.fact
    # Four at a time: one after the other, each comparison would wait for the one before it.
    a, b, c, d = -1.0, -1.0, -1.0, -1.0
    for i in range(0, facts - 3, 4):
        a = max(a, mean[move, fact[i]])
        b = max(b, mean[move, fact[i + 1]])
        c = max(c, mean[move, fact[i + 2]])
        d = max(d, mean[move, fact[i + 3]])
    for i in range(facts & ~3, facts):
        a = max(a, mean[move, fact[i]])
    best = max(max(a, b), max(c, d))
    return best if best >= 0.0 else statistics.key[move]


@inlined
def _draw_option(
    arrays: SearchArrays,
    statistics: MoveStatistics,
    contexts: ContextStatistics,
    settings: Settings,
    role: Index,
    facts: Index,
) -> Index:
    first = arrays.option_first[role]
    end = arrays.option_first[role + 1]
    if end - first == 1:
        return np.int64(arrays.option[first])
    if role == settings.chance:
        return np.int64(arrays.option[first + random_below(arrays.seed, end - first)])
    best = -1.0
    for i in range(first, end):
        value = _value_of(arrays, statistics, contexts, np.int64(arrays.option[i]), facts)
        arrays.score[i] = value
        best = max(best, value)
    total: Index = 0
    moves = arrays.first_move[role + 1] - arrays.first_move[role]
    for i in range(first, end):
        weight = gibbs_weight(arrays.score[i], best, settings.temperature, moves)
        arrays.score[i] = float(weight)
        total += weight
    k = random_below(arrays.seed, total)
    chosen = first
    for i in range(first, end):
        k -= np.int64(arrays.score[i])
        if k < 0:
            chosen = i
            break
    return np.int64(arrays.option[chosen])


@stage
def choose_by_facts(
    tables: LaneTables,
    arrays: SearchArrays,
    statistics: MoveStatistics,
    contexts: ContextStatistics,
    settings: Settings,
    lanes: Row,
) -> Row:
    """Select one move per role in each of `lanes`; returns the lanes that are stuck."""
    value = arrays.value
    clear_moves(tables, value)
    store(arrays.mask, CUT, lanes)
    for w in range(word_count(value)):
        bits = get_word(arrays.mask, CUT, w)
        set_word(arrays.mask, CUT, w, np.uint64(0))
        if bits != np.uint64(0):
            read_legal(tables, arrays, w)
        while bits != np.uint64(0):
            number = lowest_bit(bits)
            bit = np.uint64(1) << np.uint64(number)
            bits = bits ^ bit
            if not list_options(tables, arrays, number):
                set_word(arrays.mask, CUT, w, get_word(arrays.mask, CUT, w) | bit)
                continue
            facts = _read_facts(arrays, arrays.counter[TICK], 64 * w + number)
            for role in range(tables.role_count):
                chosen = _draw_option(arrays, statistics, contexts, settings, role, facts)
                node = np.int64(tables.move0) + chosen
                set_word(value, node, w, get_word(value, node, w) | bit)
    return load(arrays.mask, CUT)


@inlined
def learn_pairs(
    arrays: SearchArrays,
    contexts: ContextStatistics,
    settings: Settings,
    lane: Index,
    first_tick: Index,
    end_tick: Index,
) -> None:
    """Enter facts and moves of `lane` from first_tick to before end_tick, with the goals in arrays.goal."""
    ticks = arrays.history.shape[0]
    for tick in range(max(first_tick, end_tick - ticks), end_tick):
        facts = _read_facts(arrays, tick, lane)
        for role in range(arrays.history.shape[1]):
            move = arrays.history[tick & (ticks - 1), role, lane]
            goal = arrays.goal[role]
            for i in range(facts):
                f = arrays.fact[i]
                visits = contexts.pair_visits[move, f] + 1.0
                total = contexts.pair_total[move, f] + goal
                contexts.pair_visits[move, f] = visits
                contexts.pair_total[move, f] = total
                if visits >= settings.past_visits:
                    contexts.pair_mean[move, f] = total / visits
