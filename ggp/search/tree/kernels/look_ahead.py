"""Looking one move ahead in the tree: does a role win at once?

All moves of a node at a time, each in a lane of its own, on the circuit of
`ggp.search.decisive.immediate_wins`, which is nothing but that question. Rows are 64 lanes wide; nodes with
more moves are settled several times. Where wins are rare only every SAMPLED-th node is looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import ALL_ONES, Index, Rows, fill, get_word, lowest_bit, set_word, store
from ggp.jit.unboxed import Unboxed, unboxed
from ggp.lanes.layout import LaneTables
from ggp.lanes.step import settle_states
from ggp.search.tree.kernels.arrays import MISSING

NODES, LOOKS, WINS = range(3)
"""Indices of the counter: all nodes; of the latest ones those checked, and those with a winning move."""

MIN_LOOKS, RARE, SAMPLED = 1024, 1000, 16
"""Wins are rare if fewer than one of RARE checks found one, of at least MIN_LOOKS; at twice as many both
counts are halved."""


class LookAhead(NamedTuple):
    """The data of `find_win`; first_edge and move are those of the tree."""

    tables: LaneTables  # of the circuit whose only outputs are goals: role r wins by the joint move
    value: Rows  # of 64 lanes: that circuit
    fluent: Int32Array  # the fluents that it reads
    state: NDArray[np.uint64]  # [K+1, W] the circuit of the search in all lanes, row by row
    first_edge: Int32Array
    move: Int32Array
    counter: NDArray[np.int64]  # [3] NODES, LOOKS, WINS


@inlined
def _put_only_moves(ahead: LookAhead, node: Index, chooser: Index, word: np.uint64) -> None:
    """Make (all ones) or take back (0) the only move of each other role."""
    tables = ahead.tables
    for role in range(tables.role_count):
        if role != chooser:
            move = np.int64(ahead.move[ahead.first_edge[node, role]])
            store(ahead.value, tables.move0 + move, fill(ahead.value, word))


@kernel
def find_win(memory: Unboxed[LookAhead], node: int, role: int, lane: int) -> int:
    """The first edge of `role`, the only one with a choice at `node`, by which it wins at once.

    lane   one of the search that is in the state of the node
    MISSING if there is none, or if the node is not looked at.
    """
    ahead = unboxed(memory)
    tables, value, counter = ahead.tables, ahead.value, ahead.counter
    counter[NODES] += 1
    is_rare = counter[LOOKS] >= MIN_LOOKS and RARE * counter[WINS] < counter[LOOKS]
    if is_rare and counter[NODES] % SAMPLED != 0:
        return MISSING
    first, end = np.int64(ahead.first_edge[node, role]), np.int64(ahead.first_edge[node, role + 1])
    w, shift = lane >> 6, np.uint64(lane & 63)
    for i in range(ahead.fluent.shape[0]):
        f = 1 + np.int64(ahead.fluent[i])
        holds = (ahead.state[f, w] >> shift) & np.uint64(1)
        store(value, f, fill(value, np.uint64(0) - holds))
    _put_only_moves(ahead, node, role, ALL_ONES)
    found: Index = MISSING
    won = np.int64(tables.goal_literal[tables.goal_first[role]])
    # 64 moves at a time, lane i with the move of edge start + i; afterwards no lane has a move of the role.
    for start in range(first, end, 64):
        count: Index = end - start if end - start < 64 else 64
        for i in range(count):
            set_word(value, tables.move0 + np.int64(ahead.move[start + i]), 0, np.uint64(1) << np.uint64(i))
        settle_states(tables, value)
        bits = get_word(value, won >> 1, 0) ^ (np.uint64(0) - np.uint64(won & 1))
        bits = bits & (ALL_ONES >> np.uint64(64 - count))
        for i in range(count):
            set_word(value, tables.move0 + np.int64(ahead.move[start + i]), 0, np.uint64(0))
        if bits != np.uint64(0):
            found = start + lowest_bit(bits)
            break
    _put_only_moves(ahead, node, role, np.uint64(0))
    counter[LOOKS] += 1
    counter[WINS] += found != MISSING
    if counter[LOOKS] == 2 * MIN_LOOKS:
        counter[LOOKS] //= 2
        counter[WINS] //= 2
    return int(found)
