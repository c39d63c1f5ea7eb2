"""Temporal differences, update by update: what `ggp.features.learning` does in batches, to read.

A linear value V(s) = w·φ(s) is pulled towards the reward on the way and the value of the next state:

    w ← w - η (V(s) - (r + γ V(s'))) φ(s)

Sources: Samuel, "Some studies in machine learning using the game of checkers" (1959); Sutton, "Learning to
predict by the methods of temporal differences" (1988), whose TD(0) this is; Tesauro, "Temporal difference
learning and TD-Gammon" (1995). Departures of `learning`: λ-returns (0.8), whole batches of games, and
features that are centered and scaled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

Vector: TypeAlias = tuple[float, ...]
Episode: TypeAlias = Sequence[tuple[Vector, float]]
"""Features of each state, and the reward on leaving it; that of the last state is not used."""


class Update(NamedTuple):
    """One step: the features of the state that was left, its value and the target; the weights afterwards."""

    features: Vector
    prediction: float
    target: float
    weights: Vector


def value(weights: Vector, features: Vector) -> float:
    """V(s) = w·φ(s).

    >>> value((0.5, 1.0), (1, 2))
    2.5
    """
    return sum(weight * feature for weight, feature in zip(weights, features, strict=True))


def td_updates(
    episodes: Iterable[Episode], weights: Vector, *, step: float, discount: float = 1.0
) -> Iterator[Update]:
    """Learn from episodes, state by state; the weights go on from one episode to the next.

    >>> list(td_updates([[((1.0,), 0.0), ((1.0,), 10.0), ((0.0,), 0.0)]], (0.0,), step=0.5))[-1]
    Update(features=(1.0,), prediction=0.0, target=10.0, weights=(5.0,))
    """
    for episode in episodes:
        for (features, reward), (following, _) in pairwise(episode):
            prediction = value(weights, features)
            target = reward + discount * value(weights, following)
            pull = step * (target - prediction)
            weights = tuple(
                weight + pull * feature for weight, feature in zip(weights, features, strict=True)
            )
            yield Update(features, prediction, target, weights)
