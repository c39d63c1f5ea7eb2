"""Counter-based draws: random numbers as a function of seed, simulation, step and role.

No draw depends on an earlier one, so batches on lanes and the plain search draw the same numbers. The mixing
function is the finalizer of splitmix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UInt64Array = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND, _THIRD = np.uint64(30), np.uint64(27), np.uint64(31)
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_MANTISSA_SHIFT = np.uint64(11)


def mixed(numbers: UInt64Array) -> UInt64Array:
    """A 64-bit hash of each number: uint64[N] to uint64[N], one to one."""
    with np.errstate(over="ignore"):
        z = numbers + _GOLDEN
        z = (z ^ (z >> _FIRST)) * _FACTORS[0]
        z = (z ^ (z >> _SECOND)) * _FACTORS[1]
        return np.asarray(z ^ (z >> _THIRD), np.uint64)


def draws(seed: int, simulation: NDArray[np.int64], step: int, role: int) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1), one for each simulation: float64[N]. `role` is below 256.

    >>> bool(draws(1, np.array([7]), 3, 0)[0] == draws(1, np.arange(9), 3, 0)[7])
    True
    """
    place = mixed(np.array([seed & (2**64 - 1)], np.uint64)) ^ np.uint64((step << 8) + role)
    bits = mixed(mixed(mixed(place) ^ simulation.astype(np.uint64)))
    return np.asarray((bits >> _MANTISSA_SHIFT) * 2.0**-53, np.float64)
