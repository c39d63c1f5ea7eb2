"""Intervals for what matches measure. All are two-sided, 95 % unless told otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


def wilson(points: float, count: int, z: float = Z95) -> tuple[float, float]:
    """The Wilson score interval (1927) of a win rate of `points` in `count` matches, within 0..1.

    A draw is half a point; the interval is then a little wider than need be, as a match with draws
    varies less than one without. Without matches it is 0..1.
    """
    if count == 0:
        return (0.0, 1.0)
    rate = points / count
    center = rate + z * z / (2 * count)
    spread = z * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return (max(0.0, (center - spread) / scale), min(1.0, (center + spread) / scale))


def mean_interval(values: Sequence[float], z: float = Z95) -> tuple[float, float]:
    """Mean of `values` and half the width of its normal interval; infinite for fewer than two values."""
    count = len(values)
    mean = sum(values) / count if count else math.nan
    if count < 2:
        return (mean, math.inf)
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    return (mean, z * math.sqrt(variance / count))
