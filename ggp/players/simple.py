"""Players that do not think: the first legal move, or a random one."""

from __future__ import annotations

import random
from collections.abc import Hashable

from ggp.game import Move
from ggp.match.player import MatchSetup, Player


class LegalPlayer(Player):
    """Always makes the first legal move: the simplest opponent that is never late."""

    name = "legal"
    takes_quick_games = True

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        return self.legal_moves(state)[0]


class RandomPlayer(Player):
    """Makes a uniformly random legal move."""

    name = "random"
    takes_quick_games = True

    def start(self, setup: MatchSetup, deadline: float) -> None:
        super().start(setup, deadline)
        self._rng = random.Random(setup.seed)

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        return self._rng.choice(self.legal_moves(state))
