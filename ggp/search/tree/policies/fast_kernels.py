"""FAST: moves weighed by features of the state, bit-sliced; values: `ggp.search.tree.policies.fast`.

The value of a move may depend on the state (which piece would be captured), so every move has *cases*: the
first one whose conditions hold in a lane counts, and the last one of a move has none. Each case has a
*level*, its rank among the different values of the role, best first. In a lane, Gibbs weights are relative
to the best level that is legal there: otherwise moves far below the best of all states would weigh nothing.

So a choice takes three walks over the legal moves: list their cases, and which levels are there; sum the
weights, which are rows of bits per level now; draw, and walk again. Letters: L levels of a role at most, C
cases.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, stage
from ggp.jit.rows import Index, Row, Rows, any_lane, fill, get_word, literal, load, make_rows, store
from ggp.lanes.choose import add_three, borrow_of
from ggp.lanes.layout import LaneTables
from ggp.lanes.roulette import draw_below_sums
from ggp.lanes.sparse_roulette import DRAWN, SUM, LegalMoves, make_legal_moves

WEIGHT_PLANES = 10


class FeatureCases(NamedTuple):
    """Values of moves, case by case. Weights are 0..1023, and 1023 for the best level that is legal."""

    first_case: Int32Array  # [M+1] cases of move m, at least one
    first_condition: Int32Array  # [C+1]
    condition: Int32Array  # literals (of fluents) that hold in the case
    level: Int32Array  # [C] 0 is the best of the role
    level_count: Int32Array  # [R]
    weight: NDArray[np.int32]  # [R, L, L] of role, level, and the best level that is legal
    rows: Rows  # (2 + WEIGHT_PLANES) * L of scratch: where a level is legal, where the best; its weight
    legal: LegalMoves  # room for all cases


def no_cases(words: int) -> FeatureCases:
    """For searches without FAST."""
    nothing, no_weights = np.zeros(1, np.int32), np.zeros((1, 1, 1), np.int32)
    rows, legal = make_rows(1, words), make_legal_moves(1, words)
    return FeatureCases(nothing, nothing, nothing, nothing, nothing, no_weights, rows, legal)


@inlined
def _in_case(value: Rows, cases: FeatureCases, c: Index, lanes: Row) -> Row:
    """Those of `lanes` in which the conditions of case c hold. For most cases the first holds nowhere."""
    for j in range(cases.first_condition[c], cases.first_condition[c + 1]):
        lanes = lanes & literal(value, np.int64(cases.condition[j]))
        if not any_lane(lanes):
            break
    return lanes


@inlined
def _weight_planes(cases: FeatureCases, level: Index) -> Index:
    """Where the bit planes of a level's weight begin among `cases.rows`."""
    return 2 * np.int64(cases.weight.shape[1]) + WEIGHT_PLANES * np.int64(level)


@inlined
def _list_cases(tables: LaneTables, value: Rows, role: Index, cases: FeatureCases, lanes: Row) -> Index:
    """List the cases that hold in some of `lanes` for legal moves of the role; the rows of all its moves = 0.

    Record for each level in which lanes it is legal, and in which it is the best legal one. Returns the
    number of cases.
    """
    zero = fill(value, np.uint64(0))
    rows = cases.rows
    levels = np.int64(cases.level_count[role])
    for level in range(levels):
        store(rows, level, zero)
    n = 0
    # Cases of a move in their order: x are the lanes in which none has held yet. rows[level] then are the
    # lanes in which a move of the level is legal.
    for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
        x = literal(value, np.int64(tables.slot_literal[s])) & lanes
        node = np.int64(tables.slot_node[s])
        store(value, node, zero)
        if not any_lane(x):
            continue
        move = node - tables.move0
        for c in range(cases.first_case[move], cases.first_case[move + 1]):
            y = _in_case(value, cases, c, x)
            if any_lane(y):
                x = x & ~y
                at = np.int64(cases.level[c])
                store(rows, at, load(rows, at) | y)
                cases.legal.node[n] = node
                cases.legal.level[n] = at
                store(cases.legal.lanes, n, y)
                n += 1
                if not any_lane(x):
                    break
    # rows[most + level]: the lanes in which it is the best, each in one row, since levels are ranked.
    most = cases.weight.shape[1]
    left = lanes
    for level in range(levels):
        y = load(rows, level) & left
        store(rows, most + level, y)
        left = left & ~y
    return n


@inlined
def _weigh_levels(value: Rows, role: Index, cases: FeatureCases) -> None:
    """The weight of each legal level as bit planes, relative to the best level of the lane."""
    zero = fill(value, np.uint64(0))
    rows = cases.rows
    most = cases.weight.shape[1]
    # The lanes of a level are split by the best level there; in each part the weight is one number.
    for level in range(cases.level_count[role]):
        if not any_lane(load(rows, level)):
            continue
        first = _weight_planes(cases, level)
        for p in range(WEIGHT_PLANES):
            store(rows, first + p, zero)
        for top in range(level + 1):
            y = load(rows, most + top)
            number = np.int64(cases.weight[role, level, top])
            if number == 0 or not any_lane(y):
                continue
            for p in range(WEIGHT_PLANES):
                if (number >> p) & 1:
                    store(rows, first + p, load(rows, first + p) | y)


@inlined
def _sum_cases(value: Rows, cases: FeatureCases, count: Index, planes: Rows) -> Index:
    """Sum the weights of the listed cases into planes SUM ...; return how many planes that takes."""
    zero = fill(value, np.uint64(0))
    used = WEIGHT_PLANES
    for p in range(used):
        store(planes, SUM + p, zero)
    # After each case planes SUM .. SUM + used - 1 are the sum of the weights so far, lane by lane.
    for i in range(count):
        y = load(cases.legal.lanes, i)
        first = _weight_planes(cases, cases.legal.level[i])
        carry = zero
        for p in range(WEIGHT_PLANES):
            total, carry = add_three(load(planes, SUM + p), y & load(cases.rows, first + p), carry)
            store(planes, SUM + p, total)
        p = WEIGHT_PLANES
        while any_lane(carry):
            if p == used:
                store(planes, SUM + p, zero)
                used += 1
            total = load(planes, SUM + p)
            store(planes, SUM + p, total ^ carry)
            carry = carry & total
            p += 1
    return used


@inlined
def _select_case(
    value: Rows, cases: FeatureCases, count: Index, planes: Rows, used: Index, left: Row
) -> None:
    """Select, in the lanes `left`, the legal move in whose weight k falls; k's planes are used up."""
    zero = fill(value, np.uint64(0))
    # Each weight is subtracted from k; a lane in which that borrows has found its move.
    for i in range(count):
        y = load(cases.legal.lanes, i) & left
        if not any_lane(y):
            continue
        first = _weight_planes(cases, cases.legal.level[i])
        borrow = zero
        for p in range(used):
            k = load(planes, DRAWN + p)
            bit = zero
            if p < WEIGHT_PLANES:
                bit = y & load(cases.rows, first + p)
            store(planes, DRAWN + p, k ^ bit ^ borrow)
            borrow = borrow_of(k, bit, borrow)
        node = np.int64(cases.legal.node[i])
        store(value, node, load(value, node) | borrow)
        left = left & ~borrow


@stage
def choose_by_cases(
    tables: LaneTables, value: Rows, cases: FeatureCases, planes: Rows, random: Rows, lanes: Row
) -> Row:
    """Select one legal move per role in each of `lanes`; return those in which some role has none.

    planes   those of a RouletteScratch
    """
    stuck = fill(value, np.uint64(0))
    older = load(random, 0)
    newer = load(random, 1)
    for role in range(tables.role_count):
        count = _list_cases(tables, value, role, cases, lanes)
        _weigh_levels(value, role, cases)
        used = _sum_cases(value, cases, count, planes)
        has_move, older, newer = draw_below_sums(value, planes, used, older, newer)
        _select_case(value, cases, count, planes, used, has_move)
        stuck = stuck | (lanes & ~has_move)
    store(random, 0, older)
    store(random, 1, newer)
    return stuck


@inlined
def level_in_lane(value: Rows, cases: FeatureCases, move: Index, lane: Index) -> Index:
    """The level of a move in the state of one lane."""
    end = np.int64(cases.first_case[move + 1])
    for c in range(cases.first_case[move], end):
        holds = True
        for j in range(cases.first_condition[c], cases.first_condition[c + 1]):
            # Written out: as a call of `literal_in_lane` it makes searches of small games a tenth slower.
            condition = np.int64(cases.condition[j])
            word = get_word(value, condition >> 1, lane >> 6)
            holds = holds and ((word >> np.uint64(lane & 63)) ^ np.uint64(condition)) & np.uint64(1) != 0
        if holds:
            return np.int64(cases.level[c])
    return np.int64(cases.level[end - 1])


@inlined
def weight_of_level(cases: FeatureCases, role: Index, level: Index, top: Index) -> Index:
    """The weight of an untried edge in the tree: at least 1, so that every edge is tried."""
    weight = np.int64(cases.weight[role, level, top])
    return weight if weight > 1 else np.int64(1)
