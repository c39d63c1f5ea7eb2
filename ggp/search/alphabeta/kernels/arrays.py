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
from ggp.search.alphabeta.kernels.distance import GoalFormula

Ints = NDArray[np.int64]

MAX_PLIES = 1000
INFINITE = 1 << 20
NO_SCORE = -(1 << 30)
UNLIMITED = 1 << 20
"""A depth that no game reaches: nothing is cut off at the horizon."""
RESOLVED = 255
"""Depth of table entries whose subtree was searched to the end of the game."""

# Indices of AlphaBetaMemory.option: limits of the search, and how the horizon is scored.
OPTIONS = 6
(
    NODE_LIMIT,
    PASS_LIMIT,
    GOAL_WEIGHT,
    MOBILITY_WEIGHT,
    HAS_WEIGHTS,
    HAS_FORMULA,
) = range(OPTIONS)

# Indices of AlphaBetaMemory.counter.
# NODES: entered; HITS: of these, answered by the table, so that the others were expanded. LEAVES: children
# scored without a search.
# PASSES: of lanes, for the children of nodes. PASS_LIMIT, an option, is without effect at 0.
# PAUSED: 1 + the ply at which a stopped search resumes; 0: begin at the root.
COUNTERS = 8
NODES, HITS, LEAVES, STOP, FAULT, SUM, PAUSED, PASSES = range(COUNTERS)
# Values of counter[FAULT].
NO_FAULT, SIMULTANEOUS, NO_MOVES, NO_CONSTANT_SUM, NO_ROOM, NO_GOAL_VALUE = range(6)

# Bounds of table entries.
EMPTY, EXACT, LOWER, UPPER = range(4)


class Frames(NamedTuple):
    """The stack of nodes under search; int64[Y] each."""

    place: Ints  # the node's place in the arena, given by its parent
    depth: Ints  # plies left to the horizon
    alpha: Ints  # the window: alpha, beta ...
    beta: Ints
    alpha0: Ints  # ... and the alpha that it began with
    best: Ints  # best score so far ...
    best_move: Ints  # ... and its move, counted over all roles; -1
    first: Ints  # the node's children in the arena: where, ...
    children: Ints  # ... how many, ...
    tried: Ints  # ... how many picked
    child: Ints  # the current child
    is_scouted: Ints  # 1: it is searched with a null window, to be searched again if it fails high
    is_open: Ints  # 1: a score that counts comes from the horizon, so nothing is proven
    table_move: Ints  # the transposition table's move, or -1


class AlphaBetaMemory(NamedTuple):
    """All arrays of a search."""

    node_value: Rows  # K+1 rows: the node in all lanes, each with a move
    child_value: Rows  # K+1 rows: its children
    planes: Rows  # 64*D rows; also scratch for counts of moves
    live: Rows  # 2 rows, scratch
    block: NDArray[np.uint64]  # uint64[64], scratch
    legal_move: Int32Array  # int32[M], scratch
    legal_first: Int32Array  # int32[R+1]: where the moves of each role begin in legal_move
    key: NDArray[np.uint64]  # uint64[C*D]: keys of nodes
    reached: NDArray[np.uint64]  # uint64[L*D], scratch
    move: Int32Array  # int32[C], as the next five: the move to a child; -1: forced
    mover: Int32Array  # who moves there
    end: Int32Array  # its score for role 0 if it needs no search (perhaps a bound that suffices), or NO_SCORE
    score: Int32Array  # its static score for role 0
    order: Ints  # int64[C]: its rank
    mobility: Int32Array  # the moves of its mover
    frames: Frames
    killer: Ints  # int64[2*Y]
    table_key: NDArray[np.uint64]  # uint64[S*D], see `ggp.search.alphabeta.kernels.transposition_table`
    table_data: NDArray[np.uint64]  # uint64[S]
    weight: Int32Array  # int32[F+1]: static score of each fluent for role 0, and the constant
    formula: GoalFormula  # the goals as a formula, used with `HAS_FORMULA`
    degree: Rows  # a row per part of the formula, scratch
    option: Ints
    counter: Ints
