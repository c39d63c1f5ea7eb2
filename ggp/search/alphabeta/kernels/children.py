"""make_children: all children of a node in one pass, one child per lane.

Successor states, their movers, terminal flags, goals, mobility and static scores come out of one
settling of the node's circuit and one of the children's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, piece
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
    store,
    word_count,
)
from ggp.lanes.bits import has_lane, literal_in_lane
from ggp.lanes.keys.state_code import StateCode
from ggp.lanes.layout import LaneTables
from ggp.lanes.step import (
    clear_moves,
    copy_successors,
    put_key,
    put_move,
    settle_choices,
    settle_goals,
    settle_states,
    settle_successors,
    store_successors,
)
from ggp.search.alphabeta.estimate import EVEN
from ggp.search.alphabeta.kernels import arrays as c
from ggp.search.alphabeta.kernels.arrays import AlphaBetaMemory
from ggp.search.alphabeta.kernels.distance import TOGETHER, distance_score, set_degrees


@inlined
def _list_moves(tables: LaneTables, first_move: Int32Array, memory: AlphaBetaMemory) -> Any:
    """List the legal moves of the node; return the role that has a choice (0 if none), -1 on a fault."""
    count: Any = 0
    mover: Any = np.int64(0)
    choosing: Any = 0
    for role in range(tables.role_count):
        memory.legal_first[role] = count
        slot = tables.first_slot[role]
        for move in range(first_move[role], first_move[role + 1]):
            if literal_in_lane(memory.node_value, tables.slot_literal[slot], 0):
                memory.legal_move[count] = move
                count += 1
            slot += 1
        legal: Any = count - memory.legal_first[role]
        if legal == 0:
            memory.counter[c.FAULT] = c.NO_MOVES
            mover = np.int64(-1)
        if legal > 1:
            choosing += 1
            if mover >= 0:
                mover = np.int64(role)
    memory.legal_first[tables.role_count] = count
    if choosing > 1:
        memory.counter[c.FAULT] = c.SIMULTANEOUS
        mover = np.int64(-1)
    return mover


@inlined
def _make_moves(
    tables: LaneTables, memory: AlphaBetaMemory, mover: Index, first: Index, lanes: Index
) -> None:
    """Set the moves: lane i makes the mover's legal move first + i, other roles their only one."""
    clear_moves(tables, memory.node_value)
    for role in range(tables.role_count):
        if role != mover:
            only = np.int64(tables.move0 + memory.legal_move[memory.legal_first[role]])
            store(memory.node_value, only, fill(memory.node_value, ALL_ONES))
    start = memory.legal_first[mover] + first
    for lane in range(lanes):
        put_move(tables, memory.node_value, memory.legal_move[start + lane], np.int64(lane))


@inlined
def _enter_in_lanes(
    target: Int32Array, top: Index, lanes: Index, rows: Rows, row: Index, amount: Index, is_sum: bool
) -> None:
    """target[top + lane] = amount (or += if is_sum) in the lanes set in the row, up to `lanes`."""
    for w in range((lanes + 63) >> 6):
        bits = get_word(rows, row, w)
        while bits != np.uint64(0):
            lane = 64 * w + lowest_bit(bits)
            bits = bits & (bits - np.uint64(1))
            if lane < lanes:
                target[top + lane] = amount + (target[top + lane] if is_sum else 0)


@inlined
def _count_moves(tables: LaneTables, memory: AlphaBetaMemory, role: Index, moves: Index) -> Any:
    """Count the legal moves of a role in all children; return how many binary digits that takes. Digit k of
    the counts is row k of `planes`."""
    value, digits = memory.child_value, memory.planes
    first = tables.first_slot[role]
    used: Any = np.int64(0)
    for slot in range(first, first + moves):
        carry = literal(value, np.int64(tables.slot_literal[slot]))
        k: Any = np.int64(0)
        while k < used and any_lane(carry):
            x = load(digits, k)
            store(digits, k, x ^ carry)
            carry = x & carry
            k += 1
        if any_lane(carry):
            store(digits, used, carry)
            used += 1
    return used


@inlined
def _find_movers(
    tables: LaneTables, first_move: Int32Array, memory: AlphaBetaMemory, top: Index, lanes: Index
) -> None:
    digits = memory.planes
    for lane in range(lanes):
        memory.mover[top + lane] = 0
        memory.mobility[top + lane] = 1
    for role in range(tables.role_count):
        used = _count_moves(tables, memory, np.int64(role), first_move[role + 1] - first_move[role])
        if used < 2:
            continue
        for lane in range(lanes):
            w, shift = lane >> 6, np.uint64(lane & 63)
            count: Any = 0
            for k in range(used):
                count |= np.int64((get_word(digits, k, w) >> shift) & np.uint64(1)) << k
            if count > 1:
                memory.mover[top + lane] = role
                memory.mobility[top + lane] = count


@inlined
def _read_goals(tables: LaneTables, memory: AlphaBetaMemory, top: Index, lanes: Index) -> None:
    """end[child] = the goal of role 0, in hundredths; NO_SCORE where it has none or several, or if unused. In
    terminal children the roles' goals must add up to the same sum everywhere."""
    value = memory.child_value
    for lane in range(lanes):
        memory.end[top + lane] = c.NO_SCORE
        memory.score[top + lane] = 0
    if memory.option[c.GOAL_WEIGHT] == 0 and not any_lane(load(memory.live, 0)):
        return
    for role in range(tables.role_count):
        for q in range(tables.goal_first[role], tables.goal_first[role + 1]):
            store(memory.live, 1, literal(value, np.int64(tables.goal_literal[q])))
            worth = tables.goal_value[q]
            _enter_in_lanes(memory.score, top, lanes, memory.live, 1, worth, True)
            if role == 0:
                _enter_in_lanes(memory.end, top, lanes, memory.live, 1, 100 * worth, False)
    for lane in range(lanes):
        is_terminal = has_lane(memory.live, 0, lane)
        if is_terminal and tables.role_count > 1:
            if memory.end[top + lane] == c.NO_SCORE:
                memory.counter[c.FAULT] = c.NO_GOAL_VALUE
            elif memory.counter[c.SUM] < 0:
                memory.counter[c.SUM] = memory.score[top + lane]
            elif memory.counter[c.SUM] != memory.score[top + lane]:
                memory.counter[c.FAULT] = c.NO_CONSTANT_SUM


@inlined
def _estimate(tables: LaneTables, memory: AlphaBetaMemory, top: Index, lanes: Index) -> None:
    """Score the children statically for role 0; `end` of nonterminal ones becomes NO_SCORE."""
    option = memory.option
    for lane in range(lanes):
        child = top + lane
        goal = memory.end[child]
        score = np.int64(EVEN)
        if goal != c.NO_SCORE:
            score += option[c.GOAL_WEIGHT] * (goal - EVEN) // 100
        mobility = option[c.MOBILITY_WEIGHT] * memory.mobility[child]
        score += mobility if memory.mover[child] == 0 else -mobility
        memory.score[child] = score
        if not has_lane(memory.live, 0, lane):
            memory.end[child] = c.NO_SCORE
    if option[c.HAS_WEIGHTS]:
        fluents = tables.fluent_count
        for lane in range(lanes):
            memory.score[top + lane] += memory.weight[fluents]
        for f in range(fluents):
            weight = memory.weight[f]
            if weight != 0:
                _enter_in_lanes(memory.score, top, lanes, memory.child_value, 1 + f, weight, True)


@inlined
def _add_distance(memory: AlphaBetaMemory, top: Index, lanes: Index) -> None:
    """Add the goal distances of the children, whose states are in `child_value`."""
    for first in range(0, lanes, TOGETHER):
        set_degrees(memory.formula, memory.child_value, memory.degree, np.int64(first))
        for lane in range(first, min(first + TOGETHER, lanes)):
            worth = distance_score(memory.formula, memory.degree, np.int64(lane - first))
            memory.score[top + lane] += worth - EVEN


@piece
def make_children(
    tables: LaneTables,
    code: StateCode,
    first_move: Int32Array,
    memory: AlphaBetaMemory,
    place: Index,
    top: Index,
) -> Index:
    """Write the children of the node at `place` to the arena from `top` on; return their number. -1 on a
    fault, see counter[FAULT], or if the search is stopped between two passes of lanes."""
    put_key(code, memory.key, place, memory.node_value)
    settle_choices(tables, memory.node_value)
    mover = _list_moves(tables, first_move, memory)
    if mover < 0:
        return np.int64(-1)
    count = np.int64(memory.legal_first[mover + 1] - memory.legal_first[mover])
    lanes_in_all = 64 * word_count(memory.node_value)
    if top + count + lanes_in_all > memory.move.shape[0]:
        memory.counter[c.FAULT] = c.NO_ROOM
        return np.int64(-1)
    for first in range(0, count, lanes_in_all):
        if first > 0 and memory.counter[c.STOP]:
            return np.int64(-1)
        memory.counter[c.PASSES] += 1
        lanes: Any = min(lanes_in_all, count - first)
        _make_moves(tables, memory, mover, first, lanes)
        settle_goals(tables, memory.node_value)  # the next states may read their gates
        settle_successors(tables, memory.node_value, False)
        here = top + first
        store_successors(
            code, tables.next, memory.node_value, lanes, memory.planes, memory.block, memory.reached
        )
        for i in range(lanes * code.word_count):
            memory.key[here * code.word_count + i] = memory.reached[i]
        copy_successors(tables, memory.node_value, memory.child_value)
        settle_states(tables, memory.child_value)
        store(memory.live, 0, literal(memory.child_value, np.int64(tables.terminal)))
        for lane in range(lanes):
            chosen = memory.legal_move[memory.legal_first[mover] + first + lane]
            memory.move[here + lane] = -1 if count == 1 else chosen
        # Each lane of child_value holds a child with its gates settled; keys and moves are in the arena.
        _find_movers(tables, first_move, memory, here, lanes)
        _read_goals(tables, memory, here, lanes)
        _estimate(tables, memory, here, lanes)
        # Children have a mover and a static score; terminal ones their goal.
        if memory.option[c.HAS_FORMULA]:
            _add_distance(memory, here, lanes)
        for lane in range(lanes):
            memory.score[here + lane] = min(max(memory.score[here + lane], 1), 9999)
    if memory.counter[c.FAULT] != 0:
        return np.int64(-1)
    return count
