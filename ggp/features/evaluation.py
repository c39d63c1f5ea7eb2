"""A linear evaluation of states: one weight per fact, through a sigmoid, for the goal of the first role.

    goal = 100 / (1 + exp(-(constant + sum of the weights of the facts that hold)))

It is learned by `ggp.search.alphabeta.learning` and saved as JSON, with facts by name, so that it does not
depend on how a version of the program numbers them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ggp.files import write_text

if TYPE_CHECKING:
    from ggp.engines.compiled import CompiledGame

FORMAT = "ggp-evaluation 1"
SLOPE = 25.0
"""Goal points per unit of the sigmoid's argument, at its middle."""


class EvaluationFileError(Exception):
    """The file does not hold an evaluation."""


@dataclass(frozen=True)
class LinearEvaluation:
    """Weights by the text of a fact; facts without a weight count 0.

    curve      progress of learning: (games played, mean squared error of the predicted result)
    was_interrupted   Ctrl-C ended learning; not saved
    """

    game: str
    constant: float
    weights: Mapping[str, float]
    curve: tuple[tuple[int, float], ...] = field(default=())
    was_interrupted: bool = False

    def save(self, path: str | Path) -> None:
        """Write the evaluation as JSON. Raises OSError."""
        content: dict[str, Any] = {
            "format": FORMAT,
            "game": self.game,
            "constant": self.constant,
            "weights": dict(self.weights),
            "curve": [list(point) for point in self.curve],
        }
        write_text(path, json.dumps(content, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> LinearEvaluation:
        """Read what `save` wrote. Raises OSError, EvaluationFileError."""
        try:
            content: Any = json.loads(Path(path).read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise EvaluationFileError(f"{path}: not {FORMAT!r}")
            weights = {str(fact): float(weight) for fact, weight in content["weights"].items()}
            curve = tuple((int(games), float(error)) for games, error in content["curve"])
            if not all(map(math.isfinite, (*weights.values(), float(content["constant"])))):
                raise ValueError("weights must be finite")
            return cls(str(content["game"]), float(content["constant"]), weights, curve)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise EvaluationFileError(f"{path}: not an evaluation ({error})") from None

    def vector(self, game: CompiledGame) -> NDArray[np.float64]:
        """float64[F+1]: the weight of every fluent of `game`, and the constant."""
        weights = [self.weights.get(str(fluent), 0.0) for fluent in game.terms.fluents]
        return np.array([*weights, self.constant])

    def scores(self, game: CompiledGame) -> NDArray[np.int32]:
        """int32[F+1] for `ggp.search.alphabeta.search.Estimate`: hundredths of a goal, the sigmoid
        linearized."""
        return np.rint(100 * SLOPE * self.vector(game)).astype(np.int32)


def goal_of_states(weights: NDArray[np.float64], states: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Predicted goals of the first role: float64[F+1], bool[N, F] → float64[N].

    >>> goal_of_states(np.array([2.0, -2.0, 0.0]), np.array([[True, True]]))
    array([50.])
    """
    goals: NDArray[np.float64] = 100.0 / (1.0 + np.exp(-(states @ weights[:-1] + weights[-1])))
    return goals
