"""The random numbers of a search, in plain Python: the streams that one lane of the kernels sees.

There are two. The tree draws from SplitMix64; playouts from a xorshift128+ generator: bit by bit from the
lane's bit, because on lanes a random row is one bit for every game, or by weight 32 bits at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_WORD = 2**64 - 1

RANDOM_ROWS = 32
"""Words that a draw by weight takes, for the 64 lanes of a word: as in `ggp.lanes.roulette`."""


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
        return _index_of(self.below(sum(weights)), weights)


class LaneRandom:
    """xorshift128+; the twin of `ggp.lanes.choose` and `roulette` in lane 0 of rows of one word."""

    def __init__(self, seed: int, stream: int = 0) -> None:
        state = np.random.SeedSequence([seed & _WORD, stream]).generate_state(2, np.uint64)
        self._older = int(state[0]) | 1
        self._newer = int(state[1])

    def _word(self) -> int:
        x = self._older ^ (self._older << 23) & _WORD
        x = x ^ self._newer ^ (x >> 18) ^ (self._newer >> 5)
        drawn = (x + self._newer) & _WORD
        self._older, self._newer = self._newer, x
        return drawn

    def bit(self) -> int:
        """One random bit."""
        return self._word() & 1

    def at_most(self, limit: int) -> int:
        """A number 0 .. limit: as many bits as `limit` has, the highest first, again until it fits."""
        while True:
            number = 0
            for _ in range(limit.bit_length()):
                number = 2 * number + self.bit()
            if number <= limit:
                return number

    def choose(self, weights: Sequence[int]) -> int:
        """An index with probability proportional to its weight; nothing is drawn where there is only one."""
        if len(weights) == 1:
            return 0
        share, *_ = [self._word() & 0xFFFF_FFFF for _ in range(RANDOM_ROWS)]
        return _index_of(share * sum(weights) >> 32, weights)


def _index_of(k: int, weights: Sequence[int]) -> int:
    """The index in whose weight k falls, counted from the first."""
    for i, weight in enumerate(weights):
        k -= weight
        if k < 0:
            return i
    raise AssertionError("weights are positive")
