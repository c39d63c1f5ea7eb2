"""make_children: the children of many nodes in one pass of lanes, one child per lane; `score_states`.

Each lane is given the key of a node and a number k, and makes the k-th legal move of the role that chooses
there. No list of moves is ever made: moves are counted and selected in all lanes at once, as playouts do.
"""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined, piece
from ggp.jit.rows import (
    ALL_ONES,
    Index,
    Row,
    Rows,
    any_lane,
    fill,
    literal,
    load,
    popcount,
    set_word,
    store,
    sum_words,
)
from ggp.lanes.choose import count_moves, is_choice_native, select_moves
from ggp.lanes.indices import transpose_rows
from ggp.lanes.keys.state_code import decode_planes, encode_planes
from ggp.lanes.layout import LaneTables
from ggp.lanes.step import (
    copy_successors,
    settle_choices,
    settle_goals,
    settle_states,
    settle_successors,
    several_true,
)
from ggp.search.alphabeta.kernels.distance import TOGETHER, distance_score, set_degrees
from ggp.search.alphabeta.kernels.side_circuit import is_used, settle_in
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import ChildMemory, Ints


@inlined
def note_place(lane: Index) -> Index:
    """Where the note of a lane lies in `note_of`: rows are transposed in squares of 16 bits."""
    bit, word = lane >> c.WORD_BITS, lane & (c.WORDS - 1)
    return (bit & 15) * 4 * c.WORDS + word * 4 + (bit >> 4)


@inlined
def _choice_of(maker: ChildMemory, role: Index) -> Row:
    """The lanes in which a role has two or more legal moves, as counted last."""
    found = fill(maker.scratch, np.uint64(0))
    for p in range(role * maker.choice_planes, (role + 1) * maker.choice_planes):
        found = found | load(maker.scratch, p)
    return found


@inlined
def _transpose_keys(maker: ChildMemory) -> None:
    for d in range(maker.code.word_count):
        transpose_rows(maker.keys, 64 * d, 64)


@inlined
def _make_moves(maker: ChildMemory) -> None:
    """Select the k-th legal move of the role with a choice in every lane, and the only one of the other."""
    tables, planes, scratch = maker.tables, maker.choice_planes, maker.scratch
    is_native = is_choice_native(tables, maker.node)
    ready = count_moves(tables, maker.node, scratch, planes, is_native)
    for role in range(tables.role_count):
        has_choice = _choice_of(maker, role)
        for p in range(planes):
            store(scratch, role * planes + p, load(maker.note, p) & has_choice)
    select_moves(tables, maker.node, scratch, planes, is_native, ready)


@inlined
def _encode_smallest(maker: ChildMemory) -> None:
    """Write the planes of the successors' keys, in each lane those of the smallest among its images."""
    code, following, keys, image = maker.code, maker.following, maker.keys, maker.image
    planes = code.first_source.shape[0] - 1
    encode_planes(code, following[0], maker.node, keys)
    for v in range(1, following.shape[0]):
        encode_planes(code, following[v], maker.node, image)
        smaller, larger = fill(keys, np.uint64(0)), fill(keys, np.uint64(0))
        for i in range(planes):
            p = planes - 1 - i
            differ = (load(keys, p) ^ load(image, p)) & ~(smaller | larger)
            smaller = smaller | (differ & load(keys, p))
            larger = larger | (differ & load(image, p))
        # The highest plane that differs decides.
        for p in range(planes):
            store(keys, p, load(keys, p) ^ ((load(keys, p) ^ load(image, p)) & smaller))


@inlined
def _reached(tables: LaneTables, value: Rows, goal: Index) -> Row:
    """The lanes in which role 0 gets at least `goal`."""
    found = fill(value, np.uint64(0))
    for q in range(tables.goal_first[0], tables.goal_first[1]):
        if tables.goal_value[q] >= goal:
            found = found | literal(value, np.int64(tables.goal_literal[q]))
    return found


@inlined
def _has_one_goal(tables: LaneTables, value: Rows) -> Row:
    """The lanes in which role 0 has one goal."""
    first, end = tables.goal_first[0], tables.goal_first[1]
    some = fill(value, np.uint64(0))
    for q in range(first, end):
        some = some | literal(value, np.int64(tables.goal_literal[q]))
    return some & ~several_true(value, tables.goal_literal, first, end)


@inlined
def _missed(tables: LaneTables, value: Rows, goal: Index) -> Row:
    """The lanes in which role 0 may still get less than `goal`, by goal bounds."""
    found = fill(value, np.uint64(0))
    for q in range(tables.goal_first[0], tables.goal_first[1]):
        if tables.goal_value[q] < goal:
            found = found | literal(value, np.int64(tables.goal_literal[q]))
    return found


@inlined
def _use_lanes(maker: ChildMemory, count: Index) -> Row:
    """The first `count` lanes, whose keys lie one after another: lane i is bit
    i // WORDS of word i % WORDS."""
    for w in range(c.WORDS):
        bits = min(64, (count - w + c.WORDS - 1) >> c.WORD_BITS)
        set_word(maker.live, 0, w, ALL_ONES >> np.uint64(64 - bits) if bits > 0 else np.uint64(0))
    return load(maker.live, 0)


@inlined
def _decide_by_circuits(maker: ChildMemory, goal: Index, decided: Row, yes: Row) -> tuple[Row, Row]:
    """Lanes that are decided, and with yes, after the early ends of both roles and goal bounds."""
    ends, bounds = maker.ends, maker.bounds
    if is_used(ends):
        settle_in(ends, maker.child)
        for role in range(2):
            first = ends.tables.goal_first[role]
            wins = literal(ends.value, np.int64(ends.tables.goal_literal[first]))
            loses = literal(ends.value, np.int64(ends.tables.goal_literal[first + 1]))
            found = (wins | loses) & ~decided & ~_choice_of(maker, np.int64(1 - role))
            yes = yes | (found & (wins if role == 0 else loses))
            decided = decided | found
    if is_used(bounds):
        settle_in(bounds, maker.child)
        may_reach, may_miss = (
            _reached(bounds.tables, bounds.value, goal),
            _missed(bounds.tables, bounds.value, goal),
        )
        known = (may_reach ^ may_miss) & ~decided
        yes = yes | (known & may_reach)
        decided = decided | known
    return decided, yes


@inlined
def _note_children(maker: ChildMemory, decided: Row, yes: Row, second_moves: Row) -> None:
    """Write the notes of all children: decided, yes, mover, and the count of moves minus one."""
    planes, zero = maker.choice_planes, fill(maker.note, np.uint64(0))
    for p in range(c.NOTE_PLANES):
        store(maker.note, p, zero)
    for p in range(planes):
        counted = load(maker.scratch, p) | load(maker.scratch, planes + p)
        store(maker.note, c.COUNT_BIT + p, counted & ~decided)
    store(maker.note, c.DECIDED_BIT, decided)
    store(maker.note, c.YES_BIT, yes)
    store(maker.note, c.MOVER_BIT, second_moves)
    transpose_rows(maker.note, 0, c.NOTE_PLANES)


@piece
def make_children(maker: ChildMemory, count: Index, goal: Index, counter: Ints) -> None:
    """Replace the keys of nodes by those of children, and the numbers k by the children's notes.

    count   lanes in use
    goal    what the question is about; counter[FAULT] is set if the game turns out to be of another kind,
            counter[LEAVES] counts those decided
    """
    tables, code, node, child = maker.tables, maker.code, maker.node, maker.child
    used = _use_lanes(maker, count)
    _transpose_keys(maker)
    decode_planes(code, maker.keys, node)
    transpose_rows(maker.note, 0, c.NOTE_PLANES)
    settle_choices(tables, node)
    _make_moves(maker)
    settle_goals(tables, node)  # the next states may read their gates
    settle_successors(tables, node, False)
    _encode_smallest(maker)
    for p in range(code.first_source.shape[0] - 1, 64 * code.word_count):
        store(maker.keys, p, fill(maker.keys, np.uint64(0)))
    _transpose_keys(maker)
    # `keys` holds the children's keys, lane by lane; what follows is about their states.

    copy_successors(tables, node, child)
    settle_states(tables, child)
    ended = literal(child, np.int64(tables.terminal))
    is_native = is_choice_native(tables, child)
    ready = count_moves(tables, child, maker.scratch, maker.choice_planes, is_native)
    if tables.role_count == 1:  # the rows of a second role, which serve for drawing moves there
        for p in range(maker.choice_planes, 2 * maker.choice_planes):
            store(maker.scratch, p, fill(maker.scratch, np.uint64(0)))
    first_moves, second_moves = _choice_of(maker, 0), _choice_of(maker, 1)
    if any_lane(used & ~ended & ~ready):
        counter[c.FAULT] = c.NO_MOVES
    if any_lane(used & ~ended & first_moves & second_moves):
        counter[c.FAULT] = c.SIMULTANEOUS
    if any_lane(used & ended & ~_has_one_goal(tables, child)):
        counter[c.FAULT] = c.NO_GOAL_VALUE
    decided, yes = _decide_by_circuits(maker, goal, ended, ended & _reached(tables, child, goal))
    counter[c.LEAVES] += np.int64(sum_words(popcount(decided & used)))
    _note_children(maker, decided, yes, second_moves)


@inlined
def _count_threats(maker: ChildMemory) -> None:
    """Write the numbers of both roles' threats in the states whose planes are in `keys` as notes."""
    tables, value = maker.threats.tables, maker.threats.value
    decode_planes(maker.code, maker.keys, value)
    settle_states(tables, value)
    for p in range(c.NOTE_PLANES):
        store(maker.note, p, fill(maker.note, np.uint64(0)))
    for role in range(2):
        for q in range(tables.goal_first[role], tables.goal_first[role + 1]):
            plane = role * c.THREAT_PLANES + np.int64(tables.goal_value[q])
            store(maker.note, plane, literal(value, np.int64(tables.goal_literal[q])))
    transpose_rows(maker.note, 0, c.NOTE_PLANES)


@piece
def score_states(maker: ChildMemory, count: Index) -> None:
    """distance[i] = hundredths of a goal for role 0 in state i of `count`, 0..10000.

    By the goal distance, or if threats are counted: more than half for who has more of them.

    The states' keys are in `keys`, that of state i in bit i & 63 of word i >> 6. Notes are overwritten.
    """
    _transpose_keys(maker)
    if is_used(maker.threats):
        _count_threats(maker)
        for i in range(count):
            both = np.int64(maker.note_of[note_place(((i & 63) << c.WORD_BITS) | (i >> 6))])
            more = (both & ((1 << c.THREAT_PLANES) - 1)) - (both >> c.THREAT_PLANES)
            maker.distance[i] = 5000 + c.THREAT_WORTH * more
        return
    decode_planes(maker.code, maker.keys, maker.child)
    for first in range(0, count, TOGETHER):
        set_degrees(maker.formula, maker.child, maker.degree, np.int64(first))
        for i in range(first, min(first + TOGETHER, count)):
            maker.distance[i] = distance_score(maker.formula, maker.degree, np.int64(i - first))
