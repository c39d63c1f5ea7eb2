"""Replay matches of `SelfPlay` to obtain their states."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame
from ggp.lanes.engine import Lanes
from ggp.search.forest.self_play import SelfPlay

MAX_CELLS = 20_000_000
"""Maximum number of fluents and moves, of all states together, that are replayed: about a second."""

BoolArray = NDArray[np.bool_]
Int64Array = NDArray[np.int64]


def replayed(game: CompiledGame, found: SelfPlay) -> Iterator[tuple[Int64Array, BoolArray]]:
    """By joint move, int64[M]: the matches that come to it, and bool[M, F]: their states before it.

    After the last joint move of a match its last state follows.

    >>> import ggp
    >>> from ggp.search.forest.self_play import self_play
    >>> game = ggp.load("tictactoe", engine="lanes")
    >>> found = self_play(game, 0, 10)
    >>> [len(matches) for matches, _ in replayed(game, found)][:6]
    [10, 10, 10, 10, 10, 10]
    """
    follower = Follower(game)
    matches = np.arange(len(found.length))
    states = np.repeat(game.unpack(game.initial_state())[None], len(matches), axis=0)
    for step in range(found.moves.shape[1] + 1):
        if not len(matches):
            return
        yield matches, states
        goes_on = found.length[matches] > step
        matches = matches[goes_on]
        if len(matches):
            states = follower.following(states[goes_on], found.moves[matches, step])


def first_matches(game: CompiledGame, found: SelfPlay) -> SelfPlay:
    """The first matches, at least one, within `MAX_CELLS`."""
    cells = np.cumsum(found.length + 1) * (len(game.terms.fluents) + int(game.tables.first_move[-1]))
    count = max(1, int(np.searchsorted(cells, MAX_CELLS, side="right")))
    return SelfPlay(**{name: value[:count] for name, value in vars(found).items()})


class Follower:
    """Makes joint moves in many states of one game."""

    def __init__(self, game: CompiledGame) -> None:
        self._game = game
        self._lanes = Lanes(game.lane_tables, words=game.words)

    def following(self, states: BoolArray, moves: NDArray[np.int32]) -> BoolArray:
        """The states after joint moves.

        states   bool[N, F]
        moves    int32[N, R], counted within the role; each must be legal
        """
        size = self._lanes.lane_count
        parts = [
            self._advance(states[at : at + size], moves[at : at + size]) for at in range(0, len(states), size)
        ]
        return np.concatenate(parts) if parts else states

    def _advance(self, states: BoolArray, moves: NDArray[np.int32]) -> BoolArray:
        game, lanes, count = self._game, self._lanes, len(states)
        first = game.tables.first_move
        selected = np.zeros((int(first[-1]), count), np.bool_)
        for r in range(moves.shape[1]):
            selected[first[r] + moves[:, r], np.arange(count)] = True
        lanes.set_states(states.T)
        lanes.set_moves(selected)
        lanes.settle(Phase.LEGAL, Phase.NEXT)
        return np.ascontiguousarray(lanes.read(game.lane_tables.next, count).T)

    def legal(self, states: BoolArray) -> tuple[BoolArray, BoolArray, NDArray[np.int32]]:
        """bool[N, M] legal moves, bool[N] whether terminal, int32[N, R] goals (-1: none) of bool[N, F]."""
        game, lanes = self._game, self._lanes
        parts = []
        for at in range(0, max(1, len(states)), lanes.lane_count):
            part = states[at : at + lanes.lane_count]
            lanes.set_states(part.T)
            lanes.settle(Phase.LEGAL, Phase.GOAL)
            terminal = lanes.read(np.array([game.lane_tables.terminal], np.int32), len(part))[0]
            goals = game.goals_of(lanes.read(game.lane_tables.goal_literal, len(part)))
            parts.append((lanes.read(game.legal_literals, len(part)).T, terminal, goals))
        legal, terminal, goals = (np.concatenate(each) for each in zip(*parts, strict=True))
        return legal, terminal, goals
