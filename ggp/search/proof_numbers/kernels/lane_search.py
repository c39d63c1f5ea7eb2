"""lane_search: depth-first search without a table, of its own in every lane.

Near the end of a game a look-up costs more than the search that it saves. So walkers in order hand the last
plies out: each lane is given a state, its *task*, and answers the question about it by trying one move after
another. All lanes step at the same time, whatever their depth. A lane then descends by the next untried move
of its state, or, if the state is decided, returns to the nearest one above it whose mover has to try another
move. A step is one circuit, `ggp.search.proof_numbers.lane_circuit`, run by machine code.
"""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined, piece
from ggp.jit.entry_points import call_on_rows
from ggp.jit.rows import ALL_ONES, Index, Row, fill, load, popcount, store, sum_words
from ggp.lanes.indices import transpose_rows
from ggp.lanes.keys.state_code import decode_planes
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import Ints, LaneMemory

# Rows: lanes with a task; with one that is done; its answer; with one put in last; that descended in the last
# step; at the greatest depth, where they stay. From WANTED on: where a goal of role 0 is a yes.
LIVE, DONE, ANSWER, PUT, TAKEN, DEEP, WANTED = range(1, 8)


@inlined
def _where(lanes: Row, x: Row, y: Row) -> Row:
    """x in `lanes`, y elsewhere."""
    return (x & lanes) | (y & ~lanes)


@inlined
def place_in_keys(lane: Index, d: Index) -> Index:
    """The row of `keys` that holds word d of the key in a lane, in its word `lane & (TASK_WORDS - 1)`."""
    return 64 * d + (lane >> c.TASK_BITS)


@inlined
def can_step(lanes: LaneMemory) -> bool:
    """Whether there is machine code."""
    return bool(lanes.entry[c.TASK_BITS] != 0)


@inlined
def ask(lanes: LaneMemory, goal: Index) -> None:
    """Ask all lanes whether role 0 gets `goal` or more."""
    for q in range(lanes.goal_value.shape[0]):
        word = ALL_ONES if lanes.goal_value[q] >= goal else np.uint64(0)
        store(lanes.rows, WANTED + q, fill(lanes.rows, word))


@piece
def put_tasks(lanes: LaneMemory) -> None:
    """Begin the tasks of the lanes in row PUT, whose keys were written."""
    rows, facts, first = lanes.rows, lanes.code.first_digit.shape[0] - 1, lanes.first_fact
    put = load(rows, PUT)
    for d in range(lanes.code.word_count):
        transpose_rows(lanes.keys, 64 * d, 64)
    decode_planes(lanes.code, lanes.keys, lanes.fresh)
    for f in range(facts):
        store(rows, first + f, _where(put, load(lanes.fresh, 1 + f), load(rows, first + f)))
    for i in range(first + facts, lanes.end_state):
        store(rows, i, load(rows, i) & ~put)
    store(rows, TAKEN, load(rows, TAKEN) | put)
    store(rows, LIVE, load(rows, LIVE) | put)
    store(rows, DONE, load(rows, DONE) & ~put)
    store(rows, DEEP, load(rows, DEEP) & ~put)
    store(rows, PUT, fill(rows, np.uint64(0)))


@piece
def step_lanes(lanes: LaneMemory, steps: Index, counter: Ints) -> None:
    """Make steps in all lanes."""
    rows = lanes.rows
    for _ in range(steps):
        call_on_rows(lanes.entry[c.TASK_BITS], rows, rows)
        counter[c.LANE_NODES] += np.int64(sum_words(popcount(load(rows, TAKEN))))
