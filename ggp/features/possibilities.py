"""Possible consequences of a move, from the circuit, while most of the state is unknown.

`possible` asks many questions of one circuit at once: given that a role makes a move and that some facts hold
and others do not, can a literal be true? A node is unknown if both its literals can be; relations between
unknown inputs are ignored. So "no" is a proof, and "yes" means only that nothing known rules it out.
Q questions, A literals asked in each.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggp.circuit.tables import CircuitTables, Int32Array, Phase
from ggp.jit.compiling import kernel
from ggp.lanes.engine import BoolArray

MEMORY = 1 << 26
"""Bytes for the values of one pass."""


@dataclass(frozen=True)
class Question:
    """What is known; everything else is unknown.

    move           counted over all roles; None: no move is known. Other roles' moves stay unknown, except ...
    forbidden      ... these, which are not made
    true, false    fluents
    """

    move: int | None = None
    true: tuple[int, ...] = ()
    false: tuple[int, ...] = ()
    forbidden: tuple[int, ...] = ()

    def knowing(
        self, move: int | None = None, true: Iterable[int] = (), false: Iterable[int] = ()
    ) -> Question:
        """The same question with more known."""
        return Question(
            self.move if move is None else move,
            (*self.true, *map(int, true)),
            (*self.false, *map(int, false)),
            self.forbidden,
        )


def possible(
    tables: CircuitTables,
    questions: Sequence[Question],
    asked: NDArray[np.int32],
    deadline: float = math.inf,
) -> BoolArray:
    """bool[Q, A]: whether each literal of asked[Q, A] can be true. Raises TimeoutError if the deadline
    (time.monotonic() seconds) passes before all are answered."""
    words = max(1, min(64, MEMORY // (16 * tables.node_count)))
    answers = np.zeros(asked.shape, np.bool_)
    for first in range(0, len(questions), 64 * words):
        if time.monotonic() > deadline:
            raise TimeoutError
        part = questions[first : first + 64 * words]
        can = _known(tables, part)
        _spread(tables.first_input, tables.input, tables.gate0, int(tables.phase_end[Phase.NEXT]), can)
        place = np.arange(len(part))
        bits = can[asked[first : first + len(part)], (place >> 6)[:, None]]
        answers[first : first + len(part)] = (bits >> (place & 63).astype(np.uint64)[:, None]) & np.uint64(1)
    return answers


def _known(tables: CircuitTables, questions: Sequence[Question]) -> NDArray[np.uint64]:
    """uint64[2K, W]: the inputs as the questions state them; gates are not computed yet."""
    can = np.full((2 * tables.node_count, (len(questions) + 63) // 64), ~np.uint64(0))
    can[1] = 0
    move0 = 1 + tables.fluent_count
    _make_moves(tables, questions, can)
    for known, offset in ([q.true for q in questions], 3), ([q.false for q in questions], 2):
        asking = np.repeat(np.arange(len(known)), list(map(len, known)))
        ruled_out = 2 * np.array(list(chain.from_iterable(known)), np.int64) + offset
        bits = np.uint64(1) << (asking & 63).astype(np.uint64)
        np.bitwise_and.at(can, (ruled_out, asking >> 6), ~bits)
    by_prohibition: dict[tuple[int, ...], list[int]] = {}
    for place, question in enumerate(questions):
        by_prohibition.setdefault(question.forbidden, []).append(place)
    for forbidden, places in by_prohibition.items():
        can[2 * (move0 + np.array(forbidden, np.int64))] &= ~_mask(places, can.shape[1])
    return can


def _make_moves(tables: CircuitTables, questions: Sequence[Question], can: NDArray[np.uint64]) -> None:
    """Select the move of each question, and no other of its role."""
    move0 = 1 + tables.fluent_count
    made = [(place, question.move) for place, question in enumerate(questions) if question.move is not None]
    if not made:
        return
    places, moves = np.array(made, np.int64).T
    roles = np.searchsorted(tables.first_move, moves, side="right") - 1
    for role in np.unique(roles):
        first, end = move0 + tables.first_move[role], move0 + tables.first_move[role + 1]
        can[2 * first : 2 * end : 2] &= ~_mask(places[roles == role], can.shape[1])
    bits = np.uint64(1) << (places & 63).astype(np.uint64)
    np.bitwise_or.at(can, (2 * (move0 + moves), places >> 6), bits)
    np.bitwise_and.at(can, (2 * (move0 + moves) + 1, places >> 6), ~bits)


def _mask(places: ArrayLike, words: int) -> NDArray[np.uint64]:
    bits = np.zeros(64 * words, np.bool_)
    bits[np.asarray(places, np.int64)] = True
    return np.packbits(bits, bitorder="little").view(np.uint64)


@kernel
def _spread(
    first_input: Int32Array, inputs: Int32Array, gate0: int, gates: int, can: NDArray[np.uint64]
) -> None:
    """Compute the first `gates` gates of a circuit, see `ggp.circuit.tables.CircuitTables`.

    can   uint64[2K, W]: bit = question, row = literal: whether it can be true; gates are overwritten
    """
    for g in range(gates):
        node = gate0 + g
        for w in range(can.shape[1]):
            can_hold = ~np.uint64(0)
            can_fail = np.uint64(0)
            for j in range(first_input[g], first_input[g + 1]):
                can_hold = can_hold & can[inputs[j], w]
                can_fail = can_fail | can[inputs[j] ^ 1, w]
            can[2 * node, w] = can_hold
            can[2 * node + 1, w] = can_fail
