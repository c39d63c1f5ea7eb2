"""One step of a belief on lanes: a lane is a state of the belief with one joint move.

Shapes: N states, F fluents, B = ceil(F/8) bytes and D = ceil(F/64) words of a packed state, M moves of all
roles, L lanes, P percepts of all roles. The role's percept rows are compared for all lanes at once; lanes
that disagree die. The work is done by `ggp.beliefs.step_kernels`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ggp.beliefs.expansion import PATIENCE_SECONDS, Expansion, Weights
from ggp.beliefs.observation import Observation
from ggp.beliefs.observation_keys import ObservationKeys, UInt64Array, observation_numbers
from ggp.beliefs.step_kernels import (
    Origins,
    Reached,
    Wanted,
    make_joint_moves,
    make_reached,
    make_step_lanes,
    read_states,
)
from ggp.engines.compiled import CompiledGame
from ggp.game import Fact, Move, Role
from ggp.jit.compiling import announced_compilation
from ggp.lanes.engine import Lanes
from ggp.lanes.keys.key_table import insert_states

BoolArray = NDArray[np.bool_]

_MAX_CELLS = 1 << 25
"""Maximum bytes for the legal moves of all states, or for all successors: games may be wide."""
_UNAFFORDABLE = 1e12
"""Joint moves of one state are counted no further, so that sums cannot overflow."""
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


class LanesExpansion(Expansion):
    """Expansion of compiled games. Not for several threads at once."""

    limit = 2_000_000
    most_states = 100_000
    sample_size = 10_000

    def __init__(self, game: CompiledGame, role: Role, words: int | None = None) -> None:
        """Set up the lanes. words: per row; None: those of the game."""
        super().__init__(game, role)
        self._compiled = game
        self._lanes = Lanes(game.lane_tables, words=words or game.words)
        game.native.begin(self._lanes.words)
        self._first_move = game.tables.first_move.tolist()
        width = len(game.terms.fluents) + self._first_move[-1]
        most = max(1, _MAX_CELLS // width)
        self.limit = max(1, min(self.limit, 8 * _MAX_CELLS // width))
        self.most_states = min(self.most_states, most)
        self.sample_size = min(self.sample_size, most)
        self._bytes = (len(game.terms.fluents) + 7) // 8
        self._step = make_step_lanes(len(game.roles), len(game.terms.fluents), self._lanes.words)
        self._words = self._step.code.word_count
        numbers = observation_numbers(game)
        self._anything = Wanted(numbers, np.zeros(len(numbers.of_percept), np.bool_), -1)
        own = range(*numbers.first[self._index : self._index + 2].tolist())
        self._percepts = {game.terms.percepts[i]: i for i in own}
        self._own_keys = ObservationKeys(game, self._index)
        self._key_place: dict[Hashable, int] = {}
        self._keys = np.zeros((0, len(game.roles)), np.uint64)
        self._known: _Known | None = None
        with announced_compilation():  # by a step of no state
            self._make(
                self._origins({}, None, None), self._anything, self._nothing_found(False), np.zeros(0, int)
            )

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
        choices = self._choice_counts(self._restricted(self._know(states).is_legal, own_move))
        counts: list[int] = _products(choices).tolist()
        return counts

    def successors(self, weights: Weights, observation: Observation, deadline: float) -> tuple[Weights, bool]:
        if not weights or not self._percepts.keys() >= set(observation.percepts):
            return {}, True  # the rules can never give one of the percepts
        keys = self._kept_keys(list(weights)) if self._key_place else None
        wanted = np.zeros_like(self._anything.percepts)
        wanted[[self._percepts[percept] for percept in observation.percepts]] = True
        found, found_keys, is_complete = self._successors(
            self._origins(weights, keys, observation.own_move),
            self._anything._replace(percepts=wanted, role=self._index),
            lambda made: time.monotonic() > deadline + (0.0 if made else PATIENCE_SECONDS),
        )
        if keys is not None and found:  # without successors the states held are tried again
            self._keys = found_keys
            self._key_place = {state: i for i, state in enumerate(found)}
        return found, is_complete

    def foreseen(
        self, weights: Weights, own_move: Move, history: Sequence[Observation], is_over: Callable[[], bool]
    ) -> tuple[Weights, UInt64Array] | None:
        """The successors after `own_move`, whatever is observed, and their keys uint64[N, R]; see `keys_of`.
        Terminal ones are left out; None if `is_over()` comes first. Needs `keep_keys`, and keeps nothing."""
        if not weights:
            return None
        origins = self._origins(weights, self.keys_of(list(weights), history), own_move)
        found, keys, is_complete = self._successors(origins, self._anything, lambda made: is_over())
        return (found, keys) if is_complete else None

    def _successors(
        self, origins: Origins, wanted: Wanted, is_over: Callable[[int], bool]
    ) -> tuple[Weights, UInt64Array, bool]:
        """Different successors that are not terminal, in which the role observes what is wanted: their
        weights, uint64[N, R], their keys (uint64[0, R] unless kept), and whether there was time for all.

        is_over   asked with the number of joint moves so far that agree; they come in random order, so that
                  those made until then are a fair sample
        """
        found, made, is_complete = self._nothing_found(origins.key.shape[0] > 0), 0, True
        for blocks in self._blocks(origins):
            if is_over(made):
                is_complete = False
                break
            found = _with_room(found, len(blocks) * self._lanes.lane_count)
            made += self._make(origins, wanted, found, blocks)
        return *self._going_on(found), is_complete

    def _nothing_found(self, is_keyed: bool) -> Reached:
        return make_reached(1, self._words, len(self._game.roles), is_keyed)

    def _origins(self, weights: Weights, keys: UInt64Array | None, own_move: Move | None) -> Origins:
        """The states with their weights, keys and the moves to make there."""
        known = self._know(list(weights))
        is_legal = self._restricted(known.is_legal, own_move)
        choices = self._choice_counts(is_legal)
        return Origins(
            states=known.states.reshape(-1),
            weight=np.fromiter(weights.values(), np.float64, len(weights)),
            key=np.zeros((0, len(self._game.roles)), np.uint64) if keys is None else keys,
            first_joint=_offsets(_products(choices)),
            first_choice=_offsets(choices.reshape(-1)),
            choice=np.nonzero(is_legal)[1].astype(np.int32),
        )

    def _blocks(self, origins: Origins) -> Iterator[NDArray[np.int64]]:
        """Where the joint moves of each tick begin, in random order, in batches that take a short time."""
        starts = np.arange(0, int(origins.first_joint[-1]), self._lanes.lane_count)
        if len(starts) > 1:
            np.random.default_rng(len(origins.weight)).shuffle(starts)
        begin, size = 0, 1
        while begin < len(starts):
            before = time.monotonic()
            yield starts[begin : begin + size]
            begin += size
            if time.monotonic() - before < _BLOCK_SECONDS / 2:
                size = min(2 * size, _MAX_BLOCKS)

    def _make(self, origins: Origins, wanted: Wanted, found: Reached, blocks: NDArray[np.int64]) -> int:
        """Make the joint moves of some ticks; return how many agree."""
        lanes = self._lanes
        return make_joint_moves(lanes.tables, lanes.arrays.value, self._step, origins, wanted, found, blocks)

    def _going_on(self, found: Reached) -> tuple[Weights, UInt64Array]:
        """The weights and keys of the successors found that are not terminal."""
        count = int(found.size[0])
        padded = found.known.keys[: count * self._words].reshape(count, self._words)
        packed = np.ascontiguousarray(padded.view(np.uint8)[:, : self._bytes])
        weight, keys = found.weight[:count], found.key[:count].copy()
        known = self._know_joined(packed.tobytes(), count)
        if known.is_terminal.any():
            goes_on = ~known.is_terminal
            packed, weight, keys = packed[goes_on], weight[goes_on], keys[goes_on] if len(keys) else keys
            known = _Known(
                packed.tobytes(), known.states[goes_on], known.is_legal[goes_on], known.is_terminal[goes_on]
            )
        self._known = known if known.is_legal.size <= _MAX_CELLS else None
        joined, size = known.joined, self._bytes
        states = [joined[size * i : size * (i + 1)] for i in range(len(weight))]
        return dict(zip(states, weight.tolist(), strict=True)), keys

    def common_moves(self, states: Sequence[Hashable]) -> tuple[Move, ...]:
        first, end = self._first_move[self._index : self._index + 2]
        everywhere = self._know(states).is_legal[:, first:end].all(axis=0)
        moves = self._compiled.moves[self._index]
        return tuple(sorted((moves[i] for i in np.flatnonzero(everywhere)), key=str))

    def common_facts(self, states: Sequence[Hashable]) -> tuple[Fact, ...]:
        joined = b"".join(cast("Sequence[bytes]", states))
        packed = np.frombuffer(joined, np.uint8).reshape(len(states), -1)
        return self._game.facts(np.bitwise_and.reduce(packed, axis=0).tobytes())

    def _know(self, states: Sequence[Hashable]) -> _Known:
        return self._know_joined(b"".join(cast("Sequence[bytes]", states)), len(states))

    def _know_joined(self, joined: bytes, count: int) -> _Known:
        """What holds in states, cached because the next query is often about the same ones."""
        if self._known is not None and len(self._known.states) == count and self._known.joined == joined:
            return self._known
        padded = np.zeros((count, 8 * self._words), np.uint8)
        padded[:, : self._bytes] = np.frombuffer(joined, np.uint8).reshape(count, self._bytes)
        is_legal, is_terminal = np.zeros((count, self._first_move[-1]), np.bool_), np.zeros(count, np.bool_)
        known = self._known = _Known(joined, padded.view(np.uint64), is_legal, is_terminal)
        read_states(
            self._lanes.tables,
            self._lanes.arrays.value,
            self._step,
            self._compiled.legal_literals,
            known.states.reshape(-1),
            is_legal,
            is_terminal,
        )
        return known

    def _restricted(self, is_legal: BoolArray, own_move: Move | None) -> BoolArray:
        """`is_legal` with at most `own_move` for the own role."""
        if own_move is None:
            return is_legal
        first, end = self._first_move[self._index : self._index + 2]
        own = np.array([move == own_move for move in self._compiled.moves[self._index]])
        kept = is_legal.copy()
        kept[:, first:end] &= own
        return kept

    def _choice_counts(self, is_legal: BoolArray) -> NDArray[np.int64]:
        """int64[N, R]: the number of legal moves of each role."""
        parts = [is_legal[:, first:end] for first, end in pairwise(self._first_move)]
        return np.stack([np.count_nonzero(part, axis=1) for part in parts], axis=1)


def _products(choices: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[N]: the number of joint moves of each state."""
    products = np.minimum(choices.prod(axis=1, dtype=np.float64), _UNAFFORDABLE)
    return np.asarray(products, np.int64)


def _offsets(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)])


def _with_room(old: Reached, more: int) -> Reached:
    """The successors found, with room for `more`."""
    count, words = int(old.size[0]), old.known.word_count
    if len(old.weight) >= count + more:
        return old
    new = make_reached(2 * count + more, words, old.key.shape[1], old.key.shape[0] > 0)
    for source, target in (
        (old.known.keys[: count * words], new.known.keys),
        (old.weight[:count], new.weight),
        (old.likeliest[:count], new.likeliest),
        (old.key[:count], new.key),
    ):
        target[: len(source)] = source
    new.size[0] = count
    if count:  # not to load a kernel for nothing while a clock runs
        insert_states(new.known.table, new.known.keys, words, 0, count)
    return new
