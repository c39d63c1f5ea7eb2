"""Kernels for one state at a time, on bytes instead of rows.

Each `Game` query is one call. Rows pay off for many games at once. For a single state one byte per node is
faster to write and read, and an AND ends at its first false input.

Letters as in `ggp.circuit.tables`: F fluents, M moves, R roles, K nodes, N goal values, S percepts; a packed
state has B = (F + 7) // 8 bytes, fluent f in bit f % 8 of byte f // 8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import CircuitTables, Int32Array
from ggp.jit.compiling import inlined, kernel, piece
from ggp.jit.rows import Index
from ggp.jit.unboxed import Unboxed, unboxed

Bytes = NDArray[np.uint8]


class SingleState(NamedTuple):
    """A circuit and the values of its nodes in one state.

    value      uint8[K]
    found      int32[M + N + 2R + 1]: result of `evaluate`
    chosen     int32[R]: the moves for `advance` to make, numbered over all roles
    is_seen    uint8[S]
    following  uint8[B]: the packed state that `advance` reached
    """

    tables: CircuitTables
    value: Bytes
    found: Int32Array
    chosen: Int32Array
    is_seen: Bytes
    following: Bytes


def make_single_state(tables: CircuitTables) -> Unboxed[SingleState]:
    """Allocate the arrays for one state of a circuit."""
    value = np.zeros(tables.node_count, np.uint8)
    value[0] = 1
    roles, moves, goals = tables.role_count, len(tables.legal), len(tables.goal_literal)
    return Unboxed.made_once(
        SingleState(
            tables=tables,
            value=value,
            found=np.zeros(moves + goals + 2 * roles + 1, np.int32),
            chosen=np.zeros(roles, np.int32),
            is_seen=np.zeros(len(tables.percept_literal), np.uint8),
            following=np.zeros((tables.fluent_count + 7) // 8, np.uint8),
        )
    )


@inlined
def _holds(value: Bytes, literal: Index) -> Index:
    return np.int64(value[literal >> 1]) ^ (np.int64(literal) & 1)


@piece
def _settle(tables: CircuitTables, value: Bytes, first: Index, last: Index) -> None:
    """Recompute the gates of the phases first .. last - 1."""
    begin = np.int64(tables.phase_end[first - 1]) if first > 0 else np.int64(0)
    for gate in range(begin, tables.phase_end[last - 1]):
        place = tables.first_input[gate]
        end = tables.first_input[gate + 1]
        while place < end and _holds(value, tables.input[place]):
            place += 1
        value[tables.gate0 + gate] = 1 if place == end else 0


@kernel
def evaluate(memory: Unboxed[SingleState], state: Bytes) -> Index:
    """Settle LEGAL and GOAL in a packed state; return the entries written to `found`.

    found   whether the state is terminal; for each role the end of its legal moves in `found`, then for each
            role the end of its goals; then the legal moves, as indices among the role's moves, and the
            goals, as indices into `CircuitTables.goal_value`, role by role
    """
    single = unboxed(memory)
    tables, value, found = single.tables, single.value, single.found
    for fluent in range(tables.fluent_count):
        value[1 + fluent] = (state[fluent >> 3] >> (fluent & 7)) & 1
    _settle(tables, value, 0, 2)
    roles = np.int64(tables.role_count)
    found[0] = _holds(value, np.int64(tables.terminal))
    top = 1 + 2 * roles
    for role in range(roles):
        first = tables.first_move[role]
        for move in range(first, tables.first_move[role + 1]):
            if _holds(value, tables.legal[move]):
                found[top] = move - first
                top += 1
        found[1 + role] = top
    goal = np.int64(0)
    for role in range(roles):
        while goal < tables.goal_role.shape[0] and tables.goal_role[goal] == role:
            if _holds(value, tables.goal_literal[goal]):
                found[top] = goal
                top += 1
            goal += 1
        found[1 + roles + role] = top
    return top


@kernel
def advance(memory: Unboxed[SingleState], with_percepts: bool) -> None:
    """Make the moves `chosen` in the state evaluated last; fill `following`, optionally `is_seen`."""
    single = unboxed(memory)
    tables, value = single.tables, single.value
    move0 = 1 + tables.fluent_count
    for role in range(single.chosen.shape[0]):
        value[move0 + single.chosen[role]] = 1
    _settle(tables, value, 2, 4 if with_percepts else 3)
    for place in range(single.following.shape[0]):
        single.following[place] = 0
    for fluent in range(tables.fluent_count):
        single.following[fluent >> 3] |= _holds(value, tables.next[fluent]) << (fluent & 7)
    if with_percepts:
        for percept in range(single.is_seen.shape[0]):
            single.is_seen[percept] = _holds(value, tables.percept_literal[percept])
    for role in range(single.chosen.shape[0]):
        value[move0 + single.chosen[role]] = 0
