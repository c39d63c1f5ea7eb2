"""The memory of an alpha-beta search: how wide, how much of it for a game, and what it is told.

The arrays themselves, and what the numbers in `option` mean: `ggp.kernels.alphabeta_arrays`.
"""

from __future__ import annotations

import random

import numpy as np

from ggp.compiled_game import CompiledGame
from ggp.kernels import alphabeta_arrays as arrays
from ggp.kernels.alphabeta_arrays import MOST_PLIES, Search, make_search
from ggp.kernels.alphabeta_distance import no_formula
from ggp.kernels.rows import width_of
from ggp.kernels.solver_codes import StateCode
from ggp.search.refinements import Estimate, Refinements
from ggp.search.transposition import slot_count
from ggp.solver.codes import make_code
from ggp.tables import Int32Array

_SAMPLED_STATES = 40


def allocate_search(
    game: CompiledGame, refinements: Refinements, images: Int32Array, mebibytes: int
) -> tuple[StateCode, Search]:
    """The code of the game's states, and fresh memory; nothing is told yet, see `with_estimate`.

    images      int32[V, F]: the symmetries in use
    mebibytes   of the transposition table
    """
    code = make_code(len(game.terms.fluents), game.exclusive)
    widest = max(map(len, game.moves))
    words = 1 if widest <= 64 or _most_legal(game) <= 64 else 8
    search = make_search(
        game.lane_tables,
        code,
        words,
        children=min(MOST_PLIES * widest, 1 << 21) + 64 * words,
        slots=slot_count(mebibytes, code.word_count) if refinements.transpositions else 2,
        images=images,
    )
    return code, search


def with_estimate(search: Search, refinements: Refinements, estimate: Estimate) -> Search:
    """The same memory, told to search by `refinements` and to judge the horizon by `estimate`."""
    for place, setting in (
        (arrays.TRANSPOSITIONS, refinements.transpositions),
        (arrays.ORDER_BY_TABLE, refinements.order_by_table and refinements.transpositions),
        (arrays.KILLERS, refinements.killers),
        (arrays.HISTORY, refinements.history),
        (arrays.STATIC_ORDER, refinements.static_order),
        (arrays.PRINCIPAL_VARIATION, refinements.principal_variation),
        (arrays.LATE_MOVE_REDUCTION, refinements.late_move_reduction),
        (arrays.KEPT_MOVES, refinements.kept_moves),
        (arrays.SINGULAR_EXTENSION, refinements.singular_extension),
        (arrays.GOAL_WEIGHT, estimate.goal_weight),
        (arrays.MOBILITY_WEIGHT, estimate.mobility_weight),
        (arrays.NULL_SCORE, estimate.null_score),
        (arrays.HAS_WEIGHTS, estimate.weights is not None),
        (arrays.DISTANCE_WEIGHT, estimate.distance_weight if estimate.formula else 0),
    ):
        search.option[place] = int(setting)
    if estimate.weights is not None:
        search.weight[:] = estimate.weights
    formula = estimate.formula or no_formula()
    parts = len(formula.leaf) + len(formula.is_any)
    degree = np.zeros(max(1, parts * 64 * width_of(search.node_value)), np.float64)
    return search._replace(formula=formula, degree=degree)


def _most_legal(game: CompiledGame) -> int:
    """The most moves that a role has in some states of random play."""
    rng = random.Random(0)
    most = 0
    state = game.initial_state()
    for _ in range(_SAMPLED_STATES):
        legal = [game.legal_moves(state, role) for role in game.roles]
        most = max(most, *map(len, legal))
        if all(legal):
            state = game.next_state(state, tuple(rng.choice(moves) for moves in legal))
        if game.is_terminal(state) or not all(legal):
            state = game.initial_state()
    return most
