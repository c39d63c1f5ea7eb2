"""Slices: how much work to give to a kernel at a time, so that a stop is noticed within milliseconds."""

from __future__ import annotations

import time
from collections.abc import Iterator

SLICE_SECONDS = 0.005
"""Target duration of one call of a kernel, during which nothing can stop it."""


class Slices:
    """The size of the next slice of a kernel's work, in its own units, by the time that earlier ones took.

    The first one is a single unit, and none is more than twice as large as the one before: so it is known how
    much is done at most until the n-th question whether to stop.
    """

    def __init__(self) -> None:
        self.size = 1

    def note(self, seconds: float) -> None:
        """Note how long a slice of `size` units took."""
        expected = int(self.size * SLICE_SECONDS / max(seconds, 1e-6))
        self.size = max(1, min(expected, 2 * self.size))

    def cut(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """Divide first .. end-1 into slices; the time between two of them is that of the earlier one.

        >>> list(Slices().cut(5, 20))
        [(5, 6), (6, 8), (8, 12), (12, 20)]
        """
        while first < end:
            until, begin = min(end, first + self.size), time.perf_counter()
            yield first, until
            if until - first == self.size:
                self.note(time.perf_counter() - begin)
            first = until
