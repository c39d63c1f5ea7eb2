"""expand: find all successors of many states, without duplicates, and number them.

Two passes of lanes. In the first a lane is a state: LEGAL and GOAL give its moves, whether it is terminal and
its goals. In the second a lane is a state and a joint move: NEXT gives the successor, whose key is looked up
in the key table and appended if it is new.

In most games roles take turns. Then the joint moves of a first pass are listed move by move, so that a move
is set in many lanes at once, and keys are put where they belong in the order of states. Otherwise joint moves
are set one by one.

Letters: N states, R roles, M moves of all roles, D words per key, L = 64*W lanes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel, piece, stage
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
    make_rows,
    popcount,
    set_word,
    store,
    sum_words,
    word_count,
    words_of,
)
from ggp.jit.unboxed import Unboxed, unboxed
from ggp.lanes.bits import has_lane, set_lanes
from ggp.lanes.choose import take_turns
from ggp.lanes.indices import transpose_rows
from ggp.lanes.keys.key_table import SCRATCH, KeyTable, Words, number_states
from ggp.lanes.keys.state_code import StateCode, decode_planes, encode_planes
from ggp.lanes.layout import LaneTables
from ggp.lanes.step import (
    clear_moves,
    list_legal_moves,
    put_keys,
    put_move,
    read_goals,
    settle_states,
    settle_successors,
)

# Indices of Expansion.counter.
STATES, EDGES, STUCK, BACKWARD, WANTED, PASSES, NEXT, LANE, IS_OPEN, PENDING, FULL_AT = range(11)
LISTED, REACHED, RUNS = range(11, 14)
COUNTERS = 14
NO_LANE = -1
NOT_LISTED = -1
TURN = 2
LISTED_PER_STATE = 64
"""In the mean: listed joint moves are numbered at once, in less than a millisecond."""
UNKNOWN = 254
MAX_MOVES = 65535
MAX_STATES = 2**32 - 2


class Expansion(NamedTuple):
    """The memory of one expander.

    state_value, move_value   K+1 rows each: the circuit with a state per lane, and with a joint move as well
    planes      64*D rows
    live        2+R rows: the lanes of the first pass whose state is not terminal; scratch; from TURN on,
                the lanes in which each role has its turn
    block       uint64[64], scratch
    chosen      int64[L]: the states in the lanes of the first pass
    source, target   int64[L]: the states in the lanes of the second pass, and the places in `reached`
    legal_count int32[L*R] and legal_move int32[L*M]: legal moves (counted over all roles) by lane and role;
                of listed joint moves their lanes instead
    joint_moves, next_place   int32[L]: how many are listed of each lane, and the place in `reached` of the
                first that is not reached
    run         int32[M+R*R, 3]: a move, and the first and the end of the listed joint moves that have it
    reached     uint64[*D]: keys of the states reached, in their order
    mixed       uint64[SCRATCH]
    turn        int64[R]: the current joint move, as places in the lists of legal moves
    counter     int64[COUNTERS]: STATES numbered so far, EDGES in the current array, roles STUCK in a state
                that is not terminal (no move, or over MAX_MOVES), BACKWARD edges (to a state whose number
                is not above the source's; 0 if there are none), transitions WANTED room for; PASSES of lanes
                that are left, and where `expand` resumes: the NEXT state of the first pass, the current LANE
                (NO_LANE: that pass is still to come), whether its joint moves are begun (IS_OPEN), and how
                many are PENDING; FULL_AT, the number of states that fill the key table; joint moves LISTED
                (or NOT_LISTED), and how many of them are REACHED and in RUNS
    """

    state_value: Rows
    move_value: Rows
    planes: Rows
    live: Rows
    block: NDArray[np.uint64]
    chosen: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    legal_count: Int32Array
    legal_move: Int32Array
    joint_moves: Int32Array
    next_place: Int32Array
    run: Int32Array
    reached: Words
    mixed: Words
    turn: NDArray[np.int64]
    counter: NDArray[np.int64]


def make_expansion(tables: LaneTables, code: StateCode, words: int) -> Expansion:
    """Fresh memory for one game, rows of `words` words."""
    lanes, roles, moves = 64 * words, tables.role_count, max(1, tables.move_count)
    listed = lanes * min(moves, LISTED_PER_STATE)
    values = [make_rows(tables.row_count, words) for _ in range(2)]
    for value in values:
        words_of(value)[0] = ALL_ONES
    return Expansion(
        state_value=values[0],
        move_value=values[1],
        planes=make_rows(64 * code.word_count, words),
        live=make_rows(TURN + roles, words),
        block=np.zeros(64, np.uint64),
        chosen=np.zeros(lanes, np.int64),
        source=np.zeros(lanes, np.int64),
        target=np.zeros(lanes, np.int64),
        legal_count=np.zeros(lanes * roles, np.int32),
        legal_move=np.empty(lanes * moves, np.int32),
        joint_moves=np.zeros(lanes, np.int32),
        next_place=np.zeros(lanes, np.int32),
        run=np.zeros((moves + roles * roles, 3), np.int32),
        reached=np.empty(listed * code.word_count, np.uint64),
        mixed=np.zeros(SCRATCH, np.uint64),
        turn=np.zeros(tables.role_count, np.int64),
        counter=np.zeros(COUNTERS, np.int64),
    )


class Expander(NamedTuple):
    """What one game's states are expanded with."""

    tables: LaneTables
    code: StateCode
    first_move: Int32Array
    expansion: Expansion


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
def _find_turns(tables: LaneTables, expansion: Expansion) -> None:
    """Write the lanes in which each role has its turn, of the first role also those in which all wait."""
    value, live = expansion.state_value, expansion.live
    waiting = load(live, 0)
    for role in range(tables.role_count):
        turn = fill(value, np.uint64(0))
        for i in range(tables.turns.first[role], tables.turns.first[role + 1]):
            turn = turn | literal(value, np.int64(tables.turns.literal[i]))
        store(live, TURN + role, load(live, 0) & turn)
        waiting = waiting & ~turn
    store(live, TURN, load(live, TURN) | waiting)


@stage
def _list_joint_moves(tables: LaneTables, first_move: Int32Array, expansion: Expansion, words: Index) -> bool:
    """List the joint moves of the first pass by roles and moves; whether there was room."""
    value, live, run = expansion.state_value, expansion.live, expansion.run
    roles, runs, listed = tables.role_count, np.int64(0), np.int64(0)
    expansion.joint_moves[:] = 0
    for role in range(roles):
        begin, able = listed, fill(value, np.uint64(0))
        for move in range(first_move[role], first_move[role + 1]):
            slot = tables.first_slot[role] + move - first_move[role]
            x = literal(value, np.int64(tables.slot_literal[slot])) & load(live, TURN + role)
            able = able | x
            if any_lane(x):
                if listed + 64 * word_count(live) > expansion.reached.shape[0] // words:
                    return False
                store(live, 1, x)
                run[runs, 0], run[runs, 1] = move, listed
                listed = _list_lanes(expansion, listed)
                run[runs, 2] = listed
                runs += 1
        stuck = load(live, TURN + role) & ~able
        expansion.counter[STUCK] += sum_words(popcount(stuck))
        for other in range(roles):
            if other != role and begin < listed:
                run[runs, 0], run[runs, 1], run[runs, 2] = tables.turns.waiting[other], begin, listed
                runs += 1
    expansion.counter[LISTED], expansion.counter[REACHED], expansion.counter[RUNS] = listed, 0, runs
    return True


@stage
def _list_lanes(expansion: Expansion, listed: Index) -> Any:
    """List the lanes set in row 1 of `live`; return how many are listed now."""
    live, joint = expansion.live, expansion.joint_moves
    for w in range(word_count(live)):
        bits = get_word(live, 1, w)
        while bits != np.uint64(0):
            lane = 64 * w + lowest_bit(bits)
            bits = bits & (bits - np.uint64(1))
            expansion.legal_move[listed] = lane
            joint[lane] += 1
            listed += 1
    return listed


@stage
def _settle_states(
    tables: LaneTables,
    code: StateCode,
    first_move: Int32Array,
    expansion: Expansion,
    keys: Words,
    state: Index,
    count: Index,
) -> Row:
    """The first pass: settle `count` states from `state` on, one per lane, and list their legal moves; return
    the lanes of terminal states."""
    value = expansion.state_value
    lanes = 64 * word_count(value)
    for i in range(lanes):
        expansion.chosen[i] = state + min(i, count - 1)
    put_keys(code, keys, expansion.chosen, lanes, value, expansion.planes, expansion.block)
    settle_states(tables, value)
    store(expansion.live, 0, fill(value, np.uint64(0)))
    set_lanes(expansion.live, 0, np.int64(0), count)
    ended = load(expansion.live, 0) & literal(value, np.int64(tables.terminal))
    store(expansion.live, 0, load(expansion.live, 0) & ~ended)
    expansion.counter[LISTED] = NOT_LISTED
    is_listed = take_turns(tables, value)
    if is_listed:
        _find_turns(tables, expansion)
        is_listed = _list_joint_moves(tables, first_move, expansion, code.word_count)
    if not is_listed:
        list_legal_moves(
            tables, first_move, value, expansion.live, expansion.legal_count, expansion.legal_move
        )
    return ended


@stage
def _room(space: SpaceArrays, counter: NDArray[np.int64]) -> Any:
    """Transitions for which there is room, even if each leads to a new state."""
    known = space.known
    return min(
        space.edge.shape[0] - counter[EDGES],
        known.keys.shape[0] // known.word_count - counter[STATES],
        counter[FULL_AT] - counter[STATES],
    )


@stage
def _note_states(
    roles: Index, expansion: Expansion, count: Index, move_count: NDArray[np.uint16], at: Index
) -> None:
    """Write the numbers of moves of `count` states from `at` on; find the first places of joint moves."""
    joint, live = expansion.joint_moves, expansion.live
    if expansion.counter[LISTED] < 0:
        for i in range(count * roles):
            legal = expansion.legal_count[i]
            is_live = has_lane(live, 0, i // roles)
            move_count[at + i] = np.uint16(legal)
            expansion.counter[STUCK] += is_live & ((legal == 0) | (legal > MAX_MOVES))
        return
    total = np.int64(0)
    for lane in range(count):
        expansion.next_place[lane] = total
        total += joint[lane]
    for w in range((count + 63) >> 6):
        for role in range(roles):
            turn = get_word(live, TURN + role, w)
            waiting = get_word(live, 0, w) & ~turn
            place = at + 64 * w * roles + role
            for lane in range(64 * w, min(count, 64 * w + 64)):
                has_choice = (turn & np.uint64(1)) != np.uint64(0)
                move_count[place] = np.uint16(joint[lane] if has_choice else waiting & np.uint64(1))
                place += roles
                turn, waiting = turn >> np.uint64(1), waiting >> np.uint64(1)


@stage
def _can_move(legal_count: Int32Array, first: Index, end: Index) -> bool:
    """Whether every role has moves, and not too many."""
    can_move = True
    for i in range(first, end):
        can_move = can_move and 0 < legal_count[i] <= MAX_MOVES
    return can_move


@stage
def _set_listed(tables: LaneTables, expansion: Expansion, state: Index) -> Any:
    """Set the next listed joint moves in the lanes of the second pass; return how many."""
    counter, run, value = expansion.counter, expansion.run, expansion.move_value
    first = counter[REACHED]
    count = min(counter[LISTED] - first, 64 * word_count(value))
    for r in range(counter[RUNS]):
        begin, end = max(run[r, 1] - first, 0), min(run[r, 2] - first, count)
        if begin < end:
            _set_range(value, np.int64(tables.move0 + run[r, 0]), begin, end)
    for i in range(count):
        lane = expansion.legal_move[first + i]
        expansion.source[i] = state + lane
        expansion.target[i] = expansion.next_place[lane]
        expansion.next_place[lane] += 1
    counter[REACHED] = first + count
    return count


@piece
def _reach(tables: LaneTables, code: StateCode, expansion: Expansion, keys: Words, count: Index) -> None:
    """The second pass: store the keys that `count` joint moves lead to, and clear the moves.

    Joint move i is in bit i // W of word i % W, so that its key is word i of the rows to transpose.
    """
    value, planes, source, target = expansion.move_value, expansion.planes, expansion.source, expansion.target
    words, width = code.word_count, word_count(value)
    for d in range(words):
        for i in range(count):
            set_word(planes, 64 * d + i // width, i % width, keys[words * source[i] + d])
        transpose_rows(planes, 64 * d, 64)
    decode_planes(code, planes, value)
    settle_states(tables, value)
    settle_successors(tables, value, False)
    encode_planes(code, tables.next, value, planes)
    for p in range(code.first_source.shape[0] - 1, 64 * words):
        store(planes, p, fill(planes, np.uint64(0)))
    for d in range(words):
        transpose_rows(planes, 64 * d, 64)
        for i in range(count):
            expansion.reached[words * target[i] + d] = get_word(planes, 64 * d + i // width, i % width)
    clear_moves(tables, value)


@inlined
def _set_range(value: Rows, row: Index, begin: Index, end: Index) -> None:
    """Set the lanes of the joint moves begin .. end-1 of a second pass; see `_reach`."""
    width = word_count(value)
    for w in range(width):
        low, high = (begin + width - 1 - w) // width, (end + width - 1 - w) // width
        if low < high:
            bits = (ALL_ONES >> np.uint64(64 - high)) & (ALL_ONES << np.uint64(low))
            set_word(value, row, w, get_word(value, row, w) | bits)


@piece
def _number(expansion: Expansion, space: SpaceArrays, count: Index, state: Index, is_listed: bool) -> None:
    """Number the first `count` states reached, if listed from those from `state` on."""
    counter, edge, source = expansion.counter, space.edge, expansion.source
    edges = counter[EDGES]
    counter[EDGES] = edges + count
    counter[STATES] = number_states(
        space.known, counter[STATES], expansion.reached, count, expansion.mixed, edge, edges
    )
    last = counter[NEXT] - 1 if is_listed else source[count - 1]
    lowest = np.int64(MAX_STATES)
    for i in range(edges, edges + count):
        lowest = min(lowest, np.int64(edge[i]))
    if counter[BACKWARD] != 0 or lowest > last:
        return
    place = edges
    if is_listed:
        for lane in range(expansion.joint_moves.shape[0]):
            for _ in range(expansion.joint_moves[lane]):
                counter[BACKWARD] += np.int64(edge[place]) <= state + lane
                place += 1
    else:
        for i in range(count):
            counter[BACKWARD] += np.int64(edge[edges + i]) <= source[i]


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
def _set_joint_move(
    tables: LaneTables, first_move: Int32Array, expansion: Expansion, lane: Index, i: Index
) -> None:
    """Set the joint move `turn` of the state in `lane` of the first pass as number `i` of the second."""
    turn, width = expansion.turn, word_count(expansion.move_value)
    for role in range(turn.shape[0]):
        move = expansion.legal_move[lane * tables.move_count + first_move[role] + turn[role]]
        put_move(tables, expansion.move_value, move, 64 * (i % width) + i // width)
    expansion.source[i], expansion.target[i] = expansion.chosen[lane], i


@stage
def _set_joint_moves(
    tables: LaneTables, first_move: Int32Array, expansion: Expansion, count: Index, lanes: Index
) -> None:
    """Set joint moves of the first pass, `count` states, from counter[LANE] on, while there are lanes.
    A state whose joint moves fill the second pass stays open until the next one."""
    counter, roles = expansion.counter, tables.role_count
    while counter[LANE] < count and counter[PENDING] < lanes:
        first = counter[LANE] * roles
        if counter[IS_OPEN] == 0:
            counter[IS_OPEN] = _can_move(expansion.legal_count, first, first + roles)
        if counter[IS_OPEN] != 0:
            _set_joint_move(tables, first_move, expansion, counter[LANE], counter[PENDING])
            counter[PENDING] += 1
            counter[IS_OPEN] = _next_joint_move(expansion.turn, expansion.legal_count, first)
        counter[LANE] += counter[IS_OPEN] == 0


def begin_expansion(expansion: Expansion, first: int) -> None:
    """Let `expand` begin at state `first`, with no edges yet."""
    counter = expansion.counter
    counter[[EDGES, IS_OPEN, PENDING, WANTED]] = 0
    counter[NEXT], counter[LANE], counter[LISTED] = first, NO_LANE, NOT_LISTED


@kernel
def expand(
    expander: Unboxed[Expander], space: SpaceArrays, first: int, end: int, move_count: NDArray[np.uint16]
) -> bool:
    """Expand states first .. end-1, after `begin_expansion`; whether that is done.

    If not, counter[PASSES] are used up, or `space` has no room for the transitions in counter[WANTED], which
    are LISTED_PER_STATE per lane at most; the next call resumes in the middle of it. What is found does not
    depend on the number of calls.

    move_count   uint16[(end-first)*R], overwritten: legal moves per role; all 0 in terminal states
    """
    tables, code, first_move, expansion = unboxed(expander)
    roles, counter, keys = tables.role_count, expansion.counter, space.known.keys
    lanes = 64 * word_count(expansion.state_value)
    counter[WANTED] = 0
    while counter[PASSES] > 0 and (counter[NEXT] < end or counter[PENDING] > 0):
        state, pending, listed = counter[NEXT], counter[PENDING], counter[LISTED]
        count = min(lanes, end - state)
        is_full = pending == lanes or state == end or (pending > 0 and listed >= 0)
        if not is_full and listed > counter[REACHED]:
            _reach(tables, code, expansion, keys, _set_listed(tables, expansion, state))
            counter[PASSES] -= 1
        elif is_full or listed >= 0:
            numbered = pending if is_full else listed
            if _room(space, counter) < numbered:
                counter[WANTED] = numbered
                break
            if is_full:
                _reach(tables, code, expansion, keys, pending)
                counter[PENDING] = 0
                counter[PASSES] -= 1
            else:
                counter[NEXT], counter[LANE], counter[LISTED] = state + count, NO_LANE, NOT_LISTED
            _number(expansion, space, numbered, state, not is_full)
        elif counter[LANE] < 0:
            ended = _settle_states(tables, code, first_move, expansion, keys, state, count)
            space.goal[state * roles : (state + count) * roles] = UNKNOWN
            read_goals(tables, expansion.state_value, expansion.planes, ended, space.goal, state * roles)
            _note_states(roles, expansion, count, move_count, (state - first) * roles)
            counter[LANE] = 0
            counter[PASSES] -= 1
        else:
            _set_joint_moves(tables, first_move, expansion, count, lanes)
            if counter[LANE] == count:
                counter[NEXT], counter[LANE] = state + count, NO_LANE
    return bool(counter[NEXT] == end and counter[PENDING] == 0)
