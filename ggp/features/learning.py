"""Learning feature weights: TD(lambda) of a linear value from playouts or whole games.

    value(state) = constant + sum of weight × feature,   for each role: its goal minus the mean of the others'

The features are the number of pieces of each kind on the board, or for each role and cell whether a piece of
the role lies there, or whether each fact of the rules holds. A batch of playouts gives one step; the playouts
are visited several times, with decreasing steps. Features are centered and scaled while learning, so that one
step size suits all games; the returned weights are those of the original features.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggp.engines.compiled import CompiledGame
from ggp.features.board_features import NOTHING, Features
from ggp.features.recorded_playouts import RecordedPlayouts, record_playouts
from ggp.game import RANDOM_ROLE
from ggp.lanes.engine import Lanes

FloatArray = NDArray[np.float64]

TRACE = 0.8
SWEEPS = 8
LAST_STEP = 0.1
"""Size of the last step, as a share of the first."""

MEMORY = 1 << 28
"""Maximum bytes of features to learn from."""

RECORDING_SHARE = 0.25
"""Share of the time until a deadline for recording; the rest is for learning."""

BATCH = 64
"""Games per step."""

PIECES, CELLS, FACTS = "pieces", "cells", "facts"


@dataclass(frozen=True)
class FeatureWeights:
    """Learned weights. K features, R roles.

    kind         PIECES: feature p is the number of pieces p; CELLS: feature role * cells + cell; FACTS:
                 feature f is fluent f
    weight       float64[K, R]: by role, in goals; 0 for features that never changed
    constant     float64[R]
    episodes     playouts or games learned from
    error        root of the mean squared distance to the λ-returns at the end, over all roles
    """

    kind: str
    weight: FloatArray
    constant: FloatArray
    episodes: int
    error: float


@dataclass(frozen=True)
class PlayedGame:
    """States bool[T+1, F] of one game, and the goals float64[R] of the last of them."""

    states: NDArray[np.bool_]
    goals: FloatArray


def learn_weights(
    game: CompiledGame,
    features: Features | None,
    kind: str,
    *,
    episodes: int,
    seed: int = 0,
    deadline: float = math.inf,
) -> FeatureWeights:
    """Weights from `episodes` random playouts, rounded up to full lanes; fewer if the deadline passes.

    deadline   time.monotonic() seconds
    """
    facts = _Facts(*feature_numbers(game, features, kind))
    lanes = Lanes(
        game.lane_tables, words=min(8, max(1, 1 << ((episodes + 63) // 64 - 1).bit_length())), seed=seed
    )
    batches: list[_Batch] = []
    begin = time.monotonic()
    enough = begin + RECORDING_SHARE * (deadline - begin)
    count, left = 0, MEMORY
    while count < episodes and left > 0 and time.monotonic() < enough:
        recorded = record_playouts(game, facts.fluents, lanes=lanes, deadline=deadline)
        count += recorded.length.size
        for batch in _playout_batches(game, facts, recorded):
            if left > 0:
                batches.append(batch)
                left -= batch.features.nbytes
    return _Learner(game, facts, batches).run(kind, deadline)


def learn_from_games(
    game: CompiledGame,
    features: Features | None,
    kind: str,
    games: Sequence[PlayedGame],
    deadline: float = math.inf,
) -> FeatureWeights:
    """Weights from games that were played.

    features   may be None if the kind is FACTS
    """
    facts = _Facts(*feature_numbers(game, features, kind))
    batches = [_game_batch(game, facts, games[i : i + BATCH]) for i in range(0, len(games), BATCH)]
    return _Learner(game, facts, batches).run(kind, deadline)


def feature_numbers(
    game: CompiledGame, features: Features | None, kind: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The fluents that matter, and the number of the feature that each belongs to."""
    if kind == FACTS:
        return np.arange(len(game.terms.fluents)), np.arange(len(game.terms.fluents))
    assert features is not None, "pieces and cells are features of a board"
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
    outcome: FloatArray


class _Facts:
    """How facts make up features: those of each feature lie side by side.

    fluents      int64[N]
    order        int64[N]: of the fluents, by feature
    known, first int64[*]: the features there are, and where the facts of each begin
    count        K
    """

    def __init__(self, fluents: NDArray[np.int64], feature_of: NDArray[np.int64]) -> None:
        self.fluents = fluents
        self.order = np.argsort(feature_of, kind="stable")
        self.known, self.first = np.unique(feature_of[self.order], return_index=True)
        self.count = int(feature_of.max(initial=-1)) + 1

    def features(self, states: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Features float32[..., K'] of states bool[..., N], which have the fluents in `fluents`."""
        if not len(self.first):
            return np.zeros((*states.shape[:-1], 0), np.float32)
        return np.add.reduceat(states[..., self.order], self.first, axis=-1, dtype=np.float32)


def _playout_batches(game: CompiledGame, facts: _Facts, playouts: RecordedPlayouts) -> Iterator[_Batch]:
    """One batch for each word of lanes in which a playout ended."""
    for word in range(playouts.words.shape[2]):
        lanes = np.flatnonzero(playouts.length[64 * word : 64 * word + 64] > 0)
        if len(lanes):
            length = playouts.length[64 * word + lanes] + 1
            features = facts.features(playouts.states(word)[: int(length.max()), lanes])
            outcome = _outcome(game, playouts.goals[64 * word + lanes].astype(np.float64))
            yield _Batch(features, length, np.arange(len(features))[:, None] < length, outcome)


def _game_batch(game: CompiledGame, facts: _Facts, games: Sequence[PlayedGame]) -> _Batch:
    length = np.array([len(played.states) for played in games])
    features = np.zeros((int(length.max()), len(games), len(facts.known)), np.float32)
    for n, played in enumerate(games):
        features[: len(played.states), n] = facts.features(played.states[:, facts.fluents])
    outcome = _outcome(game, np.array([played.goals for played in games]))
    return _Batch(features, length, np.arange(len(features))[:, None] < length, outcome)


def _outcome(game: CompiledGame, goals: FloatArray) -> FloatArray:
    """The targets for goals float64[N, R]: each role's minus the mean of the others'; 0 for chance."""
    is_player = _is_player(game)
    players = int(is_player.sum())
    others = (goals[:, is_player].sum(axis=1)[:, None] - goals) / max(1, players - 1)
    outcome = goals - others if players > 1 else goals.copy()
    outcome[:, ~is_player] = 0.0
    return outcome


def _is_player(game: CompiledGame) -> NDArray[np.bool_]:
    return np.array([role != RANDOM_ROLE for role in game.roles])


class _Learner:
    """Visits batches, which it centers and scales in place."""

    def __init__(self, game: CompiledGame, facts: _Facts, batches: list[_Batch]) -> None:
        self.players, self.roles = _is_player(game), len(game.roles)
        self.facts, self.batches = facts, batches

    def run(self, kind: str, deadline: float) -> FeatureWeights:
        """The weights learned by the deadline."""
        known = self.facts.known
        weight, constant = np.zeros((self.facts.count, self.roles)), np.zeros(self.roles)
        episodes = sum(len(batch.length) for batch in self.batches)
        if not self.batches or not len(known):
            return FeatureWeights(kind, weight, constant, episodes, math.nan)
        mean, scale, largest = self._standardize()
        standard = np.zeros((len(known) + 1, self.roles))
        steps = SWEEPS * len(self.batches)
        errors: list[float] = []
        for step in range(steps):
            if time.monotonic() > deadline:
                break
            change, error = self._change(self.batches[step % len(self.batches)], standard)
            standard += LAST_STEP ** (step / steps) / largest * change
            errors.append(error)
        weight[known] = standard[:-1] * scale[:, None]
        constant = standard[-1] - mean @ weight[known]
        last = errors[-len(self.batches) :]
        error = float(np.sqrt(np.mean(last))) if last else math.nan
        return FeatureWeights(kind, weight, constant, episodes, error)

    def _standardize(self) -> tuple[FloatArray, FloatArray, float]:
        """Center and scale all features.

        Returns the mean and 1 / deviation of each (0 where it does not vary), and the largest eigenvalue of
        the correlations.
        """
        states = np.concatenate([batch.features[batch.is_live] for batch in self.batches[:4]])
        mean, deviation = states.mean(axis=0), states.std(axis=0)
        scale = np.where(deviation > 1e-4, 1.0 / np.maximum(deviation, 1e-4), 0.0).astype(np.float32)
        for batch in self.batches:
            batch.features[:] = (batch.features - mean) * scale
        states = (states - mean) * scale
        largest = float(np.linalg.eigvalsh((states.T @ states).astype(np.float64) / len(states))[-1])
        return mean.astype(np.float64), scale.astype(np.float64), max(1.0, largest)

    def _change(self, batch: _Batch, weight: FloatArray) -> tuple[FloatArray, float]:
        """The gradient step of a batch (last row: the constant), and its mean squared error."""
        predicted = (batch.features @ weight[:-1].astype(np.float32)).astype(np.float64) + weight[-1]
        returns = lambda_returns(predicted, batch.length, batch.outcome, TRACE)
        pull = (returns - predicted) * batch.is_live[:, :, None]
        states = batch.features.reshape(-1, len(self.facts.known))
        flat = pull.reshape(len(states), -1)
        share = len(states) / batch.is_live.sum()
        change = np.vstack((weight_change(states, flat.astype(np.float32)), flat.mean(axis=0)[None])) * share
        return change, float(np.mean(flat[:, self.players] ** 2) * share)


def lambda_returns(predicted: FloatArray, length: ArrayLike, outcome: ArrayLike, trace: float) -> FloatArray:
    """The lambda-return of every state: with `trace` 1 the outcome, with 0 the next state's prediction.

    The forward view of Sutton, "Learning to predict by the methods of temporal differences" (1988).

    predicted   float64[T, N, ...]: values of the states, the last of each game excluded
    length      int[N]: states of each game; later entries are ignored
    outcome     float64[N, ...]: the outcome of each game

    >>> lambda_returns(np.array([[0.5], [0.75]]), [2], [1.0], trace=0.5).tolist()
    [[0.875], [1.0]]
    """
    last = np.asarray(length) - 1
    outcome = np.asarray(outcome, np.float64)
    returns = np.empty_like(predicted)
    target = outcome
    for t in range(len(predicted) - 1, -1, -1):
        following = predicted[t + 1] if t + 1 < len(predicted) else outcome
        is_end = (t >= last).reshape(-1, *([1] * (predicted.ndim - 2)))
        target = np.where(is_end, outcome, trace * target + (1 - trace) * following)
        returns[t] = target
    return returns


def weight_change(features: NDArray[Any], pull: NDArray[np.floating]) -> FloatArray:
    """The mean gradient step of linear weights: float[S, K], float[S, ...] → float64[K, ...].

    features   of S states; pull: target minus prediction

    >>> weight_change(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, -0.5])).tolist()
    [0.25, -0.25]
    """
    # One row per weight vector: BLAS multiplies a wide matrix by few columns ten times as slowly.
    rows = np.ascontiguousarray(pull.reshape(len(features), -1).T)
    change: FloatArray = np.asarray((rows @ features).T, np.float64) / max(1, len(features))
    return change.reshape(-1, *pull.shape[1:])
