"""Weighted sampling of states to search, and even shares of playouts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def draw_by_weight(weights: ArrayLike, count: int, offset: float) -> NDArray[np.int64]:
    """int64[count] places of `weights` drawn by systematic sampling, so that few are drawn twice.

    offset   from 0 to 1, drawn at random

    >>> draw_by_weight([1.0, 3.0], 4, 0.5).tolist()
    [0, 1, 1, 1]
    """
    bounds = np.cumsum(np.asarray(weights, np.float64))
    points = (np.arange(count) + offset) * bounds[-1] / count
    drawn: NDArray[np.int64] = np.minimum(np.searchsorted(bounds, points, side="right"), len(bounds) - 1)
    return drawn


def even_shares(total: int, trees: int) -> NDArray[np.int64]:
    """`total` in int64[trees] shares that differ by one at most."""
    shares = np.full(trees, total // trees, np.int64)
    shares[: total % trees] += 1
    return shares
