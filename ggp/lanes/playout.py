"""play: uniformly random playouts in all lanes at once.

Lanes are asynchronous: in each tick every lane makes one joint move, and lanes whose game is over start again
from the root in the same pass. Nothing here loops over lanes; statistics are rows, too: goals are counted by
popcount, lengths are bit planes.

A playout ends in a terminal state, or is *stuck* (not terminal, yet a role has no legal move), or is *cut*
(not terminal after `step_limit` joint moves). All three are counted and the lane restarts, so that no rule
sheet can make a playout hang.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel, piece
from ggp.jit.rows import (
    ALL_ONES,
    Index,
    Row,
    Rows,
    add,
    any_lane,
    fill,
    get_word,
    literal,
    load,
    make_rows,
    popcount,
    set_word,
    store,
    sum_words,
    word_count,
    words_of,
)
from ggp.lanes.choose import advance_all, draw_all, is_fused, make_scratch, seeded_random, settle_and_count
from ggp.lanes.layout import LaneTables
from ggp.lanes.step import advance, move_at_random, settle_choices

LENGTH_PLANES = 31
# Indices of PlayoutArrays.counter.
STARTS_LEFT, ENDED, FINISHED, STUCK, CUT, STEPS, SHORTEST, LONGEST, PLANES_USED, TICKS = range(10)
COUNTERS = 10


class PlayoutArrays(NamedTuple):
    """The memory of one engine. W words per row everywhere.

    value       K+1 rows: the circuit in all lanes
    scratch     of `make_scratch`; its last rows hold the root state
    saved       rows for fluents whose next value cannot be written in place
    random      2 rows
    active      1 row: lanes that play one of the requested playouts
    length      LENGTH_PLANES rows: joint moves made so far in each lane
    goal_count  2 rows per role and one per goal literal. Per role: finished playouts
                without a goal value, and with more than one; per goal literal: how often it held
    stuck_count int64[R]: stuck playouts by role
    counter     int64[COUNTERS], see the constants above
    """

    value: Rows
    scratch: Rows
    saved: Rows
    random: Rows
    active: Rows
    length: Rows
    goal_count: Rows
    stuck_count: NDArray[np.int64]
    counter: NDArray[np.int64]


def make_arrays(tables: LaneTables, words: int, seed: int, stream: int = 0) -> PlayoutArrays:
    """Allocate memory for `tables` with rows of `words` words."""
    value = make_rows(tables.row_count, words)
    words_of(value)[0] = ALL_ONES
    return PlayoutArrays(
        value=value,
        scratch=make_scratch(tables, words),
        saved=make_rows(len(tables.next_saved) + 1, words),
        random=seeded_random(words, seed, stream),
        active=make_rows(1, words),
        length=make_rows(LENGTH_PLANES, words),
        goal_count=make_rows(2 * tables.role_count + len(tables.goal_literal), words),
        stuck_count=np.zeros(tables.role_count, np.int64),
        counter=np.zeros(COUNTERS, np.int64),
    )


def begin_playouts(arrays: PlayoutArrays, root: NDArray[np.bool_], count: int) -> None:
    """Put every lane at the root, bool[F], request `count` playouts and clear the statistics."""
    fluents = len(root)
    lanes = 64 * words_of(arrays.active).shape[1]
    state = np.where(root, ALL_ONES, np.uint64(0))[:, None]
    words_of(arrays.value)[1 : 1 + fluents] = state
    words_of(arrays.scratch)[len(arrays.scratch) - fluents :] = state
    bits = np.zeros(lanes, np.uint8)
    bits[: min(count, lanes)] = 1
    words_of(arrays.active)[0] = np.packbits(bits, bitorder="little").view(np.uint64)
    words_of(arrays.length)[:] = 0
    words_of(arrays.goal_count)[:] = 0
    arrays.stuck_count[:] = 0
    arrays.counter[:] = 0
    arrays.counter[STARTS_LEFT] = max(0, count - lanes)
    arrays.counter[SHORTEST] = 2**40


@inlined
def _count_goals(tables: LaneTables, value: Rows, finished: Row, goal_count: Rows) -> None:
    zero = fill(value, np.uint64(0))
    roles = tables.role_count
    for role in range(roles):
        one = zero
        several = zero
        for q in range(tables.goal_first[role], tables.goal_first[role + 1]):
            x = literal(value, np.int64(tables.goal_literal[q])) & finished
            several = several | (one & x)
            one = one | x
            store(goal_count, 2 * roles + q, add(load(goal_count, 2 * roles + q), popcount(x)))
        store(goal_count, 2 * role, add(load(goal_count, 2 * role), popcount(finished & ~one)))
        store(goal_count, 2 * role + 1, add(load(goal_count, 2 * role + 1), popcount(several)))


@piece
def _lanes_at_least(length: Rows, planes: Index, limit: Index, lanes: Row) -> Row:
    """The lanes of `lanes` whose length is at least `limit`. Limit < 2**planes."""
    less = lanes & ~lanes
    equal = lanes
    for p in range(planes - 1, -1, -1):
        x = load(length, p)
        if (limit >> p) & 1:
            less = less | (equal & ~x)
            equal = equal & x
        else:
            equal = equal & ~x | (equal & ~equal)
    return lanes & ~less


@piece
def _extreme(length: Rows, planes: Index, lanes: Row, unwanted: Row) -> Index:
    """The largest length in `lanes` if `unwanted` is all zeros, the smallest if it is all ones."""
    best = np.int64(0)
    for p in range(planes - 1, -1, -1):
        x = lanes & (load(length, p) ^ unwanted)
        if any_lane(x):
            lanes = x
        if any_lane(lanes & load(length, p)):
            best += np.int64(1) << p
    return best


@piece
def _summed_length(length: Rows, planes: Index, lanes: Row) -> Index:
    total = np.int64(0)
    for p in range(planes):
        total += sum_words(popcount(load(length, p) & lanes)) << p
    return total


@inlined
def _note_lengths(arrays: PlayoutArrays, finished: Row) -> None:
    """Update the extremes of lengths with the playouts that finish now."""
    counter = arrays.counter
    planes = counter[PLANES_USED]
    if (np.int64(1) << planes) - 1 > counter[LONGEST]:
        longer = _lanes_at_least(arrays.length, planes, counter[LONGEST] + 1, finished)
        if any_lane(longer):
            counter[LONGEST] = _extreme(arrays.length, planes, longer, longer & ~longer)
    if counter[SHORTEST] > 0:
        if counter[SHORTEST] < (np.int64(1) << planes):
            finished = finished & ~_lanes_at_least(arrays.length, planes, counter[SHORTEST], finished)
        if any_lane(finished):
            counter[SHORTEST] = _extreme(arrays.length, planes, finished, finished | ~finished)


@inlined
def _advance_lengths(arrays: PlayoutArrays, continued: Row) -> None:
    """Increment the length counters of `continued` lanes; reset the others."""
    counter = arrays.counter
    planes = counter[PLANES_USED]
    carry = continued
    for p in range(planes):
        x = load(arrays.length, p)
        store(arrays.length, p, (x ^ carry) & continued)
        carry = carry & x
    if any_lane(carry) and planes < LENGTH_PLANES:
        store(arrays.length, planes, carry)
        counter[PLANES_USED] = planes + 1


@piece
def _retire(active: Rows, spare: Rows, ended: Row, count: Index) -> None:
    """Deactivate `count` of the `ended` lanes: no playouts are left to start in them."""
    last = spare.shape[0] - 1
    store(spare, last, ended)
    for w in range(word_count(active)):
        candidates = get_word(spare, last, w)
        while count > 0 and candidates != np.uint64(0):
            lowest = candidates & (~candidates + np.uint64(1))
            candidates = candidates ^ lowest
            set_word(active, 0, w, get_word(active, 0, w) & ~lowest)
            count -= 1


@piece
def _note_stuck(
    first_slot: Int32Array, slot_literal: Int32Array, value: Rows, stuck_count: NDArray[np.int64], stuck: Row
) -> None:
    """Count stuck playouts by role; slow, but rarely needed."""
    for role in range(stuck_count.shape[0]):
        without = stuck
        for s in range(first_slot[role], first_slot[role + 1]):
            without = without & ~literal(value, np.int64(slot_literal[s]))
        stuck_count[role] += sum_words(popcount(without))


@inlined
def _end_playouts(
    tables: LaneTables, arrays: PlayoutArrays, terminal: Row, stuck: Row, step_limit: Index, is_settled: bool
) -> Row:
    """Count the playouts that ended; return the lanes that restart.

    is_settled   whether the rows of LEGAL say which moves are legal
    """
    counter = arrays.counter
    active = load(arrays.active, 0)
    planes = counter[PLANES_USED]
    finished = terminal & active
    stuck = stuck & ~terminal
    over = stuck
    if (step_limit >> planes) == 0:
        over = over | (_lanes_at_least(arrays.length, planes, step_limit, active) & ~terminal)
    if any_lane(over & active):
        broken = over & active
        stuck_now = sum_words(popcount(stuck & active))
        counter[STUCK] += stuck_now
        counter[CUT] += sum_words(popcount(broken)) - stuck_now
        counter[ENDED] += sum_words(popcount(broken))
        counter[STEPS] -= _summed_length(arrays.length, planes, broken)
        if stuck_now > 0:
            if not is_settled:
                settle_choices(tables, arrays.value)
            _note_stuck(
                tables.first_slot, tables.slot_literal, arrays.value, arrays.stuck_count, stuck & active
            )
    # Playouts that broke off are counted, and their joint moves no longer.
    finished_now = sum_words(popcount(finished))
    if finished_now > 0:
        counter[FINISHED] += finished_now
        counter[ENDED] += finished_now
        _count_goals(tables, arrays.value, finished, arrays.goal_count)
        _note_lengths(arrays, finished)
    # Those that finished are counted, with goals and lengths: before any lane restarts.
    ended = finished | (over & active)
    ended_now = sum_words(popcount(ended))
    if ended_now <= counter[STARTS_LEFT]:
        counter[STARTS_LEFT] -= ended_now
    else:
        _retire(arrays.active, arrays.saved, ended, ended_now - counter[STARTS_LEFT])
        counter[STARTS_LEFT] = 0
    restarted = terminal | over
    counter[STEPS] += sum_words(popcount(active & ~restarted))
    _advance_lengths(arrays, ~restarted)
    return restarted


@kernel
def play(tables: LaneTables, arrays: PlayoutArrays, planes: int, step_limit: int, ticks: int) -> bool:
    """Play on for at most `ticks` ticks; return whether all requested playouts have ended.

    planes       choice_planes(tables)
    step_limit   >= 1: playouts that are not over after this many joint moves are cut
    Statistics accumulate in `arrays`; STEPS counts the joint moves of finished playouts and of
    those under way.
    """
    value = arrays.value
    counter = arrays.counter
    root = np.int64(arrays.scratch.shape[0] - tables.fluent_count)
    for _ in range(ticks):
        fused = is_fused(tables, value)
        if fused:
            settle_and_count(tables, value, arrays.scratch)
            everywhere = fill(value, ALL_ONES)
            stuck = draw_all(tables, value, arrays.scratch, planes, arrays.random, everywhere)
        else:
            stuck = move_at_random(tables, value, arrays.scratch, planes, arrays.random)
        terminal = literal(value, np.int64(tables.terminal))
        restarted = _end_playouts(tables, arrays, terminal, stuck, step_limit, not fused)
        if fused:
            advance_all(tables, value, arrays.scratch, planes, restarted)
        else:
            advance(tables, value, arrays.saved, ~restarted, arrays.scratch, root)
        counter[TICKS] += 1
        if counter[STARTS_LEFT] == 0 and not any_lane(load(arrays.active, 0)):
            return True
    return False
