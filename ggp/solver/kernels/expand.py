"""expand: find all successors of many states, without duplicates, and number them.

Two passes of lanes. In the first a lane is a state: LEGAL and GOAL give its moves, whether it is terminal and
its goals. In the second a lane is a state and a joint move: NEXT gives the successor, whose key is looked up
in the key table and appended if it is new.

Letters: N states, R roles, M moves of all roles, D words per key, L = 64*W lanes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import kernel, piece, stage
from ggp.jit.rows import ALL_ONES, Index, Rows, literal, make_rows, store, word_count, words_of
from ggp.lanes.bits import has_lane, set_lanes
from ggp.lanes.keys.key_table import KeyTable, Words, number_states
from ggp.lanes.keys.state_code import StateCode
from ggp.lanes.layout import LaneTables
from ggp.lanes.step import (
    clear_moves,
    list_legal_moves,
    put_keys,
    put_move,
    read_goals,
    settle_states,
    settle_successors,
    store_successors,
)

# Indices of Expansion.counter.
STATES, EDGES, STUCK, BACKWARD, WANTED, PASSES, NEXT, LANE, IS_OPEN, PENDING, LISTED_FROM = range(11)
COUNTERS = 11
NO_LANE = -1
UNKNOWN = 254
MAX_MOVES = 65535


class Expansion(NamedTuple):
    """The memory of one expander.

    state_value, move_value   K+1 rows each: the circuit with a state per lane, and with a joint move as well
    planes      64*D rows
    live        2 rows: the lanes of the first pass whose state is not terminal; scratch
    block       uint64[64], scratch
    chosen      int64[L]: the states in the lanes of the first pass
    source      int64[L]: the states in the lanes of the second pass
    legal_count int32[L*R] and legal_move int32[L*M]: legal moves (counted over all roles) by lane and role
    reached     uint64[L*D]: keys of the states reached
    mixed       uint64[L]: their hashes
    turn        int64[R]: the joint move at hand, as places in the lists of legal moves
    counter     int64[COUNTERS]: STATES numbered so far, EDGES in the array at hand, STUCK states (not
                terminal, and a role with no move or over MAX_MOVES), BACKWARD edges (to a state whose number
                is not above the source's), transitions WANTED room for; PASSES of lanes that are left, and
                where `expand` resumes: the NEXT state of the first pass, the LANE at hand (NO_LANE: that pass
                is still to come), whether its joint moves are begun (IS_OPEN), and how many are PENDING;
                LISTED_FROM, the first state in the key table, none before which is reached again
    """

    state_value: Rows
    move_value: Rows
    planes: Rows
    live: Rows
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
        live=make_rows(2, words),
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


class SpaceArrays(NamedTuple):
    """The arrays that an expansion reads and extends. The caller replaces those that have become too small.

    known        the states found: their keys and the key table
    edge         uint32[*]: numbers of the successors, appended at counter[EDGES]
    goal         uint8[N*R]: goals of terminal states (NO_GOAL where the rules give none or several), UNKNOWN
                 for other states that were expanded
    """

    known: KeyTable
    edge: NDArray[np.uint32]
    goal: NDArray[np.uint8]


@stage
def _settle_states(
    tables: LaneTables,
    code: StateCode,
    first_move: Int32Array,
    expansion: Expansion,
    keys: Words,
    state: Index,
    count: Index,
) -> None:
    """The first pass: settle `count` states from `state` on, one per lane, and list their legal moves."""
    for i in range(count):
        expansion.chosen[i] = state + i
    value = expansion.state_value
    put_keys(code, keys, expansion.chosen, count, value, expansion.planes, expansion.block)
    settle_states(tables, value)
    store(expansion.live, 0, ~literal(value, np.int64(tables.terminal)))
    list_legal_moves(tables, first_move, value, expansion.live, expansion.legal_count, expansion.legal_move)


@stage
def _room(space: SpaceArrays, counter: NDArray[np.int64]) -> Any:
    """Transitions for which there is room, even if each leads to a new state."""
    known = space.known
    return min(
        space.edge.shape[0] - counter[EDGES],
        known.keys.shape[0] // known.word_count - counter[STATES],
        known.table.shape[0] // 4 * 3 - (counter[STATES] - counter[LISTED_FROM]),
    )


@stage
def _is_expandable(
    roles: Index,
    expansion: Expansion,
    lane: Index,
    move_count: NDArray[np.uint16],
    at: Index,
    goal: NDArray[np.uint8],
    goal_at: Index,
) -> bool:
    """Whether the state of a lane has successors; write its numbers of moves, and UNKNOWN unless terminal.

    at, goal_at   where the state's entries begin in `move_count` and `goal`
    """
    if not has_lane(expansion.live, 0, lane):
        for role in range(roles):
            move_count[at + role] = np.uint16(0)
        return False
    is_stuck = False
    for role in range(roles):
        legal = expansion.legal_count[lane * roles + role]
        is_stuck = is_stuck or legal == 0 or legal > MAX_MOVES
        move_count[at + role] = np.uint16(legal)
        goal[goal_at + role] = UNKNOWN
    expansion.counter[STUCK] += is_stuck
    return not is_stuck


@piece
def _flush(
    tables: LaneTables, code: StateCode, expansion: Expansion, space: SpaceArrays, pending: Index
) -> None:
    """The second pass: number the states that the `pending` joint moves lead to, and clear the moves."""
    counter = expansion.counter
    value = expansion.move_value
    planes, block = expansion.planes, expansion.block
    put_keys(code, space.known.keys, expansion.source, pending, value, planes, block)
    settle_states(tables, value)
    settle_successors(tables, value, False)
    store_successors(code, tables.next, value, pending, planes, block, expansion.reached)
    edges = counter[EDGES]
    counter[STATES] = number_states(
        space.known, counter[STATES], expansion.reached, pending, expansion.mixed, space.edge, edges
    )
    backward = np.int64(0)
    for i in range(pending):
        backward += np.int64(space.edge[edges + i]) <= expansion.source[i]
    counter[BACKWARD] += backward
    counter[EDGES] = edges + pending
    clear_moves(tables, value)


@stage
def _next_joint_move(turn: NDArray[np.int64], legal_count: Int32Array, first: Index) -> bool:
    """Advance `turn` to the next joint move in lexicographic order; False after the last, and all 0 again."""
    role = turn.shape[0] - 1
    while role >= 0 and turn[role] + 1 == legal_count[first + role]:
        turn[role] = 0
        role -= 1
    if role >= 0:
        turn[role] += 1
    return role >= 0  # type: ignore[no-any-return]


@stage
def _set_joint_moves(
    tables: LaneTables, first_move: Int32Array, expansion: Expansion, lane: Index, target: Index
) -> Any:
    """Set joint moves of the state in `lane` of the first pass, from `turn` on, in lanes from `target` on of
    the second: those that differ in one role's move, as many as there is room for. Return their number;
    `turn` is the last of them then.
    """
    turn, value = expansion.turn, expansion.move_value
    legal = expansion.legal_count[lane * turn.shape[0] : (lane + 1) * turn.shape[0]]
    chooser = turn.shape[0] - 1
    while chooser > 0 and legal[chooser] == 1:
        chooser -= 1
    end = min(target + legal[chooser] - turn[chooser], 64 * word_count(value))
    for role in range(turn.shape[0]):
        place = lane * tables.move_count + first_move[role] + turn[role]
        if role == chooser:
            for i in range(target, end):
                put_move(tables, value, expansion.legal_move[place + i - target], i)
        else:
            set_lanes(value, np.int64(tables.move0 + expansion.legal_move[place]), target, end)
    expansion.source[target:end] = expansion.chosen[lane]
    turn[chooser] += end - target - 1
    return end - target


def begin_expansion(expansion: Expansion, first: int) -> None:
    """Let `expand` begin at state `first`, with no edges yet."""
    counter = expansion.counter
    counter[[EDGES, IS_OPEN, PENDING, WANTED]] = 0
    counter[NEXT], counter[LANE] = first, NO_LANE


@kernel
def expand(
    tables: LaneTables,
    code: StateCode,
    first_move: Int32Array,
    expansion: Expansion,
    space: SpaceArrays,
    first: int,
    end: int,
    move_count: NDArray[np.uint16],
) -> bool:
    """Expand states first .. end-1, after `begin_expansion`; whether that is done.

    If not, counter[PASSES] are used up, or `space` has no room for the transitions in counter[WANTED], which
    are at most one per lane; the next call resumes in the middle of it. What is found does not depend on the
    number of calls.

    move_count   uint16[(end-first)*R], overwritten: legal moves per role; all 0 in terminal states
    """
    roles = tables.role_count
    counter = expansion.counter
    lanes = 64 * word_count(expansion.state_value)
    state: Any = counter[NEXT]
    lane: Any = counter[LANE]
    pending: Any = counter[PENDING]
    is_open = counter[IS_OPEN] != 0
    counter[WANTED] = 0
    while counter[PASSES] > 0 and (state < end or pending > 0):
        if pending == lanes or state == end:
            if _room(space, counter) < pending:
                counter[WANTED] = pending
                break
            _flush(tables, code, expansion, space, pending)
            pending = np.int64(0)
            counter[PASSES] -= 1
            continue
        count: Any = min(lanes, end - state)
        if lane < 0:
            _settle_states(tables, code, first_move, expansion, space.known.keys, state, count)
            read_goals(tables, expansion.state_value, expansion.planes, count, space.goal, state * roles)
            counter[PASSES] -= 1
            lane = np.int64(0)
        # The moves of `count` states from `state` on are listed; those of the lanes before `lane` are pending
        # or flushed. A state whose joint moves fill the pass stays open until the next one.
        while lane < count and pending < lanes:
            here = state + lane
            at, goal_at = (here - first) * roles, here * roles
            if not is_open:
                is_open = _is_expandable(roles, expansion, lane, move_count, at, space.goal, goal_at)
            if is_open:
                pending += _set_joint_moves(tables, first_move, expansion, lane, pending)
                is_open = _next_joint_move(expansion.turn, expansion.legal_count, lane * roles)
            if not is_open:
                lane += 1
        if lane == count:
            state += count
            lane = np.int64(NO_LANE)
    counter[NEXT], counter[LANE], counter[PENDING], counter[IS_OPEN] = state, lane, pending, is_open
    return bool(state == end and pending == 0)
