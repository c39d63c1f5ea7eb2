"""Players that calculate: alpha-beta, a saved solution, and (`ggp.solving_player`) a player beside a solver.

alphabeta[:option=value,…]    depth-limited search within the clock, proven play once it reaches the end; how
                              it judges the horizon it finds out in the start clock (`ggp.search.judging`)
tablebase:file=PATH[,…]       plays from a solution that `ggp solve --save` wrote; other games as `mcts` with
                              the options that follow
solving[:option=value,…]      `mcts` with the same options, while a solver works on another core, from the
                              start clock on whatever `head_start` says; moves are proven ones from the moment
                              there is a proof. Options of its own: mebibytes (for solving, 0: no solving) and
                              mixed (0: no mixed strategies at simultaneous moves)
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ggp.compiled_game import CompiledGame
from ggp.exact_reports import alphabeta_report, stage_report
from ggp.feature_recognition import recognize_features
from ggp.game import Game, Move
from ggp.players import MatchSetup, Player, PlayerFaultError, PlayerSpecError
from ggp.search.alphabeta import AlphaBeta, AlphaBetaError, Estimate, Refinements, SearchResult
from ggp.search.evaluation import EvaluationFileError, LinearEvaluation
from ggp.search.judging import JudgingOptions, find_estimate
from ggp.search.options import available_cores
from ggp.search.report import SearchReport
from ggp.solver import SavedSolutionError, SolverError, Tablebase
from ggp.solving_player import SOLVER_MEBIBYTES, SolvingPlayer, chosen_move, prepare_alphabeta

_logger = logging.getLogger("ggp.players")
MARGIN_SECONDS = 0.2
ANALYSIS = 3.0
"""How many times as long as making a search it may take to find out what to judge by."""


class TablebasePlayer:
    """Plays optimally from a saved solution.

    In matches of other rules `other` plays; without one that is a fault, and then, as in states that the
    solution does not know, the first legal move is made.
    """

    name = "tablebase"

    def __init__(self, path: str | Path, other: Player | None = None) -> None:
        """Raises PlayerSpecError where the file cannot be used."""
        try:
            self.tablebase = Tablebase(path)
        except (OSError, SavedSolutionError) as error:
            raise PlayerSpecError(f"tablebase: {error}") from None
        self.other = other
        self._is_usable = False

    def start(self, setup: MatchSetup, deadline: float) -> None:
        self._setup = setup
        self._rng = random.Random(setup.seed)
        self.last_report: SearchReport | None = None
        self._is_usable = False
        try:
            self.tablebase.require_rules(setup.game.program)
        except SavedSolutionError as error:
            if self.other is None:
                raise PlayerFaultError("TB", str(error)) from None
            _logger.warning("%s: %s; %s plays instead", setup.match_id, error, self.other.name)
            self.other.start(setup, deadline)
            return
        self._is_usable = True

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        if not self._is_usable and self.other is not None:
            move = self.other.choose(state, deadline, joint_move)
            self.last_report = getattr(self.other, "last_report", None)
            return move
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
        if not self._is_usable and self.other is not None:
            self.other.stop(joint_move)


def tablebase_spec(path: Path, agent: str = "mcts") -> str:
    """The player that plays from a file, and all other games as `agent`. Raises PlayerSpecError."""
    kind, _, options = agent.partition(":")
    if kind != "mcts":
        raise PlayerSpecError(f"beside a tablebase other games are played by mcts, not {agent!r}")
    if "," in str(path):
        raise PlayerSpecError(f"the name of a tablebase cannot contain a comma: {path}")
    return ",".join(filter(None, (f"tablebase:file={path.resolve()}", options)))


def require_tablebase_rules(players: Iterable[Player], game: Game[Any]) -> None:
    """Raises PlayerSpecError where one of them is to play from a solution of another game."""
    for player in players:
        if isinstance(player, TablebasePlayer):
            try:
                player.tablebase.require_rules(game.program)
            except SavedSolutionError as error:
                raise PlayerSpecError(f"{error}, not of {game.name}") from None


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
        weights: LinearEvaluation | None = None,
        judging: JudgingOptions | None = None,
        on_progress: Callable[[Move], None] | None = None,
    ) -> None:
        """How to search.

        estimate, weights   judge the horizon by these; without them `judging` says how that is found out
        depth, nodes        limits per move besides the clock
        margin              seconds left of every clock
        """
        self.refinements = refinements or Refinements()
        self.estimate = estimate
        self.depth = depth
        self.nodes = nodes
        self.margin_seconds = margin
        self.weights = weights
        self.judging = judging or JudgingOptions()
        self.evaluation = ""
        self.on_progress = on_progress
        self.last_result: SearchResult | None = None
        self.last_report: SearchReport | None = None

    def prepare(self, game: Game[Any]) -> None:
        """Compile the search's kernels, or load them from the cache, while no clock runs."""
        prepare_alphabeta(game)
        if isinstance(game, CompiledGame) and self.estimate is None and self.weights is None:
            recognize_features(game)

    def start(self, setup: MatchSetup, deadline: float) -> None:
        self._setup = setup
        self._search: AlphaBeta | None = None
        game = setup.game
        if not isinstance(game, CompiledGame):
            return
        begin = time.monotonic()
        try:
            search = AlphaBeta(game, self.refinements, self._given_estimate(game))
            search.forget()
            search.search(game.initial_state(), depth=1)
            now = time.monotonic()
            # Analyzing a circuit that is slow to prepare takes several times as long again.
            has_time = deadline - self.margin_seconds - now > ANALYSIS * (now - begin)
            is_open = self.estimate is None and self.weights is None
            if is_open and has_time:
                self.evaluation, estimate = find_estimate(
                    game,
                    self.judging,
                    search.images,
                    seed=setup.seed,
                    deadline=deadline - self.margin_seconds,
                    is_timed=self.nodes is None,
                )
                _logger.info("%s: positions are judged by %s", setup.match_id, self.evaluation)
                search.judge_by(estimate)
            elif is_open:
                self.evaluation = "mobility"
                _logger.info(
                    "%s: positions are judged by mobility, there is no time to learn", setup.match_id
                )
            self._search = search
        except AlphaBetaError as error:
            _logger.info("%s: no alpha-beta, %s", game.name, error)

    def _given_estimate(self, game: CompiledGame) -> Estimate | None:
        if self.weights is None:
            return self.estimate
        estimate = self.estimate or Estimate(goal_weight=0, mobility_weight=0)
        return replace(estimate, weights=self.weights.scores(game))

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
_NUMBERS = ("aspiration", "kept_moves", "depth", "nodes", "margin")
_JUDGING = {"evaluation": "evaluation", "features": "kind", "games": "games"}


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
        if "file" not in options:
            raise PlayerSpecError(f"player {spec!r}: tablebase needs file=PATH")
        others = {key: text for key, text in options.items() if key != "file"}
        return TablebasePlayer(options["file"], make_other(others))
    if kind == "solving":
        return _solving_player(spec, options, make_other)
    settings: dict[str, Any] = {}
    judging: dict[str, Any] = {}
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
            settings[key] = _read_weights(spec, text)
        elif key in _JUDGING:
            judging[_JUDGING[key]] = int(_number(spec, key, text, int)) if key == "games" else text
        else:
            known = ", ".join((*_SWITCHES, *_NUMBERS, "weights", *_JUDGING))
            raise PlayerSpecError(f"player {spec!r}: no option {key!r}; there are {known}")
    try:
        settings["judging"] = JudgingOptions(**judging)
    except ValueError as error:
        raise PlayerSpecError(f"player {spec!r}: {error}") from None
    return AlphaBetaPlayer(refinements, on_progress=on_progress, **settings)


def _solving_player(
    spec: str, options: Mapping[str, str], make_other: Callable[[Mapping[str, str]], Player]
) -> SolvingPlayer:
    others = {key: text for key, text in options.items() if key not in ("mebibytes", "mixed")}
    if "simulations" not in others:
        # One core is the solver's.
        others.setdefault("threads", str(max(1, available_cores() - 1)))
    mebibytes = _number(spec, "mebibytes", options.get("mebibytes", str(SOLVER_MEBIBYTES)), int)
    is_mixing = bool(_number(spec, "mixed", options.get("mixed", "1"), int))
    return SolvingPlayer(make_other(others), mebibytes=int(mebibytes), is_mixing=is_mixing)


def _read_weights(spec: str, path: str) -> LinearEvaluation:
    try:
        return LinearEvaluation.load(path)
    except (OSError, EvaluationFileError) as error:
        raise PlayerSpecError(f"player {spec!r}: {error}") from None


def _number(spec: str, key: str, text: str, kind: Callable[[str], float]) -> float:
    try:
        value = kind(text)
    except ValueError:
        raise PlayerSpecError(f"player {spec!r}: {key} is a number, not {text!r}") from None
    if not 0 <= value < float("inf"):
        raise PlayerSpecError(f"player {spec!r}: {key} cannot be {text}")
    return value
