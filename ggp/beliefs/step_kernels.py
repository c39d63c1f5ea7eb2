"""One step of a belief in the lanes of a circuit, by kernels.

    read_states         the legal moves of many states, and which of them are terminal
    make_joint_moves    a lane is a joint move of a state: successors that agree with what a role observes are
                    looked up by their facts, and equal ones added up

Letters: N states, D words of a packed state, R roles, M moves of all roles, P percepts of all roles, L lanes,
S successors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.beliefs.observation_keys import ObservationNumbers
from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel, stage
from ggp.jit.rows import (
    ALL_ONES,
    Index,
    Rows,
    any_lane,
    fill,
    get_word,
    literal,
    load,
    lowest_bit,
    make_rows,
    set_word,
    store,
    word_count,
)
from ggp.lanes.bits import literal_word
from ggp.lanes.keys.key_table import SCRATCH, KeyTable, Words, make_key_table, number_states
from ggp.lanes.keys.state_code import StateCode, make_code
from ggp.lanes.layout import LaneTables
from ggp.lanes.step import (
    clear_moves,
    put_keys,
    put_move,
    settle_states,
    settle_successors,
    store_successors,
    sum_percepts,
)

BoolArray = NDArray[np.bool_]
Int64Array = NDArray[np.int64]
Float64Array = NDArray[np.float64]


class StepLanes(NamedTuple):
    """The contents of each lane in a tick; scratch."""

    code: StateCode  # of the states: a fluent a bit
    planes: Rows  # 64*D rows, scratch
    agreeing: Rows  # one row: the lanes that agree
    block: Words  # uint64[64]
    origin: Int64Array  # int64[L]: the state that a lane began in
    made: Int32Array  # int32[R, L]: the moves
    share: Float64Array  # float64[L]: the weight of the successor
    observed: Words  # uint64[L]: the sum of the numbers of what one role perceives
    key: Words  # uint64[R, L]: of what each role has observed after the step
    reached: Words  # uint64[L*D]: the successors
    mixed: Words  # uint64[SCRATCH]
    number: NDArray[np.uint32]  # uint32[L]


class Origins(NamedTuple):
    """The states before the step.

    first_joint    int64[N+1]: the joint moves of state n are first_joint[n] .. first_joint[n+1] - 1
    first_choice   int64[N*R+1]: those of role r are choice[first_choice[n*R+r] : first_choice[n*R+r+1]]
    """

    states: Words  # uint64[N*D], state by state
    weight: Float64Array  # float64[N]
    key: Words  # uint64[N, R]: of what each role has observed; uint64[0, R] if keys are not kept
    first_joint: Int64Array
    first_choice: Int64Array
    choice: Int32Array  # int32[*], legal moves by their number among M


class Wanted(NamedTuple):
    """What one role observed."""

    numbers: ObservationNumbers  # of the percepts of all roles, and of moves
    percepts: BoolArray  # bool[P]: what the role observes; of the percepts of other roles not read
    role: int  # whose observation is compared, or -1: all successors agree


class Reached(NamedTuple):
    """The successors found so far, with room for more."""

    known: KeyTable  # their facts and the hash table that finds them
    weight: Float64Array  # float64[S]
    likeliest: Float64Array  # float64[S]: of several ways to a successor the greatest weight ...
    key: Words  # uint64[S, R]: ... and what each role has observed on it
    size: Int64Array  # int64[1]: how many there are


def make_step_lanes(roles: int, fluents: int, words: int) -> StepLanes:
    """Allocate for rows of `words` words; the packed states are keys with a bit per fluent."""
    code = make_code(fluents)
    lanes = 64 * words
    return StepLanes(
        code=code,
        planes=make_rows(64 * code.word_count, words),
        agreeing=make_rows(1, words),
        block=np.zeros(64, np.uint64),
        origin=np.zeros(lanes, np.int64),
        made=np.zeros((roles, lanes), np.int32),
        share=np.zeros(lanes, np.float64),
        observed=np.zeros(lanes, np.uint64),
        key=np.zeros((roles, lanes), np.uint64),
        reached=np.zeros(lanes * code.word_count, np.uint64),
        mixed=np.zeros(SCRATCH, np.uint64),
        number=np.zeros(lanes, np.uint32),
    )


def make_reached(room: int, words: int, roles: int, is_keyed: bool) -> Reached:
    """No successors, with room for some; words: D."""
    slots = 1 << (2 * room + 1).bit_length()
    return Reached(
        known=KeyTable(make_key_table(slots), np.zeros(room * words, np.uint64), words),
        weight=np.zeros(room),
        likeliest=np.zeros(room),
        key=np.zeros((room if is_keyed else 0, roles), np.uint64),
        size=np.zeros(1, np.int64),
    )


@inlined
def mixed_number(number: np.uint64) -> np.uint64:
    """The twin of `ggp.beliefs.observation_keys.mixed`."""
    z = number + np.uint64(0x9E37_79B9_7F4A_7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return z ^ (z >> np.uint64(31))


@inlined
def extended_key(key: np.uint64, step: np.uint64) -> np.uint64:
    """The key after one more step; see `ggp.beliefs.observation_keys.ObservationKeys`."""
    return key + mixed_number(step)


@inlined
def _lanes_below(count: Index, w: Index) -> np.uint64:
    """Word `w` of a row that is true in the first `count` lanes."""
    if count >= 64 * w + 64:
        return ALL_ONES
    if count <= 64 * w:
        return np.uint64(0)
    return (np.uint64(1) << np.uint64(count - 64 * w)) - np.uint64(1)


@kernel
def read_states(
    tables: LaneTables,
    value: Rows,
    lanes: StepLanes,
    legal: Int32Array,
    states: Words,
    is_legal: BoolArray,
    is_terminal: BoolArray,
) -> None:
    """Set what is true of each of N states.

    legal         int32[M], literals
    states        uint64[N*D]
    is_legal      bool[N, M], false before
    is_terminal   bool[N], false before
    """
    total = is_terminal.shape[0]
    for first in range(0, total, lanes.origin.shape[0]):
        count = min(lanes.origin.shape[0], total - first)
        for i in range(count):
            lanes.origin[i] = first + i
        put_keys(lanes.code, states, lanes.origin, count, value, lanes.planes, lanes.block)
        settle_states(tables, value)
        for w in range((count + 63) >> 6):
            within = _lanes_below(np.int64(count), np.int64(w))
            for m in range(legal.shape[0]):
                bits = literal_word(value, np.int64(legal[m]), w) & within
                while bits != np.uint64(0):
                    is_legal[first + 64 * w + lowest_bit(bits), m] = True
                    bits &= bits - np.uint64(1)
            bits = literal_word(value, np.int64(tables.terminal), w) & within
            while bits != np.uint64(0):
                is_terminal[first + 64 * w + lowest_bit(bits)] = True
                bits &= bits - np.uint64(1)


@stage
def _put_joint_moves(
    tables: LaneTables, value: Rows, lanes: StepLanes, origins: Origins, first: Index, count: Index
) -> None:
    """Put joint moves first .. first + count - 1 and their states into the lanes, with their weights."""
    clear_moves(tables, value)
    roles = tables.role_count
    low, high = np.int64(0), np.int64(origins.first_joint.shape[0] - 1)
    while high - low > 1:  # first_joint[low] <= first < first_joint[high]
        middle = (low + high) >> 1
        if origins.first_joint[middle] <= first:
            low = middle
        else:
            high = middle
    state = low
    for lane in range(count):
        while origins.first_joint[state + 1] <= first + lane:
            state += 1
        rest = first + lane - origins.first_joint[state]
        share = origins.weight[state]
        for role in range(roles):
            begin = origins.first_choice[state * roles + role]
            choices = origins.first_choice[state * roles + role + 1] - begin
            move = origins.choice[begin + rest % choices]
            rest //= choices
            lanes.made[role, lane] = move
            put_move(tables, value, move, np.int64(lane))
            share *= 1.0 / choices
        lanes.origin[lane] = state
        lanes.share[lane] = share
    put_keys(lanes.code, origins.states, lanes.origin, count, value, lanes.planes, lanes.block)


@stage
def _find_agreeing(tables: LaneTables, value: Rows, lanes: StepLanes, wanted: Wanted, count: Index) -> None:
    """Set the row of the lanes, of the first `count`, in which the role observes what is wanted."""
    for w in range(word_count(value)):
        set_word(lanes.agreeing, 0, w, _lanes_below(count, np.int64(w)))
    if wanted.role >= 0:
        for p in range(wanted.numbers.first[wanted.role], wanted.numbers.first[wanted.role + 1]):
            expected = fill(value, ALL_ONES if wanted.percepts[p] else np.uint64(0))
            differs = literal(value, np.int64(tables.percept_literal[p])) ^ expected
            store(lanes.agreeing, 0, load(lanes.agreeing, 0) & ~differs)


@stage
def _extend_keys(
    tables: LaneTables,
    value: Rows,
    lanes: StepLanes,
    origins: Origins,
    numbers: ObservationNumbers,
    count: Index,
) -> None:
    """Set the keys of all roles after the step in the lanes that agree; see `ObservationKeys`."""
    for role in range(tables.role_count):
        first, end = numbers.first[role], numbers.first[role + 1]
        for w in range((count + 63) >> 6):
            agreeing = get_word(lanes.agreeing, 0, w)
            number, total = numbers.of_percept, lanes.observed
            sum_percepts(value, tables.percept_literal, number, first, end, w, agreeing, total)
            while agreeing != np.uint64(0):
                lane = 64 * w + lowest_bit(agreeing)
                agreeing &= agreeing - np.uint64(1)
                before = origins.key[lanes.origin[lane], role]
                step = numbers.of_move[lanes.made[role, lane]] + lanes.observed[lane]
                lanes.key[role, lane] = extended_key(before, step)


@inlined
def _move_lane(lanes: StepLanes, source: Index, target: Index, is_keyed: bool) -> None:
    """Copy the successor, weight and keys of one lane over those of another."""
    words = lanes.code.word_count
    for d in range(words):
        lanes.reached[words * target + d] = lanes.reached[words * source + d]
    lanes.share[target] = lanes.share[source]
    if is_keyed:
        for role in range(lanes.key.shape[0]):
            lanes.key[role, target] = lanes.key[role, source]


@stage
def _gather(lanes: StepLanes, count: Index, is_keyed: bool) -> Index:
    """Compact the agreeing lanes' successors, weights and keys to the front; return the count."""
    kept: Index = np.int64(0)
    for w in range((count + 63) >> 6):
        bits = get_word(lanes.agreeing, 0, w)
        while bits != np.uint64(0):
            lane = 64 * w + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            if lane != kept:
                _move_lane(lanes, lane, kept, is_keyed)
            kept += 1
    return kept


@stage
def _add_up(lanes: StepLanes, found: Reached, count: Index, is_keyed: bool) -> None:
    """Add the first `count` successors of the lanes to those found."""
    before = found.size[0]
    found.size[0] = number_states(
        found.known, before, lanes.reached, count, lanes.mixed, lanes.number, np.int64(0)
    )
    s: Index
    for s in range(before, found.size[0]):
        found.weight[s] = 0.0
        found.likeliest[s] = -1.0
    for i in range(count):
        s = np.int64(lanes.number[i])
        found.weight[s] += lanes.share[i]
        if lanes.share[i] > found.likeliest[s]:
            found.likeliest[s] = lanes.share[i]
            if is_keyed:
                for role in range(lanes.key.shape[0]):
                    found.key[s, role] = lanes.key[role, i]


@kernel
def make_joint_moves(
    tables: LaneTables,
    value: Rows,
    lanes: StepLanes,
    origins: Origins,
    wanted: Wanted,
    found: Reached,
    blocks: Int64Array,
) -> int:
    """Make L joint moves from each of the places `blocks` on; return how many agree.

    found   has room for len(blocks) * L successors more
    """
    total = origins.first_joint[origins.first_joint.shape[0] - 1]
    is_keyed = origins.key.shape[0] > 0
    made: Any = np.int64(0)
    for b in range(blocks.shape[0]):
        count = min(np.int64(lanes.origin.shape[0]), total - blocks[b])
        _put_joint_moves(tables, value, lanes, origins, blocks[b], count)
        settle_states(tables, value)
        settle_successors(tables, value, True)
        _find_agreeing(tables, value, lanes, wanted, count)
        if any_lane(load(lanes.agreeing, 0)):
            store_successors(lanes.code, tables.next, value, count, lanes.planes, lanes.block, lanes.reached)
            if is_keyed:
                _extend_keys(tables, value, lanes, origins, wanted.numbers, count)
            kept = _gather(lanes, count, is_keyed)
            _add_up(lanes, found, kept, is_keyed)
            made += kept
    return made  # type: ignore[no-any-return]
