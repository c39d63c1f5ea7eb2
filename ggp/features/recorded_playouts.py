"""Random playouts from the initial state with all their states kept, 512 at a time.

For learning from whole games and for seeing what moves do. Letters: T states of a playout at most, N lanes,
W = N / 64 words, F recorded facts, R roles.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame
from ggp.jit.compiling import announced_compilation
from ggp.jit.rows import words_of
from ggp.lanes.engine import BoolArray, Lanes

LONGEST = 600
"""Joint moves after which playouts are given up, so that the recording fits into memory."""

NO_ROLE, SEVERAL = -1, -2


@dataclass(frozen=True)
class RecordedPlayouts:
    """One playout per lane, as far as they ended; all states, also those after an end, are reachable.

    words    uint64[T, F, W]: the recorded facts, bit = lane
    length   int64[N]: joint moves, so that state length[n] is the terminal one; -1 if it did not end
    goals    int32[N, R]: of the terminal state; 0 if the rules give no goal
    mover    int8[T, N]: the only role with a choice in the state, NO_ROLE or SEVERAL
    """

    words: NDArray[np.uint64]
    length: NDArray[np.int64]
    goals: NDArray[np.int32]
    mover: NDArray[np.int8]

    def states(self, word: int) -> BoolArray:
        """bool[T, 64, F]: the states in the lanes of one word."""
        part = np.ascontiguousarray(self.words[:, :, word])
        bits = np.unpackbits(part.view(np.uint8).reshape(*part.shape, 8), axis=2, bitorder="little")
        return bits.transpose(0, 2, 1).astype(np.bool_)


def record_playouts(
    game: CompiledGame,
    fluents: NDArray[np.int64],
    *,
    lanes: Lanes | None = None,
    seed: int = 0,
    deadline: float = math.inf,
) -> RecordedPlayouts:
    """One uniformly random playout in each lane of `lanes`.

    fluents    int64[F]: the facts to record
    lanes      continues its random numbers; None: fresh lanes with `seed`
    deadline   time.monotonic() seconds; playouts stop there, unfinished
    """
    lanes = lanes or Lanes(game.lane_tables, seed=seed)
    count = lanes.lane_count
    arrays = lanes.arrays
    lanes.begin(game.unpack(game.initial_state()), count)
    facts = slice(1, 1 + len(game.terms.fluents))
    words: list[NDArray[np.uint64]] = []
    movers: list[NDArray[np.int8]] = []
    length = np.full(count, -1, np.int64)
    final = np.zeros((len(game.terms.fluents), count), np.bool_)
    active = np.ones(count, np.bool_)
    with announced_compilation():
        lanes.play(0)
        lanes.settle(Phase.LEGAL, Phase.LEGAL)
    for step in range(LONGEST):
        lanes.settle(Phase.LEGAL, Phase.LEGAL)
        words.append(words_of(arrays.value)[1 + fluents])
        movers.append(_movers(lanes))
        state = words_of(arrays.value)[facts].copy()
        lanes.play(1)
        still = _unpacked(words_of(arrays.active)[:1])[0]
        ended = active & ~still
        if ended.any():
            length[ended] = step
            final[:, ended] = _unpacked(state)[:, ended]
        active = still
        if not active.any() or time.monotonic() > deadline:
            break
    return RecordedPlayouts(np.array(words), length, _goals(game, final), np.array(movers))


def _unpacked(words: NDArray[np.uint64]) -> BoolArray:
    """bool[*, N] of rows uint64[*, W]."""
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little").astype(
        np.bool_
    )


def _movers(lanes: Lanes) -> NDArray[np.int8]:
    """int8[N]: the only role with two legal moves in each lane. LEGAL must be settled."""
    tables = lanes.tables
    value = words_of(lanes.arrays.value)
    mover = np.full(lanes.lane_count, NO_ROLE, np.int8)
    for role in range(tables.role_count):
        slots = tables.slot_literal[tables.first_slot[role] : tables.first_slot[role + 1]]
        rows = value[slots >> 1] ^ np.where(slots & 1, ~np.uint64(0), np.uint64(0))[:, None]
        before = np.bitwise_or.accumulate(rows, axis=0)
        several = np.bitwise_or.reduce(before[:-1] & rows[1:], axis=0)
        has_choice = _unpacked(several[None])[0]
        mover = np.where(has_choice, np.where(mover == NO_ROLE, role, SEVERAL), mover).astype(np.int8)
    return mover


def _goals(game: CompiledGame, states: BoolArray) -> NDArray[np.int32]:
    """int32[N, R] of the states bool[F, N]."""
    lanes, goals = Lanes(game.lane_tables), []
    for first in range(0, states.shape[1], lanes.lane_count):
        part = states[:, first : first + lanes.lane_count]
        lanes.set_states(part)
        lanes.settle(Phase.LEGAL, Phase.GOAL)
        held = lanes.read(game.lane_tables.goal_literal, part.shape[1])
        goals.append(np.maximum(game.goals_of(held), 0))
    return np.concatenate(goals)
