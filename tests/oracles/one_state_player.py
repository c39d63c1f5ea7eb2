"""Search of one possible state: what `mcts` is compared with where roles do not see everything.

Counts with `tests/oracles/one_state_player.py:OneState:simulations=20000`; else the clock ends a search.
"""

from __future__ import annotations

import time
from collections.abc import Hashable

import ggp
from ggp.game import Move


class OneState(ggp.Player):
    """UCT from scratch in a state drawn from the belief, as if all roles knew it."""

    def __init__(self, simulations: int = 0) -> None:
        """Set the simulations of each move; 0: by the clock, on one thread."""
        self._simulations = simulations

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        legal, setup = self.legal_moves(state), self.setup
        if len(legal) == 1:
            return legal[0]
        if self._simulations:
            report = ggp.search_state(
                setup.game, state, setup.role, seed=setup.seed, simulations=self._simulations
            )
        else:
            seconds = deadline - time.monotonic()
            report = ggp.search_state(
                setup.game, state, setup.role, seed=setup.seed, seconds=seconds, threads=1
            )
        return report.best_move or legal[0]
