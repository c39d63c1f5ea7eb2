"""Results of every row operation and of every kernel as JSON, to compare numba settings.

Not a test module: `test_kernels` imports it and runs it in child processes.
"""

import json
from types import FunctionType
from typing import Any

import numpy as np

from ggp.circuit.tables import CircuitTables
from ggp.jit import plain_rows, rows
from ggp.jit.compiling import kernel
from ggp.jit.rows import ALL_ONES, make_rows, words_of
from ggp.lanes.engine import Lanes
from ggp.lanes.indices import INDEX_PLANES
from ggp.lanes.roulette import make_legal_moves
from ggp.search.tree.policies.fast_kernels import FeatureCases
from tests.ggp.lanes.kernels import choose_cases, roulette, selected_moves
from tests.oracles import naive_lanes

OPERATIONS = 14


def _apply(r: Any, out: Any) -> None:
    """Write the result of each operation on rows of `r` to `out`."""
    a = rows.load(r, 0)
    b = rows.load(r, 1)
    word = rows.get_word(r, 2, 0)
    rows.store(out, 0, a & b)
    rows.store(out, 1, a | b)
    rows.store(out, 2, a ^ ~b)
    rows.store(out, 3, rows.add(a, b))
    rows.store(out, 4, rows.shift_left(a, np.uint64(9)))
    rows.store(out, 5, rows.shift_right(a, np.uint64(13)))
    rows.store(out, 6, rows.popcount(a))
    rows.store(out, 7, rows.literal(r, 7))
    rows.store(out, 8, rows.literal(r, 6))
    rows.store(out, 9, rows.fill(r, np.uint64(5 * rows.sum_words(rows.popcount(b)) + rows.word_count(r))))
    flags = 2 if rows.any_lane(a) else 0
    if rows.any_lane(a & ~a):
        flags += 1
    rows.store(out, 10, rows.fill(r, np.uint64(flags)))
    rows.store(out, 11, rows.fill(r, np.uint64(rows.lowest_bit(word))))
    rows.store(out, 12, rows.choose_words(word, a, b))
    x = rows.choose_words(word, rows.fill_float(r, 0.7), rows.fill_float(r, 3.0))
    x = rows.multiply(x, rows.fill_float(r, 0.3))
    rows.store(out, 13, rows.subtract(x, rows.fill_float(r, 0.1)))


_apply_compiled = kernel(_apply)
_apply_plain = FunctionType(_apply.__code__, {**globals(), "rows": plain_rows})


def apply_operations(array: Any, *, plain: bool) -> list[list[int]]:
    """The result of each operation on rows of `array`, word by word."""
    out = make_rows(OPERATIONS, rows.width_of(array))
    (_apply_plain if plain else _apply_compiled)(array, out)
    return words_of(out).tolist()


def racing_tables() -> CircuitTables:
    """Two roles of three and two moves over two bits of state; ends when both bits are set.

    Fluents a, b; move (0, 0) sets a, move (1, 0) sets b where a holds. The first goals depend on a.
    """
    tables = naive_lanes.choice_tables((3, 2))
    a, b = 2, 4
    move = [2 * (1 + 2 + i) for i in range(5)]
    gate0 = 1 + 2 + 5
    gate = [2 * (gate0 + i) for i in range(4)]
    inputs = [[a, b], [a ^ 1, move[0] ^ 1], [a, move[3]], [b ^ 1, gate[2] ^ 1]]
    return tables._replace(
        node_count=gate0 + len(inputs),
        fluent_count=2,
        gate0=gate0,
        phase_end=np.array([1, 1, 4, 4], np.int32),
        first_input=np.array([0, 2, 4, 6, 8], np.int32),
        input=np.array([literal for gate_inputs in inputs for literal in gate_inputs], np.int32),
        legal=np.array([0, 0, a, 0, a ^ 1], np.int32),
        terminal=gate[0],
        next=np.array([gate[1] ^ 1, gate[3] ^ 1], np.int32),
        initial=np.zeros(2, np.uint8),
        goal_role=np.array([0, 0, 1], np.int32),
        goal_value=np.array([0, 100, 50], np.int32),
        goal_literal=np.array([a ^ 1, a, 0], np.int32),
    )


def some_cases() -> FeatureCases:
    """Cases for 25 moves: each has another weight if the next move is legal, too."""
    moves, levels = 25, 4
    weight = np.random.default_rng(1).integers(1, 1023, (2, levels, levels))
    return FeatureCases(
        first_case=np.arange(0, 2 * moves + 1, 2, dtype=np.int32),
        first_condition=(np.arange(2 * moves + 1, dtype=np.int32) + 1) // 2,
        condition=2 * (1 + (np.arange(moves, dtype=np.int32) + 1) % moves),
        level=np.arange(2 * moves, dtype=np.int32) % levels,
        level_count=np.full(2, levels, np.int32),
        weight=weight.astype(np.int32),
        rows=make_rows(levels, 1),
        holding=make_legal_moves(2 * moves, 1),
        legal=make_legal_moves(2 * moves, 1),
    )


def report() -> dict[str, object]:
    """Results of every kernel on rows of one word."""
    lanes = Lanes(racing_tables(), words=1, seed=11)
    statistics = lanes.playouts(np.zeros(2, bool), 150, step_limit=9)
    tables = naive_lanes.choice_tables((6, 19))
    choices = Lanes(tables, words=1, seed=2)
    choices.set_states(np.random.default_rng(0).random((25, 64)) < 0.7)
    weight = np.arange(1, 26, dtype=np.int32)
    value, random = choices.arrays.value, choices.arrays.random
    playing, stuck = make_rows(1, 1), make_rows(1, 1)
    words_of(playing)[:] = ALL_ONES
    roulette(choices.tables, value, weight, make_legal_moves(25, 1), random, playing, stuck)
    choose_cases(choices.tables, value, some_cases(), random, stuck)
    moves = np.zeros(64, np.int32)
    selected_moves(
        choices.tables,
        choices.arrays.value,
        1,
        tables.first_move,
        make_rows(INDEX_PLANES, 1),
        np.zeros(64, np.uint64),
        moves,
    )
    circuit = Lanes(naive_lanes.random_tables(4), words=1, seed=3)
    return {
        "goals": [sorted(counts.items()) for counts in statistics.goal_counts],
        "lengths": [statistics.steps, statistics.shortest, statistics.longest, statistics.cut],
        "random": words_of(lanes.arrays.random).tolist(),
        "moves": moves.tolist(),
        "stuck": words_of(stuck).tolist(),
        "noise": repr(circuit.playouts(np.ones(7, bool), 100, step_limit=5)),
    }


if __name__ == "__main__":
    print(json.dumps(report()))
