"""Random matches for questions.

The same seed gives the same walks on every engine: moves are sorted by text, and every walk draws from a
generator of its own. Most of the time goes into the text of questions, so one match at a time is fast enough.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator
from itertools import count
from typing import Any

from ggp.game import Game, GoalError, Move, Role
from ggp.items.wording import Wording
from ggp.match.terms import derived_seed


class Walk:
    """A random match in words: its states in order, numbered from 0, and the joint moves between them.

    rng        generator of the moves, which the questions continue to use
    is_ended   whether the last state is terminal
    """

    def __init__(
        self,
        game: Game[Any],
        wording: Wording,
        rng: random.Random,
        states: list[Any],
        joint_moves: list[tuple[Move, ...]],
        is_ended: bool,
    ) -> None:
        self.game, self.wording, self.rng = game, wording, rng
        self.states, self.joint_moves, self.is_ended = states, joint_moves, is_ended
        self.step_count = len(states) - 1
        self._facts: dict[int, list[str]] = {}
        self._listed: dict[int, str] = {}

    def moves_key(self, place: int, steps: int) -> Hashable:
        """A key that two walks share only if their next joint moves are the same."""
        return tuple(self.joint_moves[place : place + steps])

    def facts(self, place: int) -> list[str]:
        """The facts true at a place, sorted by their terms."""
        if place not in self._facts:
            self._facts[place] = self.wording.texts(self.game.facts(self.states[place]))
        return self._facts[place]

    def listed_facts(self, place: int) -> str:
        """The facts as one text."""
        if place not in self._listed:
            self._listed[place] = self.wording.listed(self.facts(place))
        return self._listed[place]

    def legal(self, place: int, role: Role) -> list[str]:
        """The legal moves of a role."""
        return self.wording.texts(self.game.legal_moves(self.states[place], role))

    def choosing(self, place: int) -> list[Role]:
        """The roles with several legal moves."""
        state, legal_moves = self.states[place], self.game.legal_moves
        return [role for role in self.game.roles if len(legal_moves(state, role)) > 1]

    def goal(self, place: int, role: Role) -> int | None:
        """The goal of a role; None if the rules give none, or several."""
        try:
            return self.game.goal(self.states[place], role)
        except GoalError:
            return None

    def percepts(self, place: int, role: Role) -> list[str]:
        """The percepts of a role after the joint move of a place."""
        return self.wording.texts(self.game.percepts(self.states[place], self.joint_moves[place], role))

    def joint_move(self, place: int) -> str:
        """The joint move that follows a place."""
        return self.wording.joint_move(self.game.roles, self.joint_moves[place])


def random_walks(
    game: Game[Any],
    wording: Wording,
    seed: int,
    step_limit: int,
    is_over: Callable[[], bool] = lambda: False,
) -> Iterator[Walk]:
    """Uniformly random matches without end, each to its end or for `step_limit` joint moves.

    is_over   polled often: whether to stop

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> walk = next(random_walks(game, Wording(game.program), seed=1, step_limit=3))
    >>> walk.step_count, walk.is_ended, walk.joint_move(0)
    (3, False, '(does x (mark 2 3)) (does o noop)')

    Raises GameError if a role has no legal move.
    """
    for number in count():
        if is_over():
            return
        rng = random.Random(derived_seed(seed, f"walk {number}"))
        states: list[Any] = [game.initial_state()]
        joint_moves: list[tuple[Move, ...]] = []
        while not (is_ended := game.is_terminal(states[-1])):
            if len(joint_moves) >= step_limit or is_over():
                break
            choices = [game.legal_moves(states[-1], role) for role in game.roles]
            joint_moves.append(tuple([moves[int(rng.random() * len(moves))] for moves in choices]))
            states.append(game.next_state(states[-1], joint_moves[-1]))
        yield Walk(game, wording, rng, states, joint_moves, is_ended)
