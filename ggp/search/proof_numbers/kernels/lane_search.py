"""search_lanes: depth-first search without a table, of its own in every lane.

Near the end of a game a look-up costs more than the search that it saves. So walkers in order hand the last
plies out: each lane is given a state, its *task*, and answers the question about it by trying one move after
another. All lanes step at the same time, whatever their depth. A step settles the circuit once; a lane then
descends by the next untried move of its state, or, if the state is decided, returns to the nearest one above
it whose mover has to try another move.

Of the way back to a task's state, lanes keep the last move tried at each depth and when each fact came about:
facts that stay once they hold (`ggp.search.alphabeta.latches`) are taken back by their *age*, the depth
at which they came, in binary digits; other facts are saved at each depth, so they have to be few.
"""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined, piece
from ggp.jit.rows import (
    ALL_ONES,
    Index,
    Row,
    any_lane,
    fill,
    literal,
    load,
    popcount,
    store,
    sum_words,
)
from ggp.lanes.indices import transpose_rows
from ggp.lanes.keys.state_code import decode_planes
from ggp.lanes.step import settle_states, settle_successors, several_true
from ggp.search.alphabeta.kernels.side_circuit import is_used, settle_in
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import DEPTHS, DIGITS, Ints, LaneMemory

# Rows of `of_task`: lanes with a task; with one that is done; its answer; with one put in last.
LIVE, DONE, ANSWER, PUT = range(4)


@inlined
def _where(lanes: Row, x: Row, y: Row) -> Row:
    """x in `lanes`, y elsewhere."""
    return (x & lanes) | (y & ~lanes)


@inlined
def place_in_keys(lane: Index, d: Index) -> Index:
    """The row of `keys` that holds word d of the key in a lane, in its word `lane & (TASK_WORDS - 1)`."""
    return 64 * d + (lane >> c.TASK_BITS)


@piece
def put_tasks(lanes: LaneMemory) -> None:
    """Begin the tasks of the lanes in row PUT, whose keys were written."""
    put = load(lanes.of_task, PUT)
    for d in range(lanes.code.word_count):
        transpose_rows(lanes.keys, 64 * d, 64)
    decode_planes(lanes.code, lanes.keys, lanes.fresh)
    for f in range(1, lanes.tables.fluent_count + 1):
        store(lanes.value, f, _where(put, load(lanes.fresh, f), load(lanes.value, f)))
    for i in range(lanes.age.shape[0]):
        store(lanes.age, i, load(lanes.age, i) & ~put)
    for depth in range(DEPTHS):
        store(lanes.at, depth, load(lanes.at, depth) & ~put)
    store(lanes.at, 0, load(lanes.at, 0) | put)
    for i in range(lanes.digits):
        store(lanes.last, i, load(lanes.last, i) & ~put)
    store(lanes.of_task, LIVE, load(lanes.of_task, LIVE) | put)
    store(lanes.of_task, DONE, load(lanes.of_task, DONE) & ~put)
    store(lanes.of_task, PUT, fill(lanes.of_task, np.uint64(0)))


@inlined
def _note_movers(lanes: LaneMemory, searching: Row, counter: Ints) -> tuple[Row, Row]:
    """Lanes in which role 0 and role 1 have a choice."""
    tables, value = lanes.tables, lanes.value
    first_slot, slot = tables.first_slot, tables.slot_literal
    first = several_true(value, slot, np.int64(first_slot[0]), np.int64(first_slot[1]))
    second = several_true(value, slot, np.int64(first_slot[1]), np.int64(first_slot[2]))
    if any_lane(searching & first & second):
        counter[c.FAULT] = c.SIMULTANEOUS
    return first, second


@inlined
def _decide(lanes: LaneMemory, goal: Index, live: Row) -> tuple[Row, Row]:
    """Lanes whose state the rules or a circuit decide, and those of them with yes."""
    tables, value = lanes.tables, lanes.value
    decided = literal(value, np.int64(tables.terminal)) & live
    yes = fill(value, np.uint64(0))
    for q in range(tables.goal_first[0], tables.goal_first[1]):
        if tables.goal_value[q] >= goal:
            yes = yes | literal(value, np.int64(tables.goal_literal[q]))
    yes = yes & decided
    return decided, yes


@inlined
def _choose(lanes: LaneMemory, searching: Row, second: Row) -> Row:
    """Select the first untried move of who moves, and the only move of the other role; return the lanes that
    have one. The digits of its number are left in `row`."""
    value, row, digits = lanes.value, lanes.row, lanes.digits
    none = fill(value, np.uint64(0))
    for p in range(digits):
        tried = none
        for depth in range(DEPTHS):
            tried = tried | (load(lanes.at, depth) & load(lanes.last, depth * digits + p))
        store(row, digits + p, tried)
        store(row, p, none)
    # Moves pass as tried up to the one whose number is in `row`.
    passed = fill(value, ALL_ONES)
    for p in range(digits):
        passed = passed & ~load(row, digits + p)
    if is_used(lanes.ends):
        settle_in(lanes.ends, value)
    taken = none
    count = lanes.move.shape[0] >> 1
    for i in range(count):
        mine = literal(value, np.int64(lanes.legal[i]))
        other = literal(value, np.int64(lanes.legal[count + i]))
        lost = _where(
            second,
            literal(lanes.ends.value, np.int64(lanes.hopeless[count + i])),
            literal(lanes.ends.value, np.int64(lanes.hopeless[i])),
        )
        can = _where(second, other, mine) & ~lost & passed & searching & ~taken
        taken = taken | can
        store(value, np.int64(lanes.move[i]), _where(second, mine, can))
        store(value, np.int64(lanes.move[count + i]), _where(second, can, other))
        same = searching
        for p in range(digits):
            is_set = ((i + 1) >> p) & 1
            if is_set:
                store(row, p, load(row, p) | can)
                same = same & load(row, digits + p)
            else:
                same = same & ~load(row, digits + p)
        passed = passed | same
    return taken


@inlined
def _move_in_depth(lanes: LaneMemory, taken: Row, second: Row, decided: Row, yes: Row) -> None:
    """Let the lanes in `taken` descend by a ply, and those in `decided` return to where another move has to
    be tried; note tasks that are done. In `row` are left the digits of the depths of lanes that returned, and
    one more than those of lanes that descended.
    """
    value, row, digits, loose = lanes.value, lanes.row, lanes.digits, lanes.loose.shape[0]
    none = fill(value, np.uint64(0))
    for k in range(2 * DIGITS):
        store(row, 2 * digits + k, none)
    seeking = none
    arrived = none
    for i in range(DEPTHS):
        depth = DEPTHS - 1 - i
        at, above = load(lanes.at, depth), load(lanes.at, depth - 1) & taken if depth > 0 else none
        if not any_lane(at | above | seeking):
            continue
        here = seeking & ~(yes ^ load(lanes.second, depth))
        leaving, going = at & decided, at & taken
        store(lanes.at, depth, (at & ~decided & ~taken) | here | above)
        seeking = (seeking & ~here) | leaving
        for k in range(DIGITS):
            if (depth >> k) & 1:
                store(row, 2 * digits + k, load(row, 2 * digits + k) | here)
                store(row, 2 * digits + DIGITS + k, load(row, 2 * digits + DIGITS + k) | above)
        for p in range(digits):
            place = depth * digits + p
            store(lanes.last, place, _where(going, load(row, p), load(lanes.last, place) & ~above))
        store(lanes.second, depth, _where(going, second, load(lanes.second, depth)))
        for j in range(loose):
            f, place = np.int64(lanes.loose[j]), depth * loose + j
            saved = load(lanes.saved, place)
            store(value, f, _where(here, saved, load(value, f)))
            store(lanes.saved, place, _where(going, load(value, f), saved))
        arrived = arrived | here
    store(lanes.of_task, DONE, load(lanes.of_task, DONE) | seeking)
    store(lanes.of_task, ANSWER, _where(seeking, yes, load(lanes.of_task, ANSWER)))
    store(lanes.of_task, LIVE, load(lanes.of_task, LIVE) & ~seeking)


@inlined
def _change_facts(lanes: LaneMemory, taken: Row, decided: Row) -> None:
    """Write the facts of the states that lanes have come to. Of those that stay, lanes that descended get new
    ones, and lanes that returned lose the ones that came below."""
    tables, value, row, first = lanes.tables, lanes.value, lanes.row, 2 * lanes.digits
    following = tables.next
    for j in range(lanes.loose.shape[0]):
        store(lanes.written, j, literal(value, np.int64(following[lanes.loose[j] - 1])))
    d0, d1, d2, d3 = load(row, first), load(row, first + 1), load(row, first + 2), load(row, first + 3)
    n0, n1, n2, n3 = load(row, first + 4), load(row, first + 5), load(row, first + 6), load(row, first + 7)
    for i in range(lanes.staying.shape[0]):
        f, at = np.int64(lanes.staying[i]), DIGITS * i
        holds = load(value, f)
        a0, a1, a2, a3 = (
            load(lanes.age, at),
            load(lanes.age, at + 1),
            load(lanes.age, at + 2),
            load(lanes.age, at + 3),
        )
        later = a0 & ~d0
        later = (a1 & ~d1) | (~(a1 ^ d1) & later)
        later = (a2 & ~d2) | (~(a2 ^ d2) & later)
        later = (a3 & ~d3) | (~(a3 ^ d3) & later)
        came = literal(value, np.int64(following[f - 1])) & ~holds & taken
        store(value, f, (holds | came) & ~(later & decided))
        store(lanes.age, at, _where(came, n0, a0))
        store(lanes.age, at + 1, _where(came, n1, a1))
        store(lanes.age, at + 2, _where(came, n2, a2))
        store(lanes.age, at + 3, _where(came, n3, a3))
    for j in range(lanes.loose.shape[0]):
        f = np.int64(lanes.loose[j])
        store(value, f, _where(taken, load(lanes.written, j), load(value, f)))


@piece
def step_lanes(lanes: LaneMemory, goal: Index, counter: Ints) -> None:
    """Make one step in all lanes."""
    settle_states(lanes.tables, lanes.value)
    live = load(lanes.of_task, LIVE)
    _, second = _note_movers(lanes, live, counter)
    decided, yes = _decide(lanes, goal, live)
    searching = live & ~decided & ~load(lanes.at, DEPTHS - 1)
    taken = _choose(lanes, searching, second)
    failed = searching & ~taken
    yes = yes | (failed & second)
    counter[c.LANE_STEPS] += np.int64(sum_words(popcount(live)))
    counter[c.LANE_NODES] += np.int64(sum_words(popcount(taken)))
    settle_successors(lanes.tables, lanes.value, False)
    decided = decided | failed
    _move_in_depth(lanes, taken, second, decided, yes)
    _change_facts(lanes, taken, decided)
