"""reachable_states: all reachable states of a game, each once, and all transitions between them.

`projected_states` takes states for equal that differ only in what does not matter.

Breadth-first from the initial state: states are numbered as they are found, the frontier is a stretch of
numbers, and each pass of lanes expands a few hundred of them. Transitions are kept in chunks, the
numbers of the successors in order; chunks that exceed the memory limit go to disk. Where states fall into
layers (`ggp.solver.layers`), the key table has the next layer alone, and the keys of expanded states go to
disk as well.
"""

from __future__ import annotations

import logging
import mmap
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.simplify.tokens import find_tokens
from ggp.circuit.tables import circuit_of
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import RANDOM_ROLE
from ggp.jit.compiling import announced_compilation
from ggp.jit.memory import GrowingArray, map_memory
from ggp.jit.unboxed import Unboxed
from ggp.lanes.keys.key_table import KeyTable, Words, insert_states, make_key_table
from ggp.lanes.keys.state_code import StateCode, encode_states, make_code
from ggp.lanes.step import NO_GOAL
from ggp.solver.kernels.expand import (
    BACKWARD,
    EDGES,
    FULL_AT,
    MAX_MOVES,
    MAX_STATES,
    PASSES,
    STATES,
    STUCK,
    WANTED,
    Expander,
    SpaceArrays,
    begin_expansion,
    expand,
    make_expansion,
)
from ggp.solver.layers import LAYERED_FROM, Rank, find_rank, misplaced_states
from ggp.solver.limits import (
    Progress,
    SolverError,
    SolverLimitError,
    SolverLimits,
    UnsolvableError,
    estimate_states,
)
from ggp.solver.saved_header import rules_digest
from ggp.solver.slices import Slices
from ggp.solver.space import Checkpoint, Chunk, StateSpace, WorkFolder, describe_code

_logger = logging.getLogger("ggp.solver")
CHUNK_STATES = 1 << 20
CHUNK_GROWTH = 8
"""All limits are checked between chunks, so one is as large as is expected to take `chunk_seconds`; stop and
deadline also between slices of a chunk."""
FIRST_CAPACITY = 1 << 16
GROWTH = 1.5
MAX_GROWTH_BYTES = 1 << 22
"""Of an array at a time: the system moves its pages, but new ones are cleared, and nothing can stop that."""
SMALL_TABLE = 1 << 21
"""Slots up to which a key table grows by four times, if that is half of memory at most: filling a table again
costs more than clearing it."""
_CLEARED = 1 << 20
_COMPARED = 1 << 16
_TOKEN_SECONDS = 0.05
_RELEASED = mmap.PAGESIZE // 8
"""Words of keys on a page, which memory returns to the system as a whole."""
_OWN_PAGES_BYTES = 1 << 16


def reachable_states(
    game: CompiledGame,
    limits: SolverLimits | None = None,
    *,
    start: PackedState | None = None,
    report: Callable[[Progress], None] | None = None,
    is_lenient: bool = False,
) -> StateSpace:
    """Find every state that legal play can reach from `start`, which becomes number 0.

    start        None: the initial state. From another one, an enumeration cannot be resumed
    report       called once per chunk
    is_lenient   accept faulty rules (see `StateSpace`), and return what was found when a limit is reached
    Raises SolverLimitError; UnsolvableError if the rules leave a role without a move or a goal, if lenient
    only if a role may have more moves than can be counted.
    """
    return _Enumeration(game, limits or SolverLimits(), start, report, is_lenient=is_lenient).run()


def projected_states(
    game: CompiledGame,
    code_at: Callable[[int], StateCode],
    limits: SolverLimits,
    *,
    start: PackedState,
    enough: int,
    report: Callable[[Progress], None] | None = None,
) -> StateSpace:
    """Find the states that legal play can reach from `start`, of equal keys only the one reached first.

    Ends when a limit is reached or a state is terminal with the goal `enough` for the first role; then not
    all states found are expanded. Goals are NO_GOAL where the rules give none (see `StateSpace`).

    code_at   the state code of each depth; all have the same words, and states of a depth decode by its own
    Raises UnsolvableError if a role may have more moves than can be counted.
    """
    return _Enumeration(game, limits, start, report, is_lenient=True, code_at=code_at, enough=enough).run()


class _Enumeration:
    def __init__(
        self,
        game: CompiledGame,
        limits: SolverLimits,
        start: PackedState | None,
        report: Callable[[Progress], None] | None,
        *,
        is_lenient: bool,
        code_at: Callable[[int], StateCode] | None = None,
        enough: int | None = None,
    ) -> None:
        assert start is None or limits.work_folder is None
        self.game, self.limits, self.report, self.is_lenient = game, limits, report, is_lenient
        self.code_at, self.enough = code_at, enough
        self.tables = tables = game.lane_tables
        self.roles = tables.role_count
        self.may_overflow = bool((np.diff(game.tables.first_move) > MAX_MOVES).any())
        self.root = game.initial_state() if start is None else start
        self.chunk_states = 1 << 10
        self.code = code_at(0) if code_at is not None else _code_of(game, may_prove=start is None)
        self.words = self.code.word_count
        self.bits = len(self.code.first_source) - 1 if code_at is None else 64
        game.native.begin(game.words)
        self.expansion = make_expansion(tables, self.code, game.words)
        self.expander = self._make_expander()
        self.passes, self.inserted = Slices(), Slices()
        self.keys = GrowingArray(FIRST_CAPACITY * self.words, np.uint64)
        self.goal = GrowingArray(FIRST_CAPACITY * self.roles, np.uint8)
        self.table = self.slots = make_key_table(2 * FIRST_CAPACITY)
        self.expansion.counter[FULL_AT] = self._fitting(2 * FIRST_CAPACITY)
        self.edge = GrowingArray(FIRST_CAPACITY, np.uint32)
        self.chunks: list[Chunk] = []
        self.layer_ends = [1]
        self.expanded = self.transitions = self.released = 0
        self.may_be_layered = not is_lenient and code_at is None
        self.rank: Rank | None = None
        self.folder = WorkFolder(limits.work_folder) if limits.work_folder else None
        self.is_resumable = limits.work_folder is not None
        self.start = time.perf_counter()

    def _make_expander(self) -> Unboxed[Expander]:
        first_move = self.game.tables.first_move
        return Unboxed.made_once(Expander(self.tables, self.code, first_move, self.expansion))

    @property
    def states(self) -> int:
        return int(self.expansion.counter[STATES])

    def run(self) -> StateSpace:
        if self.folder is None or not self._resume(self.folder):
            initial = encode_states(self.code, self.game.unpack(self.root)[None, :])
            self.keys.array[: self.words] = initial[0]
            self.expansion.counter[STATES] = 1
            insert_states(self.table, self.keys.array, self.words, 0, 1)
        try:
            self._expand_all()
        except (SolverLimitError, MemoryError):
            if not self.is_lenient or not len(self.table):
                raise
        finally:
            if self.folder is not None and self.is_resumable:
                self._save_checkpoint(self.folder)
        return self._space(self._check_time)

    def _fitting(self, slots: int) -> int:
        """States for which a table has room. Half full, as small ones are, it has hardly any full bucket."""
        return slots // 2 if slots <= self.limits.mebibytes << 14 else slots // 4 * 3

    def _fill_table(self, slots: int = 2 * FIRST_CAPACITY, wanted: int = 0) -> None:
        """Let the table have at least this many slots and room for the states `wanted`, all states in it, or
        those of the newest layer."""
        first = 0 if self.rank is None else self.layer_ends[-1]
        while self.states + wanted - first > self._fitting(slots):
            slots *= 2
        self.expansion.counter[FULL_AT] = first + self._fitting(slots)
        if slots > len(self.slots):
            self._require_memory(8 * (slots - len(self.slots)))
            self.table = self.slots = np.zeros(0, np.uint64)
            self.slots = make_key_table(slots)
        else:
            self.table = np.zeros(0, np.uint64)
            for start in range(0, slots, _CLEARED):
                self.slots[start : min(start + _CLEARED, slots)] = 0
                self._check_time()
        table = self.slots[:slots]
        for start, end in self.inserted.cut(first, self.states):
            insert_states(table, self.keys.array, self.words, start, end)
            self._check_time()
        self.table = table

    def _begin_layer(self) -> None:
        """Begin to expand the states that are not in a layer yet. If they turn out not to be a layer, begin
        again with the one before: some of them may have been found earlier."""
        ends = [*self.layer_ends, self.states]
        is_forward = not self.expansion.counter[BACKWARD]
        if self.may_be_layered and is_forward and self.states >= LAYERED_FROM:
            was_layered = self.rank is not None
            self.rank = self._find_rank(ends)
            self.may_be_layered = self.rank is not None
            if was_layered and self.rank is None:
                ends = self.layer_ends
                self.expansion.counter[STATES], self.expanded = ends[-1], ends[-2]
                self.chunks = [chunk for chunk in self.chunks if chunk.first < ends[-2]]
                self.transitions = sum(len(chunk.edge) for chunk in self.chunks)
                self._fill_table()
        self.layer_ends = ends
        if self.code_at is not None:
            self.code = self.code_at(len(ends) - 1)
            self.expander = self._make_expander()
        if self.rank is not None:
            size, before = np.diff([0, *ends])[-1:-3:-1].tolist()
            expected = 2 * size * max(size, before) // before
            self._fill_table(max(2 * FIRST_CAPACITY, 1 << expected.bit_length()))

    def _find_rank(self, ends: list[int]) -> Rank | None:
        """The rank of layers that end there, the one known if that is right in the last of them, too."""
        keys, words = self.keys.array, self.words
        if self.rank is not None:
            if not len(misplaced_states(self.rank, keys, words, ends, len(ends) - 1, self._check_time)):
                return self.rank
            released, self.released = self.released, 0
            self._require_memory(0)
            if released and self.folder is not None:
                keys[:released] = self.folder.open("keys", np.uint64, (released,))
        return find_rank(keys, words, ends, self._check_time)

    def _space(self, check: Callable[[], None] = lambda: None) -> StateSpace:
        """What was found; `check` is called every few milliseconds."""
        return StateSpace(
            self.game,
            self.code,
            self._all_keys(),
            self.table,
            self._finished_goals(check),
            self.chunks,
            self.layer_ends,
            not self.expansion.counter[BACKWARD],
            time.perf_counter() - self.start,
            self.folder,
            self.rank,
        )

    def _all_keys(self) -> Words:
        keys = self.keys.array[: self.states * self.words]
        if not self.released or self.folder is None:
            return keys
        try:
            self.folder.append("keys", keys[self.released :], self.released)
        except OSError as error:
            raise SolverLimitError(f"{self.states:,} states found; disk holds no more ({error})") from None
        return self.folder.open("keys", np.uint64, keys.shape)

    def _expand_all(self) -> None:
        while self.expanded < self.states:
            start = time.perf_counter()
            self._expand_chunk(self.expanded, min(self.expanded + self.chunk_states, self.layer_ends[-1]))
            count, seconds = self.chunks[-1].state_count, time.perf_counter() - start
            expected = int(self.limits.chunk_seconds * count / max(seconds, 1e-6))
            self.chunk_states = max(1, min(expected, CHUNK_GROWTH * count, CHUNK_STATES))
            if self.expanded == self.layer_ends[-1] and self.expanded < self.states:
                self._begin_layer()
            self._check_limits()

    def _expand_chunk(self, first: int, end: int) -> None:
        counter = self.expansion.counter
        begin_expansion(self.expansion, first)
        moves = _zeros((end - first) * self.roles, np.uint16).reshape(-1, self.roles)
        while not self._expand_slice(first, end, moves):
            if counter[WANTED]:
                self._make_room(int(counter[WANTED]))
            self._check_time()
        if counter[STUCK] and (not self.is_lenient or self.may_overflow):
            raise UnsolvableError("a role has no legal move in a reachable nonterminal state")
        self.chunks.append(Chunk(first, end - first, moves, self._taken_edges()))
        self.transitions += int(counter[EDGES])
        self.expanded = end
        if self.limits.work_folder is not None or self._bytes() > self.limits.mebibytes << 20:
            self._spill(len(self.chunks) - 1)

    def _expand_slice(self, first: int, end: int, moves: NDArray[np.uint16]) -> bool:
        """Expand some passes of lanes in the chunk of states first .. end-1; return whether it is done."""
        counter = self.expansion.counter
        counter[PASSES] = self.passes.size
        space = SpaceArrays(
            KeyTable(self.table, self.keys.array, self.words, self.bits), self.edge.array, self.goal.array
        )
        start = time.perf_counter()
        with announced_compilation() if not first and self.passes.size == 1 else nullcontext():
            is_done = expand(self.expander, space, first, end, moves.reshape(-1))
        if counter[PASSES] == 0:
            self.passes.note(time.perf_counter() - start)
        return is_done

    def _taken_edges(self) -> NDArray[np.uint32]:
        """The transitions found since the last chunk, in memory that returns to the system by itself."""
        count, edge = int(self.expansion.counter[EDGES]), self.edge
        if edge.array.itemsize * count < _OWN_PAGES_BYTES:
            return edge.array[:count].copy()
        self.edge = GrowingArray(len(edge.array), np.uint32)
        edge.grow(count)
        return edge.array

    def _check_time(self) -> None:
        self.limits.check_time(f"{self.states:,} states found")

    def _no_memory(self) -> SolverLimitError:
        room = f"{self.limits.mebibytes} MiB of memory"
        return SolverLimitError(f"{self.states:,} states found; {room} hold no more")

    def _make_room(self, wanted: int) -> None:
        """Make `edge`, `keys` and `table` large enough for `wanted` more transitions."""
        states = self.states
        edges = len(self.edge.array)
        if edges - self.expansion.counter[EDGES] < wanted:
            self.edge.grow(_grown(edges, self.edge.array.itemsize) + wanted)
        if states + wanted > len(self.keys.array) // self.words:
            bytes_per_state = 8 * self.words + self.roles
            capacity = _grown(states, bytes_per_state) + wanted
            self._require_memory(bytes_per_state * (capacity - states))
            self.keys.grow(capacity * self.words)
            self.goal.grow(capacity * self.roles)
        if states + wanted > self.expansion.counter[FULL_AT]:
            self._fill_table(self._next_slots(), wanted)

    def _next_slots(self) -> int:
        """Slots of the next key table: twice as many, four times while it is small, and four times again if
        that would not suffice for the states expected."""
        slots, small = len(self.table), min(SMALL_TABLE, self.limits.mebibytes << 14)
        if slots > small:
            return 2 * slots
        is_known = self.rank is None and self.states >= self.limits.estimate_from
        expected = (estimate_states(self.layer_ends) or 0) if is_known else 0
        slots *= 4
        return 4 * slots if slots <= small and self._fitting(slots) < expected else slots

    def _bytes(self) -> int:
        """Memory in use, including that for the depths to be computed."""
        arrays: list[NDArray[Any]] = [self.keys.array, self.goal.array, self.slots, self.edge.array]
        arrays += [array for chunk in self.chunks for array in (chunk.edge, chunk.move_count)]
        in_memory = sum(array.nbytes for array in arrays if not isinstance(array, np.memmap))
        return 2 * self.states + in_memory - 8 * self.released

    def _require_memory(self, more: int) -> None:
        """Move chunks to disk until there is room for `more` bytes. Raises SolverLimitError."""
        allowed = self.limits.mebibytes << 20
        for place, chunk in enumerate(self.chunks):
            if self._bytes() + more <= allowed:
                return
            if not isinstance(chunk.edge, np.memmap):
                self._spill(place)
        if self._bytes() + more > allowed:
            raise self._no_memory()

    def _spill(self, place: int) -> None:
        """Move chunk number `place` to disk, and the keys that are no longer read; if that is full, they stay
        in memory, with a warning. Raises SolverLimitError if memory is full and moving is not allowed or
        fails."""
        if not self.limits.may_use_disk:
            raise self._no_memory()
        chunk = self.chunks[place]
        try:
            if self.folder is None:
                self.folder = WorkFolder(None)
            moves = self.folder.store(f"moves-{place}", chunk.move_count)
            edge = self.folder.store(f"edge-{place}", chunk.edge)
            if self.rank is not None:
                end = self.expanded * self.words // _RELEASED * _RELEASED
                self.folder.append("keys", self.keys.array[self.released : end], self.released)
                self.keys.release(self.released, end)
                self.released = end
        except OSError as error:
            if self._bytes() > self.limits.mebibytes << 20:
                raise SolverLimitError(
                    f"{self.states:,} states found; memory and disk hold no more ({error})"
                ) from None
            self._give_up_resuming(error)
            return
        self.chunks[place] = Chunk(chunk.first, chunk.state_count, moves, edge)

    def _give_up_resuming(self, error: OSError) -> None:
        if self.is_resumable:
            _logger.warning("the work folder cannot be written (%s): interruption loses all progress", error)
        self.is_resumable = False

    def _check_limits(self) -> None:
        limits = self.limits
        if self.report is not None:
            layers, seconds = tuple(self.layer_ends), time.perf_counter() - self.start
            self.report(Progress(self.states, self.expanded, self.transitions, layers, seconds))
        last = self.chunks[-1]
        goals = self.goal.array[last.first * self.roles :: self.roles][: last.state_count]
        if self.enough is not None and (goals == self.enough).any():
            raise SolverLimitError(f"a goal of {self.enough} found after {self.states:,} states")
        if self.states > min(limits.states or MAX_STATES, MAX_STATES):
            raise SolverLimitError(f"more than {limits.states or MAX_STATES:,} states")
        if limits.estimated_states and self.states >= limits.estimate_from:
            estimate = estimate_states(self.layer_ends)
            if estimate is not None and estimate > limits.estimated_states:
                raise SolverLimitError(f"about {estimate:,} states expected")
        self._check_time()

    def _save_checkpoint(self, folder: WorkFolder) -> None:
        checkpoint = Checkpoint(
            rules=rules_digest(self.game.program),
            code=describe_code(self.code),
            states=self.states,
            layer_ends=self.layer_ends,
            backward=int(self.expansion.counter[BACKWARD]),
            seconds=time.perf_counter() - self.start,
            chunks=[(chunk.first, chunk.state_count, len(chunk.edge)) for chunk in self.chunks],
        )
        keys, goal = self.keys.array[: self.states * self.words], self.goal.array[: self.states * self.roles]
        try:
            folder.save(checkpoint, keys, self.released, goal)
        except OSError as error:
            self._give_up_resuming(error)

    def _resume(self, folder: WorkFolder) -> bool:
        """Resume the enumeration in `folder`, if any. Raises SolverError if it is of another game."""
        own = rules_digest(self.game.program), describe_code(self.code)
        try:
            checkpoint = folder.load()
            if checkpoint is None:
                return False
            if (checkpoint.rules, checkpoint.code) != own:
                raise SolverError(f"{folder.path}: holds the states of another game or version")
            keys = folder.read("keys", np.uint64, checkpoint.states * self.words)
            goal = folder.read("goal", np.uint8, checkpoint.states * self.roles)
            self.chunks = [
                self._stored_chunk(folder, place, *sizes, states=checkpoint.states)
                for place, sizes in enumerate(checkpoint.chunks)
            ]
        except (ValueError, OSError) as error:
            raise SolverError(f"{folder.path}: damaged ({error})") from None
        self.layer_ends = ends = checkpoint.layer_ends
        self.expanded = sum(chunk.state_count for chunk in self.chunks)
        self.transitions = sum(len(chunk.edge) for chunk in self.chunks)
        counter = self.expansion.counter
        counter[STATES], counter[BACKWARD] = checkpoint.states, checkpoint.backward
        if len(ends) > 1 and ends[-1] >= LAYERED_FROM:
            self.rank = find_rank(keys, self.words, ends, self._check_time)
            self.released = self.expanded * self.words // _RELEASED * _RELEASED if self.rank else 0
        for kept, stored, first in (self.keys, keys, self.released), (self.goal, goal, 0):
            kept.grow(len(kept.array) + len(stored))
            kept.array[first : len(stored)] = stored[first:]
        self._fill_table()
        if self.expanded == ends[-1] < self.states:
            self._begin_layer()
        self.start -= checkpoint.seconds
        return True

    def _stored_chunk(
        self, folder: WorkFolder, place: int, first: int, count: int, edges: int, *, states: int
    ) -> Chunk:
        """Map one chunk. Raises ValueError, OSError unless kernels can follow its transitions."""
        moves = folder.open(f"moves-{place}", np.uint16, (count, self.roles))
        edge = folder.open(f"edge-{place}", np.uint32, (edges,))
        if int(moves.prod(axis=1, dtype=np.uint64).sum()) != edges or int(edge.max(initial=0)) >= states:
            raise ValueError(f"chunk {place} leads out of the states found")
        return Chunk(first, count, moves, edge)

    def _finished_goals(self, check: Callable[[], None]) -> NDArray[np.uint8]:
        """uint8[N, R]; the chance role without a goal gets 0. Raises UnsolvableError."""
        goal = self.goal.array[: self.states * self.roles].reshape(-1, self.roles)
        if self.is_lenient:
            return goal
        for first in range(0, len(goal), _COMPARED):
            part = goal[first : first + _COMPARED]
            missing = part == NO_GOAL
            for r in np.flatnonzero(missing.any(axis=0)) if missing.any() else ():
                role = self.game.roles[r]
                if role == RANDOM_ROLE:
                    part[missing[:, r], r] = 0
                else:
                    raise UnsolvableError(f"{role} has not exactly one goal value in a terminal state")
            check()
        return goal


def _code_of(game: CompiledGame, *, may_prove: bool) -> StateCode:
    """A state code in which the steps of a counter are numbered as they count, as a rank needs them.

    may_prove   if keys take several words, prove pieces that are in one place at a time: 1 to 60 ms
    """
    text = [str(fluent) for fluent in game.terms.fluents]
    groups = [sorted(group, key=lambda f: (len(text[f]), text[f])) for group in game.exclusive]
    code = make_code(len(text), groups)
    if may_prove and code.word_count > 1:
        circuit = circuit_of(game.tables, game.terms, game.exclusive)
        code = make_code(len(text), [*groups, *find_tokens(circuit, time.thread_time() + _TOKEN_SECONDS)])
    return code


def _grown(count: int, itemsize: int) -> int:
    return count + min(int((GROWTH - 1) * count), MAX_GROWTH_BYTES // itemsize)


def _zeros(count: int, dtype: type[np.uint16]) -> NDArray[Any]:
    """Zeros in memory that returns to the system when they are dropped; a heap would keep it."""
    size = count * np.dtype(dtype).itemsize
    if size < _OWN_PAGES_BYTES:
        return np.zeros(count, dtype)
    return np.frombuffer(map_memory(size), dtype, count)
