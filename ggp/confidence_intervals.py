"""Confidence intervals of win rates and means: two-sided, 95 %."""

from __future__ import annotations

import math
from collections.abc import Sequence

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


def wilson_interval(points: float, count: int) -> tuple[float, float]:
    """The Wilson score interval (1927) of `points` in `count` matches, within 0..1.

    A draw counts half a point; the interval is then slightly too wide, because results with draws vary less.
    Without matches the interval is 0..1.

    >>> low, high = wilson_interval(81, 263)
    >>> round(low, 4), round(high, 4)
    (0.2553, 0.3662)
    """
    if count == 0:
        return (0.0, 1.0)
    rate = points / count
    center = rate + Z95**2 / (2 * count)
    spread = Z95 * math.sqrt(rate * (1 - rate) / count + (Z95 / count / 2) ** 2)
    scale = 1 + Z95**2 / count
    return (max(0.0, (center - spread) / scale), min(1.0, (center + spread) / scale))


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean of `values` and half the width of its normal interval.

    The width is infinite for fewer than two values.

    >>> mean, margin = mean_interval([0, 50, 100, 50])
    >>> mean, round(margin, 2)
    (50.0, 40.01)
    """
    count = len(values)
    mean = sum(values) / count if count else math.nan
    if count < 2:
        return (mean, math.inf)
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    return (mean, Z95 * math.sqrt(variance / count))
