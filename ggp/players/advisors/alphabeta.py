"""Moves by alpha-beta, deepened until the clock ends or the value is proven; max^n and paranoid search else.

The evaluation of the horizon is chosen in the start clock: `ggp.search.alphabeta.evaluation`.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable
from typing import Any

from ggp.engines.compiled import CompiledGame
from ggp.features.linear_form import LinearForm, LinearFormError
from ggp.features.recognition import recognize_features
from ggp.game import Game, GameError
from ggp.match.faults import Crashed, Late
from ggp.match.player import MatchSetup, PlayerFaultError
from ggp.players.advisors.advisor import Advisor, Position
from ggp.players.options import NO_COALITION, OWN_COALITION, AlphaBetaOptions
from ggp.search.alphabeta.evaluation import find_estimate, prepare_evaluations
from ggp.search.alphabeta.multi_role import MultiRoleSearch
from ggp.search.alphabeta.reference.refinements import Refinements
from ggp.search.alphabeta.reference.search import ReferenceSearch
from ggp.search.alphabeta.role_search import AnyAlphaBeta, RoleSearch
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError, Estimate
from ggp.search.budget import Budget
from ggp.search.protocol import Advice
from ggp.solver.members import parse_coalition

_logger = logging.getLogger("ggp.players")
ANALYSIS = 3.0
"""Time that choosing an evaluation may take, as a multiple of the time to set up the search."""


class AlphaBetaAdvisor(Advisor):
    """Iterative deepening until the clock ends or the value is proven.

    `ggp.search.alphabeta.multi_role` plays games that alpha-beta cannot search: chance, more roles,
    simultaneous moves, any coalition of two and more roles, and opponents who err.

    search       alpha-beta on lanes, if it can search this match; with `function` the readable search does
    evaluation   of the horizon, in words
    """

    def __init__(
        self,
        own: AlphaBetaOptions | None = None,
        weights: LinearForm | None = None,
        function: Callable[[Game[Any], Any], float] | None = None,
    ) -> None:
        """Set the options; `weights` or `function` score the horizon instead of `own.evaluation`."""
        self.own = own = own or AlphaBetaOptions()
        self.weights, self.function = weights, function
        self.search: AlphaBeta | None = None
        self.evaluation = ""
        self._role_search: RoleSearch | None = None

    def prepare(self, game: Game[Any]) -> None:
        if not isinstance(game, CompiledGame) or self.function is not None:
            return
        with contextlib.suppress(AlphaBetaError, GameError):
            AlphaBeta(game).search(game.initial_state(), depth=1)
        if self.weights is None:
            recognize_features(game)
            if self.own.evaluation != "mobility":
                prepare_evaluations()

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        self._setup, self.leads = setup, True
        game, coalition = setup.game, self.own.coalition
        has_members = coalition not in (OWN_COALITION, NO_COALITION)
        try:
            self._members = parse_coalition(coalition, game.roles) if has_members else None
        except ValueError as error:
            raise PlayerFaultError(Late(), f"{game.name}: {error}") from None
        if isinstance(game, CompiledGame) and not self.needs_model and self.function is None:
            try:
                self.search = self._set_up(game, budget)
            except AlphaBetaError as error:
                _logger.info("%s: alpha-beta does not apply: %s", game.name, error)
            except LinearFormError as error:
                raise PlayerFaultError(Crashed(str(error))) from None
        found: AnyAlphaBeta | None = self.search
        if self.function is not None and not self.needs_model:
            with contextlib.suppress(AlphaBetaError):
                found = self._reference(game, self.function)
        if found is not None:
            self._role_search = RoleSearch(found, setup.role, depth=self.own.depth)
        elif self.function is not None or self.weights is not None:
            _logger.warning("%s: alpha-beta does not apply, so the evaluation is not used", game.name)
        return True

    def follow(self, position: Position) -> None:
        self._is_over = self._setup.game.is_terminal(position.state)
        if self._role_search is not None:
            self._role_search.move_to(position.state, position.joint_move)

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        search = self._role_search
        if search is not None:
            try:
                search.run(budget)
                move = search.best_move()
                best = move if move is not None and move in position.legal else position.legal[0]
                return Advice(best, search.report(), is_final=True)
            except AlphaBetaError as error:
                _logger.info("%s: alpha-beta no longer applies: %s", self._setup.game.name, error)
                self.search = self._role_search = None
        return self._advice_of_many_roles(position, budget)

    def ponder(self, budget: Budget) -> None:
        if self._role_search is not None and not self._is_over:
            with contextlib.suppress(AlphaBetaError):  # the next search for a move shows it
                self._role_search.run(budget)

    def stop(self) -> None:
        self.search = self._role_search = None

    @property
    def needs_model(self) -> bool:
        """Whether the options go beyond minimax: then the search in plain Python plays all games."""
        return len(self._members or ()) > 1 or self.own.opponent_error > 0

    def _reference(self, game: Game[Any], function: Callable[[Game[Any], Any], float]) -> ReferenceSearch:
        """The readable search. What a user evaluates need not be the same for mirror images."""
        estimate = Estimate(goal_weight=0, mobility_weight=0, function=function)
        return ReferenceSearch(game, Refinements(symmetries=False), estimate)

    def _set_up(self, game: CompiledGame, budget: Budget) -> AlphaBeta:
        """The search, after a first look at the game, with an evaluation of the horizon."""
        begin, estimate = time.monotonic(), None
        if self.weights is not None:
            estimate = Estimate(goal_weight=0, mobility_weight=0, weights=self.weights.scores(game))
        search = AlphaBeta(game, estimate)
        search.search(game.initial_state(), budget, depth=1)
        now = time.monotonic()
        if self.weights is None:
            # Analyzing a circuit takes several times as long as preparing it.
            if budget.deadline - now > ANALYSIS * (now - begin):
                self._choose_evaluation(game, search, budget)
            else:
                self.evaluation = "mobility"
                _logger.info("%s: evaluation mobility, no time to learn", self._setup.match_id)
        return search

    def _choose_evaluation(self, game: CompiledGame, search: AlphaBeta, budget: Budget) -> None:
        """Find the best evaluation of the horizon."""
        self.evaluation, estimate = find_estimate(
            game,
            self.own.evaluation,
            seed=self._setup.seed,
            deadline=budget.deadline,
            is_timed=self.own.nodes is None,
        )
        _logger.info("%s: evaluation %s", self._setup.match_id, self.evaluation)
        search.set_estimate(estimate)

    def _advice_of_many_roles(self, position: Position, budget: Budget) -> Advice:
        search = MultiRoleSearch(
            self._setup.game,
            self._setup.role,
            "maxn" if self.own.coalition == NO_COALITION else "paranoid",
            error=self.own.opponent_error,
            members=self._members,
        )
        return Advice(search.best_move(position.state, budget, depth=self.own.depth)[0])
