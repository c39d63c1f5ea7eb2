"""How alpha-beta judges positions at the horizon, found out for the game at hand before the first move.

An *evaluation* is one of these, or several joined by `+`:

    mobility   the moves of the role to move; alone, with half of what goals of states that go on say
    distance   how near the roles are to their goals (`ggp.search.goal_distance`)
    features   a linear value of what holds, learned by TD(lambda) from self-play

`auto` tries them: they play short games against each other, and the best stays.

Learning begins with random playouts and goes on with games of a shallow alpha-beta that judges with what is
known so far. States of the last games are learned from anew after every batch.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp.compiled_game import CompiledGame
from ggp.feature_recognition import recognize_features
from ggp.features import NOTHING, Features
from ggp.kernels.alphabeta_distance import GoalFormula
from ggp.search.alphabeta import AlphaBeta, Estimate, Refinements
from ggp.search.feature_learning import (
    CELLS,
    FACTS,
    PIECES,
    FeatureWeights,
    PlayedGame,
    feature_numbers,
    learn_from_games,
    learn_weights,
)
from ggp.search.goal_distance import goal_formula
from ggp.search.refinements import SCALE
from ggp.search.self_play import compare, play_games

PARTS = ("mobility", "distance", "features")
AUTO = "auto"
KINDS = (AUTO, PIECES, CELLS, FACTS)
TRIED = ("mobility", "distance+mobility", "features+mobility", "distance+features+mobility")

_TABLE_MEBIBYTES = 4
_DEPTH = 2
_NODES = 200
_EXPLORATION = 0.1
_BATCH = 64
_REMEMBERED = 256
_EPISODES = 512
_COMPARED = 32
_LEAST_COMPARED = 8
_DAMPING = 0.5
"""Learned values are halved, so that sums with others stay between 0 and 100 where there is still play."""

_SPREAD = 20 * SCALE
"""What nine tenths of the states that are met differ from even by at most, once learning is over."""

_MOST_SPREAD = 100.0
_SPREAD_GAMES = 16

_SEARCHES = 1000
"""Searches for which there must be time before any are made ..."""

_LEAST_NODES = 20
"""... with so many nodes each."""

_logger = logging.getLogger("ggp.players")


@dataclass(frozen=True)
class JudgingOptions:
    """evaluation: see above; kind: of features, one of KINDS; games: of self-play, at most.

    The kind `auto` stands for `pieces` where a role has several kinds of them, else for `facts`.
    """

    evaluation: str = AUTO
    kind: str = AUTO
    games: int = 512

    def __post_init__(self) -> None:
        parts = self.evaluation.split("+")
        if self.evaluation != AUTO and (set(parts) - set(PARTS) or len(set(parts)) < len(parts)):
            raise ValueError(f"an evaluation is {AUTO}, or some of {', '.join(PARTS)} joined by +")
        if self.kind not in KINDS:
            raise ValueError(f"features are {', '.join(KINDS)}, not {self.kind!r}")


def find_estimate(
    game: CompiledGame,
    options: JudgingOptions,
    images: NDArray[np.int32],
    *,
    seed: int = 0,
    deadline: float = math.inf,
    is_timed: bool = True,
) -> tuple[str, Estimate]:
    """The estimate asked for, or the best one, with its name. Parts that a game does not give are left out.

    images     its symmetries, see `ggp.search.symmetry`
    deadline   time.monotonic() seconds; what is not ready then is left out
    is_timed   compare evaluations at equal time; else with equal nodes, so that the seed decides alone
    Raises AlphaBetaError where alpha-beta cannot search the game.
    """
    if options.evaluation == "mobility":
        return "mobility", Estimate()
    is_auto = options.evaluation == AUTO
    names = TRIED if is_auto else (options.evaluation,)
    asked = {part for name in names for part in name.split("+")}
    features = recognize_features(game, deadline)
    formula = goal_formula(game, features, deadline) if "distance" in asked else None
    if is_auto and len(game.roles) == 1:
        asked -= {"features"}
    weights = None
    if "features" in asked:
        now = time.monotonic()
        until = now + (deadline - now) * (0.5 if is_auto else 1.0)
        learner = _SelfPlay(game, features, options, images, seed, until)
        weights = learner.run()
    have = {"mobility": True, "distance": formula is not None, "features": weights is not None}
    if not is_auto and (missing := [part for part in names[0].split("+") if not have[part]]):
        _logger.warning("%s: nothing to judge by %s, or no time to find it", game.name, " or ".join(missing))
    estimates: dict[str, Estimate] = {}
    for name in names:
        parts = [part for part in name.split("+") if have[part]] or ["mobility"]
        estimates["+".join(parts)] = _estimate(parts, formula, weights)
    if len(game.roles) == 1:
        return list(estimates.items())[-1]
    # Where what can be taken differs in worth, that is what counts most.
    guess = "features+mobility" if has_kinds(game, features) else "distance+mobility"
    guess = guess if guess in estimates else next(iter(estimates))
    best = _best_of(game, estimates, guess, images, seed, deadline, is_timed)
    return best, estimates[best]


def _estimate(parts: list[str], formula: GoalFormula | None, weights: NDArray[np.int32] | None) -> Estimate:
    if parts == ["mobility"]:
        return Estimate()
    return Estimate(
        goal_weight=0,
        mobility_weight=Estimate.mobility_weight if "mobility" in parts else 0,
        formula=formula if "distance" in parts else None,
        weights=weights if "features" in parts else None,
    )


def feature_scores(
    game: CompiledGame,
    features: Features | None,
    weights: FeatureWeights,
    images: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Feature weights as int32[F+1] for `Estimate`; images: symmetries, whose weights are averaged."""
    fluents, feature_of = feature_numbers(game, features, weights.kind)
    # With two roles a value is the difference of goals that add up to 100.
    worth, rest = (1.0, 50.0) if len(game.roles) == 1 else (0.5, 0.0)
    scores = np.zeros(len(game.terms.fluents) + 1)
    scores[fluents] = weights.weight[feature_of, 0]
    scores[-1] = weights.constant[0] - rest
    if images is not None:
        scores[:-1] = scores[images].mean(axis=0)
    return np.rint(_DAMPING * worth * SCALE * scores).astype(np.int32)


def has_kinds(game: CompiledGame, features: Features | None) -> bool:
    """Whether a role has several kinds of pieces."""
    if features is None:
        return False
    return any(len(features.pieces_of(role)) > 1 for role in range(len(game.roles)))


class _SelfPlay:
    """Learns from random playouts, then from games against itself."""

    def __init__(
        self,
        game: CompiledGame,
        features: Features | None,
        options: JudgingOptions,
        images: NDArray[np.int32],
        seed: int,
        deadline: float,
    ) -> None:
        self.game, self.images, self.deadline = game, images, deadline
        has_board = features is not None and any(piece.owner != NOTHING for piece in features.pieces)
        self.features = features if has_board else None
        self.kind = self._kind(options.kind)
        self.games = options.games
        self.seed = seed
        self.rng = random.Random(seed)

    def _kind(self, asked: str) -> str:
        if self.features is None:
            return FACTS
        if asked != AUTO:
            return asked
        return PIECES if has_kinds(self.game, self.features) else FACTS

    def run(self) -> NDArray[np.int32] | None:
        """The scores of facts; None where there was no time to learn anything."""
        if time.monotonic() > self.deadline:
            return None
        weights = learn_weights(
            self.game,
            self.features,
            self.kind,
            episodes=_EPISODES,
            seed=self.seed,
            deadline=self.deadline,
        )
        if not weights.episodes:
            return None
        scores = feature_scores(self.game, self.features, weights, self.images)
        played = 0
        nodes = _NODES
        games: list[PlayedGame] = []
        while played < self.games and time.monotonic() < self.deadline:
            search = self._search(scores)
            if played == 0:
                nodes = self._nodes(search)
            if nodes < _LEAST_NODES:
                break
            new = play_games(
                self.game,
                search,
                min(_BATCH, self.games - played),
                depth=_DEPTH,
                node_limit=nodes,
                exploration=_EXPLORATION,
                rng=self.rng,
                deadline=self.deadline,
            )
            if not new:
                break
            played += len(new)
            games = [*games, *new][-_REMEMBERED:]
            weights = learn_from_games(self.game, self.features, self.kind, games, self.deadline)
            if not math.isnan(weights.error) and time.monotonic() < self.deadline:
                scores = feature_scores(self.game, self.features, weights, self.images)
        _logger.info("%s: learned from %d games against itself", self.game.name, played)
        return self._spread(scores, games)

    def _spread(self, scores: NDArray[np.int32], games: list[PlayedGame]) -> NDArray[np.int32]:
        """The scores on a scale on which states differ.

        Where most games are drawn they would else be so small that mobility, in a sum with them, decides.
        """
        if not games:
            search = self._search(scores)
            games = play_games(
                self.game,
                search,
                _SPREAD_GAMES,
                depth=1,
                node_limit=1,
                exploration=1.0,
                rng=self.rng,
                deadline=self.deadline,
            )
        if not games:
            return scores
        values = np.concatenate([played.states for played in games]) @ scores[:-1] + scores[-1]
        usual = float(np.quantile(np.abs(values), 0.9))
        factor = min(_MOST_SPREAD, _SPREAD / usual) if usual > 0 else 1.0
        spread: NDArray[np.int32] = np.rint(factor * scores).astype(np.int32)
        return spread

    def _search(self, scores: NDArray[np.int32]) -> AlphaBeta:
        estimate = Estimate(goal_weight=0, weights=scores)
        return AlphaBeta(self.game, Refinements(), estimate, mebibytes=_TABLE_MEBIBYTES, images=self.images)

    def _nodes(self, search: AlphaBeta) -> int:
        """Nodes of a search of which very many fit into the time there is."""
        left = self.deadline - time.monotonic()
        speed = _speed(self.game, search, left / 20)
        return round(min(_NODES, speed * left / _SEARCHES))


def _best_of(
    game: CompiledGame,
    estimates: Mapping[str, Estimate],
    guess: str,
    images: NDArray[np.int32],
    seed: int,
    deadline: float,
    is_timed: bool,
) -> str:
    """The name of the estimate that wins: each plays against the best of those before it.

    guess   the name where there is no time to find out
    """
    names = list(estimates)
    if len(names) == 1:
        return names[0]
    searches = {
        name: AlphaBeta(game, Refinements(), estimate, mebibytes=_TABLE_MEBIBYTES, images=images)
        for name, estimate in estimates.items()
    }
    left = deadline - time.monotonic()
    if left <= 0:
        return guess
    nodes = dict.fromkeys(names, _NODES)
    if is_timed:
        speeds = {name: _speed(game, search, left / 40) for name, search in searches.items()}
        quick = max(speeds.values())
        most = min(_NODES, quick * left / (len(names) * _SEARCHES))
        if most < _LEAST_NODES:
            return guess
        nodes = {name: max(1, round(most * speed / quick)) for name, speed in speeds.items()}
    best = names[0]
    rng = random.Random(seed + 1)
    for place, name in enumerate(names[1:], start=1):
        now = time.monotonic()
        until = now + (deadline - now) / (len(names) - place)
        pair = searches[name], searches[best]
        limits = nodes[name], nodes[best]
        share, played = compare(game, pair, limits, _COMPARED, rng=rng, deadline=until)
        _logger.info("%s: %s makes %.0f %% against %s in %d", game.name, name, 100 * share, best, played)
        if share > 0.5 and played >= _LEAST_COMPARED:
            best = name
    return best


def _speed(game: CompiledGame, search: AlphaBeta, seconds: float) -> float:
    """Nodes per second, the best of three short searches that take at most so long together."""
    best = 0.0
    for _ in range(3):
        search.forget()
        end = time.monotonic() + seconds / 3
        deadline = None if math.isinf(end) else end
        result = search.search(game.initial_state(), node_limit=_NODES, deadline=deadline)
        best = max(best, result.nodes / max(result.seconds, 1e-6))
    return best


__all__ = ["AUTO", "PARTS", "JudgingOptions", "feature_scores", "find_estimate", "has_kinds"]
