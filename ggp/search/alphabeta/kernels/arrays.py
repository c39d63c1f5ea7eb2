"""The memory of an alpha-beta search.

Letters: D words per key, M moves of all roles, L = 64*W lanes, Y plies, C children in the arena, S slots of
the transposition table, V symmetries.

Scores are hundredths of a goal, unless stated otherwise from the point of view of the role to move: role 0
maximizes its goal, for role 1 a score is the negated goal of role 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.rows import Rows
from ggp.networks.kernels import NetworkTables
from ggp.search.alphabeta.kernels.distance import GoalFormula
from ggp.search.alphabeta.kernels.side_circuit import SideCircuit
from ggp.solver.kernels.known_goals import KnownGoals

Ints = NDArray[np.int64]

MAX_PLIES = 1000
INFINITE = 1 << 20
NO_SCORE = -(1 << 30)
UNLIMITED = 1 << 20
"""A depth that no game reaches: nothing is cut off at the horizon."""
RESOLVED = 255
"""Depth of table entries whose subtree was searched to the end of the game."""

# Indices of AlphaBetaMemory.option: limits of the search, and how the horizon is scored.
(
    NODE_LIMIT,
    PASS_LIMIT,
    GOAL_WEIGHT,
    MOBILITY_WEIGHT,
    HAS_WEIGHTS,
    NULL_SCORE,
    DISTANCE_WEIGHT,
    NETWORK_WEIGHT,
    EVEN_HORIZON,
) = range(9)
OPTIONS = 9

# Indices of AlphaBetaMemory.counter.
# STORED: entries of the table.
# KNOWN: children that were not terminal and whose goal was known.
# ASKED: nodes whose children were asked for goal bounds, of late; BOUNDED: children that needed no search by
# them; ASKING: 1: the latest node is one of those.
# PASSES: of lanes, for the children of nodes. PASS_LIMIT, an option, is without effect at 0.
# PAUSED: 1 + the ply at which a stopped search resumes; 0: begin at the root.
NODES, STORED, STOP, FAULT, SUM, PAUSED, KNOWN, ASKED, BOUNDED, ASKING, PASSES = range(11)
COUNTERS = 11
# Values of counter[FAULT].
NO_FAULT, SIMULTANEOUS, NO_MOVES, NO_CONSTANT_SUM, NO_ROOM, NO_GOAL_VALUE = range(6)

# Bounds of table entries.
EMPTY, EXACT, LOWER, UPPER = range(4)


class Frames(NamedTuple):
    """The stack of nodes under search; int64[Y] each.

    place      the node's place in the arena, given by its parent
    depth      plies left to the horizon
    alpha, beta, alpha0   the window, and the lower bound it began with
    best, best_move       best score so far and its move (counted over all roles), -1
    first, children, tried   the node's children in the arena: where, how many, how many picked
    child      the current child
    is_scouted   1: it is searched with a null window, to be searched again if it fails high
    is_open    1: a score that counts comes from the horizon, so nothing is proven
    table_move the transposition table's move, or -1
    """

    place: Ints
    depth: Ints
    alpha: Ints
    beta: Ints
    alpha0: Ints
    best: Ints
    best_move: Ints
    first: Ints
    children: Ints
    tried: Ints
    child: Ints
    is_scouted: Ints
    is_open: Ints
    table_move: Ints


class AlphaBetaMemory(NamedTuple):
    """All arrays of a search.

    node_value, child_value   K+1 rows each: the node in all lanes, each with a move; the children
    planes                    64*D rows; also scratch for counts of moves
    live, block, legal_move   scratch: 3 rows, uint64[64], int32[M]
    legal_first               int32[R+1]: where the moves of each role begin in legal_move
    following                 int32[V, F]: literal of fluent f in image v of the next state; 0: itself
    key, reached              uint64[C*D]: keys of nodes; uint64[L*D], scratch
    move, mover, end, score, order, mobility   int32[C] (order int64[C]): the move to a child (-1: forced),
                              who moves there, its score for role 0 if it needs no search (below the root
                              perhaps a bound that suffices) or NO_SCORE, its static score for role 0, its
                              rank, the moves of its mover
    killer                    int64[2*Y]
    table_key, table_data     uint64[S*D], uint64[S]; see `ggp.search.alphabeta.kernels.transposition_table`
    weight                    int32[F+1]: static score of each fluent for role 0, and the constant
    known, mixed              states that count as ends because their goals are known; uint64[L], scratch
    formula, degree           the goals as a formula, used with `DISTANCE_WEIGHT`; a row per part, scratch
    network                   a taught network, used with `NETWORK_WEIGHT`
    wins, other_wins          which children are won at once by role 0, and by role 1, if they move there
    bounds                    which goals of role 0 children can still end with
    least, most               int32[C]: these bounds as scores for role 0, until a child is made in that place
    """

    node_value: Rows
    child_value: Rows
    planes: Rows
    live: Rows
    block: NDArray[np.uint64]
    legal_move: Int32Array
    legal_first: Int32Array
    following: Int32Array
    key: NDArray[np.uint64]
    reached: NDArray[np.uint64]
    move: Int32Array
    mover: Int32Array
    end: Int32Array
    score: Int32Array
    order: Ints
    mobility: Int32Array
    frames: Frames
    killer: Ints
    table_key: NDArray[np.uint64]
    table_data: NDArray[np.uint64]
    weight: Int32Array
    known: KnownGoals
    mixed: NDArray[np.uint64]
    formula: GoalFormula
    degree: Rows
    network: NetworkTables
    wins: SideCircuit
    other_wins: SideCircuit
    bounds: SideCircuit
    least: Int32Array
    most: Int32Array
    option: Ints
    counter: Ints
