"""Random matches, whose states are asked about."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from ggp.game import Game, Move


@dataclass(frozen=True)
class Walk:
    """A random match: the states in order, and the joint moves between them.

    is_ended   whether the last state is terminal
    """

    states: list[Any]
    joint_moves: list[tuple[Move, ...]]
    is_ended: bool


def random_walk(
    game: Game[Any], rng: random.Random, step_limit: int, is_over: Callable[[], bool] = lambda: False
) -> Walk:
    """Play uniformly random moves from the initial state to the end, or for `step_limit` steps.

    The walk is the same on every engine, because moves are sorted by text. is_over: whether to stop early.

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> walk = random_walk(game, random.Random(1), step_limit=3)
    >>> len(walk.states), len(walk.joint_moves), walk.is_ended
    (4, 3, False)

    Raises GameError if a role has no legal move.
    """
    state: Hashable = game.initial_state()
    states = [state]
    joint_moves: list[tuple[Move, ...]] = []
    roles, legal_moves, pick = game.roles, game.legal_moves, rng.random
    while not (is_ended := game.is_terminal(state)):
        if len(joint_moves) >= step_limit or is_over():
            break
        choices = [legal_moves(state, role) for role in roles]
        joint_move = tuple([moves[int(pick() * len(moves))] for moves in choices])
        state = game.next_state(state, joint_move)
        joint_moves.append(joint_move)
        states.append(state)
    return Walk(states, joint_moves, is_ended)
