"""Random playouts from the initial state with all their states kept, 512 at a time.

For learning from whole games and for seeing what moves do. Letters: T states of a playout at most, N lanes,
W = N / 64 words, F recorded facts, R roles.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame, ManyStates
from ggp.jit.compiling import announced_compilation
from ggp.jit.rows import words_of
from ggp.lanes.engine import BoolArray, Lanes, several_set, unpacked

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
        count, facts, _ = self.words.shape
        bits = unpacked(self.words[:, :, word].reshape(-1, 1)).reshape(count, facts, 64)
        return np.ascontiguousarray(bits.transpose(0, 2, 1))


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
    compile_playouts(lanes)
    for step in range(LONGEST):
        lanes.settle(Phase.LEGAL, Phase.LEGAL)
        words.append(words_of(arrays.value)[1 + fluents])
        movers.append(_movers(lanes))
        state = words_of(arrays.value)[facts].copy()
        lanes.play(1)
        still = unpacked(words_of(arrays.active)[:1])[0]
        ended = active & ~still
        if ended.any():
            length[ended] = step
            final[:, ended] = unpacked(state)[:, ended]
        active = still
        if not active.any() or time.monotonic() > deadline:
            break
    goals = np.maximum(ManyStates(game).settle(final.T).goals, 0)
    return RecordedPlayouts(np.array(words), length, goals, np.array(movers))


def compile_playouts(lanes: Lanes) -> None:
    """Compile the kernels of playouts, which takes long the first time, so that no deadline counts it."""
    with announced_compilation():
        lanes.play(0)
        lanes.settle(Phase.LEGAL, Phase.LEGAL)


def _movers(lanes: Lanes) -> NDArray[np.int8]:
    """int8[N]: the only role with two legal moves in each lane. LEGAL must be settled."""
    tables = lanes.tables
    mover = np.full(lanes.lane_count, NO_ROLE, np.int8)
    for role, (first, end) in enumerate(pairwise(tables.first_slot)):
        has_choice = unpacked(several_set(lanes.words_at(tables.slot_literal[first:end]))[None])[0]
        mover[has_choice] = np.where(mover[has_choice] == NO_ROLE, role, SEVERAL)
    return mover
