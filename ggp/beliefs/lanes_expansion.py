"""One step of a belief on lanes: a lane is a state of the belief with one joint move.

Shapes: N states, F fluents, B = ceil(F/8) bytes of a packed state, M moves of all roles, L lanes, P percepts
of the role. The role's percept rows are compared for all lanes at once; lanes that disagree die.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Hashable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ggp.beliefs.expansion import Weights
from ggp.beliefs.observation import Observation
from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame
from ggp.game import Fact, Move, Role
from ggp.lanes.engine import Lanes

BoolArray = NDArray[np.bool_]
Packed = NDArray[np.uint8]

_MOST_CELLS = 1 << 25
"""Bytes that the legal moves of all states, or all successors, may take: games of strangers may be wide."""

_UNAFFORDABLE = 1e12
"""Joint moves of one state are counted no further, so that sums cannot overflow."""


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
        of_role = np.flatnonzero(game.tables.percept_role == self._index)
        self._percept_literals = tables.percept_literal[of_role]
        self._percepts = {game.terms.percepts[i]: place for place, i in enumerate(of_role)}
        self._terminal = np.array([tables.terminal], np.int32)

    def count(self, states: Sequence[Hashable], own_move: Move | None) -> list[int]:
        is_legal, _ = self._evaluate(self._packed(states))
        counts: list[int] = self._joint_counts(self._restricted(is_legal, own_move)).tolist()
        return counts

    def successors(self, weights: Weights, observation: Observation, deadline: float) -> Weights | None:
        wanted = self._wanted(observation)
        if wanted is None or not weights:
            return {}
        packed, weight = self._packed(list(weights)), np.fromiter(weights.values(), float, len(weights))
        is_legal = self._restricted(self._evaluate(packed)[0], observation.own_move)
        count = self._joint_counts(is_legal)
        share = weight / np.maximum(count, 1)
        origin = np.repeat(np.arange(len(packed)), count)
        number = np.arange(len(origin)) - np.repeat(np.cumsum(count) - count, count)
        parts: list[tuple[Packed, NDArray[np.float64]]] = []
        for start in range(0, len(origin), self._lanes.lane_count):
            if time.monotonic() > deadline:
                return None
            part = slice(start, start + self._lanes.lane_count)
            following, agrees = self._advance(packed, is_legal, origin[part], number[part], wanted)
            parts.append((following[agrees], share[origin[part]][agrees]))
        return self._merged(parts)

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
        wanted: BoolArray,
    ) -> tuple[Packed, BoolArray]:
        """Make joint moves, one a lane: the successors uint8[L, B], and which agree, bool[L].

        origin, number   int64[L]: the state of each lane, and which of its joint moves is made
        """
        lanes, count = self._lanes, len(origin)
        selected = np.zeros((int(self._first_move[-1]), count), np.bool_)
        rest, lane = number.copy(), np.arange(count)
        for first, end in self._role_ranges():
            legal = is_legal[origin, first:end]
            rest, place = np.divmod(rest, legal.sum(axis=1))
            # the place-th legal move is where the running count first exceeds `place`
            selected[first + (np.cumsum(legal, axis=1) <= place[:, None]).sum(axis=1), lane] = True
        lanes.set_states(self._bits(packed[origin]))
        lanes.set_moves(selected)
        lanes.settle(Phase.LEGAL, Phase.SEES)
        seen = lanes.read(self._percept_literals, count)
        agrees = (seen == wanted[:, None]).all(axis=0)
        following = lanes.read(self._game.lane_tables.next, count)
        return np.packbits(following.T, axis=1, bitorder="little"), agrees

    def _merged(self, parts: list[tuple[Packed, NDArray[np.float64]]]) -> Weights:
        """Equal successors added up, terminal ones left out."""
        if not any(len(part) for part, _ in parts):
            return {}
        states = np.concatenate([part for part, _ in parts])
        weight = np.concatenate([part for _, part in parts])
        keys = np.ascontiguousarray(states).view(np.dtype((np.void, states.shape[1])))[:, 0]
        distinct, place = np.unique(keys, return_inverse=True)
        total = np.bincount(place, weights=weight, minlength=len(distinct))
        unique = distinct.view(np.uint8).reshape(len(distinct), -1)
        is_over = self._evaluate(unique)[1]
        return {key.tobytes(): float(total[i]) for i, key in enumerate(unique) if not is_over[i]}
