"""The roulette lane by lane, for moves legal in few lanes.

Bit planes weigh a move in all lanes at once, at the same cost for one lane as for 512. In games with
thousands of moves, most are legal in only a few lanes; adding the weights up in those is cheaper. The sums go
into the same planes and are drawn from in the same way, so both ways find the same moves. Letters: L lanes, N
moves at most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, piece
from ggp.jit.rows import Index, Rows, get_word, lowest_bit, make_rows, set_word, word_count
from ggp.lanes.indices import numbers_of_planes, transpose_bits

PLANES = 31
SUM, DRAWN, TRIAL, LEFT = 0, PLANES, 2 * PLANES, 3 * PLANES
"""First rows of the planes of a RouletteScratch: sums of weights, what was drawn below them, a trial draw;
then a row of the lanes whose move is not found yet."""


class LegalMoves(NamedTuple):
    """Legal moves of one role in order, with their lanes; scratch.

    node    int32[N]: the row of the move; with FAST one move has an entry for each of its cases
    level   int32[N]: the index of its weight
    lanes   N rows
    """

    node: Int32Array
    level: Int32Array
    lanes: Rows


class RouletteScratch(NamedTuple):
    """Scratch memory of draws by weight.

    planes  3 * PLANES + 1 rows
    legal   room for all moves of a role
    number  int32[L]: a number per lane
    block   uint64[64]
    """

    planes: Rows
    legal: LegalMoves
    number: Int32Array
    block: NDArray[np.uint64]


def make_legal_moves(count: int, words: int) -> LegalMoves:
    """Allocate room for `count` moves."""
    return LegalMoves(np.zeros(count, np.int32), np.zeros(count, np.int32), make_rows(count, words))


def make_roulette_scratch(moves: int, words: int) -> RouletteScratch:
    """Allocate scratch memory for roles of at most `moves` moves."""
    return RouletteScratch(
        planes=make_rows(3 * PLANES + 1, words),
        legal=make_legal_moves(moves, words),
        number=np.zeros(64 * words, np.int32),
        block=np.zeros(64, np.uint64),
    )


@piece
def sum_in_lanes(scratch: RouletteScratch, count: Index, weight: Int32Array) -> Index:
    """Sum the weights of the first `count` moves into planes SUM and up. Returns how many planes it needs."""
    legal = scratch.legal
    number = scratch.number
    for lane in range(number.shape[0]):
        number[lane] = 0
    for i in range(count):
        own = weight[legal.level[i]]
        for w in range(word_count(legal.lanes)):
            bits = get_word(legal.lanes, i, w)
            while bits != np.uint64(0):
                lane = 64 * w + lowest_bit(bits)
                bits = bits & (bits - np.uint64(1))
                number[lane] += own
    largest = np.int64(0)
    for lane in range(number.shape[0]):
        largest = max(largest, np.int64(number[lane]))
    used = 0
    while (largest >> used) != 0:
        used += 1
    _planes_of_numbers(scratch, used)
    return used


@inlined
def _planes_of_numbers(scratch: RouletteScratch, used: Index) -> None:
    for w in range(word_count(scratch.planes)):
        for i in range(64):
            scratch.block[i] = np.uint64(scratch.number[64 * w + i])
        transpose_bits(scratch.block)
        for p in range(used):
            set_word(scratch.planes, SUM + p, w, scratch.block[p])


@piece
def select_in_lanes(
    value: Rows, scratch: RouletteScratch, count: Index, weight: Int32Array, used: Index
) -> None:
    """Select in the lanes of row LEFT the move in whose weight k, in planes DRAWN and up, falls.

    All move rows of the role must be zero, and so must LEFT be in lanes without a move.
    """
    legal = scratch.legal
    number = scratch.number
    numbers_of_planes(scratch.planes, DRAWN, used, 0, scratch.block, number)
    for i in range(count):
        own = weight[legal.level[i]]
        node = np.int64(legal.node[i])
        for w in range(word_count(legal.lanes)):
            left = get_word(scratch.planes, LEFT, w)
            bits = get_word(legal.lanes, i, w) & left
            chosen = np.uint64(0)
            while bits != np.uint64(0):
                bit = lowest_bit(bits)
                bits = bits & (bits - np.uint64(1))
                lane = 64 * w + bit
                k = number[lane] - own
                number[lane] = k
                chosen = chosen | (np.uint64(k < 0) << np.uint64(bit))
            if chosen != np.uint64(0):
                set_word(value, node, w, chosen)
                set_word(scratch.planes, LEFT, w, left & ~chosen)
