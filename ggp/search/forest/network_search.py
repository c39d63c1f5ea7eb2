"""NetworkSearch: search of one role in one match by a network-guided tree."""

from __future__ import annotations

from collections.abc import Hashable

from ggp.engines.compiled import CompiledGame
from ggp.game import Move, Role
from ggp.networks.network import Network
from ggp.search.budget import Budget
from ggp.search.forest.guided import Guidance, GuidedForest
from ggp.search.report import SearchReport

LANES = 512
"""Simulations at a time."""


class NetworkSearch:
    """Network-guided search; every state is searched from scratch.

    >>> import ggp
    >>> game = ggp.load("tictactoe")
    >>> search = NetworkSearch(game, game.roles[0], Network.random(game, seed=1), mebibytes=16)
    >>> search.run(Budget(simulations=512))
    512
    >>> search.best_move() == search.report().moves[0].move
    True
    """

    def __init__(
        self,
        game: CompiledGame,
        role: Role,
        network: Network,
        guidance: Guidance | None = None,
        *,
        seed: int = 0,
        mebibytes: int = 256,
    ) -> None:
        """Compiles the kernel of the search or loads it from the cache."""
        self._game = game
        self._role = game.roles.index(role)
        self._forest = GuidedForest(
            game, network, guidance or Guidance(), words=LANES // 64, seed=seed, mebibytes=mebibytes
        )
        self._state = game.initial_state()
        self._playouts = 0

    @property
    def simulation_count(self) -> int:
        """Simulations of all searches so far."""
        return self._forest.simulation_count

    def move_to(self, state: Hashable, joint_move: tuple[Move, ...] | None) -> None:
        """Begin at `state`, which is not terminal."""
        assert isinstance(state, bytes)
        self._state = state

    def run(self, budget: Budget) -> int:
        """Search within the budget; return the number of simulations."""
        before = self._forest.simulation_count
        simulations = budget.simulations
        lanes = LANES if simulations is None else max(1, min(LANES, simulations // 64))
        self._forest.search_together(self._game.unpack(self._state), budget, lanes=lanes)
        self._playouts = self._forest.simulation_count - before
        return self._playouts

    def best_move(self) -> Move | None:
        """The move that the last search found best; None if it found nothing."""
        (best,), _ = self._forest.root_moves(self._role).best()
        return None if best < 0 else self._game.moves[self._role][best]

    def report(self) -> SearchReport:
        """The result of the last search, the best move first."""
        best = self.best_move()
        reports = self._forest.root_moves(self._role).reports(self._game.moves[self._role])
        moves = sorted((each for each in reports if each.visits), key=lambda each: each.move != best)
        return SearchReport(playouts=self._playouts, moves=tuple(moves), mode="network")
