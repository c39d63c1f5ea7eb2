"""roulette: a random legal move of every role by weight, in all lanes at once, bit-sliced.

Weights are one integer per move, the same in all lanes (Gibbs sampling over MAST or TO-MAST values). As in
`choose`: sum the weights of the legal moves in bit planes, draw k below the sum by rejection, then walk the
moves again and subtract each legal one's weight from k; in lanes in which that borrows, the move is found.
Lanes that have their move subtract nothing from then on, so old and new planes need not be selected between.

Exact for the given integer weights. About 12 row operations per move and plane, in however few lanes the move
is legal: if those are few on average, `ggp.lanes.sparse_roulette` sums and subtracts lane by lane.
"""

from __future__ import annotations

import math

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, stage
from ggp.jit.rows import (
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
from ggp.lanes.choose import add_three, borrow_of, draw_at_most
from ggp.lanes.layout import LaneTables
from ggp.lanes.sparse_roulette import (
    DRAWN,
    LEFT,
    PLANES,
    SUM,
    TRIAL,
    LegalMoves,
    RouletteScratch,
    select_in_lanes,
    sum_in_lanes,
)

LARGEST_TOTAL = 2**PLANES - 1
LARGEST_WEIGHT = 2**16 - 1
"""Of Gibbs sampling: with tau = 10, a move that never won still weighs 3 if the best always won."""

SPARSE = 4
"""Average number of lanes per legal move up to which working lane by lane is faster (measured in 675d7e8)."""

FEWEST = 8
"""Fewest moves for which it is faster, per word of a row: turning planes into numbers and back takes as long
for few moves as for many."""


@inlined
def gibbs_weight(value: float, best: float, temperature: float, moves: Index) -> Index:
    """exp(value / temperature) as an integer >= 1, scaled so that `best` has the largest weight.

    moves   number of moves of the role, at least 1: their weights add up to LARGEST_TOTAL at most. With more
            than 32,768 moves, weights are coarser than those of the twin,
            `ggp.search.tree.reference.policies.gibbs_weight`.
    """
    most = min(LARGEST_WEIGHT, LARGEST_TOTAL // moves)
    return np.int64(max(1, math.floor(most * math.exp((value - best) / temperature) + 0.5)))


@inlined
def _bit_row(value: Rows, number: Index, bit: Index) -> Row:
    """All ones if `bit` of `number` is set, else zeros."""
    return fill(value, ~(np.uint64((number >> bit) & 1) - np.uint64(1)))


@inlined
def _list_legal(
    tables: LaneTables, value: Rows, role: Index, scratch: RouletteScratch, lanes: Row
) -> tuple[Index, Index]:
    """List the role's moves that are legal in some of `lanes`, and clear the rows of all its moves.

    Returns the number of moves, and the number of lanes in which each is legal, summed.
    """
    zero = fill(value, np.uint64(0))
    legal = scratch.legal
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
    """Sum the weights of the listed moves into planes SUM and up. Returns how many planes that takes."""
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
    """Select in the lanes `left` the move in whose weight k falls. The planes of k are used up."""
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
    """Draw in every lane a number k below the sum, from planes SUM and up, which are lost, into DRAWN and up.

    Returns the lanes whose sum is not 0, and the new state of the random rows.
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
    scratch: RouletteScratch,
    random: Rows,
    lanes: Row,
    sparse: Index,
    fewest: Index,
) -> Row:
    """Select one legal move per role in each of `lanes`; return the lanes in which a role has none.

    sparse, fewest   if there are at least `fewest` moves, legal in at most `sparse` lanes on average, they
                     are weighed lane by lane; the selected moves do not depend on that
    Other lanes get no move and do not influence what is drawn.
    """
    stuck = fill(value, np.uint64(0))
    older = load(random, 0)
    newer = load(random, 1)
    for role in range(tables.role_count):
        count, pairs = _list_legal(tables, value, role, scratch, lanes)
        is_sparse = count >= fewest and pairs <= sparse * count
        if is_sparse:
            planes = sum_in_lanes(scratch, count, weight)
        else:
            planes = _sum_weights(value, scratch.legal, count, weight, scratch.planes)
        has_move, older, newer = draw_below_sums(value, scratch.planes, planes, older, newer)
        if is_sparse:
            store(scratch.planes, LEFT, has_move)
            select_in_lanes(value, scratch, count, weight, planes)
        else:
            _select_weighted(value, scratch.legal, count, weight, scratch.planes, planes, has_move)
        stuck = stuck | (lanes & ~has_move)
    store(random, 0, older)
    store(random, 1, newer)
    return stuck
