"""The random numbers of a search, in plain Python: the streams that one lane of the kernels sees.

There are two. The tree draws from SplitMix64; playouts draw bit by bit from the lane's bit of a
xorshift128+ generator, because on lanes a random row is one bit for every game.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_WORD = 2**64 - 1


class TreeRandom:
    """SplitMix64; the twin of `ggp.search.tree.kernels.tree.random_below`."""

    def __init__(self, seed: int, stream: int = 0) -> None:
        sequence = np.random.SeedSequence([seed & _WORD, stream, 1])
        self._state = int(sequence.generate_state(1, np.uint64)[0])

    def below(self, bound: int) -> int:
        """A number 0 .. bound-1."""
        self._state = (self._state + 0x9E37_79B9_7F4A_7C15) & _WORD
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58_476D_1CE4_E5B9) & _WORD
        z = ((z ^ (z >> 27)) * 0x94D0_49BB_1331_11EB) & _WORD
        z ^= z >> 31
        return (z >> 32) * bound >> 32

    def choose(self, weights: Sequence[int]) -> int:
        """An index with probability proportional to its weight."""
        k = self.below(sum(weights))
        for i, weight in enumerate(weights):
            k -= weight
            if k < 0:
                return i
        raise AssertionError("weights are positive")


class LaneRandom:
    """Bit 0 of xorshift128+; the twin of `ggp.lanes.choose` in lane 0 of rows of one word."""

    def __init__(self, seed: int, stream: int = 0) -> None:
        state = np.random.SeedSequence([seed & _WORD, stream]).generate_state(2, np.uint64)
        self._older = int(state[0]) | 1
        self._newer = int(state[1])

    def bit(self) -> int:
        """One random bit."""
        x = self._older ^ (self._older << 23) & _WORD
        x = x ^ self._newer ^ (x >> 18) ^ (self._newer >> 5)
        drawn = (x + self._newer) & 1
        self._older, self._newer = self._newer, x
        return drawn

    def at_most(self, limit: int) -> int:
        """A number 0 .. limit: as many bits as `limit` has, the highest first, again until it fits."""
        while True:
            number = 0
            for _ in range(limit.bit_length()):
                number = 2 * number + self.bit()
            if number <= limit:
                return number

    def choose(self, weights: Sequence[int]) -> int:
        """An index with probability proportional to its weight."""
        k = self.at_most(sum(weights) - 1)
        for i, weight in enumerate(weights):
            k -= weight
            if k < 0:
                return i
        raise AssertionError("weights are positive")
