"""Moves of a saved solution."""

from __future__ import annotations

import logging
import random

from ggp.game import Move, Role
from ggp.match.player import MatchSetup
from ggp.players.advisors.advisor import Advisor, Position
from ggp.search.budget import Budget
from ggp.search.protocol import Advice
from ggp.search.report import MoveReport, SearchReport
from ggp.solver import SavedSolutionError, SolverError, Tablebase
from ggp.solver.stages import Stage

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


def advice_of_stage(stage: Stage, setup: MatchSetup, rng: random.Random) -> Advice | None:
    """An optimal move of the player's role, drawn if its strategy is mixed; None where it has no choice."""
    move = _chosen_move(stage, setup.role, rng)
    return None if move is None else Advice(move, stage_report(stage, setup.role), is_final=True)


def _chosen_move(stage: Stage, role: Role, rng: random.Random) -> Move | None:
    rated = stage.best_moves.get(role)
    if not rated:
        return None
    weights = [each.probability for each in rated]
    return rng.choices(rated, weights)[0].move if sum(weights) > 0 else rated[0].move


def stage_report(stage: Stage, role: Role) -> SearchReport:
    """The optimal moves of `role` in one state of a solved game, and their goals."""
    rated = stage.best_moves.get(role, ())
    goals = [round(each.goal) if float(each.goal).is_integer() else None for each in rated]
    return SearchReport(
        moves=tuple(
            MoveReport(each.move, 1, each.goal, goal) for each, goal in zip(rated, goals, strict=True)
        ),
        goal=goals[0] if goals else None,
        mode="solution",
    )
