"""expand: all successors of many states, deduplicated and numbered.

Two passes of lanes. In the first a lane is a state: LEGAL and GOAL tell whether it is terminal, what
it is worth and which moves there are. In the second a lane is a state and a joint move: NEXT gives the
state reached, whose key is looked up in the table and appended if it is new.

Letters: N states, R roles, M moves of all roles, D words per key, L = 64*W lanes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.kernels.compiling import inlined, kernel, piece
from ggp.kernels.lane_bits import has_lane, set_lane
from ggp.kernels.lane_tables import LaneTables
from ggp.kernels.row_loops import clear_moves, several_true
from ggp.kernels.rows import (
    ALL_ONES,
    Index,
    Rows,
    any_lane,
    get_word,
    literal,
    load,
    lowest_bit,
    make_rows,
    store,
    word_count,
    words_of,
)
from ggp.kernels.settle import settle_phases
from ggp.kernels.solver_codes import StateCode, decode_planes, encode_planes, load_keys, store_keys
from ggp.kernels.solver_table import Words, number_states
from ggp.tables import Int32Array

# Indices of Expansion.counter.
STATES, EDGES, STUCK, BACKWARD, WANTED = range(5)
COUNTERS = 5
NO_GOAL = 255
UNKNOWN = 254
MOST_MOVES = 65535


class Expansion(NamedTuple):
    """The memory of one expander.

    state_value, move_value   K+1 rows each: the circuit with a state per lane, and with a joint move as well
    planes      64*D rows
    block       uint64[64], scratch
    chosen      int64[L]: the states in the lanes of the first pass
    source      int64[L]: the states in the lanes of the second pass
    legal_count int32[L*R] and legal_move int32[L*M]: legal moves (counted over all roles) by lane and role
    reached     uint64[L*D]: keys of the states reached
    mixed       uint64[L]: their hashes
    turn        int64[R]: the joint move at hand, as places in the lists of legal moves
    counter     int64[COUNTERS]: STATES numbered so far, EDGES in the array at hand, STUCK states (not
                terminal, and a role with no move or over MOST_MOVES), BACKWARD edges (to a state whose number
                is not above the source's), transitions WANTED room for
    """

    state_value: Rows
    move_value: Rows
    planes: Rows
    block: NDArray[np.uint64]
    chosen: NDArray[np.int64]
    source: NDArray[np.int64]
    legal_count: Int32Array
    legal_move: Int32Array
    reached: Words
    mixed: Words
    turn: NDArray[np.int64]
    counter: NDArray[np.int64]


def make_expansion(tables: LaneTables, code: StateCode, words: int) -> Expansion:
    """Fresh memory for one game, rows of `words` words."""
    lanes = 64 * words
    values = [make_rows(tables.row_count, words) for _ in range(2)]
    for value in values:
        words_of(value)[0] = ALL_ONES
    return Expansion(
        state_value=values[0],
        move_value=values[1],
        planes=make_rows(64 * code.word_count, words),
        block=np.zeros(64, np.uint64),
        chosen=np.zeros(lanes, np.int64),
        source=np.zeros(lanes, np.int64),
        legal_count=np.zeros(lanes * tables.role_count, np.int32),
        legal_move=np.empty(lanes * max(1, tables.move_count), np.int32),
        reached=np.zeros(lanes * code.word_count, np.uint64),
        mixed=np.zeros(lanes, np.uint64),
        turn=np.zeros(tables.role_count, np.int64),
        counter=np.zeros(COUNTERS, np.int64),
    )


@inlined
def list_legal_moves(
    tables: LaneTables,
    first_move: Int32Array,
    value: Rows,
    live: Rows,
    legal_count: Int32Array,
    legal_move: Int32Array,
) -> None:
    """By lane and role the legal moves in ascending order, in the lanes set in row 0 of `live`."""
    roles = tables.role_count
    moves = tables.move_count
    legal_count[:] = 0
    words = word_count(value)
    alive = load(live, 0)
    for role in range(roles):
        slot = tables.first_slot[role]
        for move in range(first_move[role], first_move[role + 1]):
            x = literal(value, np.int64(tables.slot_literal[slot])) & alive
            slot += 1
            if any_lane(x):
                store(live, 1, x)
                for w in range(words):
                    bits = get_word(live, 1, w)
                    while bits != np.uint64(0):
                        lane = 64 * w + lowest_bit(bits)
                        bits = bits & (bits - np.uint64(1))
                        place = lane * roles + role
                        legal_move[lane * moves + first_move[role] + legal_count[place]] = move
                        legal_count[place] += 1


@piece
def read_goals(
    tables: LaneTables, value: Rows, scratch: Rows, count: Index, goal: NDArray[np.uint8], first: Index
) -> None:
    """goal[first + lane*R + r] = goal of role r, NO_GOAL where the rules give none or several."""
    roles = tables.role_count
    for role in range(roles):
        for lane in range(count):
            goal[first + lane * roles + role] = NO_GOAL
        begin, end = tables.goal_first[role], tables.goal_first[role + 1]
        store(scratch, 0, several_true(value, tables.goal_literal, begin, end))
        for q in range(begin, end):
            store(scratch, 1, literal(value, np.int64(tables.goal_literal[q])))
            worth = np.uint8(tables.goal_value[q])
            for w in range((count + 63) >> 6):
                bits = get_word(scratch, 1, w) & ~get_word(scratch, 0, w)
                while bits != np.uint64(0):
                    lane = 64 * w + lowest_bit(bits)
                    bits = bits & (bits - np.uint64(1))
                    if lane < count:
                        goal[first + lane * roles + role] = worth


@piece
def _flush(
    tables: LaneTables,
    code: StateCode,
    expansion: Expansion,
    table: Words,
    keys: Words,
    edge: NDArray[np.uint32],
    pending: Index,
) -> None:
    """The second pass: number the states that the `pending` joint moves lead to, and forget the moves."""
    counter = expansion.counter
    value = expansion.move_value
    words = code.word_count
    load_keys(keys, expansion.source, pending, words, expansion.planes, expansion.block)
    decode_planes(code, expansion.planes, value)
    settle_phases(tables, value, 0, 3)
    encode_planes(code, tables.next, value, expansion.planes)
    store_keys(expansion.planes, pending, words, expansion.reached, expansion.block)
    edges = counter[EDGES]
    counter[STATES] = number_states(
        table, keys, words, counter[STATES], expansion.reached, pending, expansion.mixed, edge, edges
    )
    backward = np.int64(0)
    for i in range(pending):
        backward += np.int64(edge[edges + i]) <= expansion.source[i]
    counter[BACKWARD] += backward
    counter[EDGES] = edges + pending
    clear_moves(tables, value)


@kernel
def expand(
    tables: LaneTables,
    code: StateCode,
    first_move: Int32Array,
    expansion: Expansion,
    live: Rows,
    table: Words,
    keys: Words,
    first: int,
    end: int,
    edge: NDArray[np.uint32],
    move_count: NDArray[np.uint16],
    goal: NDArray[np.uint8],
) -> int:
    """Expand states first .. end-1; returns how far it came: the first state not expanded.

    It stops early where `edge`, `keys` or `table` have no room for the block of states at hand; the
    transitions of that block are then in counter[WANTED].

    live         2 rows, scratch
    edge         uint32[*]; successors of the states in order, joint moves in lexicographic order, appended
                 at counter[EDGES]
    move_count   uint16[(end-first)*R]: legal moves per role; all 0 in terminal states
    goal         uint8[N*R]: written for terminal states: their goals; for others UNKNOWN
    """
    roles = tables.role_count
    moves = tables.move_count
    counter = expansion.counter
    words = code.word_count
    value = expansion.state_value
    lanes = 64 * word_count(value)
    turn = expansion.turn
    pending = np.int64(0)
    state: Any = np.int64(first)
    while state < end:
        count: Any = min(lanes, end - state)
        for i in range(count):
            expansion.chosen[i] = state + i
        load_keys(keys, expansion.chosen, count, words, expansion.planes, expansion.block)
        decode_planes(code, expansion.planes, value)
        settle_phases(tables, value, 0, 2)
        ended = literal(value, np.int64(tables.terminal))
        store(live, 0, ~ended)
        list_legal_moves(tables, first_move, value, live, expansion.legal_count, expansion.legal_move)
        wanted = np.int64(0)
        for lane in range(count):
            product = np.int64(1)
            for role in range(roles):
                product *= expansion.legal_count[lane * roles + role]
            wanted += product
        room = min(
            edge.shape[0] - counter[EDGES],
            keys.shape[0] // words - counter[STATES],
            table.shape[0] // 4 * 3 - counter[STATES],
        )
        if room < wanted + pending:
            counter[WANTED] = wanted + pending
            break
        read_goals(tables, value, expansion.planes, count, goal, state * roles)
        for lane in range(count):
            if has_lane(live, 0, lane):
                stuck = False
                for role in range(roles):
                    legal = expansion.legal_count[lane * roles + role]
                    stuck = stuck or legal == 0 or legal > MOST_MOVES
                    move_count[(state - first + lane) * roles + role] = np.uint16(legal)
                    goal[(state + lane) * roles + role] = UNKNOWN
                    turn[role] = 0
                if stuck:
                    counter[STUCK] += 1
                    continue
                role = roles
                while role >= 0:
                    for each in range(roles):
                        move = expansion.legal_move[lane * moves + first_move[each] + turn[each]]
                        node = np.int64(tables.move0 + move)
                        set_lane(expansion.move_value, node, pending)
                    expansion.source[pending] = state + lane
                    pending += 1
                    if pending == lanes:
                        _flush(tables, code, expansion, table, keys, edge, pending)
                        pending = np.int64(0)
                    role = roles - 1
                    while role >= 0 and turn[role] + 1 == expansion.legal_count[lane * roles + role]:
                        turn[role] = 0
                        role -= 1
                    if role >= 0:
                        turn[role] += 1
            else:
                for role in range(roles):
                    move_count[(state - first + lane) * roles + role] = np.uint16(0)
        state += count
    if pending > 0:
        _flush(tables, code, expansion, table, keys, edge, pending)
    return state  # type: ignore[no-any-return]
