"""parts: what there is machine code for, and where a circuit lies in rows.

In a file of its own, because kernels depend on it: they are compiled again if it changes.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ggp.circuit.tables import Int32Array, Phase


class Part(IntEnum):
    """What there is machine code for.

    LEGAL .. SEES    the phases of a circuit
    COUNT, SELECT    the two halves of choosing moves, before and after numbers are drawn
    BEFORE_DRAW      LEGAL, GOAL and COUNT in one, of which only what others read is kept: legal moves or,
                     if there are several literals of `Turns`, leaves
    AFTER_DRAW       SELECT and NEXT in one, and the next states in place; without roles, NEXT only
    """

    LEGAL = Phase.LEGAL
    GOAL = Phase.GOAL
    NEXT = Phase.NEXT
    SEES = Phase.SEES
    COUNT = 4
    SELECT = 5
    BEFORE_DRAW = 6
    AFTER_DRAW = 7


SINGLE_PARTS = tuple(part for part in Part if part < Part.BEFORE_DRAW)
FUSED_PARTS = (Part.BEFORE_DRAW, Part.AFTER_DRAW)
"""What random playouts and uniform searches use, in place of all others but SEES."""
PHASES_OF = {
    **{Part(phase): (phase,) for phase in Phase},
    Part.BEFORE_DRAW: (Phase.LEGAL, Phase.GOAL),
    Part.AFTER_DRAW: (Phase.NEXT,),
}


class Turns(NamedTuple):
    """Whose turn it is, in games in which at most one role has a choice: see `ggp.lanes.turns`.

    literal    int32[*]: of constants or fluents, at most one of which holds; empty if roles do not take turns
    first      int32[R+1]: where those of each role begin; where a later one holds, all roles wait
    is_exact   1 if one always holds, else 0: all wait where none does (kernels' memory holds no bool)
    leaf_move, first_leaf    int32[*], int32[T+1]: from first_leaf[t] on, the moves that may be legal under
               literal t, of the role whose turn it is; the i-th ones of all literals are *leaf* i
    waiting    int32[R]: the move that is the only legal one of a role that waits; NO_MOVE if it never waits
    """

    literal: Int32Array
    first: Int32Array
    is_exact: int
    leaf_move: Int32Array
    first_leaf: Int32Array
    waiting: Int32Array


NO_MOVE = -1
NO_TURNS = Turns(*(np.zeros(0, np.int32),) * 2, 0, *(np.zeros(0, np.int32),) * 3)


class Layout(NamedTuple):
    """Where a circuit lies in rows: see `ggp.lanes.layout.LaneTables`.

    turns        whose turn it is
    row_of       int32[K]: row of each node
    first_spare, end_spare    rows that hold nothing between phases; the row `end_spare` is never read
    first_slot, slot_literal, slot_node    moves by role
    planes       of the count of moves
    scratch_rows    for choosing moves; behind them lie, for AFTER_DRAW, a row of the lanes that restart and
                 one row for each fluent of the state they restart from
    """

    turns: Turns
    row_of: Int32Array
    first_spare: int
    end_spare: int
    first_slot: Int32Array
    slot_literal: Int32Array
    slot_node: Int32Array
    planes: int
    scratch_rows: int
