"""roulette: a random legal move of every role by weight, in all lanes at once.

Weights are integers, for one move the same in all lanes (Gibbs sampling over MAST or TO-MAST values) or
different by its case (FAST). A lane in which a role has one legal move makes it. The others sum the weights
of theirs, 64 lanes at a time as numbers in registers, draw k below the sum, and sum again: the first move
with which the sum exceeds k is made. If no lane has two roles with a choice, they share one draw.

k is the sum times 32 random bits, rounded down: each move's probability is right to 2**-32.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, piece, stage
from ggp.jit.rows import (
    Index,
    Row,
    Rows,
    add_where,
    any_lane,
    exceeds,
    fill,
    fill_numbers,
    get_word,
    literal,
    load,
    load_numbers,
    make_rows,
    set_word,
    share_of,
    store,
    word_count,
)
from ggp.lanes.choose import next_random
from ggp.lanes.layout import LaneTables

LARGEST_TOTAL = 2**31 - 1
LARGEST_WEIGHT = 2**16 - 1
"""Of Gibbs sampling: with tau = 10, a move that never won still weighs 3 if the best always won."""

RANDOM_ROWS = 32
"""Random rows that hold 32 bits for each lane."""


class LegalMoves(NamedTuple):
    """Legal moves of lanes with a choice, role by role, in order; scratch.

    node    int32[N]: the row of the move; with FAST one move has an entry for each of its weights
    weight  int32[N]
    lanes   N rows
    share   RANDOM_ROWS rows: 32 random bits for each lane
    """

    node: Int32Array
    weight: Int32Array
    lanes: Rows
    share: Rows


def make_legal_moves(count: int, words: int) -> LegalMoves:
    """Allocate room for `count` entries."""
    return LegalMoves(
        node=np.zeros(count, np.int32),
        weight=np.zeros(count, np.int32),
        lanes=make_rows(count, words),
        share=make_rows(RANDOM_ROWS, words),
    )


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
def make_only_moves(tables: LaneTables, value: Rows, role: Index, lanes: Row) -> tuple[Row, Row]:
    """Clear the rows of the role's moves but in those of `lanes` in which it has one legal move, and make it.

    Returns the lanes in which it has several, and those in which it has none.
    """
    one = fill(value, np.uint64(0))
    several = one
    for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
        x = literal(value, tables.slot_literal[s]) & lanes
        several = several | (one & x)
        one = one | x
    only = one & ~several
    for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
        store(value, np.int64(tables.slot_node[s]), literal(value, tables.slot_literal[s]) & only)
    return several, lanes & ~one


@inlined
def list_entry(legal: LegalMoves, n: Index, node: Index, weight: Index, lanes: Row) -> Index:
    """Append a move to the first n; return how many there are then."""
    legal.node[n] = node
    legal.weight[n] = weight
    store(legal.lanes, n, lanes)
    return n + 1


@inlined
def draw_shares(legal: LegalMoves, random: Rows) -> None:
    """Draw 32 bits for each lane."""
    older, newer = load(random, 0), load(random, 1)
    for i in range(RANDOM_ROWS):
        older, newer, x = next_random(older, newer)
        store(legal.share, i, x)
    store(random, 0, older)
    store(random, 1, newer)


@piece
def spin(value: Rows, legal: LegalMoves, first: Index, end: Index) -> None:
    """Select one of the moves first .. end - 1 in each lane that lists some, by weights and shares."""
    node, weight = legal.node[first:end], legal.weight[first:end]
    for w in range(word_count(value)):
        total = fill_numbers(0)
        for i in range(node.shape[0]):
            total = add_where(total, get_word(legal.lanes, first + i, w), weight[i])
        drawn = share_of(total, load_numbers(legal.share, w))
        total = fill_numbers(0)
        # `found` are the lanes whose sum exceeds what was drawn, and so it will with all moves to come.
        found = np.uint64(0)
        for i in range(node.shape[0]):
            bits = get_word(legal.lanes, first + i, w)
            if bits != np.uint64(0):
                total = add_where(total, bits, weight[i])
                beyond = exceeds(total, drawn)
                row = np.int64(node[i])
                set_word(value, row, w, get_word(value, row, w) | (beyond & ~found))
                found = beyond


@stage
def roulette_moves(
    tables: LaneTables, value: Rows, weight: Int32Array, legal: LegalMoves, random: Rows, lanes: Row
) -> Row:
    """Select one legal move per role in each of `lanes`; return the lanes in which a role has none.

    weight   int32[M], those of a role adding up to LARGEST_TOTAL at most
    Other lanes get no move and do not influence what is drawn in these.
    """
    stuck = fill(value, np.uint64(0))
    choosing = stuck
    first: Index = 0
    n: Index = 0
    for role in range(tables.role_count):
        several, none = make_only_moves(tables, value, role, lanes)
        stuck = stuck | none
        if any_lane(choosing & several):
            draw_shares(legal, random)
            spin(value, legal, first, n)
            first, choosing = n, fill(value, np.uint64(0))
        choosing = choosing | several
        for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
            x = literal(value, tables.slot_literal[s]) & several
            if any_lane(x):
                node = np.int64(tables.slot_node[s])
                n = list_entry(legal, n, node, np.int64(weight[node - tables.move0]), x)
    if n > first:
        draw_shares(legal, random)
        spin(value, legal, first, n)
    return stuck
