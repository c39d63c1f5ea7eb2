"""Keys of observation histories: 64 bits for all that a role has observed, extended step by step.

The mixing function is the finalizer of splitmix64 (Steele, Lea and Flood 2014).
Two histories of one role have the same key if and only if its observations agree, in whatever order, but for
collisions: among a million sets one is expected once in 37 million searches.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.beliefs.observation import Observation
from ggp.engines.compiled import CompiledGame

UInt64Array = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND, _THIRD = np.uint64(30), np.uint64(27), np.uint64(31)
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def mixed(numbers: UInt64Array) -> UInt64Array:
    """A 64-bit hash of each number: uint64[N] to uint64[N], one to one."""
    with np.errstate(over="ignore"):
        z = numbers + _GOLDEN
        z = (z ^ (z >> _FIRST)) * _FACTORS[0]
        z = (z ^ (z >> _SECOND)) * _FACTORS[1]
        return np.asarray(z ^ (z >> _THIRD), np.uint64)


class ObservationKeys:
    """Keys of one role: the sum of the mixed numbers of its steps. M moves and P percepts of the role.

    of_move, of_percept   uint64[M], uint64[P]; a step has the sum of their numbers

    >>> import ggp
    >>> game = ggp.load("kuhn_poker")
    >>> keys = ObservationKeys(game, 0)
    >>> noop, cards = ggp.parse_term("noop"), map(ggp.parse_term, ("(card jack)", "(card king)"))
    >>> dealt = [Observation(noop, (card,)) for card in cards]
    >>> keys.of(dealt[:1]) == keys.of(dealt[1:])
    False
    """

    def __init__(self, game: CompiledGame, role: int) -> None:
        of_role = np.flatnonzero(game.tables.percept_role == role)
        moves = len(game.moves[role])
        numbers = mixed(np.arange(moves + len(of_role), dtype=np.uint64))
        self.of_move, self.of_percept = numbers[:moves], numbers[moves:]
        self._number_of_move = dict(zip(game.moves[role], self.of_move, strict=True))
        terms = [game.terms.percepts[i] for i in of_role.tolist()]
        self._number_of_percept = dict(zip(terms, self.of_percept, strict=True))

    def of(self, observations: Iterable[Observation]) -> int | None:
        """The key of a whole history; None if a move or percept in it is unknown or not one of the rules."""
        key = np.zeros(1, np.uint64)
        for observation in observations:
            own_move, percepts = observation.own_move, set(observation.percepts)
            if own_move not in self._number_of_move or not percepts <= self._number_of_percept.keys():
                return None
            numbers = [self._number_of_move[own_move], *map(self._number_of_percept.__getitem__, percepts)]
            key += mixed(np.array(numbers, np.uint64).sum(keepdims=True))
        return int(key[0])


class ObservationNumbers(NamedTuple):
    """The numbers of which all roles' keys are made, for kernels.

    first        int64[R+1]: the percepts of role r are first[r] .. first[r+1] - 1
    of_percept   uint64[P], of_move uint64[M]: see `ObservationKeys`, role by role
    """

    first: NDArray[np.int64]
    of_percept: UInt64Array
    of_move: UInt64Array


def observation_numbers(game: CompiledGame) -> ObservationNumbers:
    """The numbers of all percepts and moves of a game."""
    keys = [ObservationKeys(game, role) for role in range(len(game.roles))]
    first = np.searchsorted(game.tables.percept_role, np.arange(len(keys) + 1))
    return ObservationNumbers(
        first.astype(np.int64),
        np.concatenate([each.of_percept for each in keys]),
        np.concatenate([each.of_move for each in keys]),
    )
