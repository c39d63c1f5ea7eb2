"""roulette: a weighted random legal move of every role in every lane, bit-sliced.

Weights are one integer per move, the same in all lanes (Gibbs sampling over MAST or TO-MAST values).
As in `choose`: sum the weights of the legal moves in bit planes, draw k below the sum by rejection, then walk
the moves again and subtract each legal one's weight from k; where that borrows, the move is found. Lanes
that have their move go on subtracting nothing, so no selection between old and new planes is needed.

Exact for the integer weights given. About 12 row operations per move and plane, in however few lanes the move
is legal: where those are few on average, `ggp.kernels.lane_wheels` sums and subtracts lane by lane.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from ggp.kernels.choose import add_three, borrow_of, draw_at_most
from ggp.kernels.compiling import inlined, kernel, stage
from ggp.kernels.lane_tables import LaneTables
from ggp.kernels.lane_wheels import (
    DRAWN,
    LEFT,
    PLANES,
    SUM,
    TRIAL,
    LegalMoves,
    Wheel,
    select_in_lanes,
    sum_in_lanes,
)
from ggp.kernels.rows import (
    ALL_ONES,
    Index,
    Row,
    Rows,
    add,
    any_lane,
    fill,
    literal,
    load,
    popcount,
    store,
    sum_words,
)
from ggp.tables import Int32Array

LARGEST_TOTAL = 2**PLANES - 1
LARGEST_WEIGHT = 2**16 - 1
"""Of Gibbs sampling: with tau = 10, a move that never won against one that always did still weighs 3."""

SPARSE = 4
"""Lanes in which a move is legal, on average, up to which lane by lane is faster
(`python benchmarks/weighted_draws.py`)."""

FEWEST = 8
"""Moves from which it is faster, times the words of a row: making numbers of planes, and planes of numbers,
takes as long for few moves as for many."""


def weights_of(
    values: NDArray[np.float64], first_move: Int32Array, temperature: float, bits: int = 10
) -> Int32Array:
    """Gibbs weights exp(value / temperature) as integers 1 .. 2**bits - 1; each role reaches the top.

    values        float64[M]: mean goal of each move, 0..100
    temperature   > 0, on the scale of the values
    """
    weights = np.ones(len(values), np.int32)
    largest = 2**bits - 1
    for first, end in itertools.pairwise(first_move):
        if end > first:
            of_role = values[first:end]
            scaled = largest * np.exp((of_role - of_role.max()) / temperature)
            weights[first:end] = np.maximum(1, np.rint(scaled))
    return weights


@inlined
def gibbs_weight(value: float, best: float, temperature: float, moves: Index) -> Index:
    """exp(value / temperature), scaled so that `best` weighs the most, as an integer >= 1.

    moves   of the role, at least 1: so many weights add up to LARGEST_TOTAL at most. More than 32,768 moves
            make weights coarser than `ggp.search.policies.gibbs_weight`, the twin, does.
    """
    most = min(LARGEST_WEIGHT, LARGEST_TOTAL // moves)
    return np.int64(max(1, math.floor(most * math.exp((value - best) / temperature) + 0.5)))


@inlined
def _bit_row(value: Rows, number: Index, bit: Index) -> Row:
    """All ones where `bit` of `number` is set, else zeros."""
    return fill(value, ~(np.uint64((number >> bit) & 1) - np.uint64(1)))


@inlined
def _list_legal(
    tables: LaneTables, value: Rows, role: Index, wheel: Wheel, lanes: Row
) -> tuple[Index, Index]:
    """List the moves of the role that are legal in some of `lanes`, and clear the rows of all its moves.

    Returns how many there are, and in how many lanes they are legal, added up.
    """
    zero = fill(value, np.uint64(0))
    legal = wheel.legal
    counts = zero
    n = 0
    for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
        node = np.int64(tables.slot_node[s])
        x = literal(value, tables.slot_literal[s]) & lanes
        store(value, node, zero)
        if any_lane(x):
            legal.node[n] = node
            legal.level[n] = node - tables.move0
            store(legal.lanes, n, x)
            counts = add(counts, popcount(x))
            n += 1
    return n, sum_words(counts)


@inlined
def _sum_weights(value: Rows, legal: LegalMoves, count: Index, weight: Int32Array, planes: Rows) -> Index:
    """Sum the weights of the listed moves into planes SUM ...; returns how many planes that takes."""
    used = 0
    for i in range(count):
        x = load(legal.lanes, i)
        number = weight[legal.level[i]]
        while (number >> used) != 0:
            store(planes, SUM + used, fill(value, np.uint64(0)))
            used += 1
        carry = fill(value, np.uint64(0))
        for p in range(used):
            total, carry = add_three(load(planes, SUM + p), x & _bit_row(value, number, p), carry)
            store(planes, SUM + p, total)
        if any_lane(carry):
            store(planes, SUM + used, carry)
            used += 1
    return used


@inlined
def _select_weighted(
    value: Rows, legal: LegalMoves, count: Index, weight: Int32Array, planes: Rows, used: Index, left: Row
) -> None:
    """Select, in the lanes `left`, the listed move in whose weight k falls; k's planes are used up."""
    for i in range(count):
        x = load(legal.lanes, i) & left
        if not any_lane(x):
            continue
        number = weight[legal.level[i]]
        borrow = fill(value, np.uint64(0))
        for p in range(used):
            k = load(planes, DRAWN + p)
            y = x & _bit_row(value, number, p)
            store(planes, DRAWN + p, k ^ y ^ borrow)
            borrow = borrow_of(k, y, borrow)
        store(value, np.int64(legal.node[i]), borrow)
        left = left & ~borrow


@inlined
def draw_below_sums(
    value: Rows, scratch: Rows, planes: Index, older: Row, newer: Row
) -> tuple[Row, Row, Row]:
    """Draw k below the sum at SUM in every lane, into planes DRAWN ...; the sums are lost.

    older, newer   the state of the random rows
    Returns the lanes whose sum is not 0, and the new state.
    """
    has_move = fill(value, np.uint64(0))
    for p in range(planes):
        has_move = has_move | load(scratch, SUM + p)
    borrow = has_move
    for p in range(planes):
        x = load(scratch, SUM + p)
        store(scratch, SUM + p, x ^ borrow)
        borrow = borrow & ~x
    older, newer = draw_at_most(value, scratch, SUM, DRAWN, TRIAL, planes, older, newer)
    return has_move, older, newer


@stage
def roulette_moves(
    tables: LaneTables,
    value: Rows,
    weight: Int32Array,
    wheel: Wheel,
    random: Rows,
    lanes: Row,
    sparse: Index,
    fewest: Index,
) -> Row:
    """Select one legal move per role in each of `lanes`; returns those in which some role has none.

    sparse, fewest   moves that are legal in at most `sparse` lanes on average are weighed lane by lane, where
                     they are `fewest` or more; what is selected does not depend on it
    Other lanes get no move and have no influence on what is drawn.
    """
    stuck = fill(value, np.uint64(0))
    older = load(random, 0)
    newer = load(random, 1)
    for role in range(tables.role_count):
        count, pairs = _list_legal(tables, value, role, wheel, lanes)
        is_sparse = count >= fewest and pairs <= sparse * count
        if is_sparse:
            planes = sum_in_lanes(wheel, count, weight)
        else:
            planes = _sum_weights(value, wheel.legal, count, weight, wheel.planes)
        has_move, older, newer = draw_below_sums(value, wheel.planes, planes, older, newer)
        if is_sparse:
            store(wheel.planes, LEFT, has_move)
            select_in_lanes(value, wheel, count, weight, planes)
        else:
            _select_weighted(value, wheel.legal, count, weight, wheel.planes, planes, has_move)
        stuck = stuck | (lanes & ~has_move)
    store(random, 0, older)
    store(random, 1, newer)
    return stuck


@kernel
def roulette(
    tables: LaneTables,
    value: Rows,
    weight: Int32Array,
    wheel: Wheel,
    random: Rows,
    stuck: Rows,
    sparse: int,
    fewest: int,
) -> None:
    """Select a random legal move of every role in every lane, with probability proportional to its weight.

    value     legality must be settled; the move rows are overwritten: one move for every role that has one
    weight    int32[M], each >= 1, the total of a role at most LARGEST_TOTAL
    random    2 rows, see `seeded_random`
    stuck     1 row: lanes in which some role has no legal move
    sparse, fewest   as in `roulette_moves`
    """
    everywhere = fill(value, ALL_ONES)
    store(stuck, 0, roulette_moves(tables, value, weight, wheel, random, everywhere, sparse, fewest))
