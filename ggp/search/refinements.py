"""What an alpha-beta search is told: its refinements, and how it judges positions at the horizon."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp.kernels.alphabeta_distance import GoalFormula

SCALE = 100
"""Scores per goal point."""


@dataclass(frozen=True)
class Refinements:
    """Which refinements are used; the defaults are those that pay.

    transpositions        remember positions
    order_by_table        search the remembered best move first
    killers               then two moves that refuted siblings
    history               then moves by how often they refuted
    static_order          terminal children first, then by goal, weights and mobility
    principal_variation   null windows around all but the first move
    iterative_deepening   search to depth 1, 2, ... until the value is proven
    aspiration            half width of the window around the previous iteration's value, in goal points; 0:
                          none. A failure widens that side to twice, then to the end
    bisection             null-window searches that halve the possible goals, instead of one window
    symmetries            positions that the rules cannot tell apart count as one

    These can change what a search short of the end finds:

    late_move_reduction   moves from the fourth on are searched two plies less deep at first
    kept_moves            only so many moves of each node are searched; 0: all
    singular_extension    a move much better than all others is searched one ply deeper
    """

    transpositions: bool = True
    order_by_table: bool = True
    killers: bool = True
    history: bool = True
    static_order: bool = True
    principal_variation: bool = True
    iterative_deepening: bool = True
    aspiration: int = 0
    bisection: bool = False
    symmetries: bool = True
    late_move_reduction: bool = False
    kept_moves: int = 0
    singular_extension: bool = False


PLAIN = Refinements(
    transpositions=False,
    order_by_table=False,
    killers=False,
    history=False,
    static_order=False,
    principal_variation=False,
    iterative_deepening=False,
    symmetries=False,
)
"""Alpha-beta as Knuth and Moore describe it."""


@dataclass(frozen=True)
class Estimate:
    """How positions at the horizon are judged, in hundredths of a goal for the first role.

    null_score        a position of which nothing is known
    goal_weight       percent of what the goal there, if the rules give one, differs from the null score
    mobility_weight   for every move that the role to move has
    weights           int32[F+1]: for every fact that holds, and a constant
    distance_weight   percent of what the goal expected by `formula` differs from the null score
    formula           see `ggp.search.goal_distance`; None: no distances
    """

    null_score: int = 50 * SCALE
    goal_weight: int = 50
    mobility_weight: int = 2
    weights: NDArray[np.int32] | None = None
    distance_weight: int = 100
    formula: GoalFormula | None = None
