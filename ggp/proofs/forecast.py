"""Forecast of the work that a proof still takes, from the work done so far.

It needs to be right only within an order of magnitude: it decides whether a proof gets a small share of the
time or a large one. Its counterpart for enumerations is `ggp.solver.estimate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

LONGER = 1.5
"""Best play lasts longer than random playouts do, which end by blunders."""
_KNOWN_FROM = 4
_MAX_POSITIONS = 1e15


def positions_to_proof(sizes: Sequence[int], length: float) -> float | None:
    """About how many positions iterative deepening still expands until it has reached the end.

    sizes    positions expanded by the iterations of depth 1, 2, ... so far
    length   mean number of joint moves from the root to the end in random playouts
    None while there are too few iterations; inf if the number is out of any reach.

    >>> positions_to_proof([1, 2, 4, 8, 16, 32], length=4.0)  # the end is near: one more iteration
    64.0
    >>> positions_to_proof([1, 2, 4, 8, 16, 32], length=6.0)  # to depth 9
    448.0
    >>> positions_to_proof([1, 2], length=6.0)
    """
    if len(sizes) < _KNOWN_FROM:
        return None
    # Over two plies, because the sides may have moves in different numbers.
    growth = max(1.0, (sizes[-1] / max(1, sizes[-3])) ** 0.5)
    work, size = 0.0, float(sizes[-1])
    for _ in range(max(1, round(LONGER * length) - len(sizes))):
        size *= growth
        work += size
        if work > _MAX_POSITIONS:
            return inf
    return work
