"""Circuits next to the game's own, settled in all children of a node at once.

early ends    `ggp.search.decisive.immediate_wins`: many nodes just above the end of a search are there
              only to show that their mover wins at once; their parents see it
goal bounds   `ggp.search.alphabeta.goal_bounds`: which goals a child can still end with

Proof numbers use them; alpha-beta does without.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined
from ggp.jit.rows import ALL_ONES, Rows, load, make_rows, store, words_of
from ggp.lanes.layout import LaneTables
from ggp.lanes.step import settle_states
from ggp.search.decisive.immediate_wins import fluents_read


class SideCircuit(NamedTuple):
    """A circuit whose only outputs are goals."""

    tables: LaneTables  # of the circuit
    value: Rows  # its rows
    fluent: Int32Array  # int32[*]: the fluents that it reads; none if unused


def no_circuit(tables: LaneTables, words: int) -> SideCircuit:
    """A placeholder for searches without this circuit, with `tables` of any and rows of their own width."""
    return SideCircuit(tables, make_rows(1, words), np.zeros(0, np.int32))


def side_circuit(tables: LaneTables, words: int) -> SideCircuit:
    """A circuit to settle in rows of `words` words."""
    return SideCircuit(tables, value_rows(tables, words), fluents_read(tables))


def value_rows(tables: LaneTables, words: int) -> Rows:
    """Rows for the values of a circuit; the first is the constant."""
    value = make_rows(tables.row_count, words)
    words_of(value)[0] = ALL_ONES
    return value


@inlined
def is_used(side: SideCircuit) -> bool:
    """Whether the search has this circuit."""
    return bool(side.fluent.shape[0] > 0)


@inlined
def settle_in(side: SideCircuit, state: Rows) -> None:
    """Settle the circuit in the states of `state`, whose row of fluent f is 1 + f."""
    for i in range(side.fluent.shape[0]):
        f = 1 + np.int64(side.fluent[i])
        store(side.value, f, load(state, f))
    settle_states(side.tables, side.value)
