"""Temporal differences, update by update: what `ggp.features.learning` does in batches, to read.

A linear value V(s) = w·φ(s) is pulled towards the return, the reward on the way and what comes after it:

    w ← w - η (V(s) - G) φ(s),   G = r + γ ((1 - λ) V(s') + λ G')

Sources: Samuel, "Some studies in machine learning using the game of checkers" (1959); Sutton, "Learning to
predict by the methods of temporal differences" (1988), whose TD(λ) this is in its forward view; Tesauro,
"Temporal difference learning and TD-Gammon" (1995). Departures of `learning`: λ is 0.8, the updates are those
of whole batches of games, and features are centered and scaled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple, TypeAlias

Features: TypeAlias = Mapping[Any, float]
Weights: TypeAlias = MutableMapping[Any, float]
Episode: TypeAlias = Sequence[tuple[Features, float]]
"""Features of each state, those at 0 left out, and the reward on leaving it; that of the last is not used."""


class Update(NamedTuple):
    """One step: the features of the state that was left, its value before and the target."""

    features: Features
    prediction: float
    target: float


def value(weights: Mapping[Any, float], features: Features) -> float:
    """V(s) = w·φ(s).

    >>> value({"a": 0.5, "b": 1.0}, {"a": 1, "b": 2})
    2.5
    """
    return sum((weights[name] * feature for name, feature in features.items()), 0.0)


def td_update(
    episode: Episode, weights: Weights, *, step: float, discount: float = 1.0, trace: float = 0.0
) -> Update:
    """Update the weights for the first state of an episode, in place.

    step, discount, trace   η, γ and λ

    >>> weights = {"a": 0.0}
    >>> td_update([({"a": 1}, 0.0), ({"a": 1}, 10.0), ({}, 0.0)], weights, step=0.5, trace=1.0)
    Update(features={'a': 1}, prediction=0.0, target=10.0)
    >>> weights
    {'a': 5.0}
    """
    features, last = episode[0][0], episode[-1][0]
    target = following = value(weights, last)
    for before, reward in reversed(episode[:-1]):
        target = reward + discount * ((1 - trace) * following + trace * target)
        following = value(weights, before)
    for name, feature in features.items():
        weights[name] += step * (target - following) * feature
    return Update(features, following, target)


def td_updates(
    episodes: Iterable[Episode], weights: Weights, *, step: float, discount: float = 1.0, trace: float = 0.0
) -> Iterator[Update]:
    """Learn from episodes, state by state; the weights go on from one episode to the next."""
    for episode in episodes:
        for t in range(len(episode) - 1):
            yield td_update(episode[t:], weights, step=step, discount=discount, trace=trace)
