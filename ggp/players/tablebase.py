"""The player `tablebase`: plays from a solution that `ggp solve --save` wrote."""

from __future__ import annotations

import logging
import random
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

from gdl.terms import Term
from ggp.beliefs.observation import Observation
from ggp.game import Game, Move, Role
from ggp.match.faults import WrongTablebase
from ggp.match.player import MatchSetup, Player, PlayerFaultError, PlayerSpecError
from ggp.search.report import MoveReport, SearchReport
from ggp.solver import SavedSolutionError, SolverError, Tablebase
from ggp.solver.endings import EndingTable
from ggp.solver.stages import Stage

_logger = logging.getLogger("ggp.players")


class TablebasePlayer(Player):
    """Plays optimally from a saved solution.

    In matches of other rules `other` plays; without one that is a fault, and then, as in states missing from
    the solution, the first legal move is made.
    """

    name = "tablebase"

    def __init__(self, path: str | Path, other: Player | None = None) -> None:
        """Raises PlayerSpecError if the file cannot be used."""
        try:
            self.tablebase = Tablebase(path)
        except (OSError, SavedSolutionError) as error:
            raise PlayerSpecError(f"tablebase: {error}") from None
        self.other = other
        self.needs_lanes = other is not None and other.needs_lanes
        self._is_usable = False

    def start(self, setup: MatchSetup, deadline: float) -> None:
        super().start(setup, deadline)
        self._rng = random.Random(setup.seed)
        self.last_report = None
        self._is_usable = False
        try:
            self.tablebase.require_rules(setup.game.program)
        except SavedSolutionError as error:
            if self.other is None:
                raise PlayerFaultError(WrongTablebase(), str(error)) from None
            _logger.warning("%s: %s; %s plays instead", setup.match_id, error, self.other.name)
            self.other.start(setup, deadline)
            return
        self._is_usable = True

    @property
    def _stand_in(self) -> Player | None:
        """Who plays this match if the solution is of another game."""
        return None if self._is_usable else self.other

    def prepare(self, game: Game[Any]) -> None:
        if self.other is not None:
            self.other.prepare(game)

    def observe(self, observation: Observation, deadline: float) -> None:
        (self._stand_in.observe if self._stand_in else super().observe)(observation, deadline)

    def choose_by_observations(self, deadline: float) -> Move:
        if self._stand_in is None:
            return super().choose_by_observations(deadline)
        move = self._stand_in.choose_by_observations(deadline)
        self.last_report = self._stand_in.last_report
        return move

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        if self._stand_in is not None:
            move = self._stand_in.choose(state, deadline, joint_move)
            self.last_report = self._stand_in.last_report
            return move
        game, role = self.setup.game, self.setup.role
        legal = game.legal_moves(state, role)
        self.last_report = None
        if len(legal) == 1 or not self._is_usable:
            return legal[0]
        try:
            stage = self.tablebase.stage(game, state)
        except (KeyError, SolverError):
            return legal[0]
        self.last_report = stage_report(stage, role)
        return chosen_move(stage, self.setup, self._rng) or legal[0]

    def stop(self, told: tuple[Term, ...] | None) -> None:
        super().stop(told)
        if self._stand_in is not None:
            self._stand_in.stop(told)


def require_tablebase_rules(players: Iterable[Player], game: Game[Any]) -> None:
    """Raise PlayerSpecError if a player has the solution of another game."""
    for player in players:
        if isinstance(player, TablebasePlayer):
            try:
                player.tablebase.require_rules(game.program)
            except SavedSolutionError as error:
                raise PlayerSpecError(f"{error}, not of {game.name}") from None


def ending_move(
    endings: EndingTable | None, setup: MatchSetup, state: Hashable, rng: random.Random
) -> tuple[Move, SearchReport] | None:
    """An optimal move of the player's role if the table knows one."""
    stage = None if endings is None else endings.stage(setup.game, state)
    move = None if stage is None else chosen_move(stage, setup, rng)
    return None if stage is None or move is None else (move, stage_report(stage, setup.role))


def chosen_move(stage: Stage, setup: MatchSetup, rng: random.Random) -> Move | None:
    """The best move of the player's role by `stage`, or one drawn from its mixed strategy."""
    rated = stage.best_moves.get(setup.role)
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
