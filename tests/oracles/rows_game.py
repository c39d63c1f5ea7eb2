"""A compiled game that answers for single states from rows.

Slower than `CompiledGame`, which has kernels for single states. It lets tests compare the kernels on rows, at
any width, with anything a `Game` can be compared with: traces, the reasoner, random play.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.lanes.engine import Lanes


class RowsGame(CompiledGame):
    """`CompiledGame` whose answers all come from one lane of its rows."""

    @cached_property
    def _lanes(self) -> Lanes:
        return Lanes(self.lane_tables, words=self.words)

    def _settle_single(self, state: PackedState) -> list[int]:
        lanes, tables = self._lanes, self.tables
        lanes.set_states(self.unpack(state)[:, None])
        lanes.settle(Phase.LEGAL, Phase.GOAL)
        self._settled_state = state
        is_legal = self._read(self.legal_literals)
        goal_holds = self._read(self.lane_tables.goal_literal)
        first_goal = np.searchsorted(tables.goal_role, np.arange(tables.role_count + 1))
        parts = [np.flatnonzero(is_legal[a:b]) for a, b in pairwise(self._first_move)]
        parts += [a + np.flatnonzero(goal_holds[a:b]) for a, b in pairwise(first_goal.tolist())]
        terminal = np.array([self.lane_tables.terminal], np.int32)
        ends = 1 + 2 * tables.role_count + np.cumsum([len(part) for part in parts])
        found: list[int] = np.concatenate([self._read(terminal), ends, *parts]).astype(int).tolist()
        return found

    def _advance(self, state: PackedState, chosen: list[int], *, with_percepts: bool) -> None:
        selected = np.zeros((self._first_move[-1], 1), np.bool_)
        selected[chosen] = True
        self._lanes.set_states(self.unpack(state)[:, None])
        self._lanes.set_moves(selected)
        self._lanes.settle(Phase.LEGAL, Phase.SEES if with_percepts else Phase.NEXT)
        self._single.value.following[:] = np.packbits(self._read(self.lane_tables.next), bitorder="little")
        if with_percepts:
            self._single.value.is_seen[:] = self._read(self.lane_tables.percept_literal)

    def _read(self, literals: NDArray[np.int32]) -> NDArray[np.bool_]:
        """The values of literals in the first lane."""
        return self._lanes.read(literals, 1)[:, 0]
