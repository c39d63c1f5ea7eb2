"""The states of a game explored breadth first on lanes, and the questions that a proof asks of them.

Transitions are numbers of successors in chunks (`ggp.solver.space`); kernels evaluate them backwards. Only
single paths are followed state by state in Python. Questions for *a* state are answered with the lowest
number, or None if no explored state qualifies.
"""

from __future__ import annotations

import itertools
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Fact, Move, Role
from ggp.jit.compiling import announced_compilation
from ggp.lanes.engine import Lanes
from ggp.lanes.keys.state_code import decode_keys
from ggp.lanes.step import NO_GOAL
from ggp.solver.kernels.expand import UNKNOWN
from ggp.solver.limits import SolverLimits
from ggp.solver.reachable import reachable_states
from ggp.solver.space import Chunk, StateSpace
from ggp.validation.proof_walks import UNSETTLED, force_goal, settle_lengths
from ggp.validation.properties import Declarations, Witness, players_of

BLOCK = 1 << 20
"""Number of states per numpy operation."""
MEBIBYTES = 4096
"""Memory for states and transitions; further transitions go to disk."""


class UndecidedError(Exception):
    """The deadline passed before a question about the explored states was answered."""


class Cycle(NamedTuple):
    """A state, and joint moves that lead from it back to it."""

    state: int
    joint_moves: tuple[tuple[Move, ...], ...]


class Sums(NamedTuple):
    """Sums of the players' goals in terminal states.

    total       the sum in the first terminal state in which all players have goals; None without one
    exception   the first terminal state with a different sum; None without one
    other       that sum
    """

    total: int | None
    exception: int | None = None
    other: int = 0


class Bounds(NamedTuple):
    """Limits of an exploration: number of states and time. The questions together get the same time again."""

    states: int
    seconds: float


def explore(
    game: CompiledGame, bounds: Bounds, progress: Callable[[int], None] | None = None
) -> ExploredStates:
    """Explore `game` within `bounds` and memory. Raises UnsolvableError, see `reachable_states`."""
    reachable_states(game, SolverLimits(states=1), is_lenient=True)  # compile kernels off the clock
    limits = SolverLimits(
        mebibytes=MEBIBYTES, states=bounds.states, deadline=time.monotonic() + bounds.seconds
    )
    report = None if progress is None else lambda found: progress(found.states)
    space = reachable_states(game, limits, report=report, is_lenient=True)
    return ExploredStates(space, time.monotonic() + bounds.seconds)


class ExploredStates:
    """States numbered in the order in which they were found; number 0 is the initial one.

    space        a lenient enumeration: transitions of the states that were expanded, in chunks
    goals        uint8[explored, R]: UNKNOWN in states that are not terminal, NO_GOAL without just one value
    state_count  number of states found; those from `explored` on are only known as successors
    deadline     questions raise UndecidedError after it
    is_layered   whether transitions lead to later chunks only
    """

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

    @property
    def explored(self) -> int:
        return len(self.goals)

    @property
    def is_complete(self) -> bool:
        """Whether all reachable states were explored."""
        return self.explored == self.state_count

    @cached_property
    def seats(self) -> list[int]:
        """The players among the roles."""
        return [r for r, role in enumerate(self.game.roles) if role in players_of(self.game)]

    @cached_property
    def goal(self) -> NDArray[np.uint8]:
        """uint8[explored, players]"""
        return self.goals[:, self.seats]

    @cached_property
    def is_end(self) -> NDArray[np.bool_]:
        """bool[explored]: terminal states."""
        is_end: NDArray[np.bool_] = self.goals[:, 0] != UNKNOWN
        return is_end

    @property
    def terminal_count(self) -> int:
        return int(self.is_end.sum())

    def witness(self, number: int) -> Witness:
        steps = []
        state = number
        while state:
            state, position = self._parent(state)
            steps.append(self._joint_move(state, position))
        return Witness(tuple(reversed(steps)), self.game.facts(self.state(number)))

    def cycle(self) -> Cycle | None:
        if self.is_layered:
            return None
        number = first_true(self._lengths == UNSETTLED)
        if number is None:
            return None
        path: dict[int, int] = {}
        while number not in path:
            successors = self._successors(number)
            path[number] = int(np.argmax(self._lengths[successors] == UNSETTLED))
            number = int(successors[path[number]])
        steps = itertools.dropwhile(lambda step: step[0] != number, path.items())
        return Cycle(number, tuple(itertools.starmap(self._joint_move, steps)))

    def longest_match(self) -> int:
        return int(self._lengths[0])

    @cached_property
    def _lengths(self) -> NDArray[np.int32]:
        """int32[N]: length of the longest match from each state, UNSETTLED if it may be endless."""
        lengths = np.full(self.state_count, UNSETTLED, np.int32)
        lengths[self.explored :] = 0
        self._walk(lambda chunk: settle_lengths(chunk, lengths))
        return lengths

    def _walk(self, kernel: Callable[[Chunk], int]) -> None:
        """Apply `kernel` to all chunks, last to first, until nothing changes. Raises UndecidedError."""
        has_changed = True
        while has_changed:
            has_changed = False
            for chunk in reversed(self.chunks):
                self.check_time()
                with announced_compilation():
                    has_changed |= kernel(chunk) > 0
            has_changed &= not self.is_layered

    def stuck_state(self) -> int | None:
        for chunk in self.chunks:
            is_live = ~self.is_end[chunk.first : chunk.first + chunk.state_count]
            found = first_true(is_live & (chunk.move_count == 0).any(axis=1))
            if found is not None:
                return chunk.first + found
        return None

    def faulty_end(self) -> int | None:
        return self._first_end(lambda goal: (goal == NO_GOAL).any(axis=1))

    def end_with_goal(self, player: int, goal: int) -> int | None:
        return self._first_end(lambda goals: goals[:, player] == goal)

    def _first_end(self, test: Callable[[NDArray[np.uint8]], NDArray[np.bool_]]) -> int | None:
        for start in range(0, self.explored, BLOCK):
            stretch = slice(start, start + BLOCK)
            found = first_true(self.is_end[stretch] & test(self.goal[stretch]))
            if found is not None:
                return start + found
        return None

    def goal_sums(self) -> Sums:
        total: int | None = None
        for start in range(0, self.explored, BLOCK):
            goal = self.goal[start : start + BLOCK]
            is_sound = self.is_end[start : start + BLOCK] & (goal != NO_GOAL).all(axis=1)
            sums = goal.sum(axis=1, dtype=np.int64)
            if total is None:
                first = first_true(is_sound)
                total = None if first is None else int(sums[first])
            found = first_true(is_sound & (sums != total)) if total is not None else None
            if found is not None:
                return Sums(total, start + found, int(sums[found]))
        return Sums(total)

    def simultaneous_state(self) -> int | None:
        for chunk in self.chunks:
            found = first_true((chunk.move_count > 1).sum(axis=1) > 1)
            if found is not None:
                return chunk.first + found
        return None

    def can_force(self, player: int, goal: int) -> bool:
        is_won = np.zeros(self.state_count, np.uint8)
        is_won[: self.explored] = self.is_end & (self.goal[:, player] == goal)
        seat = self.seats[player]
        self._walk(lambda chunk: force_goal(chunk, seat, is_won))
        return bool(is_won[0])

    def check_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise UndecidedError

    def _joint_move(self, number: int, position: int) -> tuple[Move, ...]:
        """The joint move at `position` of the product of a state's legal moves."""
        state, moves = self.state(number), []
        for role in reversed(self.game.roles):
            legal = self.game.legal_moves(state, role)
            position, index = divmod(position, len(legal))
            moves.append(legal[index])
        return tuple(reversed(moves))

    def _successors(self, number: int) -> NDArray[np.uint32]:
        place = bisect_right(self.chunks, number, key=lambda chunk: chunk.first) - 1
        chunk = self.chunks[place]
        if number >= chunk.first + chunk.state_count:
            return chunk.edge[:0]
        offsets = self._offsets(place)
        return chunk.edge[offsets[number - chunk.first] : offsets[number - chunk.first + 1]]

    def _parent(self, number: int) -> tuple[int, int]:
        """(state, position of the joint move) of the first transition to a state.

        States are numbered in the order of transitions, so that it is in the first chunk that leads that far.
        """
        place = bisect_left(self._farthest, number)
        chunk = self.chunks[place]
        j = int(np.argmax(chunk.edge == number))
        offsets = self._offsets(place)
        state = int(np.searchsorted(offsets, j, side="right")) - 1
        return chunk.first + state, j - int(offsets[state])

    @cached_property
    def _farthest(self) -> list[int]:
        """Per chunk: the largest state number that it or an earlier chunk leads to."""
        farthest = (int(chunk.edge.max(initial=0)) for chunk in self.chunks)
        return list(itertools.accumulate(farthest, max))

    @cached_property
    def _offsets(self) -> Callable[[int], NDArray[np.int64]]:
        return lru_cache(maxsize=8)(self._count_offsets)

    def _count_offsets(self, place: int) -> NDArray[np.int64]:
        """int64[count+1]: offsets of the transitions of each state in a chunk."""
        counts = self.chunks[place].move_count.astype(np.int64).prod(axis=1)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def first_true(is_such: NDArray[np.bool_]) -> int | None:
    """The index of the first True, or None."""
    place = int(np.argmax(is_such)) if len(is_such) else 0
    return place if len(is_such) and is_such[place] else None
