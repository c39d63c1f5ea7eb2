"""FAST: moves weighed by features of the state, in all lanes; values: `ggp.search.tree.policies.fast`.

The value of a move may depend on the state (which piece would be captured), so every move has *cases*: the
first one whose conditions hold in a lane counts, and the last one of a move has none. Each case has a
*level*, its rank among the different values of the role, best first. In a lane, Gibbs weights are relative
to the best level that is legal there: otherwise moves far below the best of all states would weigh nothing.

So a choice lists the cases of legal moves, and which levels are there; then the roulette turns for the lanes
of each best level. Letters: L levels of a role at most, C
cases.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, stage
from ggp.jit.rows import Index, Row, Rows, any_lane, fill, get_word, literal, load, make_rows, store
from ggp.lanes.layout import LaneTables
from ggp.lanes.roulette import (
    LegalMoves,
    draw_shares,
    list_entry,
    make_legal_moves,
    make_only_moves,
    spin,
)


class FeatureCases(NamedTuple):
    """Values of moves, case by case. Weights are 0..1023, and 1023 for the best level that is legal."""

    first_case: Int32Array  # [M+1] cases of move m, at least one
    first_condition: Int32Array  # [C+1]
    condition: Int32Array  # literals (of fluents) that hold in the case
    level: Int32Array  # [C] 0 is the best of the role
    level_count: Int32Array  # [R]
    weight: NDArray[np.int32]  # [R, L, L] of role, level, and the best level that is legal
    rows: Rows  # L of scratch: where each level is the best that is legal
    holding: LegalMoves  # room for all cases, with their levels as weights
    legal: LegalMoves  # room for all cases


def no_cases(words: int) -> FeatureCases:
    """For searches without FAST."""
    nothing, no_weights = np.zeros(1, np.int32), np.zeros((1, 1, 1), np.int32)
    rows, legal = make_rows(1, words), make_legal_moves(1, words)
    return FeatureCases(nothing, nothing, nothing, nothing, nothing, no_weights, rows, legal, legal)


@inlined
def _in_case(value: Rows, cases: FeatureCases, c: Index, lanes: Row) -> Row:
    """Those of `lanes` in which the conditions of case c hold. For most cases the first holds nowhere."""
    for j in range(cases.first_condition[c], cases.first_condition[c + 1]):
        lanes = lanes & literal(value, np.int64(cases.condition[j]))
        if not any_lane(lanes):
            break
    return lanes


@inlined
def _list_cases(tables: LaneTables, value: Rows, role: Index, cases: FeatureCases, lanes: Row) -> Index:
    """List the cases that hold in some of `lanes` for legal moves of the role; return their number.

    Record for each level in which lanes it is the best legal one.
    """
    rows = cases.rows
    levels = np.int64(cases.level_count[role])
    for level in range(levels):
        store(rows, level, fill(value, np.uint64(0)))
    n: Index = 0
    # Cases of a move in their order: x are the lanes in which none has held yet. rows[level] then are the
    # lanes in which a move of the level is legal.
    for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
        x = literal(value, tables.slot_literal[s]) & lanes
        node = np.int64(tables.slot_node[s])
        move = node - tables.move0
        c = np.int64(cases.first_case[move])
        while any_lane(x):
            y = _in_case(value, cases, c, x)
            if any_lane(y):
                x = x & ~y
                at = np.int64(cases.level[c])
                store(rows, at, load(rows, at) | y)
                n = list_entry(cases.holding, n, node, at, y)
            c += 1
    # Levels are ranked: of each lane only the first that is legal there stays.
    left = lanes
    for level in range(levels):
        y = load(rows, level)
        store(rows, level, y & left)
        left = left & ~y
    return n


@inlined
def _select_case(value: Rows, role: Index, cases: FeatureCases, count: Index) -> None:
    """Select one of the first `count` cases that hold in each lane, by weights relative to its best level."""
    holding = cases.holding
    for top in range(cases.level_count[role]):
        lanes = load(cases.rows, top)
        n: Index = 0
        if any_lane(lanes):
            for i in range(count):
                x = load(holding.lanes, i) & lanes
                if any_lane(x):
                    weight = np.int64(cases.weight[role, holding.weight[i], top])
                    n = list_entry(cases.legal, n, np.int64(holding.node[i]), weight, x)
            spin(value, cases.legal, 0, n)


@stage
def choose_by_cases(tables: LaneTables, value: Rows, cases: FeatureCases, random: Rows, lanes: Row) -> Row:
    """Select one legal move per role in each of `lanes`; return those in which some role has none."""
    stuck = fill(value, np.uint64(0))
    for role in range(tables.role_count):
        several, none = make_only_moves(tables, value, role, lanes)
        stuck = stuck | none
        if any_lane(several):
            count = _list_cases(tables, value, role, cases, several)
            draw_shares(cases.legal, random)
            _select_case(value, role, cases, count)
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
