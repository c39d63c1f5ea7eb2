"""Goal distance in many lanes at once: a fuzzy formula of how near each role is to its best goal.

The formula is the rules' own condition of the goal. What holds has degree 1; a fact that is k steps away has
`near ** k`, one that can never come true 0. A conjunction is the product of its parts' degrees, a
disjunction 1 minus the product of what each part lacks. `ggp.search.alphabeta.goal_distance` makes formulas.

Letters: V leaves, G gates, L lanes; a *part* is a leaf (0..V-1) or a gate (V..V+G-1).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined
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
    set_word,
    store,
    word_count,
)

Degrees = NDArray[np.float64]

TOGETHER = 8
"""Lanes whose degrees are computed at once, so that they stay in registers."""


class GoalFormula(NamedTuple):
    """The goals that the roles want, as gates over leaves; a leaf says that a fluent holds, or does not.

    leaf            int32[V]: literal 2 * fluent + negated, fluents from 0
    away            float64[V]: degree of a leaf that does not hold, nor any of its sources
    first_source    int32[V+1]; the sources of leaf v are source[first_source[v] : first_source[v+1]]:
    source, degree  int32[*], float64[*]: fluents from which it can be reached, nearest first, and its degree
                    where that is the nearest one that holds
    first_blocker, blocker   int32[V+1], int32[*]: fluents that keep a leaf from ever holding
    is_any          uint8[G]: 1: a disjunction; 0: a conjunction
    first_input, input       int32[G+1], int32[*]: parts; a gate's inputs lie before it
    wanted          int32[2]: the part that each role wants; -1 for a role that does not exist
    near            float64[1]: degree of what is one step away
    """

    leaf: Int32Array
    away: Degrees
    first_source: Int32Array
    source: Int32Array
    degree: Degrees
    first_blocker: Int32Array
    blocker: Int32Array
    is_any: NDArray[np.uint8]
    first_input: Int32Array
    input: Int32Array
    wanted: Int32Array
    near: Degrees


def no_formula() -> GoalFormula:
    """A formula without parts, for searches that do not use one."""
    zero = np.zeros(1, np.int32)
    empty = np.zeros(0, np.int32)
    none = np.zeros(0, np.float64)
    return GoalFormula(
        leaf=empty,
        away=none,
        first_source=zero,
        source=empty,
        degree=none,
        first_blocker=zero,
        blocker=empty,
        is_any=np.zeros(0, np.uint8),
        first_input=zero,
        input=empty,
        wanted=np.full(2, -1, np.int32),
        near=np.ones(1, np.float64),
    )


@inlined
def _set_degrees(
    part: Degrees, start: Index, lanes: Index, rows: Rows, row: Index, degree: np.float64
) -> None:
    """part[start + lane] = degree in the lanes set in the row, up to `lanes`."""
    for w in range((lanes + 63) >> 6):
        bits = get_word(rows, row, w)
        while bits != np.uint64(0):
            lane = 64 * w + lowest_bit(bits)
            bits = bits & (bits - np.uint64(1))
            part[start + lane] = degree


@inlined
def _put_leaves(formula: GoalFormula, value: Rows, live: Rows, part: Degrees, lanes: Index) -> None:
    most = np.int64(64 * word_count(value))
    for v in range(formula.leaf.shape[0]):
        start = np.int64(v) * most
        for lane in range(lanes):
            part[start + lane] = formula.away[v]
        holds = literal(value, np.int64(formula.leaf[v] + 2)) & load(live, 1)
        left = load(live, 1) & ~holds
        for j in range(formula.first_source[v], formula.first_source[v + 1]):
            if not any_lane(left):
                break
            found = left & load(value, np.int64(1 + formula.source[j]))
            if any_lane(found):
                store(live, 2, found)
                _set_degrees(part, start, lanes, live, 2, formula.degree[j])
                left = left & ~found
        blocked = fill(value, np.uint64(0))
        for j in range(formula.first_blocker[v], formula.first_blocker[v + 1]):
            blocked = blocked | load(value, np.int64(1 + formula.blocker[j]))
        store(live, 2, blocked & load(live, 1))
        _set_degrees(part, start, lanes, live, 2, np.float64(0.0))
        store(live, 2, holds)
        _set_degrees(part, start, lanes, live, 2, np.float64(1.0))


@inlined
def _set_gate(
    formula: GoalFormula, part: Degrees, gate: Index, target: Index, most: Index, first: Index
) -> None:
    """Compute the degree of a gate in TOGETHER lanes from `first` on, in registers."""
    a = b = c = d = e = f = g = h = 1.0
    if formula.is_any[gate]:
        for j in range(formula.first_input[gate], formula.first_input[gate + 1]):
            i = np.int64(formula.input[j]) * most + first
            a, b, c, d = a - a * part[i], b - b * part[i + 1], c - c * part[i + 2], d - d * part[i + 3]
            e, f, g, h = e - e * part[i + 4], f - f * part[i + 5], g - g * part[i + 6], h - h * part[i + 7]
        a, b, c, d, e, f, g, h = 1.0 - a, 1.0 - b, 1.0 - c, 1.0 - d, 1.0 - e, 1.0 - f, 1.0 - g, 1.0 - h
    else:
        for j in range(formula.first_input[gate], formula.first_input[gate + 1]):
            i = np.int64(formula.input[j]) * most + first
            a, b, c, d = a * part[i], b * part[i + 1], c * part[i + 2], d * part[i + 3]
            e, f, g, h = e * part[i + 4], f * part[i + 5], g * part[i + 6], h * part[i + 7]
    part[target], part[target + 1], part[target + 2], part[target + 3] = a, b, c, d
    part[target + 4], part[target + 5], part[target + 6], part[target + 7] = e, f, g, h


@inlined
def set_degrees(formula: GoalFormula, value: Rows, live: Rows, part: Degrees, lanes: Index) -> None:
    """Compute the degrees of all parts in the first `lanes` lanes.

    value   rows of settled states, fluent f in row 1 + f
    live    scratch: rows 1 and 2 are overwritten
    part    float64[(V+G)*L]: degrees, part by part
    """
    most = np.int64(64 * word_count(value))
    store(live, 1, fill(value, np.uint64(0)))
    for w in range((lanes + 63) >> 6):
        here = min(64, lanes - 64 * w)
        set_word(live, 1, w, ALL_ONES >> np.uint64(64 - here))
    _put_leaves(formula, value, live, part, lanes)
    leaves = formula.leaf.shape[0]
    for g in range(formula.is_any.shape[0]):
        for first in range(0, lanes, TOGETHER):
            _set_gate(formula, part, np.int64(g), (leaves + g) * most + first, most, np.int64(first))


@inlined
def distance_score(formula: GoalFormula, part: Degrees, lane: Index, most: Index) -> Index:
    """Hundredths of a goal for role 0: its share of both degrees, or alone 1 / (1 + steps to go)."""
    own = part[formula.wanted[0] * most + lane]
    if formula.wanted[1] >= 0:
        other = part[formula.wanted[1] * most + lane]
        share = own / (own + other) if own + other > 0.0 else 0.5
    elif own > 0.0:
        share = 1.0 / (1.0 + math.log(own) / math.log(formula.near[0]))
    else:
        share = 0.0
    return np.int64(math.floor(10000.0 * share + 0.5))


__all__ = ["GoalFormula", "distance_score", "no_formula", "set_degrees"]
