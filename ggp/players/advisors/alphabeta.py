"""Moves by alpha-beta, deepened until the clock ends or the value is proven; max^n and paranoid search else.

The evaluation of the horizon is chosen in the start clock: `ggp.search.alphabeta.evaluation`.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Hashable
from typing import Any

from ggp.engines.compiled import CompiledGame
from ggp.features.evaluation import LinearEvaluation
from ggp.features.recognition import recognize_features
from ggp.game import Game, GameError
from ggp.knowledge.taught import TaughtNetwork
from ggp.match.faults import Late
from ggp.match.player import MatchSetup, PlayerFaultError
from ggp.players.advisors.advisor import Advisor, Position
from ggp.players.kept_knowledge import open_endings, taught_network
from ggp.players.options import NO_COALITION, OWN_COALITION, AlphaBetaOptions
from ggp.search.alphabeta.evaluation import find_estimate, prepare_evaluations
from ggp.search.alphabeta.multi_role import MultiRoleSearch
from ggp.search.alphabeta.options import AUTO, NETWORK
from ggp.search.alphabeta.reference.refinements import Refinements
from ggp.search.alphabeta.reference.search import ReferenceSearch
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError, Estimate, SearchResult
from ggp.search.alphabeta.symmetry import symmetries_in_time
from ggp.search.budget import Budget
from ggp.search.protocol import Advice
from ggp.search.report import MoveReport, SearchReport
from ggp.solver.members import parse_coalition

_logger = logging.getLogger("ggp.players")
ANALYSIS = 3.0
"""Time that choosing an evaluation may take, as a multiple of the time to set up the search."""
POLL_SECONDS = 0.003
"""Interval at which pondering checks whether it is over."""
SYMMETRY_SHARE, MAPPING_SHARE = 0.2, 0.3
"""What may pass of the start clock until symmetries are found, and of the rest until the table is mapped."""


class AlphaBetaAdvisor(Advisor):
    """Iterative deepening until the clock ends or the value is proven.

    `ggp.search.alphabeta.multi_role` plays games that alpha-beta cannot search: chance, more roles,
    simultaneous moves, any coalition of two and more roles, and opponents who err.

    search       alpha-beta itself, if it can search this match
    reference    the readable search in its place, with `own.is_reference`
    evaluation   how it evaluates the horizon, in words
    """

    def __init__(
        self,
        own: AlphaBetaOptions | None = None,
        weights: LinearEvaluation | None = None,
        refinements: Refinements | None = None,
    ) -> None:
        """Set the options.

        own           what users may choose
        weights       score the horizon by these, whatever `own.evaluation` says
        refinements   of the readable search
        """
        self.own = own = own or AlphaBetaOptions()
        self.refinements = refinements or Refinements()
        self.weights = weights
        self.search: AlphaBeta | None = None
        self.reference: ReferenceSearch | None = None
        self.evaluation = ""
        self._is_counted = own.nodes is not None or own.depth is not None
        self._state: Hashable | None = None

    def prepare(self, game: Game[Any]) -> None:
        if not isinstance(game, CompiledGame):
            return
        with contextlib.suppress(AlphaBetaError, GameError):
            AlphaBeta(game).search(game.initial_state(), depth=1)
        if self.weights is None:
            recognize_features(game)
            if self.own.evaluation != "mobility":
                prepare_evaluations()

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        self._setup, self.leads = setup, True
        game = setup.game
        try:
            self._members = self._find_members(game)
        except ValueError as error:
            raise PlayerFaultError(Late(), f"{game.name}: {error}") from None
        if isinstance(game, CompiledGame) and not self.needs_model:
            try:
                self.search = self._set_up(game, budget)
            except AlphaBetaError as error:
                _logger.info("%s: alpha-beta does not apply: %s", game.name, error)
        if self.own.is_reference and not self.needs_model:
            with contextlib.suppress(AlphaBetaError):
                estimate = None if self.search is None else self.search.estimate
                self.reference = ReferenceSearch(game, self.refinements, estimate)
        return True

    def follow(self, position: Position) -> None:
        self._state = position.state

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        search: Any = self.reference or self.search
        if search is None:
            return self._advice_of_many_roles(position, budget)
        try:
            result: SearchResult = search.search(
                position.state, depth=self.own.depth, deadline=budget.deadline, node_limit=budget.nodes
            )
        except AlphaBetaError as error:
            _logger.info("%s: alpha-beta no longer applies: %s", self._setup.game.name, error)
            self.search = self.reference = None
            return self._advice_of_many_roles(position, budget)
        move = result.move if result.move in position.legal and result.move is not None else position.legal[0]
        mode = "alphabeta" if self.reference is None else "reference"
        return Advice(move, alphabeta_report(result, self._setup, mode), is_final=True)

    def ponder(self, budget: Budget) -> None:
        """Search the position, so that the table keeps what is found."""
        search, state = self.search, self._state
        if search is None or self.reference is not None or self._setup.game.is_terminal(state):
            return

        def work() -> None:
            assert isinstance(state, bytes)
            with contextlib.suppress(AlphaBetaError):  # the next search for a move shows it
                search.search(state, deadline=budget.deadline)

        searching = threading.Thread(target=work, daemon=True)
        searching.start()
        while searching.is_alive() and not budget.is_interrupted():
            searching.join(POLL_SECONDS)
        search.interrupt_and_join(searching)

    def stop(self) -> None:
        self.search = self.reference = None

    @property
    def needs_model(self) -> bool:
        """Whether the options ask for more than minimax: then the search in plain Python plays all games."""
        return len(self._members or ()) > 1 or self.own.opponent_error > 0

    def _find_members(self, game: Game[Any]) -> frozenset[int] | None:
        """The coalition by indices, None if the options name none. Raises ValueError for other numbers."""
        if self.own.coalition in (OWN_COALITION, NO_COALITION):
            return None
        return parse_coalition(self.own.coalition, game.roles)

    def _set_up(self, game: CompiledGame, budget: Budget) -> AlphaBeta:
        """The search, after a first look at the game, with an evaluation of the horizon."""
        begin = time.monotonic()
        taught = self._open_network(game)
        images = None
        if not self._is_counted:
            images = symmetries_in_time(game, budget.part(SYMMETRY_SHARE).deadline)
        estimate = None
        if self.weights is not None:
            estimate = Estimate(goal_weight=0, mobility_weight=0, weights=self.weights.scores(game))
        search = AlphaBeta(game, estimate, images=images)
        if not self._is_counted:
            search.map_table(budget.part(MAPPING_SHARE).deadline)
        if self.own.coalition == OWN_COALITION:
            table = open_endings(game, self.own.endings, is_counted=self._is_counted)
            if table is not None and table.known is not None:
                search.use_known_goals(table.known, table.goal_sum)
        search.search(game.initial_state(), depth=1, deadline=budget.deadline)
        now = time.monotonic()
        if self.weights is None:
            # Analyzing a circuit that is slow to prepare takes several times as long again.
            has_time = budget.deadline - now > ANALYSIS * (now - begin)
            self._choose_evaluation(game, search, taught, budget, has_time=has_time)
        return search

    def _open_network(self, game: CompiledGame) -> TaughtNetwork | None:
        if self.weights is not None or not {AUTO, NETWORK} & set(self.own.evaluation.split("+")):
            return None
        return taught_network(game, self.own.network, may_use_kept=not self._is_counted)

    def _choose_evaluation(
        self,
        game: CompiledGame,
        search: AlphaBeta,
        taught: TaughtNetwork | None,
        budget: Budget,
        *,
        has_time: bool,
    ) -> None:
        """Find the best evaluation of the horizon, or use mobility if there is no time to learn."""
        if not has_time:
            self.evaluation = "mobility"
            _logger.info("%s: evaluation mobility, no time to learn", self._setup.match_id)
            return
        self.evaluation, estimate = find_estimate(
            game,
            self.own.evaluation_options(),
            search.images,
            None if taught is None else taught.network,
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
        found = search.best_move(
            position.state, deadline=budget.deadline, depth=self.own.depth, node_limit=budget.nodes
        )
        return Advice(found[0])


def alphabeta_report(result: SearchResult, setup: MatchSetup, mode: str = "alphabeta") -> SearchReport:
    """The result of alpha-beta for the player's role: the best move, with the value as its mean.

    The mean depth is that of the last finished iteration, the deepest that of the one that gave the move.
    """
    goal = result.goal
    if goal is not None and setup.role != setup.game.roles[0]:
        goal = 100 - goal
    proven = round(goal) if goal is not None and result.is_proven else None
    moves = () if result.move is None or goal is None else (MoveReport(result.move, 1, goal, proven),)
    depth = result.depth or 0
    return SearchReport(
        seconds=result.seconds,
        mean_depth=float(depth if result.is_whole else depth - 1),
        deepest=depth,
        nodes=result.nodes,
        moves=moves,
        goal=proven,
        mode=mode,
    )
