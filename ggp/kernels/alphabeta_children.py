"""All children of a node in one pass of lanes: one child per lane.

Successor states, who moves there, terminal flags, goals, mobility and static scores come out of one
settling of the node's circuit and one of the children's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ggp.kernels.alphabeta_arrays import (
    DISTANCE_WEIGHT,
    FAULT,
    GOAL_WEIGHT,
    HAS_WEIGHTS,
    MOBILITY_WEIGHT,
    NO_CONSTANT_SUM,
    NO_GOAL_VALUE,
    NO_MOVES,
    NO_ROOM,
    NO_SCORE,
    NULL_SCORE,
    SIMULTANEOUS,
    STATIC_ORDER,
    SUM,
    Search,
)
from ggp.kernels.alphabeta_distance import distance_score, judge_distances
from ggp.kernels.compiling import inlined, piece
from ggp.kernels.lane_bits import has_lane, literal_in_lane
from ggp.kernels.lane_tables import LaneTables
from ggp.kernels.row_loops import clear_moves, several_true
from ggp.kernels.rows import (
    ALL_ONES,
    Index,
    Rows,
    any_lane,
    fill,
    get_word,
    literal,
    lowest_bit,
    set_word,
    store,
    word_count,
)
from ggp.kernels.settle import settle_phases
from ggp.kernels.solver_codes import StateCode, decode_planes, store_keys
from ggp.tables import Int32Array


@inlined
def _load_node(code: StateCode, search: Search, place: Index) -> None:
    """The node at `place` in every lane of node_value."""
    words = code.word_count
    for d in range(words):
        bits = search.key[place * words + d]
        for i in range(64):
            word = ALL_ONES if (bits >> np.uint64(i)) & np.uint64(1) else np.uint64(0)
            store(search.planes, 64 * d + i, fill(search.node_value, word))
    decode_planes(code, search.planes, search.node_value)


@inlined
def _list_moves(tables: LaneTables, first_move: Int32Array, search: Search) -> Any:
    """List the legal moves of the node; returns the role that has a choice (0 if none), -1 on a fault."""
    count: Any = 0
    mover: Any = np.int64(0)
    choosing: Any = 0
    for role in range(tables.role_count):
        search.legal_first[role] = count
        slot = tables.first_slot[role]
        for move in range(first_move[role], first_move[role + 1]):
            if literal_in_lane(search.node_value, tables.slot_literal[slot], 0):
                search.legal_move[count] = move
                count += 1
            slot += 1
        legal: Any = count - search.legal_first[role]
        if legal == 0:
            search.counter[FAULT] = NO_MOVES
            mover = np.int64(-1)
        if legal > 1:
            choosing += 1
            if mover >= 0:
                mover = np.int64(role)
    search.legal_first[tables.role_count] = count
    if choosing > 1:
        search.counter[FAULT] = SIMULTANEOUS
        mover = np.int64(-1)
    return mover


@inlined
def _make_moves(tables: LaneTables, search: Search, mover: Index, first: Index, lanes: Index) -> None:
    """Lane i makes the mover's legal move first + i; everybody else the only one there is."""
    clear_moves(tables, search.node_value)
    for role in range(tables.role_count):
        if role != mover:
            only = np.int64(tables.move0 + search.legal_move[search.legal_first[role]])
            store(search.node_value, only, fill(search.node_value, ALL_ONES))
    start = search.legal_first[mover] + first
    for lane in range(lanes):
        chosen = np.int64(tables.move0 + search.legal_move[start + lane])
        set_word(search.node_value, chosen, lane >> 6, np.uint64(1) << np.uint64(lane & 63))


@inlined
def _keep_keys(tables: LaneTables, code: StateCode, search: Search, top: Index, lanes: Index) -> None:
    """Keys of the children; where there are symmetries, the smallest key among a child's mirror images."""
    words = code.word_count
    first = code.first_source
    source = code.source
    value = search.node_value
    for v in range(search.image.shape[0]):
        for p in range(first.shape[0] - 1):
            x = fill(value, np.uint64(0))
            for j in range(first[p], first[p + 1]):
                x = x | literal(value, np.int64(tables.next[search.image[v, source[j]]]))
            store(search.planes, p, x)
        store_keys(search.planes, lanes, words, search.reached, search.block)
        for lane in range(lanes):
            here = (top + lane) * words
            there = lane * words
            is_smaller = v == 0
            if v > 0:
                d = 0
                while d < words - 1 and search.reached[there + d] == search.key[here + d]:
                    d += 1
                is_smaller = search.reached[there + d] < search.key[here + d]
            if is_smaller:
                for d in range(words):
                    search.key[here + d] = search.reached[there + d]


@inlined
def _enter_in_lanes(
    target: Int32Array, top: Index, lanes: Index, rows: Rows, row: Index, amount: Index, is_sum: bool
) -> None:
    """target[top + lane] = amount in every lane, of the first `lanes`, set in the row; or += if is_sum."""
    for w in range((lanes + 63) >> 6):
        bits = get_word(rows, row, w)
        while bits != np.uint64(0):
            lane = 64 * w + lowest_bit(bits)
            bits = bits & (bits - np.uint64(1))
            if lane < lanes:
                target[top + lane] = amount + (target[top + lane] if is_sum else 0)


@inlined
def _add_in_lanes(
    target: Int32Array, top: Index, lanes: Index, rows: Rows, row: Index, amount: Index
) -> None:
    _enter_in_lanes(target, top, lanes, rows, row, amount, True)


@inlined
def _set_in_lanes(
    target: Int32Array, top: Index, lanes: Index, rows: Rows, row: Index, amount: Index
) -> None:
    _enter_in_lanes(target, top, lanes, rows, row, amount, False)


@inlined
def _find_movers(
    tables: LaneTables, first_move: Int32Array, search: Search, top: Index, lanes: Index
) -> None:
    """Who has a choice in each child, and with `STATIC_ORDER` or `MOBILITY_WEIGHT` among how many moves."""
    value = search.child_value
    counts = search.option[STATIC_ORDER] or search.option[MOBILITY_WEIGHT]
    for lane in range(lanes):
        search.mover[top + lane] = 0
        search.mobility[top + lane] = 1
    for role in range(tables.role_count):
        slot = tables.first_slot[role]
        end = slot + first_move[role + 1] - first_move[role]
        several = several_true(value, tables.slot_literal, slot, end)
        store(search.live, 2, several)
        _set_in_lanes(search.mover, top, lanes, search.live, 2, role)
        _set_in_lanes(search.mobility, top, lanes, search.live, 2, 0)
        if counts and any_lane(several):
            for each in range(slot, end):
                x = literal(value, np.int64(tables.slot_literal[each])) & several
                if any_lane(x):
                    store(search.live, 3, x)
                    _add_in_lanes(search.mobility, top, lanes, search.live, 3, 1)


@inlined
def _read_goals(tables: LaneTables, search: Search, top: Index, lanes: Index) -> None:
    """end[child] = the goal of role 0, in hundredths, in every child; NO_SCORE where it has none or several.

    In terminal children the roles' goals must add up to the same sum everywhere.
    """
    value = search.child_value
    for lane in range(lanes):
        search.end[top + lane] = NO_SCORE
        search.score[top + lane] = 0
    for role in range(tables.role_count):
        for q in range(tables.goal_first[role], tables.goal_first[role + 1]):
            store(search.live, 2, literal(value, np.int64(tables.goal_literal[q])))
            worth = tables.goal_value[q]
            _add_in_lanes(search.score, top, lanes, search.live, 2, worth)
            if role == 0:
                _set_in_lanes(search.end, top, lanes, search.live, 2, 100 * worth)
    for lane in range(lanes):
        is_terminal = has_lane(search.live, 0, lane)
        if is_terminal and tables.role_count > 1:
            if search.end[top + lane] == NO_SCORE:
                search.counter[FAULT] = NO_GOAL_VALUE
            elif search.counter[SUM] < 0:
                search.counter[SUM] = search.score[top + lane]
            elif search.counter[SUM] != search.score[top + lane]:
                search.counter[FAULT] = NO_CONSTANT_SUM


@inlined
def _estimate(tables: LaneTables, search: Search, top: Index, lanes: Index) -> None:
    """Static scores of the children for role 0; `end` of those that are not terminal becomes NO_SCORE."""
    option = search.option
    for lane in range(lanes):
        child = top + lane
        goal = search.end[child]
        is_terminal = has_lane(search.live, 0, lane)
        score = option[NULL_SCORE]
        if goal != NO_SCORE:
            score += option[GOAL_WEIGHT] * (goal - option[NULL_SCORE]) // 100
        mobility = option[MOBILITY_WEIGHT] * search.mobility[child]
        score += mobility if search.mover[child] == 0 else -mobility
        search.score[child] = score
        if not is_terminal:
            search.end[child] = NO_SCORE
    if option[HAS_WEIGHTS]:
        fluents = tables.fluent_count
        for lane in range(lanes):
            search.score[top + lane] += search.weight[fluents]
        for f in range(fluents):
            weight = search.weight[f]
            if weight != 0:
                _add_in_lanes(search.score, top, lanes, search.child_value, 1 + f, weight)
    if option[DISTANCE_WEIGHT]:
        judge_distances(search.formula, search.child_value, search.live, search.degree, lanes)
        most = np.int64(64 * word_count(search.child_value))
        for lane in range(lanes):
            worth = distance_score(search.formula, search.degree, lane, most)
            search.score[top + lane] += option[DISTANCE_WEIGHT] * (worth - option[NULL_SCORE]) // 100
    for lane in range(lanes):
        search.score[top + lane] = min(max(search.score[top + lane], 1), 9999)


@piece
def make_children(
    tables: LaneTables,
    code: StateCode,
    first_move: Int32Array,
    search: Search,
    place: Index,
    top: Index,
) -> Index:
    """Write the children of the node at `place` to the arena from `top` on; returns how many.

    -1 where there is a fault, see counter[FAULT].
    """
    _load_node(code, search, place)
    settle_phases(tables, search.node_value, 0, 1)
    mover = _list_moves(tables, first_move, search)
    if mover < 0:
        return np.int64(-1)
    count = np.int64(search.legal_first[mover + 1] - search.legal_first[mover])
    lanes_in_all = 64 * word_count(search.node_value)
    if top + count + lanes_in_all > search.move.shape[0]:
        search.counter[FAULT] = NO_ROOM
        return np.int64(-1)
    for first in range(0, count, lanes_in_all):
        lanes: Any = min(lanes_in_all, count - first)
        _make_moves(tables, search, mover, first, lanes)
        settle_phases(tables, search.node_value, 1, 3)
        here = top + first
        _keep_keys(tables, code, search, here, lanes)
        for f in range(tables.fluent_count):
            store(search.child_value, 1 + f, literal(search.node_value, np.int64(tables.next[f])))
        settle_phases(tables, search.child_value, 0, 2)
        store(search.live, 0, literal(search.child_value, np.int64(tables.terminal)))
        for lane in range(lanes):
            is_forced = count == 1
            chosen = search.legal_move[search.legal_first[mover] + first + lane]
            search.move[here + lane] = -1 if is_forced else chosen
        _find_movers(tables, first_move, search, here, lanes)
        _read_goals(tables, search, here, lanes)
        _estimate(tables, search, here, lanes)
    if search.counter[FAULT] != 0:
        return np.int64(-1)
    return count
