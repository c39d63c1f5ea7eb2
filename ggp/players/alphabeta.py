"""The player `alphabeta`: depth-limited search within the clock, proven play once it reaches the end.

The evaluation of the horizon is chosen during the start clock: `ggp.search.alphabeta.evaluation`.
"""

from __future__ import annotations

import contextlib
import logging
import random
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import fields
from typing import Any

from gdl.terms import Term
from ggp.engines.compiled import CompiledGame
from ggp.features.evaluation import LinearEvaluation
from ggp.features.recognition import recognize_features
from ggp.game import Game, GameError, Move, hides_information
from ggp.knowledge.book import Book
from ggp.knowledge.taught import TaughtNetwork
from ggp.match.faults import Late
from ggp.match.player import MatchSetup, Player, PlayerFaultError
from ggp.players.kept_knowledge import book_move, open_book, open_endings, taught_network
from ggp.players.options import NO_COALITION, OWN_COALITION, AlphaBetaOptions
from ggp.players.tablebase import ending_move
from ggp.search.alphabeta.evaluation import find_estimate, prepare_evaluations
from ggp.search.alphabeta.multi_role import MultiRoleSearch
from ggp.search.alphabeta.options import AUTO, NETWORK
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError, Estimate, Refinements, SearchResult
from ggp.search.alphabeta.symmetry import symmetries_in_time
from ggp.search.report import MoveReport, SearchReport
from ggp.solver.endings import EndingTable
from ggp.solver.members import parse_coalition

_logger = logging.getLogger("ggp.players")
ANALYSIS = 3.0
"""Time that choosing an evaluation may take, as a multiple of the time to set up the search."""
POLL_SECONDS = 0.003
"""Interval at which pondering checks whether it is over."""
SYMMETRY_SHARE, MAPPING_SHARE = 0.2, 0.3
"""What may pass of the start clock until symmetries are found, and of the rest until the table is mapped."""


class AlphaBetaPlayer(Player):
    """Iterative deepening until the clock ends or the value is proven.

    `ggp.search.alphabeta.multi_role` plays games that alpha-beta cannot search: chance, more roles,
    simultaneous moves, any coalition of two and more roles, and opponents who err.
    """

    name = "alphabeta"

    def __init__(
        self,
        own: AlphaBetaOptions | None = None,
        *,
        weights: LinearEvaluation | None = None,
        on_progress: Callable[[Move], None] | None = None,
    ) -> None:
        """Set the options of the search.

        own            what users may choose
        weights        score the horizon by these; else `own.evaluation` says how to choose
        on_progress    called with the best move so far whenever it changes
        """
        self.own = own = own or AlphaBetaOptions()
        self.refinements = Refinements(**{each.name: getattr(own, each.name) for each in fields(Refinements)})
        self.margin_seconds = own.margin_seconds
        self.is_counted = own.nodes is not None or own.depth is not None
        self.weights = weights
        self.evaluation_options = own.evaluation_options()
        self.evaluation = ""
        self.on_progress = on_progress
        self.last_result: SearchResult | None = None
        self._search: AlphaBeta | None = None
        self._made: tuple[Hashable, Move] | None = None
        self._members: frozenset[int] | None = None
        self._book: Book | None = None
        self._endings: EndingTable | None = None
        self._taught: TaughtNetwork | None = None

    def prepare(self, game: Game[Any]) -> None:
        """Compile the kernels of the search or load them from the cache, before any clock starts."""
        prepare_alphabeta(game)
        if isinstance(game, CompiledGame) and self.weights is None:
            recognize_features(game)
            if self.evaluation_options.evaluation != "mobility":
                prepare_evaluations()

    def start(self, setup: MatchSetup, deadline: float) -> None:
        super().start(setup, deadline)
        self._search = self._made = None
        self._rng = random.Random(setup.seed)
        game = setup.game
        self._book = self._endings = None
        if (
            self.own.coalition == OWN_COALITION
            and not self.own.opponent_error
            and not hides_information(game)
        ):
            self._book = open_book(game, self.own.book, is_counted=self.is_counted)
            self._endings = open_endings(game, self.own.endings, is_counted=self.is_counted)
        try:
            self._members = self._find_members(game)
        except ValueError as error:
            raise PlayerFaultError(Late(), f"{game.name}: {error}") from None
        if not isinstance(game, CompiledGame) or self.needs_model:
            return
        begin = time.monotonic()
        self._taught = self._open_network(game)
        try:
            search = self._set_up(game, deadline)
            now = time.monotonic()
            if self.weights is None:
                # Analyzing a circuit that is slow to prepare takes several times as long again.
                has_time = self._end(deadline) - now > ANALYSIS * (now - begin)
                self._choose_evaluation(game, search, deadline, has_time=has_time)
            self._search = search
        except AlphaBetaError as error:
            _logger.info("%s: alpha-beta does not apply: %s", game.name, error)

    def _set_up(self, game: CompiledGame, deadline: float) -> AlphaBeta:
        """The search, after a first look at the game; within the clock, unless it counts instead."""
        end = self._end(deadline)
        images = None
        if self.refinements.symmetries and not self.is_counted:
            images = symmetries_in_time(game, _at(SYMMETRY_SHARE, end))
        search = AlphaBeta(game, self.refinements, self._given_estimate(game), images=images)
        if not self.is_counted:
            search.map_table(_at(MAPPING_SHARE, end))
        if self._endings is not None and self._endings.known is not None:
            search.use_known_goals(self._endings.known, self._endings.goal_sum)
        search.search(game.initial_state(), depth=1, deadline=end)
        return search

    def _open_network(self, game: CompiledGame) -> TaughtNetwork | None:
        evaluation = self.evaluation_options.evaluation
        if self.weights is not None or not {AUTO, NETWORK} & set(evaluation.split("+")):
            return None
        return taught_network(game, self.own.network, may_use_kept=not self.is_counted)

    def _find_members(self, game: Game[Any]) -> frozenset[int] | None:
        """The coalition by indices, None if the options name none. Raises ValueError for other numbers."""
        if self.own.coalition in (OWN_COALITION, NO_COALITION):
            return None
        return parse_coalition(self.own.coalition, game.roles)

    @property
    def search(self) -> AlphaBeta | None:
        """Alpha-beta itself, if it can search this match; else `MultiRoleSearch` plays."""
        return self._search

    @property
    def needs_model(self) -> bool:
        """Whether the options ask for more than minimax: then the search in plain Python plays all games."""
        return len(self._members or ()) > 1 or self.own.opponent_error > 0

    def _choose_evaluation(
        self, game: CompiledGame, search: AlphaBeta, deadline: float, *, has_time: bool
    ) -> None:
        """Find the best evaluation of the horizon, or use mobility if there is no time to learn."""
        if not has_time:
            self.evaluation = "mobility"
            _logger.info("%s: evaluation mobility, no time to learn", self.setup.match_id)
            return
        self.evaluation, estimate = find_estimate(
            game,
            self.evaluation_options,
            search.images,
            None if self._taught is None else self._taught.network,
            seed=self.setup.seed,
            deadline=self._end(deadline),
            is_timed=self.own.nodes is None,
        )
        _logger.info("%s: evaluation %s", self.setup.match_id, self.evaluation)
        search.set_estimate(estimate)

    def _end(self, deadline: float) -> float:
        """When to stop: the margin before the deadline, but at most half of what is left till then."""
        return deadline - min(self.margin_seconds, max(0.0, deadline - time.monotonic()) / 2)

    def _given_estimate(self, game: CompiledGame) -> Estimate | None:
        if self.weights is None:
            return None
        return Estimate(goal_weight=0, mobility_weight=0, weights=self.weights.scores(game))

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        self.last_report = None
        move = self._best_move(state, deadline)
        self._made = state, move
        return move

    def _best_move(self, state: Hashable, deadline: float) -> Move:
        legal = self.legal_moves(state)
        if len(legal) == 1:
            return legal[0]
        end = self._end(deadline)
        known = ending_move(self._endings, self.setup, state, self._rng)
        known = known or book_move(self._book, self.setup, state, end)
        if known is not None:
            move, self.last_report = known
            return move
        if self._search is not None:
            try:
                assert isinstance(state, bytes)
                result = self._search.search(
                    state, depth=self.own.depth, deadline=end, node_limit=self.own.nodes
                )
                self.last_result = result
                self.last_report = alphabeta_report(result, self.setup)
                return result.move if result.move in legal and result.move is not None else legal[0]
            except AlphaBetaError as error:
                _logger.info("%s: alpha-beta no longer applies: %s", self.setup.game.name, error)
                self._search = None
        search = MultiRoleSearch(
            self.setup.game,
            self.setup.role,
            "maxn" if self.own.coalition == NO_COALITION else "paranoid",
            error=self.own.opponent_error,
            members=self._members,
        )
        return search.best_move(state, deadline=end, depth=self.own.depth, node_limit=self.own.nodes)[0]

    def ponder(self, is_over: Callable[[], bool], deadline: float) -> None:
        """Search the state after the own last move, or the one it was made in if other roles chose there."""
        if self._made is None:
            return
        state, move = self._made
        with contextlib.suppress(GameError):  # the rules are at fault
            following = self.after_own_move(state, move)
            self.ponder_in(state if following is None else following[1], is_over, deadline)

    def ponder_in(self, state: Hashable, is_over: Callable[[], bool], deadline: float) -> None:
        """Search `state`, so that the table keeps what is found. Ends soon after `is_over()`."""
        search = self._search
        if search is None or self.setup.game.is_terminal(state):
            return
        searching = threading.Thread(target=_search_on, args=(search, state, deadline), daemon=True)
        searching.start()
        while searching.is_alive() and not is_over():
            searching.join(POLL_SECONDS)
        search.interrupt_and_join(searching)

    def stop(self, told: tuple[Term, ...] | None) -> None:
        self._search = self._made = None


def _search_on(search: AlphaBeta, state: Hashable, deadline: float) -> None:
    """Search until the deadline; whether alpha-beta applies at all, the next search for a move says."""
    assert isinstance(state, bytes)
    with contextlib.suppress(AlphaBetaError):
        search.search(state, deadline=deadline)


def _at(share: float, end: float) -> float:
    """When `share` of the time until `end` will have passed."""
    now = time.monotonic()
    return now + share * max(0.0, end - now)


def prepare_alphabeta(game: Game[Any]) -> None:
    """Compile the kernels of alpha-beta or load them from the cache, if it can search `game`."""
    if isinstance(game, CompiledGame):
        with contextlib.suppress(AlphaBetaError, GameError):
            AlphaBeta(game).search(game.initial_state(), depth=1)


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
