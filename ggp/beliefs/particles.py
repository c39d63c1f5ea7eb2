"""Belief states of a GDL-II match: a bounded set of states that agree with all percepts.

After every step each state held is advanced by the joint moves that the other roles may have made; only
successors survive in which this role would have seen what it saw. While there are few, all are kept and the
set is exact; beyond `MAX_STATES` it becomes a sample ("particles"), which assumes that other roles move
uniformly at random. If no particle survives, histories are sampled again from the start; if that fails too,
the percepts are ignored for one step.

Limits: an improbable history may be missing from the sample, and what others know or want is not modeled.
"""

from __future__ import annotations

import itertools
import math
import random
import time
from collections.abc import Hashable, Iterator
from typing import Any

from gdl.terms import Term
from ggp.beliefs.tracking import Position
from ggp.game import Fact, Game, GameError, Move, Role, legal_or_none

MAX_STATES = 100
"""States held at most."""

_MAX_EXPANSIONS = 2000
"""Successors computed at most in one exact step."""

_MAX_ATTEMPTS = 3000
"""Random successors tried at most in one sampled step."""

_SHARE_OF_CLOCK = 0.4
"""Share of the remaining time that one step may spend on tracking."""

Percepts = frozenset[Term]


class ParticleTracker:
    """Follows a match in which this role receives its percepts only."""

    def __init__(self, game: Game[Any], role: Role, rng: random.Random) -> None:
        self._game = game
        self._role = role
        self._index = game.roles.index(role)
        self._rng = rng
        self._weights: dict[Hashable, float] = {game.initial_state(): 1.0}
        self._is_exact = True
        self._history: list[tuple[Percepts, Move | None]] = []
        self.position = self._describe("")

    @property
    def states(self) -> tuple[Hashable, ...]:
        """The states held, all of them possible as far as known."""
        return tuple(self._weights)

    @property
    def is_exact(self) -> bool:
        """Whether `states` are all that agree with the percepts, not a sample."""
        return self._is_exact

    def certain_facts(self) -> tuple[Fact, ...] | None:
        """The facts true in all possible states, sorted by text; None if not all of them are held."""
        if not self._is_exact:
            return None
        first, *others = (self._game.facts(state) for state in self._weights)
        certain = set(first).intersection(*others)
        return tuple(fact for fact in first if fact in certain)

    def advance(self, terms: tuple[Term, ...] | None, own_move: Move | None, deadline: float) -> Position:
        if terms is None and not self._history:
            return self.position
        percepts = frozenset(terms or ())
        self._history.append((percepts, own_move))
        now = time.monotonic()
        until = now + max(0.0, deadline - now) * _SHARE_OF_CLOCK
        self.position = self._describe(self._apply(percepts, own_move, until))
        return self.position

    def _apply(self, percepts: Percepts, own_move: Move | None, until: float) -> str:
        """Replace the states held by their successors; returns the note."""
        if self._is_exact and self._expansions(own_move) <= _MAX_EXPANSIONS:
            found = self._expand(percepts, own_move, until)
            if found:
                self._keep(found)
                return ""
        self._is_exact = False
        found = self._sample(percepts, own_move, until)
        if found:
            self._keep(found)
            return ""
        found, note = self._recover(percepts, own_move, until)
        if found:
            self._keep(found)
            return note
        return "no successor agrees with the percepts; ignored"

    def _recover(
        self, percepts: Percepts, own_move: Move | None, until: float
    ) -> tuple[dict[Hashable, float], str]:
        """States for a step that no state held explains, by weaker and weaker demands, and a note."""
        found = self._sample(percepts, None, until)
        if found:
            return found, "own move differs from the answer sent"
        found = self._replay(until)
        if found:
            return found, "histories sampled again from the start"
        found = self._sample(None, own_move, until + 0.2)
        if found:
            return found, "percepts contradict the states held"
        return self._sample(None, None, until + 0.2), "percepts and own move contradict the states held"

    def _keep(self, found: dict[Hashable, float]) -> None:
        if len(found) > MAX_STATES:
            self._is_exact = False
            chosen = self._rng.choices(list(found), weights=list(found.values()), k=MAX_STATES)
            found = {}
            for state in chosen:
                found[state] = found.get(state, 0.0) + 1.0
        total = sum(found.values())
        self._weights = {state: weight / total for state, weight in found.items()}

    def _expansions(self, own_move: Move | None) -> int:
        return sum(math.prod(map(len, self._choices(state, own_move))) for state in self._weights)

    def _choices(self, state: Hashable, own_move: Move | None) -> list[tuple[Move, ...]]:
        """The moves that each role may have made; no own move if `own_move` was not possible."""
        try:
            choices = [self._game.legal_moves(state, role) for role in self._game.roles]
        except GameError:
            return [()]
        if own_move is not None:
            own_legal = choices[self._index]
            choices[self._index] = (own_move,) if own_move in own_legal else ()
        return choices

    def _expand(self, percepts: Percepts, own_move: Move | None, until: float) -> dict[Hashable, float]:
        """All successors that agree, with their probabilities; empty if time runs out."""
        found: dict[Hashable, float] = {}
        for state, weight in self._weights.items():
            choices = self._choices(state, own_move)
            count = math.prod(map(len, choices))
            for joint_move in itertools.product(*choices):
                if time.monotonic() > until:
                    return {}
                successor = self._successor(state, joint_move, percepts)
                if successor is not None:
                    found[successor] = found.get(successor, 0.0) + weight / count
        return found

    def _sample(
        self, percepts: Percepts | None, own_move: Move | None, until: float
    ) -> dict[Hashable, float]:
        """Random successors of the states held that agree; any successors if `percepts` is None."""
        found: dict[Hashable, float] = {}
        accepted = 0
        for state in self._draw_states(_MAX_ATTEMPTS):
            if accepted >= MAX_STATES or time.monotonic() > until:
                break
            successor = self._random_successor(state, percepts, own_move)
            if successor is not None:
                found[successor] = found.get(successor, 0.0) + 1.0
                accepted += 1
        return found

    def _draw_states(self, count: int) -> Iterator[Hashable]:
        return iter(self._rng.choices(list(self._weights), weights=list(self._weights.values()), k=count))

    def _random_successor(
        self, state: Hashable, percepts: Percepts | None, own_move: Move | None
    ) -> Hashable | None:
        choices = self._choices(state, own_move)
        if not all(choices):
            return None
        return self._successor(state, tuple(map(self._rng.choice, choices)), percepts)

    def _successor(
        self, state: Hashable, joint_move: tuple[Move, ...], percepts: Percepts | None
    ) -> Hashable | None:
        """The state after `joint_move`; None if it disagrees, or is terminal.

        A PLAY message itself is information: the match is not over.
        """
        try:
            if percepts is not None:
                seen = self._game.percepts(state, joint_move, self._role)
                if frozenset(seen) != percepts:
                    return None
            successor: Hashable = self._game.next_state(state, joint_move)
            return None if self._game.is_terminal(successor) else successor
        except GameError:
            return None

    def _replay(self, until: float) -> dict[Hashable, float]:
        """Sample whole histories from the initial state, with a few attempts per step."""
        found: dict[Hashable, float] = {}
        for _ in range(_MAX_ATTEMPTS):
            if len(found) >= MAX_STATES or time.monotonic() > until:
                break
            state: Hashable | None = self._game.initial_state()
            for percepts, own_move in self._history:
                state = self._agreeing_successor(state, percepts, own_move)
                if state is None:
                    break
            else:
                found[state] = found.get(state, 0.0) + 1.0
        return found

    def _agreeing_successor(
        self, state: Hashable, percepts: Percepts, own_move: Move | None
    ) -> Hashable | None:
        for _ in range(20):
            successor = self._random_successor(state, percepts, own_move)
            if successor is not None:
                return successor
        return None

    def _describe(self, note: str) -> Position:
        state = self._rng.choices(list(self._weights), weights=list(self._weights.values()))[0]
        return Position(len(self._history), state, None, self._legal_everywhere(), note)

    def _legal_everywhere(self) -> tuple[Move, ...]:
        """Moves that are legal in every state held; if there are none, in the likeliest states."""
        common: set[Move] | None = None
        for state in sorted(self._weights, key=lambda state: -self._weights[state]):
            legal = legal_or_none(self._game, state, self._role)
            narrowed = set(legal) if common is None else common & set(legal)
            if common is not None and not narrowed:
                break
            common = narrowed
        return tuple(sorted(common or (), key=str))
