"""Moves by a tree search that a network guides."""

from __future__ import annotations

from typing import Any

from ggp.engines.batches import require_compiled
from ggp.game import Game
from ggp.knowledge.taught import TaughtNetwork
from ggp.match.player import MatchSetup
from ggp.players.advisors.advisor import Advisor, Position
from ggp.players.kept_knowledge import taught_network
from ggp.players.options import AUTO
from ggp.search.budget import Budget
from ggp.search.forest.guided import NetworkSearch
from ggp.search.protocol import Advice

_PREPARED_MEBIBYTES = 16


class NetworkAdvisor(Advisor):
    """Plays by the network that an option names, or by the one kept for the game if it won."""

    def __init__(self, option: str, mebibytes: int, *, may_use_kept: bool) -> None:
        """option: `net` of the player. may_use_kept: auto is the network kept for the game, if it won."""
        self._option, self._may_use_kept, self._mebibytes = option, may_use_kept, mebibytes

    def prepare(self, game: Game[Any]) -> None:
        if not game.is_terminal(game.initial_state()) and (taught := self._open(game)) is not None:
            setup = MatchSetup("prepare", game, game.roles[0], 0.0, 0.0, 0)
            _search(setup, taught, _PREPARED_MEBIBYTES).run(Budget(simulations=1))

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        taught = self._open(setup.game)
        self.leads = taught is not None
        if taught is not None:
            self._search = _search(setup, taught, self._mebibytes)
        return self.leads

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        self._search.move_to(position.state, position.joint_move)
        self._search.run(budget)
        move = self._search.best_move()
        return None if move is None else Advice(move, self._search.report(), is_final=True)

    def _open(self, game: Game[Any]) -> TaughtNetwork | None:
        found = taught_network(require_compiled(game), self._option, may_use_kept=self._may_use_kept)
        return found if found is not None and (self._option != AUTO or found.is_stronger) else None


def _search(setup: MatchSetup, taught: TaughtNetwork, mebibytes: int) -> NetworkSearch:
    return NetworkSearch(
        require_compiled(setup.game),
        setup.role,
        taught.network,
        seed=setup.seed,
        mebibytes=mebibytes,
    )
