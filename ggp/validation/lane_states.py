"""Explored states of a compiled game, enumerated by kernels."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Fact, Move, Role
from ggp.lanes.engine import Lanes
from ggp.lanes.keys.state_code import decode_keys
from ggp.solver.limits import SolverLimits
from ggp.solver.reachable import reachable_states
from ggp.solver.space import StateSpace
from ggp.validation.explored_states import BLOCK, Bounds, ExploredStates, first_true
from ggp.validation.properties import Declarations

MEBIBYTES = 4096
"""Memory for states and transitions; further transitions go to disk."""


def explore_on_lanes(
    game: CompiledGame, bounds: Bounds, progress: Callable[[int], None] | None = None
) -> LaneStates:
    """Explore `game` within `bounds` and memory. Raises UnsolvableError, see `reachable_states`."""
    reachable_states(game, SolverLimits(states=1), is_lenient=True)  # compile kernels off the clock
    limits = SolverLimits(
        mebibytes=MEBIBYTES, states=bounds.states, deadline=time.monotonic() + bounds.seconds
    )
    report = None if progress is None else lambda found: progress(found.states)
    space = reachable_states(game, limits, report=report, is_lenient=True)
    return LaneStates(space, time.monotonic() + bounds.seconds)


class LaneStates(ExploredStates):
    """The states of a compiled game; `space` comes from a lenient enumeration."""

    game: CompiledGame

    def __init__(self, space: StateSpace, deadline: float) -> None:
        self.space, self.game, self.deadline = space, space.game, deadline
        self.chunks, self.state_count = space.chunks, space.state_count
        self.goals, self.is_layered = space.goal[: space.expanded], space.is_layered

    def state(self, number: int) -> PackedState:
        words = self.space.code.word_count
        key = self.space.keys[number * words : (number + 1) * words]
        return self.game.pack(decode_keys(self.space.code, key[None, :])[0])

    def undeclared_fact(self, declarations: Declarations) -> tuple[int, Fact] | None:
        assert declarations.base is not None
        best: tuple[int, Fact] | None = None
        for fluent, fact in enumerate(self.game.terms.fluents):
            if fact not in declarations.base:
                number = self._first_with_fluent(fluent, self.explored if best is None else best[0])
                if number is not None:
                    best = (number, fact)
        return best

    def _first_with_fluent(self, fluent: int, end: int) -> int | None:
        """The first of the states 0 .. end-1 in which a fluent holds."""
        code = self.space.code
        keys = self.space.keys.reshape(-1, code.word_count)
        digits = code.digit[code.first_digit[fluent] : code.first_digit[fluent + 1]]
        for start in range(0, end, BLOCK):
            self.check_time()
            block = keys[start : min(start + BLOCK, end)]
            holds: NDArray[np.bool_] = np.ones(len(block), np.bool_)
            for digit in digits.tolist():
                word, bit = divmod(digit >> 1, 64)
                is_set = (block[:, word] >> np.uint64(bit) & np.uint64(1)).astype(np.bool_)
                holds &= is_set != bool(digit & 1)
            found = first_true(holds)
            if found is not None:
                return start + found
        return None

    def undeclared_move(self, declarations: Declarations) -> tuple[int, Role, Move] | None:
        tables = self.game.lane_tables
        suspects = [
            (role, move, int(tables.slot_literal[tables.first_slot[r] + index]))
            for r, role in enumerate(self.game.roles)
            for index, move in enumerate(self.game.moves[r])
            if declarations.undeclared_move(role, [move]) is not None
        ]
        if not suspects:
            return None
        for start, is_legal in self._legality(np.array([literal for _, _, literal in suspects], np.int32)):
            is_legal &= ~self.is_end[start : start + len(is_legal), None]
            found = first_true(np.any(is_legal, axis=1))
            if found is not None:
                role, move, _ = suspects[int(np.argmax(is_legal[found]))]
                return start + found, role, move
        return None

    def _legality(self, literals: NDArray[np.int32]) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Evaluate literals in all states; yields (first state, bool[states, len(literals)])."""
        lanes = Lanes(self.game.lane_tables, words=self.game.words)
        keys = self.space.keys.reshape(-1, self.space.code.word_count)
        for start in range(0, self.explored, lanes.lane_count):
            self.check_time()
            block = keys[start : min(start + lanes.lane_count, self.explored)]
            lanes.set_states(decode_keys(self.space.code, block).T)
            lanes.settle(Phase.LEGAL, Phase.LEGAL)
            yield start, lanes.read(literals, len(block)).T
