"""Learning what features are worth: TD(lambda) of a linear value from random playouts.

    value(state) = constant + sum of weight × feature,   for each role: its goal less the mean of the others'

The features are the number of pieces of each kind on the board, or for each role and cell whether a piece of
the role lies there. A batch of playouts gives one step; the playouts are gone through several times, with
steps that fall. Features are centered and scaled while learning, so that one step size suits all games; the
weights returned are those of the features as they are.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.compiled_game import CompiledGame
from ggp.features import NOTHING, Features
from ggp.game import RANDOM_ROLE
from ggp.lanes import Lanes
from ggp.recorded_playouts import RecordedPlayouts, record_playouts
from ggp.search.temporal_differences import lambda_returns, weight_change

TRACE = 0.8
SWEEPS = 8
LAST_STEP = 0.1
"""Size of the last step, as a share of the first."""

MEMORY = 1 << 28
"""Bytes of features that are learned from."""

PIECES, CELLS = "pieces", "cells"


@dataclass(frozen=True)
class FeatureWeights:
    """What was learned. K features, R roles.

    kind         PIECES: feature p is the number of pieces p; CELLS: feature role * cells + cell
    weight       float64[K, R]: by role, in goals; 0 for features that never changed
    episodes     playouts learned from
    error        root of the mean squared distance to the λ-returns at the end, over all roles
    """

    kind: str
    weight: NDArray[np.float64]
    episodes: int
    error: float


def learn_weights(
    game: CompiledGame,
    features: Features,
    kind: str,
    *,
    episodes: int,
    seed: int = 0,
    deadline: float = math.inf,
) -> FeatureWeights:
    """Weights from `episodes` random playouts, rounded up to full lanes; fewer where the deadline passes.

    deadline   time.monotonic() seconds
    """
    fluents, feature_of = feature_numbers(features, kind, len(game.roles))
    count = int(feature_of.max(initial=-1)) + 1
    lanes = Lanes(
        game.lane_tables, words=min(8, max(1, 1 << ((episodes + 63) // 64 - 1).bit_length())), seed=seed
    )
    recorded: list[RecordedPlayouts] = []
    while sum(r.length.size for r in recorded) < episodes and time.monotonic() < deadline:
        recorded.append(record_playouts(game, fluents, lanes=lanes, deadline=deadline))
    learner = _Learner(game, feature_of, count, recorded)
    weight, error = learner.run(deadline)
    return FeatureWeights(kind, weight, learner.episodes, error)


def feature_numbers(features: Features, kind: str, roles: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The fluents that matter, and the number of the feature that each belongs to."""
    cells = len(features.board.across.values) * len(features.board.down.values)
    owner = np.array([features.owner_of(f) for f in range(len(features.piece_of))])
    fluents = np.flatnonzero(owner != NOTHING)
    numbers = features.piece_of if kind == PIECES else owner * cells + features.cell_of
    return fluents, numbers[fluents].astype(np.int64)


class _Batch(NamedTuple):
    """Playouts of one word of lanes, terminal states included.

    features   float32[T, N, K]
    length     int64[N]: states
    is_live    bool[T, N]: whether the state comes before the end, or is it
    outcome    float64[N, R]
    """

    features: NDArray[np.float32]
    length: NDArray[np.int64]
    is_live: NDArray[np.bool_]
    outcome: NDArray[np.float64]


class _Learner:
    def __init__(
        self,
        game: CompiledGame,
        feature_of: NDArray[np.int64],
        count: int,
        recorded: list[RecordedPlayouts],
    ) -> None:
        self.players = np.array([role != RANDOM_ROLE for role in game.roles])
        self.count, self.roles = count, len(game.roles)
        self.order = np.argsort(feature_of, kind="stable")
        self.known, self.first = np.unique(feature_of[self.order], return_index=True)
        self.batches: list[_Batch] = []
        left = MEMORY
        for playouts in recorded:
            for word in range(playouts.words.shape[2]):
                if left > 0 and (playouts.length[64 * word : 64 * word + 64] > 0).any():
                    self.batches.append(self._batch(playouts, word))
                    left -= self.batches[-1].features.nbytes
        self.episodes = sum(len(batch.length) for batch in self.batches)

    def run(self, deadline: float) -> tuple[NDArray[np.float64], float]:
        """The weights float64[K, R], and how far the last predictions were off."""
        weight = np.zeros((self.count, self.roles))
        if not self.batches:
            return weight, math.nan
        scale, largest = self._standardize()
        standard = np.zeros((len(self.known) + 1, self.roles))
        steps = SWEEPS * len(self.batches)
        errors: list[float] = []
        for step in range(steps):
            if time.monotonic() > deadline:
                break
            change, error = self._change(self.batches[step % len(self.batches)], standard)
            standard += LAST_STEP ** (step / steps) / largest * change
            errors.append(error)
        weight[self.known] = standard[:-1] * scale[:, None]
        last = errors[-len(self.batches) :]
        return weight, float(np.sqrt(np.mean(last))) if last else math.nan

    def _batch(self, playouts: RecordedPlayouts, word: int) -> _Batch:
        lanes = np.flatnonzero(playouts.length[64 * word : 64 * word + 64] > 0)
        length = playouts.length[64 * word + lanes] + 1
        states = playouts.states(word)[: int(length.max()), lanes][:, :, self.order]
        features = np.add.reduceat(states, self.first, axis=2, dtype=np.float32)
        goals = playouts.goals[64 * word + lanes].astype(np.float64)
        players = int(self.players.sum())
        others = (goals[:, self.players].sum(axis=1)[:, None] - goals) / max(1, players - 1)
        outcome = goals - others if players > 1 else goals
        outcome[:, ~self.players] = 0.0
        return _Batch(features, length, np.arange(len(states))[:, None] < length, outcome)

    def _standardize(self) -> tuple[NDArray[np.float64], float]:
        """Center and scale all features.

        Returns 1 / deviation of each (0 where it does not vary), and the largest eigenvalue of correlations.
        """
        states = np.concatenate([batch.features[batch.is_live] for batch in self.batches[:4]])
        mean, deviation = states.mean(axis=0), states.std(axis=0)
        scale = np.where(deviation > 1e-4, 1.0 / np.maximum(deviation, 1e-4), 0.0).astype(np.float32)
        for batch in self.batches:
            batch.features[:] = (batch.features - mean) * scale
        states = (states - mean) * scale
        largest = float(np.linalg.eigvalsh((states.T @ states).astype(np.float64) / len(states))[-1])
        return scale.astype(np.float64), max(1.0, largest)

    def _change(self, batch: _Batch, weight: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """The step that a batch asks for (the last row for the constant), and its mean squared error."""
        predicted = (batch.features @ weight[:-1].astype(np.float32)).astype(np.float64) + weight[-1]
        returns = lambda_returns(predicted, batch.length, batch.outcome, TRACE)
        pull = (returns - predicted) * batch.is_live[:, :, None]
        states = batch.features.reshape(-1, len(self.known))
        flat = pull.reshape(len(states), -1)
        share = len(states) / batch.is_live.sum()
        change = np.vstack((weight_change(states, flat.astype(np.float32)), flat.mean(axis=0)[None])) * share
        return change, float(np.mean(flat[:, self.players] ** 2) * share)
