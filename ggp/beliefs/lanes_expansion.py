"""One step of a belief on lanes: a lane is a state of the belief with one joint move.

Shapes: N states, F fluents, B = ceil(F/8) bytes of a packed state, M moves of all roles, L lanes, P percepts
of the role. The role's percept rows are compared for all lanes at once; lanes that disagree die.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ggp.beliefs.expansion import PATIENCE_SECONDS, Weights
from ggp.beliefs.observation import Observation
from ggp.beliefs.observation_keys import ObservationKeys, UInt64Array
from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE, Fact, Move, Role
from ggp.lanes.engine import Lanes

BoolArray = NDArray[np.bool_]
Packed = NDArray[np.uint8]

_MOST_CELLS = 1 << 25
"""Bytes that the legal moves of all states, or all successors, may take: games of strangers may be wide."""

_UNAFFORDABLE = 1e12
"""Joint moves of one state are counted no further, so that sums cannot overflow."""


class MoveModel(Protocol):
    """How the other roles are thought to move, each knowing what it has observed."""

    def __call__(self, role: int, keys: UInt64Array, is_legal: BoolArray) -> NDArray[np.float64]:
        """float64[N, M]: how probable the moves of a role are; rows add up to 1, illegal moves have 0.

        role       its index
        keys       uint64[N]: of what it has observed, see `ObservationKeys`
        is_legal   bool[N, M]: its legal moves; a row may have none, and is then not read
        """
        ...


@dataclass(frozen=True)
class _Part:
    """Successors that agree: uint8[N, B], their weights float64[N] and uint64[N, R] or None, their keys."""

    states: Packed
    weight: NDArray[np.float64]
    keys: UInt64Array | None


@dataclass(frozen=True)
class _Successors:
    """N different states, uint64[N, R], their keys (0 unless kept), and bool[N]: which are terminal.

    is_complete   whether there was time for all joint moves
    """

    weights: Weights
    keys: UInt64Array
    is_over: BoolArray
    is_complete: bool = True

    def going_on(self) -> Weights:
        """Those that are not terminal."""
        return {
            state: weight
            for (state, weight), is_over in zip(self.weights.items(), self.is_over.tolist(), strict=True)
            if not is_over
        }


class LanesExpansion:
    """Expansion of compiled games; see `ggp.beliefs.expansion`. Not for several threads at once."""

    limit = 2_000_000
    most_states = 100_000
    sample_size = 10_000

    def __init__(self, game: CompiledGame, role: Role) -> None:
        self._game, self._index = game, game.roles.index(role)
        tables = game.lane_tables
        self._lanes = Lanes(tables, words=game.words)
        width = len(game.terms.fluents) + int(game.tables.first_move[-1])
        self.limit = max(1, min(self.limit, 8 * _MOST_CELLS // width))
        most = max(1, _MOST_CELLS // width)
        self.most_states = min(self.most_states, most)
        self.sample_size = min(self.sample_size, most)
        self._first_move = np.asarray(game.tables.first_move, np.int64)
        role_of = game.tables.percept_role
        of_role = np.flatnonzero(role_of == self._index)
        self._percept_literals = [tables.percept_literal[role_of == i] for i in range(len(game.roles))]
        self._percepts = {game.terms.percepts[i]: place for place, i in enumerate(of_role)}
        self._terminal = np.array([tables.terminal], np.int32)
        self._chance = game.roles.index(RANDOM_ROLE) if RANDOM_ROLE in game.roles else -1
        self._observers: list[ObservationKeys] = []
        self._model: MoveModel | None = None
        self._key_place: dict[Hashable, int] = {}
        self._keys = np.zeros((0, len(game.roles)), np.uint64)

    def keep_keys(self, model: MoveModel | None = None, *, is_ordered: bool = False) -> None:
        """From now on, the initial state, keep what each role has observed on the way to the states.

        model        says how the other roles move; None: uniformly at random
        is_ordered   see `ObservationKeys`
        """
        self._model = model
        self._observers = [
            ObservationKeys(self._game, i, is_ordered=is_ordered) for i in range(len(self._game.roles))
        ]
        self._key_place = {self._game.initial_state(): 0}
        self._keys = np.zeros((1, len(self._game.roles)), np.uint64)

    def keys_of(self, states: Sequence[Hashable], history: Sequence[Observation]) -> UInt64Array:
        """uint64[N, R]: the key of what each role has observed on the way to each state.

        history   of the own role, whose key is the same everywhere
        Of several ways to a state the likeliest counts. A state reached by a detour has keys of its own.
        """
        keys = self._kept_keys(states)
        own = self._observers[self._index].of(history)
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
        is_legal, _ = self._evaluate(self._packed(states))
        counts: list[int] = self._joint_counts(self._restricted(is_legal, own_move)).tolist()
        return counts

    def successors(self, weights: Weights, observation: Observation, deadline: float) -> tuple[Weights, bool]:
        wanted = self._wanted(observation)
        if wanted is None or not weights:
            return {}, True
        keys = self._kept_keys(list(weights)) if self._observers else None

        def is_over(made: int) -> bool:
            return time.monotonic() > deadline + (0.0 if made else PATIENCE_SECONDS)

        found = self._successors(weights, keys, observation.own_move, wanted, is_over)
        if self._observers and found.weights:  # without successors the states held are tried again
            self._keys = found.keys
            self._key_place = {state: i for i, state in enumerate(found.weights)}
        return found.going_on(), found.is_complete

    def foreseen(
        self,
        weights: Weights,
        own_move: Move,
        history: Sequence[Observation],
        is_over: Callable[[], bool],
    ) -> tuple[Weights, UInt64Array] | None:
        """The successors after `own_move`, whatever is observed, and their keys uint64[N, R]; see `keys_of`.

        Terminal ones are left out; None if `is_over()` comes first. Needs `keep_keys`, and keeps nothing.
        """
        if not weights:
            return None
        keys = self.keys_of(list(weights), history)
        found = self._successors(weights, keys, own_move, None, lambda made: is_over())
        return (found.going_on(), found.keys[~found.is_over]) if found.is_complete else None

    def _successors(
        self,
        weights: Weights,
        keys: UInt64Array | None,
        own_move: Move | None,
        wanted: BoolArray | None,
        is_over: Callable[[int], bool],
    ) -> _Successors:
        """The successors in which the role observes `wanted`, bool[P]; all of them if it is None.

        keys      uint64[N, R] of the N states, if keys are kept
        is_over   asked with the number of successors so far; joint moves come in random order, so that those
                  made until then are a fair sample
        """
        packed, weight = self._packed(list(weights)), np.fromiter(weights.values(), float, len(weights))
        is_legal = self._restricted(self._evaluate(packed)[0], own_move)
        count = self._joint_counts(is_legal)
        origin = np.repeat(np.arange(len(packed)), count)
        number = np.arange(len(origin)) - np.repeat(np.cumsum(count) - count, count)
        parts: list[_Part] = []
        starts = range(0, len(origin), self._lanes.lane_count)
        made_by_now = 0
        for place in np.random.default_rng(len(origin)).permutation(len(starts)).tolist():
            if is_over(made_by_now):
                return replace(self._merged(parts), is_complete=False)
            part = slice(starts[place], starts[place] + self._lanes.lane_count)
            following, seen, made = self._advance(packed, is_legal, origin[part], number[part])
            agrees = np.ones(len(made[0]), np.bool_)
            if wanted is not None:
                agrees = (seen[self._index] == wanted[:, None]).all(axis=0)
            own = None if keys is None else self._extended(keys[origin[part]], made, seen)[agrees]
            share = weight[origin[part]] * self._chances(origin[part], made, is_legal, keys)
            parts.append(_Part(following[agrees], share[agrees], own))
            made_by_now += int(agrees.sum())
        return self._merged(parts)

    def _chances(
        self,
        origin: NDArray[np.int64],
        made: list[NDArray[np.int64]],
        is_legal: BoolArray,
        keys: UInt64Array | None,
    ) -> NDArray[np.float64]:
        """float64[L]: how probable the joint move of each lane is in its state; see `_advance`.

        `origin` ascends, and `is_legal` has one own move in each state if it is known.
        """
        first, end = int(origin[0]), int(origin[-1]) + 1
        row = origin - first
        chance = np.ones(len(origin))
        for role, (a, b) in enumerate(self._role_ranges()):
            legal = is_legal[first:end, a:b]
            if self._model is None or keys is None or role in (self._index, self._chance):
                chance /= legal.sum(axis=1)[row]
            else:
                chance *= self._model(role, keys[first:end, role], legal)[row, made[role]]
        return chance

    def common_moves(self, states: Sequence[Hashable]) -> tuple[Move, ...]:
        is_legal, _ = self._evaluate(self._packed(states))
        first = self._first_move[self._index]
        everywhere = is_legal[:, first : self._first_move[self._index + 1]].all(axis=0)
        moves = self._game.moves[self._index]
        return tuple(sorted((moves[i] for i in np.flatnonzero(everywhere)), key=str))

    def common_facts(self, states: Sequence[Hashable]) -> tuple[Fact, ...]:
        both = np.bitwise_and.reduce(self._packed(states), axis=0)
        return self._game.facts(both.tobytes())

    def _packed(self, states: Sequence[Hashable]) -> Packed:
        """uint8[N, B]"""
        joined = b"".join(cast("Sequence[bytes]", states))
        return np.frombuffer(joined, np.uint8).reshape(len(states), -1)

    def _wanted(self, observation: Observation) -> BoolArray | None:
        """bool[P]: the percepts observed; None if the rules can never give one of them."""
        wanted = np.zeros(len(self._percepts), np.bool_)
        for percept in observation.percepts:
            if percept not in self._percepts:
                return None
            wanted[self._percepts[percept]] = True
        return wanted

    def _bits(self, packed: Packed) -> BoolArray:
        """bool[F, N]"""
        fluents = len(self._game.terms.fluents)
        return np.unpackbits(packed, axis=1, count=fluents, bitorder="little").T.astype(np.bool_)

    def _evaluate(self, packed: Packed) -> tuple[BoolArray, BoolArray]:
        """bool[N, M] and bool[N]: the legal moves of every state, and whether it is terminal."""
        lanes, legal, terminal = self._lanes, [], []
        for start in range(0, len(packed), lanes.lane_count):
            part = packed[start : start + lanes.lane_count]
            lanes.set_states(self._bits(part))
            lanes.settle(Phase.LEGAL, Phase.GOAL)
            legal.append(lanes.read(self._game.legal_literals, len(part)).T)
            terminal.append(lanes.read(self._terminal, len(part))[0])
        return np.concatenate(legal), np.concatenate(terminal)

    def _restricted(self, is_legal: BoolArray, own_move: Move | None) -> BoolArray:
        """`is_legal` with at most `own_move` for the own role."""
        if own_move is None:
            return is_legal
        first, end = self._first_move[self._index], self._first_move[self._index + 1]
        kept = is_legal.copy()
        kept[:, first:end] = False
        own = self._game.moves[self._index]
        if own_move in own:
            place = first + own.index(own_move)
            kept[:, place] = is_legal[:, place]
        return kept

    def _joint_counts(self, is_legal: BoolArray) -> NDArray[np.int64]:
        """int64[N]: the number of joint moves of each state."""
        counts = [is_legal[:, a:b].sum(axis=1) for a, b in self._role_ranges()]
        product = np.minimum(np.prod(counts, axis=0, dtype=float), _UNAFFORDABLE)
        return np.asarray(product, np.int64)

    def _role_ranges(self) -> list[tuple[int, int]]:
        """By role the range of its moves within M."""
        first = self._first_move.tolist()
        return list(itertools.pairwise(first))

    def _advance(
        self,
        packed: Packed,
        is_legal: BoolArray,
        origin: NDArray[np.int64],
        number: NDArray[np.int64],
    ) -> tuple[Packed, list[BoolArray], list[NDArray[np.int64]]]:
        """Make joint moves, one a lane: the successors uint8[L, B], and what roles see and do.

        origin, number   int64[L]: the state of each lane, and which of its joint moves is made
        Returns also by role bool[P, L], its percepts (only the own role's unless keys are kept), and
        int64[L], the number of its move.
        """
        lanes, count = self._lanes, len(origin)
        selected = np.zeros((int(self._first_move[-1]), count), np.bool_)
        rest, lane = number.copy(), np.arange(count)
        made: list[NDArray[np.int64]] = []
        for first, end in self._role_ranges():
            legal = is_legal[origin, first:end]
            rest, place = np.divmod(rest, legal.sum(axis=1))
            # the place-th legal move is where the running count first exceeds `place`
            made.append((np.cumsum(legal, axis=1) <= place[:, None]).sum(axis=1))
            selected[first + made[-1], lane] = True
        lanes.set_states(self._bits(packed[origin]))
        lanes.set_moves(selected)
        lanes.settle(Phase.LEGAL, Phase.SEES)
        nothing = np.zeros((0, count), np.bool_)
        seen = [
            lanes.read(literals, count) if role == self._index or self._observers else nothing
            for role, literals in enumerate(self._percept_literals)
        ]
        following = lanes.read(self._game.lane_tables.next, count)
        return np.packbits(following.T, axis=1, bitorder="little"), seen, made

    def _extended(
        self, keys: UInt64Array, made: list[NDArray[np.int64]], seen: list[BoolArray]
    ) -> UInt64Array:
        """uint64[L, R]: the keys after a step; see `_advance`."""
        columns = [
            observer.extended(keys[:, role], made[role], seen[role])
            for role, observer in enumerate(self._observers)
        ]
        return np.stack(columns, axis=1)

    def _merged(self, parts: list[_Part]) -> _Successors:
        """Equal successors added up. Of several ways to one the likeliest leaves its keys."""
        roles = len(self._game.roles)
        if not any(len(part.weight) for part in parts):
            return _Successors({}, np.zeros((0, roles), np.uint64), np.zeros(0, np.bool_))
        states = np.concatenate([part.states for part in parts])
        weight = np.concatenate([part.weight for part in parts])
        keys = np.zeros((len(weight), roles), np.uint64)
        if self._observers:
            keys = np.concatenate([part.keys for part in parts if part.keys is not None])
            order = np.argsort(-weight, kind="stable")
            states, weight, keys = states[order], weight[order], keys[order]
        whole = np.ascontiguousarray(states).view(np.dtype((np.void, states.shape[1])))[:, 0]
        distinct, first, place = np.unique(whole, return_index=True, return_inverse=True)
        total = np.bincount(place, weights=weight, minlength=len(distinct)).tolist()
        unique = distinct.view(np.uint8).reshape(len(distinct), -1)
        weights: Weights = {state.tobytes(): each for state, each in zip(unique, total, strict=True)}
        return _Successors(weights, keys[first], self._evaluate(unique)[1])
