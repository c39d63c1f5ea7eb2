"""Pieces of kernels as kernels of their own, which tests can call."""

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import kernel
from ggp.jit.rows import ALL_ONES, Rows, fill, load, store
from ggp.lanes import step
from ggp.lanes.bits import set_lanes
from ggp.lanes.choose import choose_moves
from ggp.lanes.indices import numbers_of_planes, planes_of_indices
from ggp.lanes.keys.state_code import Keys, StateCode
from ggp.lanes.layout import LaneTables
from ggp.lanes.roulette import LegalMoves, roulette_moves
from ggp.search.tree.policies.fast_kernels import FeatureCases, choose_by_cases

NO_MOVE = -1
KEEP, TAKE_OTHER = range(2)


@kernel
def choose(tables: LaneTables, value: Rows, scratch: Rows, planes: int, random: Rows, stuck: Rows) -> None:
    """`choose_moves` in all lanes; row 0 of `stuck` is what it returns."""
    everywhere = fill(value, ALL_ONES)
    store(stuck, 0, choose_moves(tables, value, scratch, planes, random, everywhere))


@kernel
def roulette(
    tables: LaneTables,
    value: Rows,
    weight: Int32Array,
    legal: LegalMoves,
    random: Rows,
    playing: Rows,
    stuck: Rows,
) -> None:
    """`roulette_moves` in the lanes of row 0 of `playing`; row 0 of `stuck` is what it returns."""
    store(stuck, 0, roulette_moves(tables, value, weight, legal, random, load(playing, 0)))


@kernel
def choose_cases(tables: LaneTables, value: Rows, cases: FeatureCases, random: Rows, stuck: Rows) -> None:
    """`choose_by_cases` in all lanes; row 0 of `stuck` is what it returns."""
    everywhere = fill(value, ALL_ONES)
    store(stuck, 0, choose_by_cases(tables, value, cases, random, everywhere))


@kernel
def selected_moves(
    tables: LaneTables,
    value: Rows,
    role: int,
    first_move: Int32Array,
    planes: Rows,
    block: NDArray[np.uint64],
    moves: Int32Array,
) -> None:
    """moves[lane] = the move selected by `role`, or NO_MOVE; planes: INDEX_PLANES rows."""
    first = first_move[role]
    used = planes_of_indices(value, np.int64(tables.move0 + first), first_move[role + 1] - first, planes)
    numbers_of_planes(planes, 0, used, NO_MOVE, block, moves)


@kernel
def step_from_keys(
    tables: LaneTables,
    code: StateCode,
    first_move: Int32Array,
    keys: Keys,
    chosen: NDArray[np.int64],
    value: Rows,
    planes: Rows,
    live: Rows,
    block: NDArray[np.uint64],
    legal_count: Int32Array,
    legal_move: Int32Array,
    goal: NDArray[np.uint8],
    reached: Keys,
) -> None:
    """One step of the states `chosen`, in each of which every role makes its last legal move."""
    count = chosen.shape[0]
    step.put_keys(code, keys, chosen, count, value, planes, block)
    step.settle_choices(tables, value)
    step.settle_goals(tables, value)
    store(live, 0, fill(value, np.uint64(0)))
    set_lanes(live, 0, 0, count)
    step.list_legal_moves(tables, first_move, value, live, legal_count, legal_move)
    step.read_goals(tables, value, live, load(live, 0), goal, 0)
    step.clear_moves(tables, value)
    for lane in range(count):
        for role in range(tables.role_count):
            legal = legal_count[lane * tables.role_count + role]
            if legal > 0:
                place = lane * tables.move_count + first_move[role] + legal - 1
                step.put_move(tables, value, np.int64(legal_move[place]), lane)
    step.settle_successors(tables, value, True)
    step.store_successors(code, tables.next, value, count, planes, block, reached)


@kernel
def advance_lanes(
    tables: LaneTables,
    value: Rows,
    other: Rows,
    saved: Rows,
    moved: Rows,
    way: int,
) -> None:
    """Put the next states into `other`; advance the lanes of row 0 of `moved`, the others as `way` says."""
    if way == TAKE_OTHER:
        step.advance(tables, value, saved, load(moved, 0), other, 1)
        return
    step.copy_successors(tables, value, other)
    step.advance(tables, value, saved, load(moved, 0), value, 1)


@kernel
def put_key(code: StateCode, keys: Keys, number: int, value: Rows) -> None:
    step.put_key(code, keys, number, value)
