"""Streams of random numbers, one for each environment, independent of the others' seeds. The
generator is splitmix64 (Steele, Lea & Flood 2014), as the kernels use for chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.beliefs.observation_keys import mixed
from ggp.integers import is_integer, to_integer, to_integers

_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def streams_of(seed: int | Sequence[int] | NDArray[Any], count: int) -> NDArray[np.uint64]:
    """uint64[count]: the start of each environment's stream, from one seed or from one each.

    >>> bool(streams_of([7, 8], 2)[1] == streams_of([5, 8], 2)[1])
    True

    Raises TypeError and ValueError for other seeds.
    """
    if is_integer(seed):
        sequence = np.random.SeedSequence(to_integer(seed, "seed") % 2**64)
        return sequence.generate_state(count, np.uint64).astype(np.uint64, copy=False)
    each = [number % 2**64 for number in to_integers(seed, "seed", count)]
    return mixed(np.array(each, np.uint64))


@dataclass
class Streams:
    """Sources of opponents' draws: a stream for each environment, and a generator for functions of the user.

    start   uint64[N]: state of each stream

    >>> streams = Streams(streams_of([1, 2], 2))
    >>> streams.draw(np.array([1])).shape, streams.draw(np.array([0, 1]), 3).shape
    ((1, 1), (2, 3))
    """

    start: NDArray[np.uint64]
    generator: np.random.Generator = field(default_factory=np.random.default_rng)

    def draw(self, environments: NDArray[np.int64], count: int = 1) -> NDArray[np.uint64]:
        """uint64[n, count]: the next numbers of some environments."""
        ahead = _GAMMA * np.arange(count + 1, dtype=np.uint64)
        numbers = mixed(self.start[environments, None] + ahead[:-1])
        self.start[environments] += ahead[-1]
        return numbers
