"""The player `solving`: another player, and next to it every search that can prove something.

    all kinds       from the start clock on, a thread finds all states and their values ("solution")
    two roles       if there are too many states, alpha-beta searches the current state ("proof")
    one role        the same, and nested rollouts look for a better line ("line")
    other kinds     if there are too many states, the thread tries again from the current state
    with `sees`     the other player alone

`mode` says what chose the last move: one of the words in quotes, "mixed" (a mixed strategy of the other
player), or the other player's name.
"""

from __future__ import annotations

import contextlib
import logging
import random
import threading
from collections.abc import Callable, Hashable
from typing import Any

from gdl.terms import Term
from ggp.beliefs.belief import Belief
from ggp.beliefs.observation import Observation
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import RANDOM_ROLE, Game, Move, hides_information
from ggp.match.player import MatchSetup, Player
from ggp.players.alphabeta import alphabeta_report, prepare_alphabeta
from ggp.players.mcts import MctsPlayer
from ggp.players.options import SOLVER_MEBIBYTES, SOLVING_MARGIN_SECONDS
from ggp.players.tablebase import chosen_move, stage_report
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError, SearchResult
from ggp.search.budget import Budget
from ggp.search.mcts.search import LanesSearch
from ggp.search.report import SearchReport
from ggp.search.rollouts.single_role import Line, NestedRollouts
from ggp.solver import Solution, SolverError, SolverLimits, solve

_logger = logging.getLogger("ggp.players")
MOST_EXPECTED_STATES = 150_000_000
BYTES_PER_STATE = 45
PREPARATION_STATES = 10_000
"""Where solving ends that is only to compile its kernels."""


class SolvingPlayer(Player):
    """Another player, and threads that take over as soon as they have proved something."""

    name = "solving"

    def __init__(
        self,
        other: Player,
        *,
        mebibytes: int = SOLVER_MEBIBYTES,
        margin: float = SOLVING_MARGIN_SECONDS,
    ) -> None:
        """Set the options; mebibytes 0: no solving."""
        self.other = other
        self.mebibytes = mebibytes
        self.margin_seconds = margin
        self.mode = other.name
        self.ponders, self.is_counted = other.ponders, other.is_counted
        self.ponders_on_observations = other.ponders_on_observations
        self.needs_lanes = other.needs_lanes
        self.solution: Solution | None = None
        self._solver: threading.Thread | None = None
        self._search: AlphaBeta | None = None
        self._planner: LinePlanner | None = None
        self._stop = threading.Event()

    def ponder(self, is_over: Callable[[], bool], deadline: float) -> None:
        """Let the other player search on, while it is needed."""
        if self.solution is None:
            self.other.ponder(is_over, deadline)

    def prepare(self, game: Game[Any]) -> None:
        """Compile the kernels of the other player, alpha-beta, rollouts and the solver.

        Those that compute values only if `game` has few states.
        """
        prepare_alphabeta(game)
        if isinstance(game, CompiledGame):
            with contextlib.suppress(SolverError):
                solution = solve(game, SolverLimits(states=PREPARATION_STATES))
                solution.values()
                solution.stage(game.initial_state())
            if len(game.roles) == 1:
                # Twice all lanes: in between the policy is adapted.
                NestedRollouts(game).run(Budget(simulations=64 * game.words + 1), 101)
        self.other.prepare(game)

    def start(self, setup: MatchSetup, deadline: float) -> None:
        super().start(setup, deadline)
        self._rng = random.Random(setup.seed)
        self._stop = threading.Event()
        self.solution = None
        self._search = None
        self._planner = None
        if isinstance(setup.game, CompiledGame) and not hides_information(setup.game):
            if len(setup.game.roles) == 1:
                self._planner = LinePlanner(setup.game, setup.seed)
                self._planner.begin(setup.game.initial_state(), None)
            self._begin_solving(setup.game, None)
        self.other.start(setup, deadline)

    @property
    def belief(self) -> Belief:
        return self.other.belief

    def observe(self, observation: Observation, deadline: float) -> None:
        self.other.observe(observation, deadline)

    def choose_by_observations(self, deadline: float) -> Move:
        move = self.other.choose_by_observations(deadline)
        self.mode, self.last_report = self._mode_of_other(), self.other.last_report
        return move

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        legal = self.setup.game.legal_moves(state, self.setup.role)
        self.last_report = None
        move = self._by_solution(state) if len(legal) > 1 else None
        if move is not None:
            self.mode = "solution"
        else:
            move = self._search_move(state, deadline, joint_move, legal)
        if len(legal) > 1:
            _logger.info("%s: %s by %s", self.setup.match_id, move, self.mode)
        return move

    def stop(self, told: tuple[Term, ...] | None) -> None:
        self._stop.set()
        if self._solver is not None:
            self._solver.join(timeout=10)
        if self._planner is not None:
            self._planner.finish()
        self.other.stop(told)
        self.solution = None

    def wait_until_solved(self) -> None:
        """Wait for the solver thread; for tests and measurements."""
        if self._solver is not None:
            self._solver.join()

    def _search_move(
        self,
        state: Hashable,
        deadline: float,
        joint_move: tuple[Move, ...] | None,
        legal: tuple[Move, ...],
    ) -> Move:
        """Choose by the other player, unless a proof, a line or a solution turns up meanwhile."""
        if self._planner is not None:
            self._planner.begin(state, joint_move)
        if len(legal) == 1:
            # The other player is asked before a forced move too: it follows the match.
            self.mode = self.other.name
            return self.other.choose(state, deadline, joint_move) if self.solution is None else legal[0]
        self._begin_again(state)
        proof = Proof(self._search, state, deadline - self.margin_seconds)
        proof.start()
        move = self.other.choose(state, deadline, joint_move)
        self.last_report = self.other.last_report
        result = proof.finish()
        if proof.has_failed:
            self._search = None
        line = self._planner.finish() if self._planner is not None else None
        known = self._by_solution(state)
        if known is not None:
            self.mode, move = "solution", known
        elif result is not None and self._is_worth_playing(result, legal):
            assert result.move is not None
            self.mode, move = "proof", result.move
            self.last_report = alphabeta_report(result, self.setup, "proof")
        elif line is not None and line.goal >= max(1.0, self._expectation()):
            self.mode, move = "line", line.moves[0]
        else:
            self.mode = self._mode_of_other()
        return move

    def _is_worth_playing(self, result: SearchResult, legal: tuple[Move, ...]) -> bool:
        """Whether a proof says more than that the role loses: then all moves are equal to it."""
        if not result.is_proven or result.move not in legal or result.goal is None:
            return False
        is_first = self.setup.role == self.setup.game.roles[0]
        return result.goal > 0 if is_first else result.goal < 100

    def _expectation(self) -> float:
        """The mean goal of the other player's best move, 0 if unknown."""
        search = self._lanes_search()
        if search is None:
            return 0.0
        moves = search.report().moves
        return max((move.mean for move in moves if move.visits), default=0.0)

    def _mode_of_other(self) -> str:
        """What chose the other player's move, if that was not its search; else the player's name."""
        report = self.other.last_report
        mode = report.mode if isinstance(report, SearchReport) else ""
        return mode if mode in ("mixed", "proof", "solution") else self.other.name

    def _lanes_search(self) -> LanesSearch | None:
        """The other player's tree search, if it has one that runs on lanes."""
        search = self.other.search if isinstance(self.other, MctsPlayer) else None
        return search if isinstance(search, LanesSearch) else None

    def _by_solution(self, state: Hashable) -> Move | None:
        solution = self.solution
        if solution is None or not isinstance(state, bytes):
            return None
        try:
            stage = solution.stage(state)
        except (KeyError, SolverError):
            return None
        self.last_report = stage_report(stage, self.setup.role)
        return chosen_move(stage, self.setup, self._rng)

    def _begin_again(self, state: Hashable) -> None:
        """If nothing else can prove anything, solve the states still reachable."""
        is_idle = self._solver is not None and not self._solver.is_alive()
        if is_idle and self._search is None and self._planner is None and isinstance(state, bytes):
            assert isinstance(self.setup.game, CompiledGame)
            self._begin_solving(self.setup.game, state)

    def _begin_solving(self, game: CompiledGame, state: bytes | None) -> None:
        arguments = (game, state, self._stop)
        self._solver = threading.Thread(target=self._solve, args=arguments, name="solver", daemon=True)
        self._solver.start()

    def _solve(self, game: CompiledGame, state: bytes | None, stop: threading.Event) -> None:
        """Body of the solver thread."""
        capacity = (self.mebibytes << 20) // BYTES_PER_STATE
        limits = SolverLimits(
            mebibytes=self.mebibytes, stop=stop, estimated_states=min(2 * capacity, MOST_EXPECTED_STATES)
        )
        try:
            if not self.mebibytes:
                raise SolverError("no memory allowed for solving")
            solution = solve(game, limits, start=state)
            if not stop.is_set():
                self.solution = solution
                count, values = solution.space.state_count, solution.values()
                _logger.info("%s solved: %s states, %s", game.name, count, values)
            return
        except (SolverError, MemoryError) as error:
            _logger.info("%s: not solved completely: %s", game.name, error)
        if state is None and len(game.roles) <= 2 and RANDOM_ROLE not in game.roles:
            try:
                search = AlphaBeta(game)
                search.search(game.initial_state(), depth=1)
                search.forget()
                self._search = search
            except AlphaBetaError as error:
                _logger.info("%s: alpha-beta does not apply: %s", game.name, error)


class Proof:
    """Alpha-beta on one state, in its own thread.

    has_failed   alpha-beta does not apply to the game after all
    """

    def __init__(self, search: AlphaBeta | None, state: Hashable, deadline: float) -> None:
        self._search = search
        self._state = state
        self._deadline = deadline
        self._result: SearchResult | None = None
        self.has_failed = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._search is not None:
            self._thread = threading.Thread(target=self._run, name="proof", daemon=True)
            self._thread.start()

    def finish(self) -> SearchResult | None:
        """End the search; its result so far."""
        if self._thread is None or self._search is None:
            return None
        self._search.interrupt_and_join(self._thread)
        return self._result

    def _run(self) -> None:
        assert self._search is not None
        assert isinstance(self._state, bytes)
        try:
            self._result = self._search.search(self._state, deadline=self._deadline)
        except AlphaBetaError as error:
            self.has_failed = True
            _logger.info("no proof: %s", error)


class LinePlanner:
    """The best line known in a one-role game; nested rollouts search for it in their own thread.

    line   from the state last given to `begin`
    """

    def __init__(self, game: CompiledGame, seed: int) -> None:
        self.line: Line | None = None
        self._rollouts = NestedRollouts(game, seed=seed)
        self._enough = int(game.tables.goal_value.max(initial=0))
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def begin(self, state: Hashable, joint_move: tuple[Move, ...] | None) -> None:
        """Search from `state`, reached by `joint_move`; keep the rest of a line that led there."""
        line = self.finish()
        if line is not None and joint_move is not None:
            is_followed = line.moves[:1] == joint_move and len(line.moves) > 1
            self.line = Line(line.goal, line.moves[1:]) if is_followed else None
        if self.line is None or self.line.goal < self._enough:
            self._stop = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(state,), name="rollouts", daemon=True)
            self._thread.start()

    def finish(self) -> Line | None:
        """End the search; returns the best line known."""
        if self._thread is None:
            return self.line
        self._stop.set()
        self._thread.join()
        self._thread = None
        found = self._rollouts.best
        if found is not None and found.moves and (self.line is None or found.goal > self.line.goal):
            self.line = found
        return self.line

    def _run(self, state: PackedState) -> None:
        self._rollouts.move_to(state)
        self._rollouts.run(Budget(is_stopped=self._stop.is_set), self._enough)
