"""Learning an evaluation by self-play: linear weights of features or facts, by TD(lambda).

Learning begins with random playouts and continues with games of a shallow alpha-beta search that scores its
horizon by what is known so far. After every batch of games the weights are fitted again, to the latest games.

The start clock of `alphabeta` and `ggp prepare evaluation` use the same learner. Sources and departures from
them: `ggp.features.td`.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.features.board_features import Features
from ggp.features.learning import (
    FACTS,
    PIECES,
    FeatureWeights,
    PlayedGame,
    feature_numbers,
    learn_from_games,
    learn_weights,
)
from ggp.features.linear_form import EVEN_GOAL, LinearForm, WeightedFacts
from ggp.features.recognition import recognize_features
from ggp.search.alphabeta.estimate import SCALE
from ggp.search.alphabeta.search import AlphaBeta, Estimate
from ggp.search.alphabeta.self_play import play_games
from ggp.search.budget import Budget

TABLE_MEBIBYTES = 4
GAMES = 512
NODES = 200
"""Maximum positions expanded by a search in self-play."""

SEARCHES = 1000
"""Self-play starts only if there is time for this many searches ..."""

MIN_NODES = 20
"""... with at least this many nodes each."""

_DEPTH = 2
_EXPLORATION = 0.1
_BATCH = 64
_REMEMBERED = 256
_EPISODES = 512
_DAMPING = 0.5
"""Learned values are halved, so that sums with others stay between 0 and 100 until the game is decided."""

_SPREAD = 20 * SCALE
"""The distance from even within which nine tenths of the states are scored, once learning is over."""

_MAX_SPREAD = 100.0
_SPREAD_GAMES = 16
_RECENT = 1024
"""The weights are finally fitted to the latest games, in which the evaluation played best."""

_logger = logging.getLogger("ggp.players")


class SelfPlayLearner:
    """Learns from random playouts, then from games against itself.

    scores   int32[F+1] for `Estimate`, None before anything was learned
    recent   the latest games
    was_interrupted   whether Ctrl-C ended learning
    curve    (games played, mean squared error, in (0..1)**2, of the results predicted for the newest batch)
    """

    def __init__(
        self,
        game: CompiledGame,
        features: Features | None,
        *,
        games: int = GAMES,
        seed: int = 0,
        deadline: float = math.inf,
        remembered: int = _REMEMBERED,
    ) -> None:
        """How to learn: weights of pieces if a role has several kinds, else of facts.

        games        of self-play, at most
        deadline     time.monotonic() seconds
        remembered   games to keep in `recent`
        """
        self.game, self.features, self.games = game, features, games
        self.seed, self.deadline = seed, deadline
        self.kind = PIECES if has_kinds(game, features) else FACTS
        self.scores: NDArray[np.int32] | None = None
        self.recent: deque[PlayedGame] = deque(maxlen=remembered)
        self.curve: list[tuple[int, float]] = []
        self.was_interrupted = False
        self._rng = random.Random(seed)

    def run(self, report: Callable[[int, float], None] | None = None) -> bool:
        """Learn until the games are played or the deadline has passed; return whether anything was learned.

        report   called after every batch with the newest point of `curve`
        Raises AlphaBetaError where alpha-beta cannot search the game.
        """
        if time.monotonic() > self.deadline:
            return False
        weights = learn_weights(
            self.game,
            self.features,
            self.kind,
            episodes=_EPISODES,
            seed=self.seed,
            deadline=self.deadline,
        )
        if not weights.episodes:
            return False
        self.scores = feature_scores(self.game, self.features, weights)
        played = 0
        nodes = NODES
        while played < self.games and time.monotonic() < self.deadline:
            search = self._search()
            if played == 0:
                left = self.deadline - time.monotonic()
                nodes = round(min(NODES, search_speed(search, left / 20) * left / SEARCHES))
            if nodes < MIN_NODES:
                break
            new = self._play(search, min(_BATCH, self.games - played), _DEPTH, nodes, _EXPLORATION)
            if not new:
                break
            played += len(new)
            self.curve.append((played, self._error(new)))
            if report is not None:
                report(*self.curve[-1])
            self.recent.extend(new)
            self.fit(list(self.recent)[-_REMEMBERED:], self.deadline)
        _logger.info("%s: learned from %d games against itself", self.game.name, played)
        return True

    def form(self) -> LinearForm:
        """What was learned, with a weight for each fact that has one."""
        assert self.scores is not None
        *weights, constant = (self.scores / SCALE).tolist()
        named = zip(weights, self.game.terms.fluents, strict=True)
        terms = tuple(WeightedFacts(line, *each) for line, each in enumerate(named, 1) if each[0])
        return LinearForm(self.game.name, terms, EVEN_GOAL + constant)

    def spread_scores(self) -> NDArray[np.int32]:
        """The scores, scaled so that states differ. If most games are drawn they are otherwise so small
        that mobility, in a sum with them, decides."""
        assert self.scores is not None
        games = list(self.recent)[-_REMEMBERED:] or self._play(self._search(), _SPREAD_GAMES, 1, 1, 1.0)
        if not games:
            return self.scores
        values = np.concatenate([played.states for played in games]) @ self.scores[:-1] + self.scores[-1]
        usual = float(np.quantile(np.abs(values), 0.9))
        factor = min(_MAX_SPREAD, _SPREAD / usual) if usual > 0 else 1.0
        spread: NDArray[np.int32] = np.rint(factor * self.scores).astype(np.int32)
        return spread

    def fit(self, games: Sequence[PlayedGame], deadline: float = math.inf) -> None:
        """Fit the weights to games; keep the old ones if time runs out meanwhile."""
        weights = learn_from_games(self.game, self.features, self.kind, games, deadline)
        if not math.isnan(weights.error) and time.monotonic() < deadline:
            self.scores = feature_scores(self.game, self.features, weights)

    def _error(self, games: Sequence[PlayedGame]) -> float:
        assert self.scores is not None
        errors = [goals_by_scores(self.scores, each.states[:-1]) - each.goals[0] for each in games]
        return float(np.mean((np.concatenate(errors) / 100) ** 2))

    def _search(self) -> AlphaBeta:
        estimate = Estimate(goal_weight=0, weights=self.scores)
        return AlphaBeta(self.game, estimate, mebibytes=TABLE_MEBIBYTES)

    def _play(
        self, search: AlphaBeta, count: int, depth: int, nodes: int, exploration: float
    ) -> list[PlayedGame]:
        return play_games(
            search,
            count,
            depth=depth,
            node_limit=nodes,
            exploration=exploration,
            rng=self._rng,
            deadline=self.deadline,
        )


def learn_evaluation(
    game: CompiledGame,
    *,
    games: int = GAMES,
    seed: int = 0,
    report: Callable[[int, float], None] | None = None,
    is_interruptible: bool = False,
) -> SelfPlayLearner:
    """Learn a linear evaluation by self-play; `form()` of the learner has it.

    is_interruptible   a KeyboardInterrupt ends learning, once something was learned
    Raises AlphaBetaError where alpha-beta cannot search the game.
    """
    AlphaBeta(game, mebibytes=1)
    features = recognize_features(game)
    learner = SelfPlayLearner(game, features, games=games, seed=seed, remembered=_RECENT)
    try:
        learner.run(report)
    except KeyboardInterrupt:
        if not is_interruptible or learner.scores is None:
            raise
        learner.was_interrupted = True
    if learner.recent:
        # Many games make steadier weights than the few that each batch has time for.
        learner.fit(list(learner.recent))
    return learner


def goals_by_scores(scores: NDArray[np.int32], states: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Predicted goals float64[N] of the first role in states bool[N, F].

    >>> goals_by_scores(np.array([2000, -500, 0]), np.array([[True, False], [True, True]])).tolist()
    [70.0, 65.0]
    """
    goals: NDArray[np.float64] = EVEN_GOAL + (states @ scores[:-1] + scores[-1]) / SCALE
    return goals.clip(0.0, 100.0)


def feature_scores(
    game: CompiledGame, features: Features | None, weights: FeatureWeights
) -> NDArray[np.int32]:
    """Feature weights as int32[F+1] for `Estimate`."""
    fluents, feature_of = feature_numbers(game, features, weights.kind)
    # With two roles a value is the difference of goals that add up to 100.
    worth, rest = (1.0, 50.0) if len(game.roles) == 1 else (0.5, 0.0)
    scores = np.zeros(len(game.terms.fluents) + 1)
    scores[fluents] = weights.weight[feature_of, 0]
    scores[-1] = weights.constant[0] - rest
    return np.rint(_DAMPING * worth * SCALE * scores).astype(np.int32)


def has_kinds(game: CompiledGame, features: Features | None) -> bool:
    """Whether a role has several kinds of pieces."""
    roles = range(len(game.roles))
    return features is not None and any(len(features.pieces_of(role)) > 1 for role in roles)


def search_speed(search: AlphaBeta, seconds: float) -> float:
    """Nodes per second: the best of three searches that take `seconds` together at most."""
    best = 0.0
    for _ in range(3):
        search.forget()
        budget = Budget(time.monotonic() + seconds / 3, nodes=NODES)
        result = search.search(search.game.initial_state(), budget)
        best = max(best, result.nodes / max(result.seconds, 1e-6))
    return best
