"""roll_out: games of one role played by a policy in all lanes at once, each lane remembering its moves.

The policy is a softmax over the legal moves of a state, with one number per move, whatever the state. All
lanes start together and none starts again, because the result is the best line of one batch: nested rollout
policy adaptation with many lines at its lowest level (Rosin 2011; Nagorko 2019 for the batches).

Letters: M moves, L = 64*W lanes, at most H steps, F fluents.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel
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
    words_of,
)
from ggp.lanes.bits import has_lane, literal_in_lane
from ggp.lanes.layout import LaneTables
from ggp.lanes.step import (
    advance,
    clear_moves,
    list_legal_moves,
    put_move,
    put_state,
    settle_states,
    settle_successors,
)

Floats = NDArray[np.float64]
UNFINISHED = -1
"""Goal of a lane that was cut, or in which there was no legal move."""


class RolloutArrays(NamedTuple):
    """The memory of one batch.

    value         K+1 rows
    live          2 rows: the lanes still playing, and scratch
    saved         rows for fluents whose next value cannot be written in place
    root          uint64[F]: all ones if the fluent holds in the initial state of the rollouts
    legal_count   int32[L]; legal_move int32[L*M]: the legal moves by lane
    history       int32[H*L]: the move of lane l in step h at h*L + l
    length        int64[L]: steps made; goal int64[L]
    weight        float64[M]: exp(policy)
    random        uint64[1]: the state of the generator (xorshift64*), not 0
    """

    value: Rows
    live: Rows
    saved: Rows
    root: NDArray[np.uint64]
    legal_count: Int32Array
    legal_move: Int32Array
    history: Int32Array
    length: NDArray[np.int64]
    goal: NDArray[np.int64]
    weight: Floats
    random: NDArray[np.uint64]


def make_rollouts(tables: LaneTables, words: int, most_steps: int, seed: int) -> RolloutArrays:
    """Fresh memory for lines of at most `most_steps` moves."""
    lanes = 64 * words
    value = make_rows(tables.row_count, words)
    words_of(value)[0] = ALL_ONES
    return RolloutArrays(
        value=value,
        live=make_rows(2, words),
        saved=make_rows(len(tables.next_saved) + 1, words),
        root=np.zeros(tables.fluent_count, np.uint64),
        legal_count=np.zeros(lanes, np.int32),
        legal_move=np.zeros(lanes * max(1, tables.move_count), np.int32),
        history=np.zeros(most_steps * lanes, np.int32),
        length=np.zeros(lanes, np.int64),
        goal=np.zeros(lanes, np.int64),
        weight=np.ones(max(1, tables.move_count), np.float64),
        random=np.random.SeedSequence(seed & (2**64 - 1)).generate_state(1, np.uint64) | np.uint64(1),
    )


@inlined
def _draw(arrays: RolloutArrays, first: Index, count: Index) -> Index:
    total = 0.0
    for i in range(first, first + count):
        total += arrays.weight[arrays.legal_move[i]]
    x = arrays.random[0]
    x = x ^ (x >> np.uint64(12))
    x = x ^ (x << np.uint64(25))
    x = x ^ (x >> np.uint64(27))
    arrays.random[0] = x
    left = total * float((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) * 2.0**-53
    for i in range(first, first + count):
        left -= arrays.weight[arrays.legal_move[i]]
        if left < 0.0:
            return np.int64(arrays.legal_move[i])
    return np.int64(arrays.legal_move[first + count - 1])


@inlined
def _note_goals(tables: LaneTables, arrays: RolloutArrays) -> None:
    for lane in range(64 * word_count(arrays.value)):
        if has_lane(arrays.live, 1, lane):
            for q in range(tables.goal_first[0], tables.goal_first[1]):
                if literal_in_lane(arrays.value, tables.goal_literal[q], lane):
                    arrays.goal[lane] = tables.goal_value[q]


@kernel
def roll_out(
    tables: LaneTables, first_move: Int32Array, arrays: RolloutArrays, first: int, end: int, most_steps: int
) -> int:
    """Make steps first .. end-1 of every lane from the root to its end; 0 begins, later calls resume.

    Returns the lane with the best goal, of those the shortest, once all are over; -1 before.

    most_steps   <= H; lanes not over by then are UNFINISHED
    """
    value, live, moves = arrays.value, arrays.live, tables.move_count
    words = word_count(value)
    lanes = 64 * words
    everywhere = fill(value, ALL_ONES)
    if first == 0:
        put_state(tables, value, arrays.root)
        store(live, 0, everywhere)
        arrays.length[:] = 0
        arrays.goal[:] = UNFINISHED
    is_over = False
    # At the beginning of each step row 0 of `live` are the lanes whose states are not terminal or are new;
    # they make one move each, by which `history` and `length` grow.
    for step in range(first, end):
        settle_states(tables, value)
        ended = literal(value, np.int64(tables.terminal)) & load(live, 0)
        if any_lane(ended):
            store(live, 0, load(live, 0) & ~ended)
            store(live, 1, ended)
            _note_goals(tables, arrays)
        if step == most_steps or not any_lane(load(live, 0)):
            is_over = True
            break
        list_legal_moves(tables, first_move, value, live, arrays.legal_count, arrays.legal_move)
        clear_moves(tables, value)
        # Lanes without a legal move leave `live` and stay UNFINISHED.
        for w in range(words):
            bits = get_word(live, 0, w)
            while bits != np.uint64(0):
                lane = 64 * w + lowest_bit(bits)
                bit = bits & (~bits + np.uint64(1))
                bits = bits ^ bit
                if arrays.legal_count[lane] == 0:
                    set_word(live, 0, w, get_word(live, 0, w) ^ bit)
                    continue
                move = _draw(arrays, lane * moves, arrays.legal_count[lane])
                put_move(tables, value, move, lane)
                arrays.history[step * lanes + lane] = move
                arrays.length[lane] += 1
        settle_successors(tables, value, False)
        advance(tables, value, arrays.saved, everywhere, value, np.int64(1))
    if not is_over:
        return -1
    best = 0
    for lane in range(1, lanes):
        is_shorter = arrays.goal[lane] == arrays.goal[best] and arrays.length[lane] < arrays.length[best]
        if arrays.goal[lane] > arrays.goal[best] or is_shorter:
            best = lane
    return best


@kernel
def adapt(
    tables: LaneTables,
    first_move: Int32Array,
    arrays: RolloutArrays,
    line: Int32Array,
    step: float,
    policy: Floats,
    is_first: bool,
) -> None:
    """Move `policy` (float64[M]) towards a line: its moves gain what all legal ones lose in proportion.

    step            size of the change
    line            int32[*]: legal moves from the root on, or from where the last call ended
    is_first        whether from the root on
    arrays.weight   exp(policy) at entry; stays
    """
    value, live = arrays.value, arrays.live
    everywhere = fill(value, ALL_ONES)
    if is_first:
        put_state(tables, value, arrays.root)
        store(live, 0, ~everywhere)
        set_word(live, 0, 0, np.uint64(1))
    # Lane 0 follows the line. After each move the policy has gained `step` for it, and lost `step` in all
    # over the legal moves, in proportion to their weights.
    for move in line:
        settle_states(tables, value)
        list_legal_moves(tables, first_move, value, live, arrays.legal_count, arrays.legal_move)
        total = 0.0
        for i in range(arrays.legal_count[0]):
            total += arrays.weight[arrays.legal_move[i]]
        for i in range(arrays.legal_count[0]):
            each = arrays.legal_move[i]
            policy[each] -= step * arrays.weight[each] / total
        policy[move] += step
        clear_moves(tables, value)
        put_move(tables, value, move, 0)
        settle_successors(tables, value, False)
        advance(tables, value, arrays.saved, everywhere, value, np.int64(1))
