"""Random matches of compiled games, hundreds side by side, with the data for questions.

A single state of a large circuit costs a hundred times as much as one in a lane.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.engines.many_states import ManyStates
from ggp.game import NoLegalMoveError, Role
from ggp.items.walks import Walk, walk_rng
from ggp.items.wording import Wording

FIRST_BATCH, BATCH_GROWTH = 16, 8
"""Walks of the first batch; later ones are larger, up to the number of lanes."""
MAX_BYTES = 1 << 27
"""Maximum memory of one batch."""

BoolArray = NDArray[np.bool_]
Int32Array = NDArray[np.int32]


class Texts(NamedTuple):
    """Texts by number, as in `CompiledGame.terms`, of the moves by role."""

    fluents: list[str]
    moves: list[list[str]]
    plays: list[list[str]]
    percepts: list[str]


class Places(NamedTuple):
    """The data of one place in N walks. F fluents, M moves of all roles, R roles, S percepts.

    state    uint8[N, (F + 7) // 8], packed
    fluent   bool[N, F]
    legal    bool[N, M]
    goal     int32[N, R]; -1: none, or several
    chosen   int32[N, R]: the joint move that follows, counted within the role; 0 at the end
    seen     bool[N, S]
    """

    state: NDArray[np.uint8]
    fluent: BoolArray
    legal: BoolArray
    goal: Int32Array
    chosen: Int32Array
    seen: BoolArray


def lane_walks(
    game: CompiledGame, wording: Wording, seed: int, step_limit: int, is_over: Callable[[], bool]
) -> Iterator[Walk]:
    """The walks of `ggp.items.walks.plain_walks`, played on lanes."""
    batches = _Batches(game, wording, step_limit, is_over)
    number, size = 0, FIRST_BATCH
    while not is_over():
        size = min(size, batches.most)
        yield from batches.play([walk_rng(seed, each) for each in range(number, number + size)])
        number, size = number + size, size * BATCH_GROWTH


class _Batches:
    """Plays walks in the lanes of one game."""

    def __init__(
        self, game: CompiledGame, wording: Wording, step_limit: int, is_over: Callable[[], bool]
    ) -> None:
        self._game, self._wording, self._step_limit, self._is_over = game, wording, step_limit, is_over
        self._many = ManyStates(game)
        self._first = game.tables.first_move.tolist()
        width = len(game.terms.fluents) + self._first[-1] + len(game.terms.percepts)
        self.most = max(1, min(self._many.lane_count, MAX_BYTES // (width * (step_limit + 1))))
        self._texts = Texts(
            wording.texts(game.terms.fluents),
            [wording.texts(moves) for moves in game.moves],
            [
                [wording.joint_move([role], [move]) for move in moves]
                for role, moves in zip(game.roles, game.moves, strict=True)
            ],
            wording.texts(game.terms.percepts),
        )

    def play(self, rngs: Sequence[random.Random]) -> Iterator[Walk]:
        """The walks of these generators, in order; fewer if time is up."""
        game, count = self._game, len(rngs)
        states = np.repeat(game.unpack(game.initial_state())[None], count, axis=0)
        walks, place_of = np.arange(count), [[] for _ in rngs]  # type: ignore[var-annotated]
        is_ended = np.zeros(count, np.bool_)
        for step in range(self._step_limit + 1):
            legal, terminal, goal = self._many.settle(states)
            is_ended[walks] = terminal
            goes_on = ~terminal & (step < self._step_limit)
            chosen = np.zeros(goal.shape, np.int32)
            chosen[goes_on] = self._choose([rngs[w] for w in walks[goes_on].tolist()], legal[goes_on])
            following, seen = self._many.following(states, chosen)
            packed = np.packbits(states, axis=1, bitorder="little")
            places = Places(packed, states, legal, goal, chosen, seen)
            for row, walk in enumerate(walks.tolist()):
                place_of[walk].append((places, row))
            walks, states = walks[goes_on], following[goes_on]
            if not len(walks):
                break
            if self._is_over():
                return
        for walk, rng in enumerate(rngs):
            yield LaneWalk(game, self._wording, rng, place_of[walk], self._texts, bool(is_ended[walk]))

    def _choose(self, rngs: list[random.Random], legal: BoolArray) -> Int32Array:
        """int32[N, R]: a legal move of every role; raises NoLegalMoveError."""
        roles = self._game.roles
        drawn = np.array([[rng.random() for _ in roles] for rng in rngs]).reshape(len(rngs), len(roles))
        chosen = np.zeros(drawn.shape, np.int32)
        for r, role in enumerate(roles):
            running = np.cumsum(legal[:, self._first[r] : self._first[r + 1]], axis=1, dtype=np.int32)
            count = running[:, -1] if running.shape[1] else np.zeros(len(rngs), np.int32)
            if not count.all():
                raise NoLegalMoveError(f"{role} has no legal move in a state that is not terminal")
            place = (drawn[:, r] * count).astype(np.int32)
            chosen[:, r] = (running <= place[:, None]).sum(axis=1)
        return chosen


class LaneWalk(Walk):
    """A walk that was played in a lane."""

    def __init__(
        self,
        game: CompiledGame,
        wording: Wording,
        rng: random.Random,
        places: list[tuple[Places, int]],
        texts: Texts,
        is_ended: bool,
    ) -> None:
        super().__init__(game, wording, rng, [], [], is_ended)
        self.step_count = len(places) - 1
        self._compiled, self._places, self._text = game, places, texts
        self._first = game.tables.first_move.tolist()
        self._role = {role: r for r, role in enumerate(game.roles)}

    def state(self, place: int) -> PackedState:
        places, row = self._places[place]
        state: PackedState = places.state[row].tobytes()
        return state

    def moves_key(self, place: int, steps: int) -> bytes:
        return b"".join(places.chosen[row].tobytes() for places, row in self._places[place : place + steps])

    def legal(self, place: int, role: Role) -> list[str]:
        r = self._role[role]
        places, row = self._places[place]
        legal = places.legal[row, self._first[r] : self._first[r + 1]]
        return [self._text.moves[r][i] for i in legal.nonzero()[0].tolist()]

    def choosing(self, place: int) -> list[Role]:
        places, row = self._places[place]
        counts = np.add.reduceat(places.legal[row], self._first[:-1], dtype=np.int32).tolist()
        return [role for role, count in zip(self.game.roles, counts, strict=True) if count > 1]

    def goal(self, place: int, role: Role) -> int | None:
        places, row = self._places[place]
        goal = int(places.goal[row, self._role[role]])
        return goal if 0 <= goal <= 100 else None

    def percepts(self, place: int, role: Role) -> list[str]:
        places, row = self._places[place]
        own = self._compiled.tables.percept_role == self._role[role]
        found = (places.seen[row] & own).nonzero()[0].tolist()
        found.sort(key=lambda i: str(self._compiled.terms.percepts[i]))
        return [self._text.percepts[i] for i in found]

    def joint_move(self, place: int) -> str:
        places, row = self._places[place]
        plays = self._text.plays
        return self.wording.listed(plays[r][m] for r, m in enumerate(places.chosen[row].tolist()))

    def _facts_at(self, place: int) -> list[str]:
        places, row = self._places[place]
        return [self._text.fluents[i] for i in places.fluent[row].nonzero()[0].tolist()]
