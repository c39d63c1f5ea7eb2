"""The naive twin of `ggp.lanes.step`: one state after the other."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import CircuitTables
from ggp.lanes.step import NO_GOAL
from tests.oracles.naive_lanes import Bools, holds, settle


class Stepped(NamedTuple):
    """What a step of one state shows."""

    legal: list[list[int]]
    goals: list[int]
    following: Bools


def legal_moves(tables: CircuitTables, state: Bools) -> list[list[int]]:
    """The legal moves of each role, numbered over all roles."""
    is_legal = holds(settle(tables, state, np.zeros(len(tables.legal), np.bool_)), tables.legal)
    ends = tables.first_move
    return [[m for m in range(ends[r], ends[r + 1]) if is_legal[m]] for r in range(tables.role_count)]


def goal_of(tables: CircuitTables, value: Bools, role: int) -> int:
    """The goal of a role, NO_GOAL if it has none or several."""
    held = holds(value, tables.goal_literal) & (tables.goal_role == role)
    return int(tables.goal_value[held][0]) if held.sum() == 1 else NO_GOAL


def step(tables: CircuitTables, state: Bools) -> Stepped:
    """The step in which every role makes its last legal move, if it has one."""
    legal = legal_moves(tables, state)
    moves: NDArray[np.bool_] = np.zeros(len(tables.legal), np.bool_)
    moves[[each[-1] for each in legal if each]] = True
    value = settle(tables, state, moves)
    goals = [goal_of(tables, value, role) for role in range(tables.role_count)]
    return Stepped(legal, goals, holds(value, tables.next))
