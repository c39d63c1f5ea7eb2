"""EnvState: the states of a batch of environments, as values that may be copied, pickled, split and compared.

Kernels read and write this memory without looking: rows must be aligned, and arrays as long as the layout of
the environment says. So states carry their layout, only `new_state` allocates, and whatever restores a state
(`copy.deepcopy`, pickle, `s[ids]`) copies into a new one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggp.env.kernels.arrays import Batch, Readings
from ggp.jit.rows import ALIGNMENT, Rows, in_words, make_rows

_PADDING = 64
_Words: TypeAlias = Sequence[NDArray[Any]]
"""The arrays of a `Batch`, rows as uint64[count, W]: those can be copied as any."""


class Layout(NamedTuple):
    """Layout and meaning of a state's arrays: the same for a state and the environments that step it.

    game      its name, for messages
    digest    of the rules and of the numbering of facts, actions and observations
    fluents   F; agents   A; actions   M
    sensed    what all agents remember: V*P
    shape     of the observation of one environment, agents included if each has its own
    is_joint  whether agents act at once
    has_chance   whether the stream of chance of an environment is part of its state
    """

    game: str
    digest: str
    fluents: int
    agents: int
    actions: int
    sensed: int
    shape: tuple[int, ...]
    is_joint: bool
    has_chance: bool

    @property
    def observation_size(self) -> int:
        """Values of the observation of one environment."""
        return math.prod(self.shape)

    @property
    def mask_shape(self) -> tuple[int, ...]:
        """Shape of the legal actions of one environment."""
        return (self.agents, self.actions) if self.is_joint else (self.actions,)


@dataclass(frozen=True, eq=False)
class EnvState:
    """N environments at one moment: a value, which can be kept, stepped from again and split by `s[ids]`.

    current_player      int32[N]: index of the agent to move; -1 if several choose or the game is over
    observation         uint8[N, *shape]; uint8[N, A, *shape] if agents act at once and see different things
    legal_action_mask   bool[N, M], or bool[N, A, M] if agents act at once; all true when the game is over
    rewards             float32[N, A]: of the step that led here
    terminated          bool[N]: the game ended by its rules, or by an illegal action
    truncated           bool[N]: it was cut off
    goals               int32[N, A]: goals 0..100 of games that ended in this step, else -1
    step_count          int32[N]: steps of the current game
    layout              of which environments it is a state

    `copy.deepcopy` and pickle give equal states, `s == t` compares values, and iteration gives a state for
    each environment.

    >>> import copy, ggp
    >>> env = ggp.env.make("nim", 3)                                      # doctest: +SKIP
    >>> s = env.init()                                                    # doctest: +SKIP
    >>> copy.deepcopy(s) == s, len(list(s)), s[[0, 2]]                    # doctest: +SKIP
    (True, 3, EnvState(2 environments, 0 over, observation (20,)))
    """

    current_player: NDArray[np.int32]
    observation: NDArray[np.uint8]
    legal_action_mask: NDArray[np.bool_]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    goals: NDArray[np.int32]
    step_count: NDArray[np.int32]
    batch: Batch
    readings: Readings | None
    layout: Layout

    def __post_init__(self) -> None:
        """Only `dataclasses.replace` and the like come here: the arrays may be any. Raises ValueError."""
        _require_memory(self.batch, self.layout)
        object.__setattr__(self, "readings", None)  # no longer the memory behind the arrays

    def __len__(self) -> int:
        return len(self.batch.steps)

    def __getitem__(self, ids: slice | Sequence[int] | NDArray[Any]) -> EnvState:
        """The environments `ids` (a slice, numbers or a mask), in that order."""
        chosen = np.arange(len(self))[ids]
        if chosen.ndim != 1:
            raise IndexError("environments are chosen by a slice, a list of numbers or a mask")
        words: Any = in_words(self.batch)
        rows = [_gather_rows(each, blocks_for(len(self)), chosen) for each in words[:3]]
        read = {name: getattr(self, name)[chosen] for name in _READ}
        return _filled(self.layout, [*rows, words.seed[chosen], words.steps[chosen]], read)

    def __iter__(self) -> Iterator[EnvState]:
        return (self[n : n + 1] for n in range(len(self)))

    def __reversed__(self) -> Iterator[EnvState]:
        return (self[n : n + 1] for n in reversed(range(len(self))))

    def __array__(self, *args: Any, **kwargs: Any) -> NDArray[Any]:
        """Refuse: numpy would see endlessly nested lists."""
        raise TypeError("an EnvState is not an array: its fields are, such as s.observation")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EnvState):
            return NotImplemented
        if self.layout != other.layout or len(self) != len(other):
            return False
        one, two = self[:], other[:]  # lanes behind the last environment are now zero
        return all(np.array_equal(x, y) for x, y in zip(_contents(one), _contents(two), strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        batch = [np.ascontiguousarray(array) for array in in_words(self.batch)]
        return _filled, (self.layout, batch, {name: getattr(self, name) for name in _READ})

    def __repr__(self) -> str:
        over = int((self.terminated | self.truncated).sum())
        return f"EnvState({len(self)} environments, {over} over, observation {self.observation.shape[1:]})"


_READ = tuple(each.name for each in fields(EnvState) if each.name not in ("batch", "readings", "layout"))
"""The fields that agents read."""


def words_for(count: int) -> int:
    """W for a number of environments: 1 for up to 64, else 8."""
    return 1 if count <= 64 else 8


def blocks_for(count: int) -> int:
    """B for a number of environments."""
    return -(-count // (64 * words_for(count)))


def new_state(layout: Layout, count: int) -> EnvState:
    """A state of `count` environments, yet to be written."""
    batch, readings = _new_batch(layout, count), _new_readings(layout, count)
    return _made(
        layout,
        batch,
        readings,
        current_player=readings.current[:],
        observation=readings.observation[:-_PADDING].reshape(count, *layout.shape),
        legal_action_mask=readings.mask[:-_PADDING].view(np.bool_).reshape(count, *layout.mask_shape),
        rewards=readings.reward.reshape(count, layout.agents),
        terminated=readings.terminated[:-_PADDING].view(np.bool_),
        truncated=readings.truncated[:-_PADDING].view(np.bool_),
        goals=readings.goal.reshape(count, layout.agents),
        step_count=batch.steps[:],
    )


def _made(layout: Layout, batch: Batch, readings: Readings | None, **read: NDArray[Any]) -> EnvState:
    state = object.__new__(EnvState)  # no __post_init__: this memory is right
    state.__dict__.update(read, batch=batch, readings=readings, layout=layout)
    return state


def _new_batch(layout: Layout, count: int) -> Batch:
    blocks = blocks_for(count)
    fluents, flags, memory = _rows_of(
        words_for(count), blocks * layout.fluents, blocks * (2 + layout.agents), blocks * 2 * layout.sensed
    )
    return Batch(fluents, flags, memory, np.zeros(count, np.uint64), np.zeros(count, np.int32))


def _new_readings(layout: Layout, count: int) -> Readings:
    width = layout.actions * (layout.agents if layout.is_joint else 1)
    sizes = count * layout.observation_size, count * width
    # Both begin with a cache line: kernels store whole ones.
    first = -(-sizes[0] // ALIGNMENT) * ALIGNMENT + _PADDING
    memory = np.empty(ALIGNMENT + first + sizes[1] + _PADDING, np.uint8)
    memory = memory[-memory.ctypes.data % ALIGNMENT :]
    return Readings(
        memory[: sizes[0] + _PADDING],
        memory[first : first + sizes[1] + _PADDING],
        np.empty(count, np.int32),
        np.empty(count * layout.agents, np.float32),
        np.empty(count * layout.agents, np.int32),
        np.empty(count + _PADDING, np.uint8),
        np.empty(count + _PADDING, np.uint8),
    )


def _rows_of(words: int, *counts: int) -> list[Rows]:
    """Zeroed rows, an array for each of `counts`, all aligned and in one allocation, which is faster."""
    spacing = max(1, ALIGNMENT // (8 * words))
    firsts = [0, *accumulate(-(-count // spacing) * spacing for count in counts)]
    memory = make_rows(firsts[-1], words)
    return [memory[first : first + count] for first, count in zip(firsts, counts, strict=False)]


def _require_memory(batch: Batch, layout: Layout) -> None:
    """Raise ValueError unless kernels can work on the arrays of `batch`."""
    count = len(batch.steps)
    given: tuple[NDArray[Any], ...] = batch
    needed: tuple[NDArray[Any], ...] = _new_batch(layout, count)
    for name, array, right in zip(Batch._fields, given, needed, strict=True):
        if not (
            isinstance(array, np.ndarray)
            and (array.dtype, array.shape) == (right.dtype, right.shape)
            and array.flags.carray
            and (not right.dtype.names or array.ctypes.data % ALIGNMENT == 0)
        ):
            raise ValueError(
                f"batch.{name} is not memory of {layout.game} for {count} environments: states are made by "
                "init, step, s[ids], copy.deepcopy and pickle"
            )


def _filled(layout: Layout, batch: _Words, read: Mapping[str, NDArray[Any]]) -> EnvState:
    """A state with copies of the arrays of `batch`, and of the fields in `read`."""
    own = _new_batch(layout, len(batch[-1]))
    words: _Words = in_words(own)
    for target, source in zip(words, batch, strict=True):
        np.copyto(target, source)
    return _made(layout, own, None, **{name: np.array(array) for name, array in read.items()})


def _contents(state: EnvState) -> list[NDArray[Any]]:
    fluents, flags, memory, seed, _ = in_words(state.batch)
    chance = [seed] if state.layout.has_chance else []
    return [fluents, flags, memory, *chance, *(getattr(state, name) for name in _READ)]


def _gather_rows(words: NDArray[np.uint64], blocks: int, chosen: NDArray[np.int64]) -> NDArray[np.uint64]:
    new_words, new_blocks = words_for(len(chosen)), blocks_for(len(chosen))
    each = len(words) // max(1, blocks)
    if not each or not new_blocks:
        return np.zeros((0, new_words), np.uint64)
    bits = np.unpackbits(
        np.ascontiguousarray(words).view(np.uint8).reshape(blocks, each, -1), axis=2, bitorder="little"
    )
    lanes = 64 * new_words
    padded = np.zeros((each, new_blocks * lanes), np.uint8)
    padded[:, : len(chosen)] = bits.transpose(1, 0, 2).reshape(each, -1)[:, chosen]
    packed = np.packbits(
        padded.reshape(each, new_blocks, lanes).transpose(1, 0, 2), axis=2, bitorder="little"
    )
    return np.ascontiguousarray(packed).view(np.uint64).reshape(-1, new_words)
