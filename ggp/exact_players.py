"""Players that calculate: alpha-beta, a saved solution, and any player beside a solver.

alphabeta[:option=value,…]    depth-limited search within the clock, proven play once it reaches the end
tablebase:file=PATH           plays from a solution that `ggp solve --save` wrote
solving[:option=value,…]      `mcts` with the same options, while a solver works on another core; moves are
                              proven ones from the moment there is a proof
"""

from __future__ import annotations

import contextlib
import logging
import random
import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ggp.compiled_game import CompiledGame
from ggp.exact_reports import alphabeta_report, stage_report
from ggp.game import RANDOM_ROLE, Game, GameError, Move
from ggp.players import MatchSetup, Player, PlayerFaultError, PlayerSpecError
from ggp.search.alphabeta import AlphaBeta, AlphaBetaError, Estimate, Refinements, SearchResult
from ggp.search.report import SearchReport
from ggp.solver import Limits, SavedSolutionError, Solution, SolverError, Tablebase, solve
from ggp.solver.stages import Stage

_logger = logging.getLogger("ggp.players")
MARGIN_SECONDS = 0.2
SOLVER_MEBIBYTES = 3072
MOST_EXPECTED_STATES = 150_000_000
BYTES_PER_STATE = 45


def chosen_move(stage: Stage, setup: MatchSetup, rng: random.Random) -> Move | None:
    """What the player's role plays by `stage`: its best move, or one drawn from its mixed strategy."""
    rated = stage.best_moves.get(setup.role)
    if not rated:
        return None
    weights = [each.probability for each in rated]
    return rng.choices(rated, weights)[0].move if sum(weights) > 0 else rated[0].move


def prepare_alphabeta(game: Game[Any]) -> None:
    """Compile alpha-beta's kernels, or load them from the cache, where it can search `game`."""
    if isinstance(game, CompiledGame):
        with contextlib.suppress(AlphaBetaError, GameError):
            AlphaBeta(game).search(game.initial_state(), depth=1)


class TablebasePlayer:
    """Plays optimally from a saved solution, and the first legal move where that says nothing."""

    name = "tablebase"

    def __init__(self, path: str | Path) -> None:
        """Raises PlayerSpecError where the file cannot be used."""
        try:
            self.tablebase = Tablebase(path)
        except (OSError, SavedSolutionError) as error:
            raise PlayerSpecError(f"tablebase: {error}") from None

    def start(self, setup: MatchSetup, deadline: float) -> None:
        self._setup = setup
        self._rng = random.Random(setup.seed)
        self.last_report: SearchReport | None = None
        self._is_usable = False
        try:
            self.tablebase.require_rules(setup.game.program)
        except SavedSolutionError as error:
            raise PlayerFaultError("TB", str(error)) from None
        self._is_usable = True

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        game, role = self._setup.game, self._setup.role
        legal = game.legal_moves(state, role)
        self.last_report = None
        if len(legal) == 1 or not self._is_usable:
            return legal[0]
        try:
            stage = self.tablebase.stage(game, state)
        except (KeyError, SolverError):
            return legal[0]
        self.last_report = stage_report(stage, role)
        return chosen_move(stage, self._setup, self._rng) or legal[0]

    def stop(self, joint_move: tuple[Move, ...] | None) -> None:
        pass


class AlphaBetaPlayer:
    """Iterative deepening until the clock ends or the value is proven.

    Games that alpha-beta cannot search (chance, more roles, simultaneous moves) are played by
    `ggp.search.multi_role`.
    """

    name = "alphabeta"

    def __init__(
        self,
        refinements: Refinements | None = None,
        estimate: Estimate | None = None,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        margin: float = MARGIN_SECONDS,
        weights: str | None = None,
        on_progress: Callable[[Move], None] | None = None,
    ) -> None:
        """depth, nodes: limits per move besides the clock; margin: seconds left of it; weights: a file."""
        self.refinements = refinements or Refinements()
        self.estimate = estimate
        self.depth = depth
        self.nodes = nodes
        self.margin_seconds = margin
        self.weights_path = weights
        self.on_progress = on_progress
        self.last_result: SearchResult | None = None
        self.last_report: SearchReport | None = None

    def prepare(self, game: Game[Any]) -> None:
        """Compile the search's kernels, or load them from the cache, while no clock runs."""
        prepare_alphabeta(game)

    def start(self, setup: MatchSetup, deadline: float) -> None:
        self._setup = setup
        self._search: AlphaBeta | None = None
        if not isinstance(setup.game, CompiledGame):
            return
        estimate = self.estimate
        if self.weights_path is not None:
            from ggp.search.evaluation import LinearEvaluation

            learned = LinearEvaluation.load(self.weights_path)
            estimate = replace(
                estimate or Estimate(goal_weight=0, mobility_weight=0), weights=learned.scores(setup.game)
            )
        try:
            self._search = AlphaBeta(setup.game, self.refinements, estimate)
            self._search.search(setup.game.initial_state(), depth=1)
        except AlphaBetaError as error:
            _logger.info("%s: no alpha-beta, %s", setup.game.name, error)
            self._search = None

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        legal = self._setup.game.legal_moves(state, self._setup.role)
        self.last_report = None
        if len(legal) == 1:
            return legal[0]
        end = deadline - self.margin_seconds
        if self._search is not None:
            try:
                assert isinstance(state, bytes)
                result = self._search.search(state, depth=self.depth, deadline=end, node_limit=self.nodes)
                self.last_result = result
                self.last_report = alphabeta_report(result, self._setup)
                return result.move if result.move in legal and result.move is not None else legal[0]
            except AlphaBetaError as error:
                _logger.info("%s: no alpha-beta any more, %s", self._setup.game.name, error)
                self._search = None
        from ggp.search.multi_role import best_move

        return best_move(
            self._setup.game, state, self._setup.role, deadline=end, depth=self.depth, node_limit=self.nodes
        )

    def stop(self, joint_move: tuple[Move, ...] | None) -> None:
        self._search = None


class SolvingPlayer:
    """Another player, and beside it a solver that takes over as soon as it has proved something.

    From the start clock on a thread of its own finds all states and their values, where there are few enough.
    Where there are not, alpha-beta searches each state beside the other player. `mode` says what made
    the last move: "solution", "proof", or the other player's name.
    """

    name = "solving"

    def __init__(self, other: Player, *, mebibytes: int = SOLVER_MEBIBYTES, margin: float = 0.3) -> None:
        self.other = other
        self.mebibytes = mebibytes
        self.margin_seconds = margin
        self.mode = other.name
        self.last_report: SearchReport | None = None
        self.solution: Solution | None = None
        self._thread: threading.Thread | None = None
        self._search: AlphaBeta | None = None
        self._stop = threading.Event()

    @property
    def ponders(self) -> bool:
        """As the other player does, while it is needed."""
        return self.solution is None and bool(getattr(self.other, "ponders", False))

    def ponder(self, is_over: Callable[[], bool], deadline: float) -> None:
        """Let the other player search on."""
        if self.solution is None and hasattr(self.other, "ponder"):
            self.other.ponder(is_over, deadline)

    def prepare(self, game: Game[Any]) -> None:
        """As the other player does, and for alpha-beta."""
        prepare_alphabeta(game)
        prepare = getattr(self.other, "prepare", None)
        if prepare is not None:
            prepare(game)

    def start(self, setup: MatchSetup, deadline: float) -> None:
        self._setup = setup
        self._rng = random.Random(setup.seed)
        self._stop = threading.Event()
        self.solution = None
        self._search = None
        if isinstance(setup.game, CompiledGame):
            self._thread = threading.Thread(
                target=self._solve, args=(setup.game, self._stop), name="solver", daemon=True
            )
            self._thread.start()
        self.other.start(setup, deadline)

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        legal = self._setup.game.legal_moves(state, self._setup.role)
        proof = _Proof(self._search, state, deadline - self.margin_seconds)
        is_known = self.solution is not None
        if not is_known and len(legal) > 1:
            proof.start()
        # The other player is asked before a forced move too: it follows the match.
        move = legal[0] if is_known else self.other.choose(state, deadline, joint_move)
        self.mode = self.other.name
        self.last_report = None if is_known else getattr(self.other, "last_report", None)
        if len(legal) == 1:
            return legal[0]
        result = proof.finish()
        solution = self.solution
        if solution is not None:
            known = self._by_solution(solution, state)
            if known is not None:
                self.mode, move = "solution", known
        elif result is not None and result.is_proven and result.move in legal and result.move is not None:
            goal = result.goal if self._setup.role == self._setup.game.roles[0] else 100 - (result.goal or 0)
            if goal:
                self.mode, move = "proof", result.move
                self.last_report = alphabeta_report(result, self._setup, "proof")
        _logger.info("%s: %s by %s", self._setup.match_id, move, self.mode)
        return move

    def stop(self, joint_move: tuple[Move, ...] | None) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=10)
        self.other.stop(joint_move)
        self.solution = None

    def _by_solution(self, solution: Solution, state: Hashable) -> Move | None:
        assert isinstance(state, bytes)
        try:
            stage = solution.stage(state)
        except (KeyError, SolverError):
            return None
        self.last_report = stage_report(stage, self._setup.role)
        return chosen_move(stage, self._setup, self._rng)

    def _solve(self, game: CompiledGame, stop: threading.Event) -> None:
        """Runs in the solver's thread."""
        capacity = (self.mebibytes << 20) // BYTES_PER_STATE
        limits = Limits(
            mebibytes=self.mebibytes, stop=stop, estimated_states=min(2 * capacity, MOST_EXPECTED_STATES)
        )
        try:
            solution = solve(game, limits)
            if not stop.is_set():
                self.solution = solution
                _logger.info(
                    "%s solved: %s states, %s", game.name, solution.space.state_count, solution.values()
                )
            return
        except (SolverError, MemoryError) as error:
            _logger.info("%s is not solved whole: %s", game.name, error)
        if len(game.roles) == 2 and RANDOM_ROLE not in game.roles:
            try:
                search = AlphaBeta(game)
                search.search(game.initial_state(), depth=1)
                self._search = search
            except AlphaBetaError as error:
                _logger.info("%s: no alpha-beta, %s", game.name, error)


class _Proof:
    """Alpha-beta on one state, in a thread of its own."""

    def __init__(self, search: AlphaBeta | None, state: Hashable, deadline: float) -> None:
        self._search = search
        self._state = state
        self._deadline = deadline
        self._result: SearchResult | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._search is not None:
            self._thread = threading.Thread(target=self._run, name="proof", daemon=True)
            self._thread.start()

    def finish(self) -> SearchResult | None:
        """What is known by now; ends the search."""
        if self._thread is None or self._search is None:
            return None
        self._search.interrupt()
        self._thread.join()
        return self._result

    def _run(self) -> None:
        assert self._search is not None
        assert isinstance(self._state, bytes)
        try:
            self._result = self._search.search(self._state, deadline=self._deadline)
        except AlphaBetaError as error:
            _logger.info("no proof: %s", error)


_SWITCHES = (
    "transpositions",
    "order_by_table",
    "killers",
    "history",
    "static_order",
    "principal_variation",
    "iterative_deepening",
    "bisection",
    "symmetries",
    "late_move_reduction",
    "singular_extension",
)


def make_exact_player(
    spec: str,
    kind: str,
    options: Mapping[str, str],
    make_other: Callable[[Mapping[str, str]], Player],
    on_progress: Callable[[Move], None] | None = None,
) -> Player:
    """The player of kind `alphabeta`, `tablebase` or `solving`. Raises PlayerSpecError.

    make_other   makes the player beside the solver from its options
    """
    if kind == "tablebase":
        if set(options) != {"file"}:
            raise PlayerSpecError(f"player {spec!r}: tablebase needs file=PATH and nothing else")
        return TablebasePlayer(options["file"])
    if kind == "solving":
        others = {key: text for key, text in options.items() if key != "mebibytes"}
        mebibytes = _number(spec, "mebibytes", options.get("mebibytes", str(SOLVER_MEBIBYTES)), int)
        return SolvingPlayer(make_other(others), mebibytes=int(mebibytes))
    settings: dict[str, Any] = {}
    refinements = Refinements()
    for key, text in options.items():
        if key in _SWITCHES:
            refinements = replace(refinements, **{key: bool(_number(spec, key, text, int))})
        elif key in ("aspiration", "kept_moves"):
            number: Any = int(_number(spec, key, text, int))
            refinements = replace(refinements, **{key: number})
        elif key in ("depth", "nodes"):
            settings[key] = int(_number(spec, key, text, int))
        elif key == "margin":
            settings[key] = _number(spec, key, text, float)
        elif key == "weights":
            settings[key] = text
        else:
            known = ", ".join((*_SWITCHES, "aspiration", "kept_moves", "depth", "nodes", "margin", "weights"))
            raise PlayerSpecError(f"player {spec!r}: no option {key!r}; there are {known}")
    return AlphaBetaPlayer(refinements, on_progress=on_progress, **settings)


def _number(spec: str, key: str, text: str, kind: Callable[[str], float]) -> float:
    try:
        value = kind(text)
    except ValueError:
        raise PlayerSpecError(f"player {spec!r}: {key} is a number, not {text!r}") from None
    if not 0 <= value < float("inf"):
        raise PlayerSpecError(f"player {spec!r}: {key} cannot be {text}")
    return value
