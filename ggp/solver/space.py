"""The reachable states of a game and the transitions between them, in memory and in a folder.

`ggp.solver.reachable` finds them. A `WorkFolder` has raw arrays: `edge-7` and `moves-7` belong to chunk 7,
`keys` and `goal` to the states found, and `checkpoint.json`, written last, records their rules and sizes, so
that an interrupted enumeration resumes.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.files import write_text
from ggp.jit.compiling import inlined
from ggp.jit.rows import Index
from ggp.lanes.keys.key_table import ABSENT, Words, find_states, insert_states, make_key_table
from ggp.lanes.keys.state_code import StateCode, encode_states
from ggp.solver.layers import Rank, layers_of

_CHECKPOINT = "checkpoint.json"


class Chunk(NamedTuple):
    """The transitions of states first .. first + state_count - 1; R roles, E transitions.

    move_count   uint16[state_count, R]: legal moves per role, all 0 in terminal states
    edge         uint32[E]: numbers of the successors, state by state, joint moves in lexicographic order
    """

    first: int
    state_count: int
    move_count: NDArray[np.uint16]
    edge: NDArray[np.uint32]


@inlined
def successor_count(chunk: Chunk, place: Index) -> Index:
    """The number of transitions of state first + place."""
    product = np.int64(1)
    for role in range(chunk.move_count.shape[1]):
        product *= np.int64(chunk.move_count[place, role])
    return product


@dataclass(frozen=True)
class Checkpoint:
    """An interrupted enumeration: N states found; `chunks` are (first, count, transitions)."""

    rules: str
    code: dict[str, Any]
    states: int
    layer_ends: list[int]
    backward: int
    seconds: float
    chunks: list[tuple[int, int, int]]


def describe_code(code: StateCode) -> dict[str, Any]:
    """The state code as JSON-able data."""
    return {name: np.asarray(getattr(code, name)).tolist() for name in StateCode._fields}


class WorkFolder:
    """A folder of arrays; without a path a temporary one, removed with this object."""

    def __init__(self, path: Path | None) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="ggp-solve-") if path is None else None
        self.path = Path(self._temporary.name) if self._temporary else path or Path()
        self.path.mkdir(parents=True, exist_ok=True)

    def store(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        """The array, moved to a file."""
        array.tofile(self.path / name)
        return self.open(name, array.dtype, array.shape)

    def open(self, name: str, dtype: Any, shape: tuple[int, ...]) -> NDArray[Any]:
        """A stored array, mapped into memory."""
        if 0 in shape:
            return np.zeros(shape, dtype)
        mapped: Any = np.memmap(self.path / name, dtype, "c", shape=shape)
        found: NDArray[Any] = mapped
        return found

    def append(self, name: str, array: NDArray[Any], place: int) -> None:
        """Write `array` into a file, behind the `place` elements that it has of it."""
        (self.path / name).touch()
        with (self.path / name).open("r+b") as file:
            file.seek(place * array.itemsize)
            array.tofile(file)

    def save(
        self, checkpoint: Checkpoint, keys: NDArray[np.uint64], place: int, goal: NDArray[np.uint8]
    ) -> None:
        """Save all that is needed to resume the enumeration; the first `place` words of keys are stored."""
        (self.path / _CHECKPOINT).unlink(missing_ok=True)
        self.append("keys", keys[place:], place)
        goal.tofile(self.path / "goal")
        write_text(self.path / _CHECKPOINT, json.dumps(checkpoint.__dict__))

    def load(self) -> Checkpoint | None:
        """The checkpoint that `save` wrote; None if there is none. Raises ValueError if it is damaged."""
        try:
            text = (self.path / _CHECKPOINT).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        try:
            return _checked(Checkpoint(**json.loads(text)))
        except (TypeError, RecursionError) as error:
            raise ValueError(str(error)) from None

    def read(self, name: str, dtype: Any, length: int) -> NDArray[Any]:
        """An array that `save` wrote, mapped into memory. Raises OSError, ValueError if it is shorter."""
        return self.open(name, dtype, (length,))

    def clear(self) -> None:
        """Remove our files from the folder, and the folder if it is empty then."""
        for pattern in (_CHECKPOINT, "keys", "goal", "edge-*", "moves-*"):
            for file in self.path.glob(pattern):
                file.unlink()
        with contextlib.suppress(OSError):
            self.path.rmdir()


def _checked(checkpoint: Checkpoint) -> Checkpoint:
    states, ends = checkpoint.states, checkpoint.layer_ends
    sizes = [number for chunk in checkpoint.chunks for number in chunk]
    numbers = [states, checkpoint.backward, *ends, *sizes]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("numbers of another type")
    if not states:
        raise ValueError("no states")
    first = 0
    for chunk_first, count, _ in checkpoint.chunks:
        if chunk_first != first:
            raise ValueError("chunks do not follow each other")
        first += count
    if first > states or any(not 0 <= end <= states for end in ends) or ends != sorted(ends):
        raise ValueError("more states than were found")
    return checkpoint


@dataclass
class StateSpace:
    """The reachable states of one game. N states, R roles, D words per key.

    keys         uint64[N*D], see `ggp.lanes.keys.state_code`
    table        hash table from keys to numbers; with a `rank`, of any states
    goal         uint8[N, R]: goals of terminal states (0 for the chance role), UNKNOWN elsewhere
    chunks       in ascending order; they cover all states
    layer_ends   layer_ends[d] states can be reached by at most d joint moves
    is_layered   every transition leads to a state with a higher number
    seconds      time it took to find them
    folder       folder of what is not in memory
    rank         says in which layer a key is; None if states do not fall into layers, or are few

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
    rank: Rank | None = None
    layer_table: dict[int, Words] = field(default_factory=dict, init=False, repr=False)

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
        numbers = np.full(len(wanted), ABSENT)
        words = self.code.word_count
        if self.rank is None:
            find_states(self.table, self.keys, words, wanted.reshape(-1), numbers)
            return numbers
        layers = layers_of(self.rank, wanted.reshape(-1), words)
        for layer in np.unique(layers[(layers >= 0) & (layers < len(self.layer_ends))]).tolist():
            chosen = np.flatnonzero(layers == layer)
            found = np.empty(len(chosen), np.int64)
            find_states(self._table_of(layer), self.keys, words, wanted[chosen].reshape(-1), found)
            numbers[chosen] = found
        return numbers

    def _table_of(self, layer: int) -> Words:
        """The table of the states of one layer, made when it is asked for."""
        if layer not in self.layer_table:
            first, end = [0, *self.layer_ends][layer : layer + 2]
            table = make_key_table(2 << (end - first).bit_length())
            insert_states(table, self.keys, self.code.word_count, first, end)
            self.layer_table[layer] = table
        return self.layer_table[layer]
