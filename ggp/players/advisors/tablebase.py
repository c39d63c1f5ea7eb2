"""Moves of a saved solution: of the whole game, or of its endings."""

from __future__ import annotations

import logging

from ggp.match.player import MatchSetup
from ggp.players.advisors.advisor import Advisor, Position
from ggp.players.advisors.stages import advice_of_stage
from ggp.players.kept_knowledge import open_endings
from ggp.search.budget import Budget
from ggp.search.protocol import Advice
from ggp.solver import SavedSolutionError, SolverError, Tablebase

_logger = logging.getLogger("ggp.players")


class TablebaseAdvisor(Advisor):
    """Plays optimally from the solution that `ggp solve --save` wrote, in matches of its rules."""

    def __init__(self, tablebase: Tablebase) -> None:
        self.tablebase = tablebase

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        self._setup = setup
        try:
            self.tablebase.require_rules(setup.game.program)
        except SavedSolutionError as error:
            _logger.warning("%s: %s; mcts plays instead", setup.match_id, error)
            return False
        self.leads = True
        return True

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        try:
            stage = self.tablebase.stage(self._setup.game, position.state)
        except (KeyError, SolverError):
            return None
        return advice_of_stage(stage, self._setup, position.rng)


class EndingsAdvisor(Advisor):
    """Plays optimally in the positions of the table that `ggp prepare endings` wrote."""

    def __init__(self, option: str, *, is_counted: bool) -> None:
        """option: `endings` of the player. is_counted: as of `BookAdvisor`."""
        self._option, self._is_counted = option, is_counted

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        self._setup = setup
        self.table = open_endings(setup.game, self._option, is_counted=self._is_counted)
        return self.table is not None

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        assert self.table is not None
        stage = self.table.stage(self._setup.game, position.state)
        return None if stage is None else advice_of_stage(stage, self._setup, position.rng)
