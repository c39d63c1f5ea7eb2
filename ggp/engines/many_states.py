"""Many states of one game at once: what holds in them, and what joint moves lead to.

A single state of a large circuit costs a hundred times as much as one of many.

Letters: N states, F fluents, M moves of all roles, R roles, S percepts of all roles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Phase
from ggp.lanes.engine import BoolArray, Lanes

if TYPE_CHECKING:
    from ggp.engines.compiled import CompiledGame


class Settled(NamedTuple):
    """What holds in N states.

    legal         bool[N, M]: role by role, as in `CompiledGame.moves`
    is_terminal   bool[N]
    goals         int32[N, R]; -1: none, or several
    """

    legal: BoolArray
    is_terminal: BoolArray
    goals: NDArray[np.int32]


class ManyStates:
    """Settles states bool[N, F] of one game, `lane_count` of them at a time.

    >>> import ggp
    >>> game = ggp.load("tictactoe")
    >>> many = ManyStates(game)
    >>> states = game.unpack(game.initial_state())[None]
    >>> int(many.settle(states).legal.sum()), many.following(states, np.array([[8, 9]]))[0].shape
    (10, (1, 20))
    """

    def __init__(self, game: CompiledGame) -> None:
        self._game = game
        self._lanes = Lanes(game.lane_tables, words=game.words)
        self.lane_count = self._lanes.lane_count
        self._terminal = np.array([game.lane_tables.terminal], np.int32)

    def settle(self, states: BoolArray) -> Settled:
        """The legal moves, ends and goals of states."""
        game, lanes = self._game, self._lanes

        def read(part: slice) -> tuple[NDArray[Any], ...]:
            lanes.set_states(states[part].T)
            lanes.settle(Phase.LEGAL, Phase.GOAL)
            count = len(states[part])
            goals = game.goals_of(lanes.read(game.lane_tables.goal_literal, count))
            return lanes.read(game.legal_literals, count).T, lanes.read(self._terminal, count)[0], goals

        return Settled(*self._in_parts(len(states), read))

    def following(self, states: BoolArray, moves: NDArray[np.int32]) -> tuple[BoolArray, BoolArray]:
        """bool[N, F] and bool[N, S]: the states after legal joint moves int32[N, R], counted within the role,
        and what is perceived of these."""
        game, lanes, first = self._game, self._lanes, self._game.tables.first_move
        last = Phase.SEES if game.terms.percepts else Phase.NEXT

        def read(part: slice) -> tuple[NDArray[Any], ...]:
            made = moves[part]
            count = len(made)
            selected = np.zeros((int(first[-1]), count), np.bool_)
            for r in range(made.shape[1]):
                selected[first[r] + made[:, r], np.arange(count)] = True
            lanes.set_states(states[part].T)
            lanes.set_moves(selected)
            lanes.settle(Phase.LEGAL, last)
            tables = game.lane_tables
            return lanes.read(tables.next, count).T, lanes.read(tables.percept_literal, count).T

        following, seen = self._in_parts(len(states), read)
        return following, seen

    def _in_parts(self, count: int, read: Callable[[slice], tuple[Any, ...]]) -> list[Any]:
        starts = range(0, max(1, count), self.lane_count)
        parts = [read(slice(start, start + self.lane_count)) for start in starts]
        return [np.ascontiguousarray(np.concatenate(each)) for each in zip(*parts, strict=True)]
