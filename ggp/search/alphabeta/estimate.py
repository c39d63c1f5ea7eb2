"""Static evaluation of positions at the horizon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.game import Game
from ggp.search.alphabeta.kernels.distance import GoalFormula

SCALE = 100
"""Scores per goal point."""
EVEN = 50 * SCALE
"""The score of a position about which nothing is known."""


@dataclass(frozen=True)
class Estimate:
    """Static evaluation at the horizon, in hundredths of a goal for the first role.

    What the goal there and the formula expect is added as a difference from EVEN.
    """

    goal_weight: int = 50  # percentage of the goal there, if the rules give one
    mobility_weight: int = 2  # for every legal move of the role to move
    weights: NDArray[np.int32] | None = None  # int32[F+1]: for every fact that holds, and a constant
    formula: GoalFormula | None = None  # see `ggp.search.alphabeta.goal_distance`; None: no distances
    lowest: int = 1  # bounds of the score: between those of a lost and a won game
    highest: int = 100 * SCALE - 1
    function: Callable[[Game[Any], Any], float] | None = None
    """(game, state) → the goal that the first role may expect; only the readable search calls it."""
