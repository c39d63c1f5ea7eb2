"""Static evaluation of positions at the horizon."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp.networks.network import Network
from ggp.search.alphabeta.kernels.distance import GoalFormula

SCALE = 100
"""Scores per goal point."""


@dataclass(frozen=True)
class Estimate:
    """Static evaluation at the horizon, in hundredths of a goal for the first role.

    null_score        the score of a position about which nothing is known
    goal_weight       percentage of the goal there (if the rules give one), as a difference from null_score
    mobility_weight   for every legal move of the role to move
    weights           int32[F+1]: for every fact that holds, and a constant
    distance_weight   percentage of the goal expected by `formula`, as a difference from null_score
    formula           see `ggp.search.alphabeta.goal_distance`; None: no distances
    is_for_order      the score orders moves and nothing else: positions at the horizon get null_score
    network_weight    percentage of the goal that `network` expects, as a difference from null_score
    network           a network taught to play the game; None: none
    """

    null_score: int = 50 * SCALE
    goal_weight: int = 50
    mobility_weight: int = 2
    weights: NDArray[np.int32] | None = None
    distance_weight: int = 100
    formula: GoalFormula | None = None
    is_for_order: bool = False
    network_weight: int = 100
    network: Network | None = None
