"""Keys of observation histories: 64 bits for all that a role has observed, extended step by step.

Two histories of one role have the same key if and only if its observations agree, but for collisions:
among a million sets one is expected once in 37 million searches.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ggp.beliefs.observation import Observation
from ggp.engines.compiled import CompiledGame
from ggp.search.information_sets.draws import UInt64Array, mixed


class ObservationKeys:
    """Keys of one role. Shapes: N histories, M moves and P percepts of the role.

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
        moves, percepts = len(game.moves[role]), len(of_role)
        numbers = mixed(np.arange(moves + percepts, dtype=np.uint64))
        self._of_move, self._of_percept = numbers[:moves], numbers[moves:]
        self._move_index = {move: i for i, move in enumerate(game.moves[role])}
        self._percept_index = {game.terms.percepts[i]: place for place, i in enumerate(of_role.tolist())}
        self.percept_literals = game.lane_tables.percept_literal[of_role]

    def first(self, count: int) -> UInt64Array:
        """The key before the first step, `count` times."""
        return np.zeros(count, np.uint64)

    def extended(self, key: UInt64Array, move: NDArray[np.int64], seen: NDArray[np.bool_]) -> UInt64Array:
        """The keys after one more step: uint64[N].

        key    uint64[N]: of the histories so far
        move   int64[N]: the number of the role's own move
        seen   bool[P, N]: which percepts it receives
        """
        with np.errstate(over="ignore"):
            told = np.where(seen, self._of_percept[:, None], np.uint64(0)).sum(axis=0, dtype=np.uint64)
            return mixed(mixed(key) + self._of_move[move] + told)

    def of(self, observations: Iterable[Observation]) -> int | None:
        """The key of a whole history; None if a move or percept in it is unknown or not one of the rules."""
        key = self.first(1)
        for observation in observations:
            seen = np.zeros((len(self._percept_index), 1), np.bool_)
            if observation.own_move is None or observation.own_move not in self._move_index:
                return None
            for percept in observation.percepts:
                if percept not in self._percept_index:
                    return None
                seen[self._percept_index[percept]] = True
            key = self.extended(key, np.array([self._move_index[observation.own_move]]), seen)
        return int(key[0])
