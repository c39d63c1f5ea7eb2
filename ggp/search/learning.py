"""Learning a linear evaluation from self-play by temporal differences: TD(lambda) with a sigmoid.

Games are played in lanes, many side by side: in each state the role to move looks one joint move ahead with
the evaluation as it is and takes the best successor, or with some probability a random one. After each batch
of games the weights follow the lambda-returns of all states met (Sutton, 1988; Tesauro's TD-Gammon). Every
game begins with random moves, up to as many as a game has, so that learning sees more than one line of play.

For games of one role, or of two with constant sum, without chance or simultaneous moves.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp.compiled_game import CompiledGame, Successors
from ggp.feature_recognition import recognize_features
from ggp.game import RANDOM_ROLE
from ggp.search.evaluation import LinearEvaluation, NamedFeatures, goal_of_states
from ggp.search.fast_cases import find_cases
from ggp.search.feature_learning import PlayedGame, learn_from_games, name_features
from ggp.search.temporal_differences import lambda_returns, weight_change

RECENT = 1024
"""Games from which features are learned: the last ones, in which the evaluation played best."""


class LearningError(Exception):
    """The game is of a kind that is not learned here."""


@dataclass(frozen=True)
class LearningOptions:
    """How to learn.

    games        to play in all, `batch` of them between changes of the weights
    step         how far weights follow an error; it falls to a tenth in the course of learning
    trace        lambda: 1 learns from final goals alone, 0 from the next state's value alone
    exploration  probability of a random move; it falls to a fifth in the course of learning
    longest      joint moves after which a game is broken off
    """

    games: int = 2000
    batch: int = 20
    step: float = 1.0
    trace: float = 0.8
    exploration: float = 0.25
    longest: int = 500
    seed: int = 0


@dataclass(frozen=True)
class Episode:
    """States bool[T+1, F] of one game, and all roles' goals float64[R] in the last of them."""

    states: NDArray[np.bool_]
    goals: NDArray[np.float64]

    @property
    def goal(self) -> float:
        """Of the first role."""
        return float(self.goals[0])


class TemporalDifferenceLearner:
    """Plays against itself and learns. `curve` is (games played, mean squared error of predicted results)."""

    def __init__(self, game: CompiledGame, options: LearningOptions | None = None) -> None:
        """Raises LearningError."""
        if len(game.roles) > 2 or RANDOM_ROLE in game.roles or game.terms.percepts:
            raise LearningError("only games of one role, or of two without chance that see everything")
        self.game = game
        self.options = options or LearningOptions()
        self.weights = np.zeros(len(game.terms.fluents) + 1)
        self.curve: list[tuple[int, float]] = []
        self._rng = np.random.default_rng(self.options.seed)
        self._recent: deque[Episode] = deque(maxlen=RECENT)
        self._length = 0.0

    def run(
        self,
        *,
        deadline: float | None = None,
        report: Callable[[int, float], None] | None = None,
    ) -> LinearEvaluation:
        """Learn until the games are played or the deadline (time.monotonic()) has passed."""
        options = self.options
        played = 0
        while played < options.games and (deadline is None or time.monotonic() < deadline):
            done = played / options.games
            exploration = options.exploration * (1 - 0.8 * done)
            episodes = [self._play(exploration) for _ in range(min(options.batch, options.games - played))]
            played += len(episodes)
            error = self._error(episodes)
            self.curve.append((played, error))
            self._learn(episodes, options.step * (1 - 0.9 * done))
            self._recent.extend(episodes)
            if report is not None:
                report(played, error)
        named = zip(self.game.terms.fluents, self.weights[:-1], strict=True)
        weights = {str(fluent): round(float(weight), 5) for fluent, weight in named if abs(weight) > 5e-6}
        return LinearEvaluation(
            self.game.name,
            round(float(self.weights[-1]), 5),
            weights,
            tuple(self.curve),
            self._features(),
        )

    def _features(self) -> NamedFeatures | None:
        """What FAST's features are worth, learned from the last games; None where there are none."""
        features = recognize_features(self.game)
        kind = None if features is None else find_cases(self.game, features)[0]
        if features is None or kind is None or not self._recent:
            return None
        games = [PlayedGame(episode.states, episode.goals) for episode in self._recent]
        return name_features(self.game, features, learn_from_games(self.game, features, kind, games))

    def _play(self, exploration: float) -> Episode:
        game = self.game
        state = game.initial_state()
        states = [game.unpack(state)]
        opening = int(self._rng.integers(int(self._length) + 1))
        steps = 0
        while not game.is_terminal(state) and steps < self.options.longest:
            legal = [len(game.legal_moves(state, role)) for role in game.roles]
            if sum(count > 1 for count in legal) > 1:
                raise LearningError("two roles choose at the same time")
            following = game.successors(state)
            place = int(self._rng.integers(len(following.states)))
            is_opening = steps < opening
            if not is_opening and self._rng.random() >= exploration:
                values = self._successor_values(following)
                sign = -1 if len(legal) > 1 and legal[1] > 1 else 1
                best = np.flatnonzero(sign * values >= (sign * values).max() - 1e-9)
                place = int(self._rng.choice(best))
            state = following.states[place]
            steps += 1
            if is_opening and not following.is_terminal[place]:
                states.clear()
            states.append(game.unpack(state))
        self._length += (steps - self._length) / 50
        is_over = game.is_terminal(state)
        goals = [float(game.goal(state, role)) if is_over else 50.0 for role in game.roles]
        return Episode(np.array(states), np.array(goals))

    def _successor_values(self, following: Successors) -> NDArray[np.float64]:
        unpacked = np.array([self.game.unpack(state) for state in following.states])
        values = goal_of_states(self.weights, unpacked)
        return np.where(following.is_terminal, following.goals[:, 0], values)

    def _error(self, episodes: list[Episode]) -> float:
        """Mean squared error, in (0..1)**2, of the goals predicted in games not yet learned from."""
        errors = [
            (goal_of_states(self.weights, episode.states[:-1]) - episode.goal) / 100 for episode in episodes
        ]
        return float(np.mean(np.concatenate(errors) ** 2))

    def _learn(self, episodes: list[Episode], step: float) -> None:
        """One step along the gradient of the squared distance to the lambda-returns, averaged over games."""
        changes = np.zeros_like(self.weights)
        count = 0
        for episode in episodes:
            live = episode.states[:-1]
            predicted = goal_of_states(self.weights, live) / 100
            returns = lambda_returns(
                predicted[:, None], [len(live)], [episode.goal / 100], self.options.trace
            )
            pull = returns[:, 0] - predicted
            changes[:-1] += len(live) * weight_change(live, pull)
            changes[-1] += pull.sum()
            count += len(live)
        self.weights += step * changes / max(1, count)
