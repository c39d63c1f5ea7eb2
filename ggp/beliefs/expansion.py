"""One step of a belief: all joint moves of its states, and the successors that agree with an observation."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Hashable, Sequence
from typing import Any

from ggp.beliefs.observation import Observation
from ggp.game import Fact, Game, GameError, Move, Role, legal_or_none

Weights = dict[Hashable, float]
"""States with their probabilities, which need not add up to 1."""


PATIENCE_SECONDS = 0.1
"""After a deadline, until at least one successor is found: without any the percepts would be ignored."""


class Expansion:
    """Queries of a belief about its states, by the `Game` protocol: for every engine, one joint move at a
    time. `ggp.beliefs.lanes_expansion` answers them on lanes.

    limit        joint moves made at most in one exact step
    most_states  states held at most
    sample_size  states drawn if there are more
    """

    limit = 2000
    most_states = 100
    sample_size = 100

    def __init__(self, game: Game[Any], role: Role) -> None:
        self._game, self._role, self._index = game, role, game.roles.index(role)

    def count(self, states: Sequence[Hashable], own_move: Move | None) -> list[int]:
        """The number of joint moves of each state; only those with `own_move` unless it is None."""
        return [math.prod(map(len, self.choices(state, own_move))) for state in states]

    def successors(self, weights: Weights, observation: Observation, deadline: float) -> tuple[Weights, bool]:
        """The successors in which the role observes `observation`, with their probabilities; whether all.

        Terminal successors are left out: a role that is asked for a move knows that the match is not over. At
        the deadline those found so far are returned, or after PATIENCE_SECONDS more none.
        """
        found: Weights = {}
        for state, weight in weights.items():
            choices = self.choices(state, observation.own_move)
            count = math.prod(map(len, choices))
            for joint_move in itertools.product(*choices):
                if time.monotonic() > deadline + (0.0 if found else PATIENCE_SECONDS):
                    return found, False
                successor = self.successor(state, joint_move, observation)
                if successor is not None:
                    found[successor] = found.get(successor, 0.0) + weight / count
        return found, True

    def common_moves(self, states: Sequence[Hashable]) -> tuple[Move, ...]:
        """The role's moves that are legal in all states, sorted by text."""
        first, *others = (legal_or_none(self._game, state, self._role) for state in states)
        common = set(first).intersection(*others)
        return tuple(move for move in first if move in common)

    def common_facts(self, states: Sequence[Hashable]) -> tuple[Fact, ...]:
        """The facts true in all states, sorted by text."""
        first, *others = (self._game.facts(state) for state in states)
        common = set(first).intersection(*others)
        return tuple(fact for fact in first if fact in common)

    def choices(self, state: Hashable, own_move: Move | None) -> list[tuple[Move, ...]]:
        """The moves that each role may have made; no own move if `own_move` was not possible."""
        try:
            choices = [self._game.legal_moves(state, role) for role in self._game.roles]
        except GameError:
            return [()]
        if own_move is not None:
            own_legal = choices[self._index]
            choices[self._index] = (own_move,) if own_move in own_legal else ()
        return choices

    def successor(
        self, state: Hashable, joint_move: tuple[Move, ...], observation: Observation | None
    ) -> Hashable | None:
        """The state after `joint_move`; None if it disagrees with what is observed, or is terminal."""
        try:
            if observation is not None:
                seen = self._game.percepts(state, joint_move, self._role)
                if frozenset(seen) != frozenset(observation.percepts):
                    return None
            successor: Hashable = self._game.next_state(state, joint_move)
            return None if self._game.is_terminal(successor) else successor
        except GameError:
            return None
