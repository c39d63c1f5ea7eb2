"""Lists kept one after the other in one array, each as a slice of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Int64Array = NDArray[np.int64]


def slice_offsets(length: NDArray[Any]) -> Int64Array:
    """Where slices of these lengths begin that follow one another, and the end: int[N] → int64[N+1]."""
    first = np.zeros(len(length) + 1, np.int64)
    np.cumsum(length, out=first[1:])
    return first


def slice_places(start: NDArray[Any], length: NDArray[Any]) -> Int64Array:
    """All indices in slices, from where each starts: int[N], int[N] → int64[sum of lengths]."""
    first = slice_offsets(length)
    places = np.repeat(start - first[:-1], length)
    places += np.arange(first[-1])
    return places
