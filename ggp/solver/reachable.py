"""All reachable states of a game, each once, and all transitions between them.

Breadth-first from the initial state: states are numbered as they are found, the frontier is a stretch of
numbers, and each pass of lanes expands a few hundred of them. Transitions are kept in chunks, the
numbers of the successors in order; chunks beyond the memory allowed go to disk.

    SolverError
    ├── SolverLimitError    more states, memory or time than allowed
    └── UnsolvableError     a kind of game, or a fault of the rules, that the solver cannot handle
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ggp.compiled_game import CompiledGame
from ggp.game import RANDOM_ROLE
from ggp.kernels.compiling import announced_compilation
from ggp.kernels.rows import make_rows
from ggp.kernels.solver_codes import StateCode
from ggp.kernels.solver_expand import (
    BACKWARD,
    EDGES,
    NO_GOAL,
    STATES,
    STUCK,
    UNKNOWN,
    WANTED,
    expand,
    make_expansion,
)
from ggp.kernels.solver_table import fill_table, find_states
from ggp.solver.codes import encode_states, make_code

CHUNK_STATES = 1 << 18
FIRST_CAPACITY = 1 << 16
GROWTH = 1.5
MOST_STATES = 2**32 - 2
DEFAULT_MEBIBYTES = 8192


class SolverError(Exception):
    """The game was not solved."""


class SolverLimitError(SolverError):
    """More states, memory or time than allowed."""


class UnsolvableError(SolverError):
    """The solver has no method for this kind of game, or the rules are at fault."""


@dataclass(frozen=True)
class Progress:
    """How far an enumeration is; `layer` is the number of joint moves from the initial state."""

    states: int
    expanded: int
    transitions: int
    layer: int
    seconds: float


@dataclass(frozen=True)
class Limits:
    """What solving may cost.

    mebibytes     memory for states, table, values and those transitions that are not on disk
    states        at most so many; None: what memory holds
    deadline      time.monotonic() seconds
    spill_folder  where transitions go that memory cannot hold; None: a temporary folder
    """

    mebibytes: int = DEFAULT_MEBIBYTES
    states: int | None = None
    deadline: float | None = None
    spill_folder: Path | None = None


@dataclass(frozen=True)
class Chunk:
    """The transitions of states first .. first + count - 1.

    move_count   uint16[count, R]: legal moves per role, all 0 in terminal states
    edge         uint32[E]: successors, state by state, joint moves in lexicographic order
    """

    first: int
    count: int
    move_count: NDArray[np.uint16]
    edge: NDArray[np.uint32]


@dataclass
class StateSpace:
    """The reachable states of one game. N states, R roles, D words per key.

    keys         uint64[N*D], see `ggp.solver.codes`
    table        hash table from keys to numbers
    goal         uint8[N, R]: goals of terminal states (0 for the chance role), UNKNOWN elsewhere
    chunks       in ascending order; they cover all states
    layer_ends   layer_ends[d] states can be reached by d joint moves or fewer
    is_layered   every transition leads to a state with a higher number
    seconds      what finding them took
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
    _folder: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)

    @property
    def state_count(self) -> int:
        return len(self.goal)

    @cached_property
    def transitions(self) -> int:
        return sum(len(chunk.edge) for chunk in self.chunks)

    @cached_property
    def bytes_in_memory(self) -> int:
        """Keys, table, goals and the transitions that are not on disk."""
        arrays = [self.keys, self.table, self.goal]
        arrays += [array for chunk in self.chunks for array in (chunk.move_count, chunk.edge)]
        return sum(array.nbytes for array in arrays if not isinstance(array, np.memmap))

    def number(self, states: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The numbers of states given as bool[B, F]; -1 where one is not reachable."""
        wanted = encode_states(self.code, states)
        numbers = np.empty(len(wanted), np.int64)
        find_states(self.table, self.keys, self.code.word_count, wanted.reshape(-1), numbers)
        return numbers


def reachable_states(
    game: CompiledGame,
    limits: Limits | None = None,
    *,
    report: Callable[[Progress], None] | None = None,
) -> StateSpace:
    """Find every state that legal play can reach.

    report   called once per chunk
    Raises SolverLimitError; UnsolvableError where the rules leave a role without a move, or a goal out.
    """
    return _Enumeration(game, limits or Limits(), report).run()


class _Enumeration:
    def __init__(
        self, game: CompiledGame, limits: Limits, report: Callable[[Progress], None] | None
    ) -> None:
        tables = game.lane_tables
        if len(tables.goal_value) and not 0 <= tables.goal_value.min() <= tables.goal_value.max() <= 100:
            raise UnsolvableError("goal values must be integers in 0..100")
        self.game = game
        self.limits = limits
        self.report = report
        self.roles = tables.role_count
        self.code = make_code(tables.fluent_count, game.exclusive)
        self.depth = self.code.word_count
        self.expansion = make_expansion(tables, self.code, game.words)
        self.live = make_rows(2, game.words)
        self.first_move = game.tables.first_move
        self.keys = np.zeros(FIRST_CAPACITY * self.depth, np.uint64)
        self.goal = np.zeros(FIRST_CAPACITY * self.roles, np.uint8)
        self.table = np.zeros(2 * FIRST_CAPACITY, np.uint64)
        self.chunks: list[Chunk] = []
        self.chunk_bytes = 0
        self.transitions = 0
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        self.edge = np.zeros(FIRST_CAPACITY, np.uint32)
        self.start = time.perf_counter()

    def run(self) -> StateSpace:
        counter = self.expansion.counter
        initial = encode_states(self.code, self.game.tables.initial.astype(np.bool_)[None, :])
        self.keys[: self.depth] = initial[0]
        counter[STATES] = 1
        fill_table(self.table, self.keys, self.depth, 1)
        layer_ends = [1]
        expanded = 0
        while expanded < counter[STATES]:
            end = min(expanded + CHUNK_STATES, layer_ends[-1])
            self._expand_chunk(expanded, end)
            expanded = end
            self._check(expanded, len(layer_ends) - 1)
            if expanded == layer_ends[-1] and expanded < counter[STATES]:
                layer_ends.append(int(counter[STATES]))
        states = int(counter[STATES])
        return StateSpace(
            self.game,
            self.code,
            self.keys[: states * self.depth],
            self.table,
            self._finished_goals(states),
            self.chunks,
            layer_ends,
            not counter[BACKWARD],
            time.perf_counter() - self.start,
            self.folder,
        )

    def _expand_chunk(self, first: int, end: int) -> None:
        counter = self.expansion.counter
        counter[EDGES] = 0
        move_count = np.zeros((end - first) * self.roles, np.uint16)
        state = first
        while state < end:
            with announced_compilation():
                reached = expand(
                    self.game.lane_tables,
                    self.code,
                    self.first_move,
                    self.expansion,
                    self.live,
                    self.table,
                    self.keys,
                    state,
                    end,
                    self.edge,
                    move_count[(state - first) * self.roles :],
                    self.goal,
                )
            if reached < end:
                self._make_room(int(counter[WANTED]))
            state = reached
        if counter[STUCK]:
            raise UnsolvableError("in some reachable state that is not terminal a role has no legal move")
        edge = self.edge[: counter[EDGES]].copy()
        self.transitions += len(edge)
        counts = move_count.reshape(-1, self.roles)
        if self._bytes() + edge.nbytes + counts.nbytes > self.limits.mebibytes << 20:
            edge, counts = self._on_disk(edge), self._on_disk(counts)
        else:
            self.chunk_bytes += edge.nbytes + counts.nbytes
        self.chunks.append(Chunk(first, end - first, counts, edge))

    def _bytes(self) -> int:
        """Memory in use, with 10 bytes a state for the values to come."""
        return (
            self.keys.nbytes
            + self.goal.nbytes
            + self.table.nbytes
            + self.chunk_bytes
            + self.edge.nbytes
            + 10 * int(self.expansion.counter[STATES])
        )

    def _make_room(self, wanted: int) -> None:
        counter = self.expansion.counter
        states = int(counter[STATES])
        if len(self.edge) - counter[EDGES] < wanted:
            self.edge.resize(int(GROWTH * len(self.edge)) + wanted, refcheck=False)
        if states + wanted > len(self.keys) // self.depth:
            capacity = int(GROWTH * states) + wanted
            self._check_memory(8 * self.depth * (capacity - states))
            self.keys.resize(capacity * self.depth, refcheck=False)
            self.goal.resize(capacity * self.roles, refcheck=False)
        slots = len(self.table)
        if states + wanted > slots // 4 * 3:
            while states + wanted > slots // 4 * 3:
                slots *= 2
            self._check_memory(8 * (slots - len(self.table)))
            self.table = np.zeros(0, np.uint64)
            self.table = np.zeros(slots, np.uint64)
            fill_table(self.table, self.keys, self.depth, states)

    def _check_memory(self, more: int) -> None:
        if self._bytes() - self.chunk_bytes + more > self.limits.mebibytes << 20:
            raise SolverLimitError(
                f"{int(self.expansion.counter[STATES]):,} states found, and the memory allowed"
                f" ({self.limits.mebibytes} MiB) holds no more"
            )

    def _check(self, expanded: int, layer: int) -> None:
        states = int(self.expansion.counter[STATES])
        limits = self.limits
        if self.report is not None:
            seconds = time.perf_counter() - self.start
            self.report(Progress(states, expanded, self.transitions, layer, seconds))
        if states > min(limits.states or MOST_STATES, MOST_STATES):
            raise SolverLimitError(f"more than {limits.states or MOST_STATES:,} states")
        if limits.deadline is not None and time.monotonic() > limits.deadline:
            raise SolverLimitError(f"{states:,} states found when time was up")

    def _on_disk(self, array: NDArray[np.generic]) -> np.memmap:  # type: ignore[type-arg]
        if self.folder is None:
            place = self.limits.spill_folder
            self.folder = tempfile.TemporaryDirectory(prefix="ggp-solve-", dir=place)
        path = Path(self.folder.name) / f"{len(self.chunks)}-{array.dtype.name}"
        stored: np.memmap = np.memmap(  # type: ignore[type-arg]
            path, array.dtype, "w+", shape=(max(1, len(array)), *array.shape[1:])
        )
        stored[: len(array)] = array
        stored.flush()
        return stored[: len(array)]

    def _finished_goals(self, states: int) -> NDArray[np.uint8]:
        """uint8[N, R]; the chance role without a goal gets 0. Raises UnsolvableError."""
        goal = self.goal[: states * self.roles].reshape(states, self.roles)
        for r, role in enumerate(self.game.roles):
            missing = goal[:, r] == NO_GOAL
            if role == RANDOM_ROLE:
                goal[missing, r] = 0
            elif missing.any():
                raise UnsolvableError(f"{role} has not exactly one goal value in a terminal state")
        return goal


__all__ = [
    "UNKNOWN",
    "Chunk",
    "Limits",
    "Progress",
    "SolverError",
    "SolverLimitError",
    "StateSpace",
    "UnsolvableError",
    "reachable_states",
]
