"""Forecast of the number of states from the growth of the layers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp, log

_WINDOW = 5
_HORIZON = 1000
_OUT_OF_REACH = 10**18


def estimate_states(layer_ends: Sequence[int]) -> int | None:
    """A rough forecast of the number of states, 10^18 at most; None while the layers show no trend.

    layer_ends   states found after 0, 1, 2, ... joint moves. The growth from layer to layer usually falls
                 steadily; the forecast continues the last few steps of that fall in a straight line.

    >>> estimate_states([1, 10, 82, 587, 3_751])
    10545479965
    >>> estimate_states([1, 3, 7, 15, 31])  # the growth does not fall
    """
    sizes = [b - a for a, b in zip([0, *layer_ends[:-1]], layer_ends, strict=True)]
    growth = [log(b / a) for a, b in pairwise(sizes) if a > 0 and b > 0]
    recent = growth[-_WINDOW:]
    if len(recent) < 3:
        return None
    fall = (recent[0] - recent[-1]) / (len(recent) - 1)
    if fall <= 0:
        return None
    total, size, rate = float(layer_ends[-1]), float(sizes[-1]), recent[-1]
    for _ in range(_HORIZON):
        rate -= fall
        size *= exp(rate)
        total += size
        if total > _OUT_OF_REACH:
            return _OUT_OF_REACH
        if size < 1:
            break
    return int(total)
