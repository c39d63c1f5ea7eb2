"""Goal distance in many lanes at once: a fuzzy formula of how near each role is to its best goal.

The formula is the rules' own condition of the goal. What holds has degree 1; a fact that is k steps away has
`near ** k`, one that can never come true 0. A conjunction is the product of its parts' degrees, a
disjunction 1 minus the product of what each part lacks. `ggp.search.alphabeta.goal_distance` makes formulas.

Letters: V leaves, G gates; a *part* is a leaf (0..V-1) or a gate (V..V+G-1).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined
from ggp.jit.rows import (
    Index,
    Rows,
    choose_words,
    fill_float,
    get_float,
    get_word,
    load,
    multiply,
    store,
    subtract,
)

Degrees = NDArray[np.float64]

TOGETHER = 8
"""Lanes whose degrees are computed at once, as vectors of float64."""
_ALL_TOGETHER = np.uint64((1 << TOGETHER) - 1)


class GoalFormula(NamedTuple):
    """The goals that the roles want, as gates over leaves; a leaf means that a fluent holds, or does not.

    The sources of leaf v are source[first_source[v] : first_source[v+1]]; its blockers and the inputs of
    gates are found alike. The inputs of a gate lie before it.
    """

    leaf: Int32Array  # int32[V]: literal 2 * fluent + negated, fluents from 0
    away: Degrees  # float64[V]: degree of a leaf that does not hold, nor any of its sources
    first_source: Int32Array  # int32[V+1]
    source: Int32Array  # int32[*]: fluents from which a leaf can be reached, nearest first
    degree: Degrees  # float64[*]: the leaf's degree if that is the nearest one that holds
    first_blocker: Int32Array  # int32[V+1]
    blocker: Int32Array  # int32[*]: fluents that keep a leaf from ever holding
    is_any: NDArray[np.uint8]  # uint8[G]: 1: a disjunction; 0: a conjunction
    first_input: Int32Array  # int32[G+1]
    input: Int32Array  # int32[*]: parts
    wanted: Int32Array  # int32[2]: the part that each role wants; -1 for a role that does not exist
    near: Degrees  # float64[1]: degree of what is one step away


def no_formula() -> GoalFormula:
    """A formula without parts, for searches that do not use one."""
    zero, empty, none = np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float64)
    no_gate = np.zeros(0, np.uint8)
    unwanted, near = np.full(2, -1, np.int32), np.ones(1, np.float64)
    return GoalFormula(empty, none, zero, empty, none, zero, empty, no_gate, zero, empty, unwanted, near)


@inlined
def _bits_of(value: Rows, node: Index, first: Index) -> np.uint64:
    """The lanes from `first` on of a row, lowest bit first."""
    return get_word(value, node, first >> 6) >> np.uint64(first & 63)


@inlined
def _put_leaf(formula: GoalFormula, value: Rows, part: Rows, leaf: Index, first: Index) -> None:
    number = np.int64(formula.leaf[leaf])
    holds = _bits_of(value, 1 + (number >> 1), first)
    if number & 1:
        holds = ~holds
    blocked = np.uint64(0)
    for j in range(formula.first_blocker[leaf], formula.first_blocker[leaf + 1]):
        blocked |= _bits_of(value, np.int64(1 + formula.blocker[j]), first)
    # Lanes where the leaf holds get 1, blocked ones 0, others the degree of the nearest source that holds.
    degrees = fill_float(part, formula.away[leaf])
    left = ~holds & ~blocked & _ALL_TOGETHER
    for j in range(formula.first_source[leaf], formula.first_source[leaf + 1]):
        if left == np.uint64(0):
            break
        found = left & _bits_of(value, np.int64(1 + formula.source[j]), first)
        if found != np.uint64(0):
            degrees = choose_words(found, fill_float(part, formula.degree[j]), degrees)
            left = left & ~found
    degrees = choose_words(blocked, fill_float(part, 0.0), degrees)
    store(part, leaf, choose_words(holds, fill_float(part, 1.0), degrees))


@inlined
def _put_gate(formula: GoalFormula, part: Rows, gate: Index, target: Index) -> None:
    one = fill_float(part, 1.0)
    x = one
    if formula.is_any[gate]:
        for j in range(formula.first_input[gate], formula.first_input[gate + 1]):
            x = multiply(x, subtract(one, load(part, np.int64(formula.input[j]))))
        x = subtract(one, x)
    else:
        for j in range(formula.first_input[gate], formula.first_input[gate + 1]):
            x = multiply(x, load(part, np.int64(formula.input[j])))
    store(part, target, x)


@inlined
def set_degrees(formula: GoalFormula, value: Rows, part: Rows, first: Index) -> None:
    """Compute the degrees of all parts in TOGETHER lanes, from lane `first` on, a multiple of that.

    value   rows of settled states, fluent f in row 1 + f
    part    V + G rows of TOGETHER words: word k of a part is its degree in lane `first` + k, a float64
    """
    leaves = formula.leaf.shape[0]
    for v in range(leaves):
        _put_leaf(formula, value, part, np.int64(v), first)
    for g in range(formula.is_any.shape[0]):
        _put_gate(formula, part, np.int64(g), np.int64(leaves + g))


@inlined
def distance_score(formula: GoalFormula, part: Rows, k: Index) -> Index:
    """Hundredths of a goal for role 0 in the k-th lane of `set_degrees`. Its share of both degrees, or alone
    1 / (1 + steps to go)."""
    own = get_float(part, np.int64(formula.wanted[0]), k)
    if formula.wanted[1] >= 0:
        other = get_float(part, np.int64(formula.wanted[1]), k)
        share = own / (own + other) if own + other > 0.0 else 0.5
    elif own > 0.0:
        share = 1.0 / (1.0 + math.log(own) / math.log(formula.near[0]))
    else:
        share = 0.0
    return np.int64(math.floor(10000.0 * share + 0.5))
