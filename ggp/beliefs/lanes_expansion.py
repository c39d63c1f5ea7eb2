"""One step of a belief on lanes: a lane is a state of the belief with one joint move.

Shapes: N states, F fluents, B = ceil(F/8) bytes and D = ceil(F/64) words of a packed state, M moves of all
roles, L lanes, P percepts of the role. The role's percept rows are compared for all lanes at once; lanes that
disagree die. The work is done by `ggp.beliefs.step_kernels`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ggp.beliefs.expansion import PATIENCE_SECONDS, Weights
from ggp.beliefs.observation import Observation
from ggp.beliefs.observation_keys import ObservationKeys, UInt64Array, observation_numbers
from ggp.beliefs.step_kernels import (
    Origins,
    PerceptTables,
    Reached,
    count_joint_moves,
    list_choices,
    make_joint_moves,
    make_step_lanes,
    read_states,
)
from ggp.engines.compiled import CompiledGame
from ggp.game import Fact, Move, Role
from ggp.jit.compiling import announced_compilation
from ggp.lanes.engine import Lanes
from ggp.lanes.keys.key_table import KeyTable, insert_states

BoolArray = NDArray[np.bool_]

_MAX_CELLS = 1 << 25
"""Maximum bytes for the legal moves of all states, or for all successors: games may be wide."""

_NOWHERE = np.zeros(0, np.int64)
_MAX_BLOCKS = 64
"""Maximum ticks between two checks of the clock."""
_BLOCK_SECONDS = 0.002
"""Target duration of these ticks."""


@dataclass(frozen=True)
class _Known:
    """N states and what holds in them: uint64[N, D], bool[N, M], the legal moves, and bool[N]."""

    joined: bytes
    states: UInt64Array
    is_legal: BoolArray
    is_terminal: BoolArray


@dataclass(frozen=True)
class _Successors:
    """Different states that are not terminal, with their weights, and uint64[N, R], their keys.

    keys          uint64[0, R] unless keys are kept
    is_complete   whether there was time for all joint moves
    """

    weights: Weights
    keys: UInt64Array
    is_complete: bool


class LanesExpansion:
    """Expansion of compiled games; see `ggp.beliefs.expansion`. Not for several threads at once."""

    limit = 2_000_000
    most_states = 100_000
    sample_size = 10_000

    def __init__(self, game: CompiledGame, role: Role, words: int | None = None) -> None:
        """Set up the lanes. words: per row; None: those of the game."""
        self._game, self._index = game, game.roles.index(role)
        tables = game.lane_tables
        self._lanes = Lanes(tables, words=words or game.words)
        width = len(game.terms.fluents) + int(game.tables.first_move[-1])
        self.limit = max(1, min(self.limit, 8 * _MAX_CELLS // width))
        most = max(1, _MAX_CELLS // width)
        self.most_states = min(self.most_states, most)
        self.sample_size = min(self.sample_size, most)
        self._first_move = np.asarray(game.tables.first_move, np.int64)
        self._bytes = (len(game.terms.fluents) + 7) // 8
        self._step = make_step_lanes(len(game.roles), len(game.terms.fluents), self._lanes.words)
        self._words = self._step.code.word_count
        self._percept_tables = _percepts_of(game)
        first = int(self._percept_tables.first[self._index])
        end = int(self._percept_tables.first[self._index + 1])
        self._percepts = {game.terms.percepts[i]: i for i in range(first, end)}
        own = game.moves[self._index]
        self._own_moves = {move: int(self._first_move[self._index]) + i for i, move in enumerate(own)}
        self._own_keys = ObservationKeys(game, self._index)
        self._key_place: dict[Hashable, int] = {}
        self._keys = np.zeros((0, len(game.roles)), np.uint64)
        self._known: _Known | None = None
        self._compile()

    def _compile(self) -> None:
        """Compile the kernels, or load them from the cache, by a step of no state."""
        with announced_compilation():
            nothing = self._know_joined(b"", 0)
            origins = self._origins(nothing, np.zeros(0), nothing.is_legal, None)
            found = _Found(self._words, len(self._game.roles), is_keyed=False)
            found.with_room(1)
            self._make(origins, self._percept_tables, found, _NOWHERE)

    def keep_keys(self) -> None:
        """From now on, the initial state, keep what each role has observed on the way to the states."""
        self._key_place = {self._game.initial_state(): 0}
        self._keys = np.zeros((1, len(self._game.roles)), np.uint64)

    def keys_of(self, states: Sequence[Hashable], history: Sequence[Observation]) -> UInt64Array:
        """uint64[N, R]: the key of what each role has observed on the way to each state.

        history   of the own role, whose key is the same everywhere
        Of several ways to a state the likeliest counts. A state reached by a detour has keys of its own.
        """
        keys = self._kept_keys(states)
        own = self._own_keys.of(history)
        if own is not None:
            keys[:, self._index] = own
        return keys

    def _kept_keys(self, states: Sequence[Hashable]) -> UInt64Array:
        place = np.array([self._key_place.get(state, -1) for state in states], np.int64)
        keys = np.zeros((len(states), len(self._game.roles)), np.uint64)
        keys[place >= 0] = self._keys[place[place >= 0]]
        for i in np.flatnonzero(place < 0).tolist():
            digest = blake2b(cast("bytes", states[i]), digest_size=8).digest()
            keys[i] = np.frombuffer(digest, np.uint64)
        return keys

    def count(self, states: Sequence[Hashable], own_move: Move | None) -> list[int]:
        is_legal = self._restricted(self._know(states).is_legal, own_move)
        counts: list[int] = self._choices(is_legal)[2].tolist()
        return counts

    def successors(self, weights: Weights, observation: Observation, deadline: float) -> tuple[Weights, bool]:
        wanted = self._wanted(observation)
        if wanted is None or not weights:
            return {}, True
        keys = self._kept_keys(list(weights)) if self._key_place else None

        def is_over(made: int) -> bool:
            return time.monotonic() > deadline + (0.0 if made else PATIENCE_SECONDS)

        weight = np.fromiter(weights.values(), float, len(weights))
        found = self._successors(list(weights), weight, keys, observation.own_move, wanted, is_over)
        if keys is not None and found.weights:  # without successors the states held are tried again
            self._keys = found.keys
            self._key_place = {state: i for i, state in enumerate(found.weights)}
        return found.weights, found.is_complete

    def foreseen(
        self,
        weights: Weights,
        own_move: Move,
        history: Sequence[Observation],
        is_over: Callable[[], bool],
    ) -> tuple[Weights, UInt64Array] | None:
        """The successors after `own_move`, whatever is observed, and their keys uint64[N, R]; see `keys_of`.
        Terminal ones are left out; None if `is_over()` comes first. Needs `keep_keys`, and keeps nothing."""
        if not weights:
            return None
        keys = self.keys_of(list(weights), history)
        weight = np.fromiter(weights.values(), float, len(weights))
        found = self._successors(list(weights), weight, keys, own_move, None, lambda made: is_over())
        return (found.weights, found.keys) if found.is_complete else None

    def _successors(
        self,
        states: Sequence[Hashable],
        weight: NDArray[np.float64],
        keys: UInt64Array | None,
        own_move: Move | None,
        wanted: BoolArray | None,
        is_over: Callable[[int], bool],
    ) -> _Successors:
        """The successors in which the role observes `wanted`, bool[P]; all of them if it is None.

        weight    float64[N], of the N states
        keys      uint64[N, R], if keys are kept
        is_over   asked with the number of joint moves so far that agree; they come in random order, so that
                  those made until then are a fair sample
        """
        known = self._know(states)
        is_legal = self._restricted(known.is_legal, own_move)
        percepts = self._percept_tables
        if wanted is not None:
            percepts = percepts._replace(wanted=wanted, role=self._index)
        found = _Found(self._words, len(self._game.roles), is_keyed=keys is not None)
        rng, made = np.random.default_rng(len(states)), 0
        origins = self._origins(known, weight, is_legal, keys)
        for blocks in self._blocks(origins, rng):
            if is_over(made):
                return self._going_on(found, is_complete=False)
            made += self._make(origins, percepts, found, blocks)
        return self._going_on(found, is_complete=True)

    def _origins(
        self,
        known: _Known,
        weight: NDArray[np.float64],
        is_legal: BoolArray,
        keys: UInt64Array | None,
    ) -> Origins:
        """The states, with their weights, the moves to make there and keys."""
        first_choice, choice, count = self._choices(is_legal)
        return Origins(
            states=known.states.reshape(-1),
            weight=weight,
            key=np.zeros((0, len(self._game.roles)), np.uint64) if keys is None else keys,
            first_joint=np.concatenate([[0], np.cumsum(count)]),
            first_choice=first_choice,
            choice=choice,
        )

    def _blocks(self, origins: Origins, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Where the joint moves of each tick begin, in random order, in batches that take a short time."""
        starts = np.arange(0, int(origins.first_joint[-1]), self._lanes.lane_count)
        if len(starts) > 1:
            rng.shuffle(starts)
        begin, size = 0, 1
        while begin < len(starts):
            before = time.monotonic()
            yield starts[begin : begin + size]
            begin += size
            if time.monotonic() - before < _BLOCK_SECONDS / 2:
                size = min(2 * size, _MAX_BLOCKS)

    def _make(
        self, origins: Origins, percepts: PerceptTables, found: _Found, blocks: NDArray[np.int64]
    ) -> int:
        """Make the joint moves of some ticks; return how many agree."""
        reached, lanes = found.with_room(len(blocks) * self._lanes.lane_count), self._lanes
        return make_joint_moves(
            lanes.tables, lanes.arrays.value, self._step, origins, percepts, reached, blocks
        )

    def _going_on(self, found: _Found, *, is_complete: bool) -> _Successors:
        padded, weight, keys = found.arrays()
        packed = np.ascontiguousarray(padded.view(np.uint8)[:, : self._bytes])
        known = self._know_joined(packed.tobytes(), len(weight))
        if known.is_terminal.any():
            goes_on = ~known.is_terminal
            packed, weight, keys = packed[goes_on], weight[goes_on], keys[goes_on] if len(keys) else keys
            known = _Known(
                packed.tobytes(), known.states[goes_on], known.is_legal[goes_on], known.is_terminal[goes_on]
            )
        self._known = known if known.is_legal.size <= _MAX_CELLS else None
        joined, size = known.joined, self._bytes
        states = [joined[size * i : size * (i + 1)] for i in range(len(weight))]
        return _Successors(dict(zip(states, weight.tolist(), strict=True)), keys, is_complete)

    def common_moves(self, states: Sequence[Hashable]) -> tuple[Move, ...]:
        is_legal = self._know(states).is_legal
        first = self._first_move[self._index]
        everywhere = is_legal[:, first : self._first_move[self._index + 1]].all(axis=0)
        moves = self._game.moves[self._index]
        return tuple(sorted((moves[i] for i in np.flatnonzero(everywhere)), key=str))

    def common_facts(self, states: Sequence[Hashable]) -> tuple[Fact, ...]:
        joined = b"".join(cast("Sequence[bytes]", states))
        packed = np.frombuffer(joined, np.uint8).reshape(len(states), -1)
        return self._game.facts(np.bitwise_and.reduce(packed, axis=0).tobytes())

    def _wanted(self, observation: Observation) -> BoolArray | None:
        """bool[P]: the percepts observed; None if the rules can never give one of them."""
        wanted = np.zeros(len(self._percept_tables.wanted), np.bool_)
        for percept in observation.percepts:
            if percept not in self._percepts:
                return None
            wanted[self._percepts[percept]] = True
        return wanted

    def _know(self, states: Sequence[Hashable]) -> _Known:
        return self._know_joined(b"".join(cast("Sequence[bytes]", states)), len(states))

    def _know_joined(self, joined: bytes, count: int) -> _Known:
        """What holds in states, cached because the next query is often about the same ones."""
        if self._known is not None and len(self._known.states) == count and self._known.joined == joined:
            return self._known
        padded = np.zeros((count, 8 * self._words), np.uint8)
        padded[:, : self._bytes] = np.frombuffer(joined, np.uint8).reshape(count, self._bytes)
        known = _Known(
            joined,
            padded.view(np.uint64),
            np.zeros((count, int(self._first_move[-1])), np.bool_),
            np.zeros(count, np.bool_),
        )
        lanes = self._lanes
        read_states(
            lanes.tables,
            lanes.arrays.value,
            self._step,
            self._game.legal_literals,
            known.states.reshape(-1),
            known.is_legal,
            known.is_terminal,
        )
        self._known = known
        return known

    def _restricted(self, is_legal: BoolArray, own_move: Move | None) -> BoolArray:
        """`is_legal` with at most `own_move` for the own role."""
        if own_move is None:
            return is_legal
        first, end = self._first_move[self._index], self._first_move[self._index + 1]
        kept = is_legal.copy()
        kept[:, first:end] = False
        place = self._own_moves.get(own_move)
        if place is not None:
            kept[:, place] = is_legal[:, place]
        return kept

    def _choices(self, is_legal: BoolArray) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """The legal moves of each state as lists, see `Origins`, and int64[N], the number of joint moves."""
        first_choice = np.zeros(len(is_legal) * len(self._game.roles) + 1, np.int64)
        choice = np.zeros(int(np.count_nonzero(is_legal)), np.int32)
        count = np.zeros(len(is_legal), np.int64)
        list_choices(is_legal, self._first_move, first_choice, choice)
        count_joint_moves(first_choice, count)
        return first_choice, choice, count


class _Found:
    """Successors, with their weights and keys, in arrays that grow."""

    def __init__(self, words: int, roles: int, *, is_keyed: bool) -> None:
        """words: D of a packed state."""
        self._is_keyed = is_keyed
        self._count = np.zeros(1, np.int64)
        self._reached = self._allocate(0, words, roles)

    def _allocate(self, room: int, words: int, roles: int) -> Reached:
        slots = 1 << (2 * room + 1).bit_length()
        return Reached(
            known=KeyTable(np.zeros(slots, np.uint64), np.zeros(room * words, np.uint64), words),
            weight=np.zeros(room),
            likeliest=np.zeros(room),
            key=np.zeros((room if self._is_keyed else 0, roles), np.uint64),
            size=self._count,
        )

    def with_room(self, more: int) -> Reached:
        """The arrays, with room for `more` successors."""
        count, old = int(self._count[0]), self._reached
        if len(old.weight) < count + more:
            words = old.known.word_count
            new = self._allocate(2 * count + more, words, old.key.shape[1])
            for source, target in (
                (old.known.keys[: count * words], new.known.keys),
                (old.weight[:count], new.weight),
                (old.likeliest[:count], new.likeliest),
                (old.key[:count], new.key),
            ):
                target[: len(source)] = source
            insert_states(new.known.table, new.known.keys, words, 0, count)
            self._reached = new
        return self._reached

    def arrays(self) -> tuple[UInt64Array, NDArray[np.float64], UInt64Array]:
        """uint64[S, D], float64[S] and uint64[S, R], or uint64[0, R] if keys are not kept."""
        count, found = int(self._count[0]), self._reached
        words = found.known.word_count
        states = found.known.keys[: count * words].reshape(count, words)
        return states, found.weight[:count], found.key[:count].copy()


def _percepts_of(game: CompiledGame) -> PerceptTables:
    """The percepts of a game; nothing is compared."""
    numbers = observation_numbers(game)
    return PerceptTables(
        first=numbers.first,
        literal=game.lane_tables.percept_literal,
        wanted=np.zeros(len(numbers.of_percept), np.bool_),
        role=-1,
        of_percept=numbers.of_percept,
        of_move=numbers.of_move,
    )
