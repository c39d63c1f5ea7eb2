"""The reachable states of a game and the transitions between them, as `ggp.solver.reachable` finds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.lanes.keys.key_table import find_states
from ggp.lanes.keys.state_code import StateCode, encode_states
from ggp.solver.chunk import Chunk
from ggp.solver.work_folder import WorkFolder


@dataclass
class StateSpace:
    """The reachable states of one game. N states, R roles, D words per key.

    keys         uint64[N*D], see `ggp.lanes.keys.state_code`
    table        hash table from keys to numbers
    goal         uint8[N, R]: goals of terminal states (0 for the chance role), UNKNOWN elsewhere
    chunks       in ascending order; they cover all states
    layer_ends   layer_ends[d] states can be reached by at most d joint moves
    is_layered   every transition leads to a state with a higher number
    seconds      time it took to find them
    folder       folder of the chunks that are not in memory

    After a lenient enumeration, chunks and goals may cover the first `expanded` states only; goals are
    NO_GOAL where the rules give a role none or several; and nonterminal states in which
    a role has no move have no successors.
    """

    game: CompiledGame
    code: StateCode
    keys: NDArray[np.uint64]
    table: NDArray[np.uint64]
    goal: NDArray[np.uint8]
    chunks: list[Chunk]
    layer_ends: list[int]
    is_layered: bool
    seconds: float
    folder: WorkFolder | None = field(default=None, repr=False)

    @property
    def state_count(self) -> int:
        return len(self.goal)

    @property
    def expanded(self) -> int:
        """States whose transitions are known."""
        return self.chunks[-1].first + self.chunks[-1].state_count if self.chunks else 0

    @property
    def is_complete(self) -> bool:
        return self.expanded == self.state_count

    @cached_property
    def transitions(self) -> int:
        return sum(len(chunk.edge) for chunk in self.chunks)

    def number(self, states: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The numbers of states given as bool[B, F]; -1 where one is not reachable."""
        wanted = encode_states(self.code, states)
        numbers = np.empty(len(wanted), np.int64)
        find_states(self.table, self.keys, self.code.word_count, wanted.reshape(-1), numbers)
        return numbers
