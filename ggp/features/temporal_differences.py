"""TD(lambda) in batches: targets for the values of states, from the ends of their games.

Source: Sutton, "Learning to predict by the methods of temporal differences" (1988), the forward view.
Letters: T states of a game at most, N games, K features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def lambda_returns(predicted: FloatArray, length: ArrayLike, outcome: ArrayLike, trace: float) -> FloatArray:
    """The lambda-return of every state: with `trace` 1 the outcome, with 0 the next state's prediction.

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
