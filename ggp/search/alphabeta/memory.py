"""Setting up the memory of an alpha-beta search: sizes and estimate for one game. Arrays and options:
`ggp.search.alphabeta.kernels.arrays`."""

from __future__ import annotations

import random

import numpy as np

from ggp.engines.compiled import CompiledGame
from ggp.jit.rows import make_rows
from ggp.lanes.keys.state_code import StateCode, make_code
from ggp.search.alphabeta.estimate import Estimate
from ggp.search.alphabeta.kernels import arrays
from ggp.search.alphabeta.kernels.arrays import MAX_PLIES, AlphaBetaMemory, Frames
from ggp.search.alphabeta.kernels.distance import TOGETHER, no_formula
from ggp.search.alphabeta.kernels.side_circuit import value_rows

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
    game: CompiledGame, mebibytes: int, words: int | None = None
) -> tuple[StateCode, AlphaBetaMemory]:
    """The code of the game's states, and fresh memory without options; see `with_estimate`.

    mebibytes   of the transposition table
    words       width of the rows; None: by the number of moves
    """
    tables, code = game.lane_tables, make_code(len(game.terms.fluents), game.exclusive)
    widest = max(map(len, game.moves))
    words = words or (1 if widest <= 64 or most_legal(game) <= 64 else 8)
    lanes, slots = 64 * words, slot_count(mebibytes, code.word_count)
    children = min(MAX_PLIES * widest, 1 << 21) + lanes
    move, mover, end, score, mobility = np.zeros((5, children), np.int32)
    return code, AlphaBetaMemory(
        node_value=value_rows(tables, words),
        child_value=value_rows(tables, words),
        planes=make_rows(64 * code.word_count, words),
        live=make_rows(2, words),
        block=np.zeros(64, np.uint64),
        legal_move=np.zeros(max(1, tables.move_count), np.int32),
        legal_first=np.zeros(tables.role_count + 1, np.int32),
        key=np.zeros(children * code.word_count, np.uint64),
        reached=np.zeros(lanes * code.word_count, np.uint64),
        move=move,
        mover=mover,
        end=end,
        score=score,
        order=np.zeros(children, np.int64),
        mobility=mobility,
        frames=Frames(*np.zeros((len(Frames._fields), MAX_PLIES + 2), np.int64)),
        killer=np.full(2 * MAX_PLIES + 4, -1, np.int64),
        table_key=np.zeros(slots * code.word_count, np.uint64),
        table_data=np.zeros(slots, np.uint64),
        weight=np.zeros(tables.fluent_count + 1, np.int32),
        formula=no_formula(),
        degree=make_rows(1, TOGETHER),
        option=np.zeros(arrays.OPTIONS, np.int64),
        counter=np.zeros(arrays.COUNTERS, np.int64),
    )


def with_estimate(memory: AlphaBetaMemory, estimate: Estimate) -> AlphaBetaMemory:
    """The same memory with the options of `estimate`."""
    for place, setting in (
        (arrays.GOAL_WEIGHT, estimate.goal_weight),
        (arrays.MOBILITY_WEIGHT, estimate.mobility_weight),
        (arrays.HAS_WEIGHTS, estimate.weights is not None),
        (arrays.HAS_FORMULA, estimate.formula is not None),
    ):
        memory.option[place] = int(setting)
    if estimate.weights is not None:
        memory.weight[:] = estimate.weights
    formula = estimate.formula or no_formula()
    parts = len(formula.leaf) + len(formula.is_any)
    degree = make_rows(max(1, parts), TOGETHER)
    return memory._replace(formula=formula, degree=degree)


def most_legal(game: CompiledGame) -> int:
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
