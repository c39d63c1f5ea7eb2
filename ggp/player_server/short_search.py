"""Fallback for a search process without a move: one step ahead, then random playouts.

It uses the reasoner, at a few hundred playouts per second, and can be run in small slices.
"""

from __future__ import annotations

import random
import time
from collections.abc import Hashable
from typing import Any

from ggp.game import Game, GameError, Move, Role, legal_or_none

_DEPTH_LIMIT = 80
"""Steps after which a playout counts as undecided."""
_UNDECIDED = 50.0


class ShortSearch:
    """The mean goals of a role's moves in one state; moves are tried in turn.

    >>> import ggp, time
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> state, role = game.initial_state(), game.roles[0]
    >>> search = ShortSearch(game, state, role, game.legal_moves(state, role), random.Random(1))
    >>> for _ in range(90):
    ...     search.run(time.monotonic() + 60, cpu_seconds=0.0)
    >>> search.playouts, str(search.best())
    (90, '(mark 2 2)')
    """

    def __init__(
        self, game: Game[Any], state: Hashable, role: Role, legal: tuple[Move, ...], rng: random.Random
    ) -> None:
        self._game, self._state, self._role, self._rng = game, state, role, rng
        self._moves = list(legal)
        rng.shuffle(self._moves)
        self._sums, self._counts = [0.0] * len(legal), [0] * len(legal)
        self.playouts = 0

    def run(self, until: float, cpu_seconds: float) -> None:
        """Run playouts until `until` (`time.monotonic()`) or for `cpu_seconds`, at least one of them.

        A playout is not cut off by CPU time: on a busy machine none might ever finish.
        """
        cpu_until = time.process_time() + cpu_seconds
        while self._moves and time.monotonic() < until:
            index = self.playouts % len(self._moves)
            goal = self._playout(self._moves[index], until)
            if goal is None:
                return
            self._sums[index] += goal
            self._counts[index] += 1
            self.playouts += 1
            if time.process_time() >= cpu_until:
                return

    def best(self) -> Move | None:
        """The move with the highest mean so far; None before the first playout."""
        tried = [index for index, count in enumerate(self._counts) if count]
        best = max(tried, key=lambda index: self._sums[index] / self._counts[index], default=None)
        return None if best is None else self._moves[best]

    def _playout(self, move: Move, until: float) -> float | None:
        """The role's goal at the end of a random playout that begins with `move`; None if out of time."""
        game, state = self._game, self._state
        try:
            for depth in range(_DEPTH_LIMIT):
                if depth and game.is_terminal(state):
                    return float(game.goal(state, self._role))
                joint_move = tuple(
                    move if depth == 0 and role == self._role else self._random_move(state, role)
                    for role in game.roles
                )
                state = game.next_state(state, joint_move)
                if depth and time.monotonic() > until:
                    return None
        except GameError:
            pass  # no legal move, or no goal value
        return _UNDECIDED

    def _random_move(self, state: Hashable, role: Role) -> Move:
        legal = legal_or_none(self._game, state, role)
        if not legal:
            raise GameError(f"no legal move for {role}")
        return self._rng.choice(legal)
