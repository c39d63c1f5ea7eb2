"""Self-play of alpha-beta: games to learn from, and matches between two evaluations. Searches are shallow, so
that a start clock has time for hundreds of games."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence

import numpy as np

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.features.learning import PlayedGame
from ggp.search.alphabeta.search import AlphaBeta
from ggp.search.budget import Budget

LONGEST = 300
"""Maximum joint moves of a game; longer ones are discarded."""

_ATTEMPTS = 4
"""Maximum attempts per game, since games that are too long are discarded."""

MAX_OPENING = 8
"""Maximum random joint moves at the beginning of a game."""


def play_games(
    search: AlphaBeta,
    count: int,
    *,
    depth: int,
    node_limit: int,
    exploration: float,
    rng: random.Random,
    deadline: float = math.inf,
) -> list[PlayedGame]:
    """Self-play games of `search` after random openings, which are not included.

    exploration   probability of a random move
    deadline      time.monotonic() seconds; games that are complete by then are returned
    Raises AlphaBetaError if the game turns out to be of another kind.
    """
    game = search.game
    played: list[PlayedGame] = []
    for _ in range(_ATTEMPTS * count):
        if len(played) == count:
            break
        state = random_opening(game, rng)
        states = [game.unpack(state)]
        while not game.is_terminal(state) and len(states) <= LONGEST:
            if time.monotonic() > deadline:
                return played
            is_random = rng.random() < exploration
            state = _after_move(search, state, rng, None if is_random else node_limit, depth)
            states.append(game.unpack(state))
        if game.is_terminal(state) and len(states) > 1:
            goals = [float(game.goal(state, role)) for role in game.roles]
            played.append(PlayedGame(np.array(states), np.array(goals)))
    return played


def compare(
    searches: Sequence[AlphaBeta],
    node_limits: Sequence[int],
    count: int,
    *,
    rng: random.Random,
    deadline: float = math.inf,
) -> tuple[float, int]:
    """The first of two searches' share of points, and the number of games; two games per opening. Raises
    AlphaBetaError if the game turns out to be of another kind."""
    game = searches[0].game
    points = [0.0, 0.0]
    played = 0
    while played < count:
        opening = random_opening(game, rng)
        for first in (0, 1):
            state, length = opening, 0
            while not game.is_terminal(state) and length < LONGEST:
                if time.monotonic() > deadline:
                    return _share(points), played
                place = first ^ _mover(game, state)
                state = _after_move(searches[place], state, rng, node_limits[place])
                length += 1
            for seat, role in enumerate(game.roles):
                points[first ^ seat] += game.goal(state, role) if game.is_terminal(state) else 50
            played += 1
    return _share(points), played


def random_opening(game: CompiledGame, rng: random.Random) -> PackedState:
    """A nonterminal state some random joint moves from the start."""
    state = game.initial_state()
    for _ in range(rng.randrange(MAX_OPENING)):
        joint = tuple(rng.choice(game.legal_moves(state, role)) for role in game.roles)
        following = game.next_state(state, joint)
        if game.is_terminal(following):
            break
        state = following
    return state


def _mover(game: CompiledGame, state: PackedState) -> int:
    """The role that chooses; the first one if none does."""
    return next((r for r, role in enumerate(game.roles) if len(game.legal_moves(state, role)) > 1), 0)


def _after_move(
    search: AlphaBeta,
    state: PackedState,
    rng: random.Random,
    node_limit: int | None,
    depth: int | None = None,
) -> PackedState:
    """The state after the best joint move of a short search; after a random one without a node limit."""
    game = search.game
    joint = [game.legal_moves(state, role)[0] for role in game.roles]
    mover = _mover(game, state)
    legal = game.legal_moves(state, game.roles[mover])
    if len(legal) > 1:
        move = None
        if node_limit is not None:
            move = search.search(state, Budget(nodes=node_limit), depth=depth).move
        joint[mover] = move if move is not None and move in legal else rng.choice(legal)
    return game.next_state(state, tuple(joint))


def _share(points: Sequence[float]) -> float:
    return points[0] / sum(points) if sum(points) else 0.5
