"""Bradley-Terry ratings: one number per agent from the results of all pairs.

The model says that `a` scores `s_a / (s_a + s_b)` against `b` (Bradley & Terry, 1952). Strengths are fitted
by minorization-maximization (Hunter, "MM algorithms for generalized Bradley-Terry models", 2004) and shown
as Elo points, `400 · log10 s`. Intervals come from the observed Fisher information.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp.confidence_intervals import Z95

ELO_PER_LOG = 400 / math.log(10)
"""Elo points per natural logarithm of a strength."""

PRIOR_DRAWS = 1.0
"""Draws added to every pair that met; without them, an agent that won every match has no finite rating."""

_TOLERANCE = 1e-10
_ROUND_LIMIT = 10_000

Points = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Rating:
    """The rating of an agent in Elo points.

    elo      relative to the anchor, or to the mean
    margin   half the width of the 95 % interval
    group    agents in different groups are not connected by matches and cannot be compared
    """

    agent: str
    elo: float
    margin: float
    group: int


def rate(agents: Sequence[str], points: Points, *, anchor: str | None = None) -> list[Rating]:
    """Rate `agents`, best first within each group.

    points   (a, b) → points of `a` against `b`; one point per match in total
    anchor   the agent with rating 0; in groups without it, and with None, the mean is 0

    Agents without matches are left out.

    >>> for rating in rate(["a", "b"], {("a", "b"): 15, ("b", "a"): 5}, anchor="b"):
    ...     print(f"{rating.agent} {rating.elo:+.0f} ±{rating.margin:.0f}")
    a +180 ±169
    b +0 ±0
    """
    index = {agent: number for number, agent in enumerate(agents)}
    wins = np.zeros((len(agents), len(agents)))
    for (a, b), value in points.items():
        wins[index[a], index[b]] += value
    met = (wins + wins.T) > 0
    wins[met] += PRIOR_DRAWS / 2
    ratings: list[Rating] = []
    for group, members in enumerate(_components(met)):
        names = [agents[number] for number in members]
        part = wins[np.ix_(members, members)]
        zero = names.index(anchor) if anchor in names else None
        logs = np.log(fit(part))
        logs -= logs.mean() if zero is None else logs[zero]
        margins = Z95 * np.sqrt(_variances(part, logs, zero))
        found = [
            Rating(name, float(elo), float(margin), group)
            for name, elo, margin in zip(names, logs * ELO_PER_LOG, margins * ELO_PER_LOG, strict=True)
        ]
        ratings += sorted(found, key=lambda rating: -rating.elo)
    return ratings


def fit(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Maximum-likelihood strengths, with product 1.

    wins   float[n, n]: points of the row's agent against the column's; must connect all agents both ways
    """
    games = wins + wins.T
    total = wins.sum(axis=1)
    strength = np.ones(len(wins))
    for _ in range(_ROUND_LIMIT):
        before = strength
        strength = total / (games / (before[:, None] + before[None, :])).sum(axis=1)
        strength /= np.exp(np.log(strength).mean())
        if np.abs(np.log(strength / before)).max() < _TOLERANCE:
            break
    return strength


def _variances(wins: NDArray[np.float64], logs: NDArray[np.float64], zero: int | None) -> NDArray[np.float64]:
    """Variance of each log strength, relative to agent `zero` or to the mean."""
    chance = 1 / (1 + np.exp(logs[None, :] - logs[:, None]))
    weight = (wins + wins.T) * chance * (1 - chance)
    np.fill_diagonal(weight, 0)
    information = np.diag(weight.sum(axis=1)) - weight
    # Strengths are only known up to a common factor; the pseudo-inverse holds their mean fixed.
    covariance = np.linalg.pinv(information)
    contrast = np.eye(len(wins))
    if zero is not None:
        contrast[:, zero] -= 1
    variances: NDArray[np.float64] = np.diag(contrast @ covariance @ contrast.T)
    return np.maximum(variances, 0)


def _components(met: NDArray[np.bool_]) -> list[list[int]]:
    """Groups of agents connected by matches, largest first."""
    for _ in range(len(met).bit_length()):  # each round doubles the length of the paths
        met = met | (met @ met)
    groups = {tuple(np.flatnonzero(row).tolist()) for row in met if row.any()}
    return sorted(map(list, groups), key=lambda group: (-len(group), group))
