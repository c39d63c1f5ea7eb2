"""Moves by plain UCT: searched from scratch, one playout at a time, with a counted number of them."""

from __future__ import annotations

import time
from typing import Any, cast

from ggp.engines.batches import require_compiled
from ggp.game import Game, is_compiled
from ggp.match.faults import Late
from ggp.match.player import MatchSetup, PlayerFaultError
from ggp.players.advisors.advisor import Advisor, Position
from ggp.search.budget import Budget
from ggp.search.forest.forest import Forest
from ggp.search.protocol import Advice
from ggp.search.report import SearchReport
from ggp.search.tree.options import MctsOptions


class UctAdvisor(Advisor):
    """The search of `ggp.self_play`, one decision at a time; tournaments play it many matches at once."""

    def __init__(self, options: MctsOptions) -> None:
        """options: those that forests take."""
        self._options = options
        self._forest: Forest | None = None

    @property
    def simulation_count(self) -> int:  # type: ignore[override]
        """Playouts of the match."""
        return 0 if self._forest is None else self._forest.simulation_count

    def prepare(self, game: Game[Any]) -> None:
        if is_compiled(game) and not game.is_terminal(game.initial_state()):
            state = require_compiled(game).unpack(game.initial_state())[None]
            Forest(require_compiled(game), seed=0, options=self._options).search(state, [1])

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        if not is_compiled(setup.game):
            raise PlayerFaultError(Late(), f"{setup.game.name} is not compiled: uct plays on lanes")
        game = require_compiled(setup.game)
        self._forest = Forest(game, seed=setup.seed, options=self._options)
        self._role = game.roles.index(setup.role)
        return True

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        forest = self._forest
        assert forest is not None
        begin = time.monotonic()
        root = forest.game.unpack(cast("bytes", position.state))[None]
        forest.search(root, [budget.simulations or 1], budget.is_over)
        best = int(forest.root_moves(self._role).best()[0][0])
        move = position.legal[0] if best < 0 else forest.game.moves[self._role][best]
        return Advice(move, self._report(forest, time.monotonic() - begin))

    def _report(self, forest: Forest, seconds: float) -> SearchReport:
        moves = forest.root_moves(self._role).reports(forest.game.moves[self._role])
        playouts = sum(each.visits for each in moves)
        return SearchReport(
            seconds=seconds,
            playouts=playouts,
            descents=playouts,
            nodes=forest.node_count,
            is_full=forest.is_full,
            moves=tuple(moves),
            mode="uct",
        )
