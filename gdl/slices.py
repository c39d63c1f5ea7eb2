"""Variable-length lists stored one after the other in one array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Int64Array = NDArray[np.int64]


def slice_offsets(length: NDArray[Any]) -> Int64Array:
    """Offsets of consecutive slices, and their end. Shapes: int[N] → int64[N + 1].

    >>> slice_offsets(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    first = np.zeros(len(length) + 1, np.int64)
    np.cumsum(length, out=first[1:])
    return first


def slice_places(start: NDArray[Any], length: NDArray[Any]) -> Int64Array:
    """All indices of slices with these starts and lengths. Shapes: int[N], int[N] → int64[sum of lengths].

    >>> slice_places(np.array([10, 20]), np.array([2, 3])).tolist()
    [10, 11, 20, 21, 22]
    """
    first = slice_offsets(length)
    places = np.repeat(start - first[:-1], length)
    places += np.arange(first[-1])
    return places
