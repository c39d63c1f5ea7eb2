"""PAST, predicate-average sampling: the value of a move depends on the facts that hold.

Every pair of a fact and a move has the mean goal of the playouts that made the move while the fact held. The
value of a legal move is the largest mean among the facts of the state, if enough playouts support it, else
its own mean (MAST). Source: Finnsson & Björnsson (2010).

Weights differ from lane to lane, so moves are weighed lane by lane, several times slower than with policies
whose weights are the same in all lanes. Looking up means takes most of it: on skirmish in a table of 25
megabytes. Therefore not one lane is done after the other, but one move, in all lanes in which it is legal:
its means are fetched once, while those of the move before are looked up.
"""

from __future__ import annotations

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel, stage
from ggp.jit.rows import Index, Row, get_word, load, lowest_bit, prefetch, set_word, store, word_count
from ggp.jit.unboxed import Unboxed, unboxed
from ggp.lanes.bits import literal_word
from ggp.lanes.indices import transpose_bits
from ggp.lanes.layout import LaneTables
from ggp.lanes.roulette import gibbs_weight
from ggp.lanes.step import clear_moves
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import CUT, SearchArrays, SearchMemory, Settings
from ggp.search.tree.kernels.tree import random_below
from ggp.search.tree.policies.policy import PAST_VISITS


@inlined
def record_states(tables: LaneTables, arrays: SearchArrays) -> None:
    """Enter the state of every lane into the history of this tick."""
    t = arrays.counter[c.TICK] & (arrays.states.shape[0] - 1)
    for group in range(arrays.states.shape[1]):
        count = min(64, tables.fluent_count - 64 * group)
        for w in range(word_count(arrays.value)):
            for i in range(64):
                arrays.block[i] = get_word(arrays.value, 1 + 64 * group + i, w) if i < count else np.uint64(0)
            transpose_bits(arrays.block)
            for i in range(64):
                arrays.states[t, group, 64 * w + i] = arrays.block[i]


@inlined
def _read_facts(arrays: SearchArrays, tick: Index, lane: Index, fact: Int32Array) -> Index:
    """fact[:n] = the fluents that held in `lane` before the move of `tick`; return n."""
    t = tick & (arrays.states.shape[0] - 1)
    n = 0
    for group in range(arrays.states.shape[1]):
        bits = arrays.states[t, group, lane]
        while bits != np.uint64(0):
            fact[n] = 64 * group + lowest_bit(bits)
            bits = bits & (bits - np.uint64(1))
            n += 1
    return n


@inlined
def _list_legal(
    tables: LaneTables, arrays: SearchArrays, role: Index, w: Index, lanes: np.uint64
) -> tuple[Index, np.uint64, np.uint64]:
    """List the moves of the role that are legal in some of `lanes`, of word w. Returns how many there are, in
    which lanes there is one, and in which there are several."""
    weighed = arrays.weighed
    one = several = np.uint64(0)
    n = 0
    for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
        bits = literal_word(arrays.value, np.int64(tables.slot_literal[s]), w) & lanes
        if bits != np.uint64(0):
            several = several | (one & bits)
            one = one | bits
            weighed.legal[n] = tables.slot_node[s] - tables.move0
            weighed.legal_lanes[n] = bits
            n += 1
    return n, one, several


@inlined
def _value_of(search: SearchMemory, move: Index, lane: Index) -> float:
    """The value of `move` in a lane: the largest mean with a fact that holds there, or its own mean."""
    mean = search.contexts.pair_mean[move]
    fact, facts = search.arrays.weighed.fact[lane], search.arrays.weighed.facts[lane]
    # Four at a time: in sequence, each comparison would wait for the one before it.
    a, b, c, d = -1.0, -1.0, -1.0, -1.0
    for i in range(0, facts - 3, 4):
        a = max(a, mean[fact[i]])
        b = max(b, mean[fact[i + 1]])
        c = max(c, mean[fact[i + 2]])
        d = max(d, mean[fact[i + 3]])
    for i in range(facts & ~3, facts):
        a = max(a, mean[fact[i]])
    best = max(max(a, b), max(c, d))
    return best if best >= 0.0 else float(search.statistics.key[move])


@inlined
def _weigh_options(search: SearchMemory, role: Index, listed: Index, lanes: np.uint64) -> None:
    """Make the listed moves options of their lanes; their values are looked up in `lanes` only."""
    weighed = search.arrays.weighed
    end = weighed.first[role + 1]
    for lane in range(64):
        end[lane] = weighed.first[role, lane]
    for i in range(listed):
        # While the means of this move are looked up, those of the next are fetched.
        if i + 1 < listed and weighed.legal_lanes[i + 1] & lanes != np.uint64(0):
            lane = lowest_bit(weighed.legal_lanes[i + 1] & lanes)
            mean = search.contexts.pair_mean[weighed.legal[i + 1]]
            for j in range(weighed.facts[lane]):
                prefetch(mean, np.int64(weighed.fact[lane, j]))
        move = np.int64(weighed.legal[i])
        bits = weighed.legal_lanes[i]
        while bits != np.uint64(0):
            lane = lowest_bit(bits)
            n = end[lane]
            weighed.move[n, lane] = move
            if (lanes >> np.uint64(lane)) & np.uint64(1) != np.uint64(0):
                weighed.value[n, lane] = _value_of(search, move, lane)
            end[lane] = n + 1
            bits = bits & (bits - np.uint64(1))


@inlined
def _draw_option(arrays: SearchArrays, settings: Settings, role: Index, lane: Index) -> Index:
    weighed = arrays.weighed
    first = weighed.first[role, lane]
    count = weighed.first[role + 1, lane] - first
    if count == 1:
        return np.int64(weighed.move[first, lane])
    if role == settings.chance:
        return np.int64(weighed.move[first + random_below(arrays.seed, count), lane])
    # score first holds the values of the options, then their weights, which depend on the best value.
    score = arrays.score
    best = -1.0
    for i in range(count):
        score[i] = weighed.value[first + i, lane]
        best = max(best, score[i])
    total: Index = 0
    moves = arrays.first_move[role + 1] - arrays.first_move[role]
    for i in range(count):
        weight = gibbs_weight(score[i], best, settings.temperature, moves)
        score[i] = float(weight)
        total += weight
    k = random_below(arrays.seed, total)
    chosen = first
    for i in range(count):
        k -= np.int64(score[i])
        if k < 0:
            chosen = first + i
            break
    return np.int64(weighed.move[chosen, lane])


@stage
def choose_by_facts(search: SearchMemory, lanes: Row) -> Row:
    """Select one move per role in each of `lanes`; return the lanes that are stuck."""
    tables, arrays, settings = search.tables, search.arrays, search.settings
    value = arrays.value
    weighed = arrays.weighed
    clear_moves(tables, value)
    store(arrays.mask, CUT, lanes)
    for w in range(word_count(value)):
        # 64 lanes at a time: their facts, then their options role by role, then a draw in each lane whose
        # roles all have one. The row CUT holds the lanes before, and those that are stuck afterwards.
        lanes_left = get_word(arrays.mask, CUT, w)
        bits = lanes_left
        while bits != np.uint64(0):
            number = lowest_bit(bits)
            bits = bits & (bits - np.uint64(1))
            weighed.facts[number] = _read_facts(
                arrays, arrays.counter[c.TICK], 64 * w + number, weighed.fact[number]
            )
        stuck = np.uint64(0)
        for role in range(tables.role_count):
            listed, some, several = _list_legal(tables, arrays, role, w, lanes_left)
            stuck = stuck | (lanes_left & ~some)
            if role == settings.chance:
                several = np.uint64(0)
            _weigh_options(search, role, listed, several)
        set_word(arrays.mask, CUT, w, stuck)
        bits = lanes_left & ~stuck
        while bits != np.uint64(0):
            number = lowest_bit(bits)
            bit = np.uint64(1) << np.uint64(number)
            bits = bits ^ bit
            for role in range(tables.role_count):
                node = np.int64(tables.move0) + _draw_option(arrays, settings, role, number)
                set_word(value, node, w, get_word(value, node, w) | bit)
    return load(arrays.mask, CUT)


@kernel
def learn_pairs(memory: Unboxed[SearchMemory], walker: int, lane: int) -> None:
    """Enter facts and moves of the playout that ends in `lane`, with the goals in arrays.goal."""
    search = unboxed(memory)
    arrays, contexts = search.arrays, search.contexts
    ticks = arrays.history.shape[0]
    fact = arrays.weighed.fact[0]
    end_tick = arrays.counter[c.TICK]
    for tick in range(max(search.walkers.start[walker], end_tick - ticks), end_tick):
        facts = _read_facts(arrays, tick, lane, fact)
        for role in range(arrays.history.shape[1]):
            move = np.int64(arrays.history[tick & (ticks - 1), role, lane])
            # Most of these facts hold in the next state too: what is entered then is fetched now.
            next_tick = min(tick + 1, end_tick - 1)
            next_pair = contexts.pair[np.int64(arrays.history[next_tick & (ticks - 1), role, lane])]
            goal = arrays.goal[role]
            for i in range(facts):
                f = np.int64(fact[i])
                prefetch(next_pair, 2 * f)
                visits = contexts.pair[move, 2 * f] + 1.0
                total = contexts.pair[move, 2 * f + 1] + goal
                contexts.pair[move, 2 * f] = visits
                contexts.pair[move, 2 * f + 1] = total
                if visits >= PAST_VISITS:
                    contexts.pair_mean[move, f] = total / visits
