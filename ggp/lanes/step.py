"""step: the operations of all kernels on a circuit: put states and moves, settle, read, advance.

    put      put_keys, put_key, put_state                  states into the rows of fluents
             clear_moves, put_move                         moves; `ggp.lanes.choose` draws random ones
    settle   settle_choices, settle_goals                  LEGAL: legal moves and the end; GOAL
             settle_states                                 both: all that follows from a state alone
             settle_successors                             NEXT, and SEES if asked: what the moves lead to
    read     several_true, list_legal_moves, read_goals,
             sum_percepts                                  beyond `literal` and `ggp.lanes.bits`
    store    store_successors, copy_successors             the next states as keys, or into other rows
             advance                                       the next states in place

A phase reads what the ones before it wrote, so they are settled in the order of `ggp.circuit.tables.Phase`.

This is the seam to machine code: nothing else calls `ggp.lanes.settle`, or knows how gates are stored.
Machine code of a phase (`ggp.native`) writes the rows of those gates that are outputs or that later phases
read, as the interpreter does; other rows of gates hold nothing after a phase.

Letters: N states, D words of a key, R roles, M moves of all roles, F fluents, L = 64*W lanes. `value` holds
the rows of `LaneTables`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel, piece, stage
from ggp.jit.entry_points import call_on_rows
from ggp.jit.rows import (
    ALL_ONES,
    Index,
    Row,
    Rows,
    any_lane,
    fill,
    get_word,
    literal,
    load,
    lowest_bit,
    store,
    word_count,
)
from ggp.lanes.bits import literal_word, set_lane
from ggp.lanes.choose import choose_moves
from ggp.lanes.keys.state_code import (
    Keys,
    StateCode,
    decode_planes,
    encode_planes,
    load_keys,
    store_keys,
)
from ggp.lanes.layout import LaneTables, native_column
from ggp.lanes.settle import settle_apart

NO_GOAL = 255


@inlined
def put_keys(
    code: StateCode,
    keys: Keys,
    chosen: NDArray[np.int64],
    count: Index,
    value: Rows,
    planes: Rows,
    block: NDArray[np.uint64],
) -> None:
    """Put the states with keys chosen[:count] into the first lanes.

    keys            uint64[N*D], state by state
    planes, block   64*D rows and uint64[64], scratch
    Lanes behind the last state hold any state.
    """
    load_keys(keys, chosen, count, code.word_count, planes, block)
    decode_planes(code, planes, value)


@inlined
def put_key(code: StateCode, keys: Keys, number: Index, value: Rows) -> None:
    """Put the state with the key `number` of `keys` into every lane."""
    start = number * code.word_count
    first, digit = code.first_digit, code.digit
    for f in range(first.shape[0] - 1):
        word = ALL_ONES
        for j in range(first[f], first[f + 1]):
            plane = np.int64(digit[j] >> 1)
            bit = (keys[start + (plane >> 6)] >> np.uint64(plane & 63)) ^ np.uint64(digit[j] & 1)
            word = word if bit & np.uint64(1) else np.uint64(0)
        store(value, 1 + f, fill(value, word))


@inlined
def put_state(tables: LaneTables, value: Rows, state: NDArray[np.uint64]) -> None:
    """Put one state, uint64[F] of all ones or zeros, into every lane."""
    for f in range(tables.fluent_count):
        store(value, 1 + f, fill(value, state[f]))


@inlined
def clear_moves(tables: LaneTables, value: Rows) -> None:
    """Select no move in any lane."""
    none = fill(value, np.uint64(0))
    for node in range(tables.move0, tables.move0 + tables.move_count):
        store(value, node, none)


@inlined
def put_move(tables: LaneTables, value: Rows, move: Index, lane: Index) -> None:
    """Select a move, by its number among M, in a lane whose role has none yet."""
    set_lane(value, np.int64(tables.move0 + move), lane)


@inlined
def _settle(tables: LaneTables, value: Rows, first_phase: Index, end_phase: Index) -> None:
    """Settle phases first_phase .. end_phase-1: by machine code if there is some, else by the interpreter."""
    native = tables.schedule.native
    width = native_column(value)
    for phase in range(first_phase, end_phase):
        address = native[phase, width]
        if address != 0:
            call_on_rows(address, value, value)
        else:
            settle_apart(tables.schedule, value, phase, phase + 1)


@inlined
def settle_choices(tables: LaneTables, value: Rows) -> None:
    """Settle which moves are legal and whether the game is over."""
    _settle(tables, value, 0, 1)


@inlined
def settle_goals(tables: LaneTables, value: Rows) -> None:
    """Settle the goals, after `settle_choices`."""
    _settle(tables, value, 1, 2)


@inlined
def settle_states(tables: LaneTables, value: Rows) -> None:
    """`settle_choices` and `settle_goals`."""
    _settle(tables, value, 0, 2)


@inlined
def settle_successors(tables: LaneTables, value: Rows, has_percepts: bool) -> None:
    """Settle the next states and, if asked, the percepts; after `settle_states`."""
    _settle(tables, value, 2, 4 if has_percepts else 3)


@stage
def move_at_random(tables: LaneTables, value: Rows, scratch: Rows, planes: Index, random: Rows) -> Row:
    """Settle all but the percepts, with a uniformly random move of each role; return the lanes stuck.

    See `ggp.lanes.choose.choose_moves`. Here `settle` is part of the kernel: for ticks of less than a
    microsecond.
    """
    _settle(tables, value, 0, 2)
    stuck = choose_moves(tables, value, scratch, planes, random, fill(value, ALL_ONES))
    _settle(tables, value, 2, 3)
    return stuck


@kernel
def settle_phases(tables: LaneTables, value: Rows, first_phase: int, end_phase: int) -> None:
    """Settle the phases first_phase .. end_phase-1: for Python, which puts and reads rows itself."""
    _settle(tables, value, first_phase, end_phase)


@inlined
def several_true(value: Rows, literals: Int32Array, first: Index, end: Index) -> Row:
    """Lanes in which two or more of literals[first:end] hold."""
    one = fill(value, np.uint64(0))
    several = one
    for i in range(first, end):
        x = literal(value, np.int64(literals[i]))
        several = several | (one & x)
        one = one | x
    return several


@stage
def _append_in_lanes(
    live: Rows,
    move: Index,
    role: Index,
    tables: LaneTables,
    first: Index,
    count: Int32Array,
    legal: Int32Array,
) -> None:
    """Append a role's move to its list, which begins at `first`, in the lanes set in row 1 of `live`."""
    for w in range(word_count(live)):
        bits = get_word(live, 1, w)
        while bits != np.uint64(0):
            lane = 64 * w + lowest_bit(bits)
            bits = bits & (bits - np.uint64(1))
            place = lane * tables.role_count + role
            legal[lane * tables.move_count + first + count[place]] = move
            count[place] += 1


@inlined
def list_legal_moves(
    tables: LaneTables,
    first_move: Int32Array,
    value: Rows,
    live: Rows,
    legal_count: Int32Array,
    legal_move: Int32Array,
) -> None:
    """List the legal moves, by lane and role in ascending order, in the lanes set in row 0 of `live`.

    Row 1 of `live` is scratch.
    legal_count   int32[L*R] and legal_move int32[L*M], by lane and role; those of role r of a lane begin at
                  its first move
    """
    legal_count[:] = 0
    alive = load(live, 0)
    for role in range(tables.role_count):
        slot = tables.first_slot[role]
        first = first_move[role]
        for move in range(first, first_move[role + 1]):
            x = literal(value, np.int64(tables.slot_literal[slot])) & alive
            slot += 1
            if any_lane(x):
                store(live, 1, x)
                _append_in_lanes(live, move, role, tables, first, legal_count, legal_move)


@stage
def _set_goal(goal: NDArray[np.uint8], first: Index, roles: Index, scratch: Rows, worth: np.uint8) -> None:
    """Set a goal in the lanes of row 0."""
    for w in range(word_count(scratch)):
        bits = get_word(scratch, 0, w)
        while bits != np.uint64(0):
            goal[first + (64 * w + lowest_bit(bits)) * roles] = worth
            bits = bits & (bits - np.uint64(1))


@piece
def read_goals(
    tables: LaneTables, value: Rows, scratch: Rows, lanes: Row, goal: NDArray[np.uint8], first: Index
) -> None:
    """goal[first + lane*R + r] = goal of role r, NO_GOAL where the rules give none or several, in `lanes`.

    scratch   a row
    """
    roles = tables.role_count
    for role in range(roles):
        store(scratch, 0, lanes)
        _set_goal(goal, first + role, roles, scratch, np.uint8(NO_GOAL))
        begin, end = tables.goal_first[role], tables.goal_first[role + 1]
        single = lanes & ~several_true(value, tables.goal_literal, begin, end)
        for q in range(begin, end):
            store(scratch, 0, literal(value, np.int64(tables.goal_literal[q])) & single)
            _set_goal(goal, first + role, roles, scratch, np.uint8(tables.goal_value[q]))


@inlined
def sum_percepts(
    value: Rows,
    literals: Int32Array,
    number: Keys,
    first: Index,
    end: Index,
    w: Index,
    lanes: np.uint64,
    total: Keys,
) -> None:
    """total[lane] = sum of the numbers of the percepts first .. end-1 that hold, in `lanes` of word `w`.

    literals, number   int32[P] and uint64[P]; SEES must be settled
    total              uint64[L]; 0 in the other lanes of the word
    """
    for lane in range(64 * w, 64 * w + 64):
        total[lane] = np.uint64(0)
    for p in range(first, end):
        bits = literal_word(value, np.int64(literals[p]), w) & lanes
        while bits != np.uint64(0):
            total[64 * w + lowest_bit(bits)] += number[p]
            bits &= bits - np.uint64(1)


@inlined
def store_successors(
    code: StateCode,
    following: Int32Array,
    value: Rows,
    count: Index,
    planes: Rows,
    block: NDArray[np.uint64],
    reached: Keys,
) -> None:
    """Store the keys of the next states of the first `count` lanes, rounded up to a multiple of 64.

    following   int32[F]: `LaneTables.next`, or the literals of an image of the next state
    reached     uint64[L*D]; planes and block as in `put_keys`
    """
    encode_planes(code, following, value, planes)
    store_keys(planes, count, code.word_count, reached, block)


@inlined
def copy_successors(tables: LaneTables, value: Rows, target: Rows) -> None:
    """Put the next states into the same lanes of `target`, other rows of the same game."""
    for f in range(tables.fluent_count):
        store(target, 1 + f, literal(value, np.int64(tables.next[f])))


@inlined
def advance(tables: LaneTables, value: Rows, saved: Rows, moved: Row, others: Rows, first: Index) -> None:
    """Make the next state current in the lanes `moved`; the other lanes take theirs from `others`.

    saved           a row for each fluent that cannot be written before another one is read
    others, first   row first + f holds fluent f; with `value` and 1 these lanes keep their state
    """
    following, cyclic, order = tables.next, tables.next_saved, tables.next_order
    for i in range(cyclic.shape[0]):
        store(saved, i, literal(value, np.int64(following[cyclic[i]])))
    for i in range(order.shape[0]):
        f = np.int64(order[i])
        x = literal(value, np.int64(following[f]))
        store(value, 1 + f, (x & moved) | (load(others, first + f) & ~moved))
    for i in range(cyclic.shape[0]):
        f = np.int64(cyclic[i])
        store(value, 1 + f, (load(saved, i) & moved) | (load(others, first + f) & ~moved))
