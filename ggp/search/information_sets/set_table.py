"""Statistics of one role's information sets as arrays, found by the key of the observation history.

Shapes: S sets, M moves of the role, N visits. A set's statistics have a place for every move of the role;
those of illegal moves stay 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.beliefs.observation_keys import UInt64Array

UNKNOWN = -1
MIDDLE_GOAL = 50.0
_FIRST_SETS = 256
_ARRAYS = 4

Float64Array = NDArray[np.float64]
Int64Array = NDArray[np.int64]


class SetTable:
    """Statistics of S sets, each float64[S, M].

    regret   cumulative counterfactual regret, in goals; negative only within a batch
    weight   cumulative strategy; its shares are the average strategy
    total    goals of the simulations in which the role learned and made the move
    tries    number of those simulations

    `is_legal`, bool[S, M], tells the legal moves.
    """

    regret: Float64Array
    weight: Float64Array
    total: Float64Array
    tries: Float64Array
    is_legal: NDArray[np.bool_]

    def __init__(self, moves: int, mebibytes: float) -> None:
        """Sets of a role with `moves` moves, as many as fit into `mebibytes`."""
        self._moves = moves
        self._most = max(1, int(mebibytes * 2**20 / ((8 * _ARRAYS + 1) * moves + 16)))
        self._key = np.zeros(0, np.uint64)
        self._row = np.zeros(0, np.int64)
        self._allocate(min(_FIRST_SETS, self._most))

    @property
    def set_count(self) -> int:
        return len(self._key)

    @property
    def is_full(self) -> bool:
        """Whether no more sets fit."""
        return self.set_count >= self._most

    def rows(self, key: UInt64Array) -> Int64Array:
        """int64[N]: the row of each set, UNKNOWN if it has none."""
        if not self.set_count:
            return np.full(len(key), UNKNOWN)
        place = np.minimum(np.searchsorted(self._key, key), self.set_count - 1)
        return np.where(self._key[place] == key, self._row[place], UNKNOWN)

    def add(self, key: UInt64Array, is_legal: NDArray[np.bool_]) -> None:
        """Give rows to the sets that have none, smallest keys first, while there is memory.

        key   uint64[N], is_legal   bool[N, M]: equal keys have equal legal moves
        """
        new, place = np.unique(key, return_index=True)
        is_new = self.rows(new) == UNKNOWN
        new, place = new[is_new][: self._most - self.set_count], place[is_new][: self._most - self.set_count]
        count = self.set_count
        end = count + len(new)
        if end > len(self.is_legal):
            self._allocate(min(self._most, 2 * end))
        self.is_legal[count:end] = is_legal[place]
        at = np.searchsorted(self._key, new)
        self._key = np.insert(self._key, at, new)
        self._row = np.insert(self._row, at, np.arange(count, end))

    def strategy(self, row: Int64Array, is_legal: NDArray[np.bool_]) -> Float64Array:
        """float64[N, M]: regret matching (Hart and Mas-Colell 2000), even where no regret is positive.

        row        int64[N]; even for UNKNOWN
        is_legal   bool[N, M]
        """
        positive = np.where(row[:, None] == UNKNOWN, 0.0, np.maximum(self.regret[row], 0.0))
        return shares(positive, is_legal)

    def forget_negative_regrets(self, row: Int64Array) -> None:
        """Raise the negative regrets of these sets, int64[N], to 0."""
        self.regret[row] = np.maximum(self.regret[row], 0.0)

    def baseline(self, row: Int64Array) -> Float64Array:
        """float64[N, M]: the mean goal of each move so far."""
        tries = self.tries[row]
        return np.where(tries > 0, self.total[row] / np.maximum(tries, 1), MIDDLE_GOAL)

    def _allocate(self, rows: int) -> None:
        """Room for `rows` sets; what there is is kept."""
        count = self.set_count
        for name in ("regret", "weight", "total", "tries"):
            array = np.zeros((rows, self._moves))
            if count:
                array[:count] = getattr(self, name)[:count]
            setattr(self, name, array)
        is_legal = np.zeros((rows, self._moves), np.bool_)
        if count:
            is_legal[:count] = self.is_legal[:count]
        self.is_legal = is_legal


def shares(weight: Float64Array, is_legal: NDArray[np.bool_]) -> Float64Array:
    """float64[N, M]: shares of the weights in their sum by row; even among the legal moves if it is 0.

    >>> shares(np.array([[3.0, 1.0], [0.0, 0.0]]), np.ones((2, 2), np.bool_)).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    sums = weight.sum(axis=1, keepdims=True)
    even = is_legal / np.maximum(is_legal.sum(axis=1, keepdims=True), 1)
    return np.where(sums > 0, weight / np.where(sums > 0, sums, 1.0), even)
