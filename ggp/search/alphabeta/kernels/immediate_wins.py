"""Wins in one of the children's movers: such a child needs no search.

Many nodes just above the end of a search are there only to show that their mover wins at once. On a circuit
that is nothing but that question (`ggp.search.decisive.immediate_wins`) their parents see it, for all
children in one settling.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined
from ggp.jit.rows import Index, Rows, load, make_rows, store
from ggp.lanes.layout import LaneTables
from ggp.lanes.settle import settle_phases


class ImmediateWins(NamedTuple):
    """What `find_wins` works on, for one role.

    tables   of the circuit whose only output is the role's goal: it has a legal move that wins
    value    its rows
    fluent   int32[*]: the fluents that it reads; none if nobody asks
    """

    tables: LaneTables
    value: Rows
    fluent: Int32Array


def no_immediate_wins(tables: LaneTables, words: int) -> ImmediateWins:
    """Of a search that does not ask for them, with `tables` of any circuit and rows of its own width."""
    return ImmediateWins(tables, make_rows(1, words), np.zeros(0, np.int32))


@inlined
def find_wins(wins: ImmediateWins, state: Rows) -> None:
    """Settle the circuit in the states of `state`, whose row of fluent f is 1 + f."""
    for i in range(wins.fluent.shape[0]):
        f = 1 + np.int64(wins.fluent[i])
        store(wins.value, f, load(state, f))
    settle_phases(wins.tables, wins.value, 0, 2)


@inlined
def wins_of(wins: ImmediateWins, role: Index) -> Index:
    """The literal that says in which lanes `role` wins at once."""
    return np.int64(wins.tables.goal_literal[wins.tables.goal_first[role]])
