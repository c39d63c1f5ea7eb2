"""Counter-based draws: random numbers as a function of seed, simulation, step and role.

No draw depends on an earlier one, so batches on lanes and the plain search draw the same numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.beliefs.observation_keys import mixed

_MANTISSA_SHIFT = np.uint64(11)


def draws(seed: int, simulation: NDArray[np.int64], step: int, role: int) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1), one for each simulation: float64[N]. `role` is below 256.

    >>> bool(draws(1, np.array([7]), 3, 0)[0] == draws(1, np.arange(9), 3, 0)[7])
    True
    """
    place = mixed(np.array([seed & (2**64 - 1)], np.uint64)) ^ np.uint64((step << 8) + role)
    bits = mixed(mixed(mixed(place) ^ simulation.astype(np.uint64)))
    return np.asarray((bits >> _MANTISSA_SHIFT) * 2.0**-53, np.float64)
