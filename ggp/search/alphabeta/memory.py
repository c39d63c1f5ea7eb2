"""Setting up the memory of an alpha-beta search: sizes and estimate for one game. Arrays and options:
`ggp.search.alphabeta.kernels.arrays`."""

from __future__ import annotations

import random

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.engines.compiled import CompiledGame
from ggp.jit.rows import make_rows, width_of
from ggp.lanes.keys.state_code import StateCode, make_code
from ggp.lanes.layout import LaneTables
from ggp.networks.kernels import no_network, tables_of
from ggp.search.alphabeta.estimate import Estimate
from ggp.search.alphabeta.kernels import arrays
from ggp.search.alphabeta.kernels.arrays import MAX_PLIES, AlphaBetaMemory, make_memory
from ggp.search.alphabeta.kernels.distance import TOGETHER, no_formula
from ggp.search.alphabeta.kernels.side_circuit import side_circuit

DEFAULT_MEBIBYTES = 256
_MIN_SLOTS = 1 << 10
_SAMPLED_STATES = 40


def slot_count(mebibytes: int, words: int) -> int:
    """The number of slots of a transposition table, a power of two, for keys of `words` 64-bit words.

    >>> slot_count(1, 1)
    65536
    """
    fitting = (mebibytes << 20) // (8 * words + 8)
    return max(_MIN_SLOTS, 1 << max(0, fitting.bit_length() - 1))


def allocate_memory(
    game: CompiledGame, images: Int32Array, mebibytes: int, words: int | None = None
) -> tuple[StateCode, AlphaBetaMemory]:
    """The code of the game's states, and fresh memory without options; see `with_estimate`.

    images      int32[V, F]: the symmetries in use
    mebibytes   of the transposition table
    words       width of the rows; None: by the number of moves
    """
    code = make_code(len(game.terms.fluents), game.exclusive)
    widest = max(map(len, game.moves))
    if words is None:
        words = 1 if widest <= 64 or _most_legal(game) <= 64 else 8
    memory = make_memory(
        game.lane_tables,
        code,
        words,
        children=min(MAX_PLIES * widest, 1 << 21) + 64 * words,
        slots=slot_count(mebibytes, code.word_count),
        images=images,
    )
    return code, memory


def with_estimate(memory: AlphaBetaMemory, estimate: Estimate) -> AlphaBetaMemory:
    """The same memory with the options of `estimate`."""
    for place, setting in (
        (arrays.EVEN_HORIZON, estimate.is_for_order),
        (arrays.GOAL_WEIGHT, estimate.goal_weight),
        (arrays.MOBILITY_WEIGHT, estimate.mobility_weight),
        (arrays.NULL_SCORE, estimate.null_score),
        (arrays.HAS_WEIGHTS, estimate.weights is not None),
        (arrays.DISTANCE_WEIGHT, estimate.distance_weight if estimate.formula else 0),
        (arrays.NETWORK_WEIGHT, estimate.network_weight if estimate.network else 0),
    ):
        memory.option[place] = int(setting)
    if estimate.weights is not None:
        memory.weight[:] = estimate.weights
    formula = estimate.formula or no_formula()
    parts = len(formula.leaf) + len(formula.is_any)
    degree = make_rows(max(1, parts), TOGETHER)
    network = no_network() if estimate.network is None else tables_of(estimate.network)
    return memory._replace(formula=formula, degree=degree, network=network)


def with_immediate_wins(memory: AlphaBetaMemory, tables: tuple[LaneTables, LaneTables]) -> AlphaBetaMemory:
    """The same memory for a search that looks for immediate wins by `tables` (of `immediate_wins`)."""
    words = width_of(memory.node_value)
    return memory._replace(wins=side_circuit(tables[0], words), other_wins=side_circuit(tables[1], words))


def with_goal_bounds(memory: AlphaBetaMemory, tables: LaneTables) -> AlphaBetaMemory:
    """The same memory for a search with goal bounds by `tables` (of `goal_bounds`)."""
    least, most = np.zeros((2, len(memory.move)), np.int32)
    return memory._replace(bounds=side_circuit(tables, width_of(memory.node_value)), least=least, most=most)


def _most_legal(game: CompiledGame) -> int:
    """The largest number of legal moves of a role in states of random play."""
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
