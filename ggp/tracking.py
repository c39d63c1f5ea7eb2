"""Following a match from the messages that a player gets, odd ones included.

A tracker turns what PLAY tells into a `Position`: where the match is and what may be moved there. It never
raises for what a manager sends: a joint move that cannot have happened is repaired as well as can be,
and the position carries a note for the log. `StateTracker` serves games in which everybody sees
everything; games with `sees` rules need `ggp.particles.ParticleTracker`.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from gdl.terms import Term
from ggp.game import Game, GameError, IllegalMoveError, Move, Role

_MAX_LOST_STEPS = 200
"""Joint moves that are tried when one PLAY seems to have been lost."""


@dataclass(frozen=True)
class Position:
    """Where a match is, as far as one role knows.

    step         joint moves made so far
    state        the state, or in GDL-II one that agrees with everything seen
    joint_move   what led to it; None in the initial state and where that is not known
    legal        the role's legal moves, sorted by text; empty where the rules give none
    note         what was odd about the last message, for the log; empty if nothing was
    """

    step: int
    state: Hashable
    joint_move: tuple[Move, ...] | None
    legal: tuple[Move, ...]
    note: str = ""


class Tracker(Protocol):
    """One match as one role follows it."""

    @property
    def position(self) -> Position: ...

    def advance(self, terms: tuple[Term, ...] | None, own_move: Move | None, deadline: float) -> Position:
        """The position after a PLAY message.

        terms      the message's list; None for NIL
        own_move   what this role is thought to have moved
        deadline   `time.monotonic()` seconds by which an answer of any quality is wanted
        """
        ...


def make_tracker(game: Game[Any], role: Role, rng: random.Random) -> Tracker:
    """The tracker that `game` needs, at its initial state. `rng` draws GDL-II's sampled states."""
    from ggp.particles import ParticleTracker

    if has_percepts(game):
        return ParticleTracker(game, role, rng)
    return StateTracker(game, role)


def has_percepts(game: Game[Any]) -> bool:
    """Whether the game has `sees` rules, so that roles are told percepts instead of moves."""
    return bool(game.program.rules_for("sees", 2))


class StateTracker:
    """Follows a match in which every role is told the whole joint move."""

    def __init__(self, game: Game[Any], role: Role) -> None:
        self._game = game
        self._role = role
        self._index = game.roles.index(role)
        self._states: list[Hashable] = [game.initial_state()]
        self._joint_moves: list[tuple[Move, ...]] = []
        self.position = self._describe("")

    def advance(self, terms: tuple[Term, ...] | None, own_move: Move | None, deadline: float) -> Position:
        if terms is None:
            self.position = self._describe("no moves told" if self._joint_moves else "")
        else:
            self.position = self._describe(self._apply(terms, own_move))
        return self.position

    def _apply(self, joint_move: tuple[Move, ...], own_move: Move | None) -> str:
        """Make `joint_move`, or whatever explains it best; returns the note."""
        if self._try(joint_move):
            return ""
        if self._joint_moves and joint_move == self._joint_moves[-1]:
            return "repeated"
        reason = f"joint move {_text(joint_move)} is not legal"
        if self._correct_last(joint_move):
            return f"{reason}; it corrects the last one"
        if self._skip_lost(joint_move, own_move):
            return f"{reason}; took it that one step was lost"
        repaired = self._repair(joint_move, own_move)
        if repaired is not None and self._try(repaired):
            return f"{reason}; went on with {_text(repaired)}"
        return f"{reason}; stayed"

    def _try(self, joint_move: tuple[Move, ...]) -> bool:
        successor = self._successor(self._states[-1], joint_move)
        if successor is None:
            return False
        self._states.append(successor)
        self._joint_moves.append(joint_move)
        return True

    def _successor(self, state: Hashable, joint_move: tuple[Move, ...]) -> Hashable | None:
        if len(joint_move) != len(self._game.roles):
            return None
        try:
            successor: Hashable = self._game.next_state(state, joint_move)
        except (GameError, IllegalMoveError):
            return None
        return successor

    def _correct_last(self, joint_move: tuple[Move, ...]) -> bool:
        if not self._joint_moves:
            return False
        successor = self._successor(self._states[-2], joint_move)
        if successor is None:
            return False
        self._states[-1] = successor
        self._joint_moves[-1] = joint_move
        return True

    def _skip_lost(self, joint_move: tuple[Move, ...], own_move: Move | None) -> bool:
        """Find a joint move after which `joint_move` is legal, and make both."""
        for lost in itertools.islice(self._possible_joint_moves(own_move), _MAX_LOST_STEPS):
            between = self._successor(self._states[-1], lost)
            if between is None:
                continue
            successor = self._successor(between, joint_move)
            if successor is not None:
                self._states += [between, successor]
                self._joint_moves += [lost, joint_move]
                return True
        return False

    def _possible_joint_moves(self, own_move: Move | None) -> Iterator[tuple[Move, ...]]:
        state = self._states[-1]
        choices = [_legal_moves(self._game, state, role) for role in self._game.roles]
        if own_move in choices[self._index]:
            choices[self._index] = (own_move,) if own_move is not None else ()
        return itertools.product(*choices)

    def _repair(self, joint_move: tuple[Move, ...], own_move: Move | None) -> tuple[Move, ...] | None:
        """`joint_move` with what is missing or illegal replaced by the first legal move."""
        repaired: list[Move] = []
        for index, role in enumerate(self._game.roles):
            legal = _legal_moves(self._game, self._states[-1], role)
            told = joint_move[index] if index < len(joint_move) else None
            candidates = [told, own_move] if index == self._index else [told]
            move = next((move for move in candidates if move is not None and move in legal), None)
            if move is None:
                if not legal:
                    return None
                move = legal[0]
            repaired.append(move)
        return tuple(repaired)

    def _describe(self, note: str) -> Position:
        return Position(
            step=len(self._joint_moves),
            state=self._states[-1],
            joint_move=self._joint_moves[-1] if self._joint_moves else None,
            legal=_legal_moves(self._game, self._states[-1], self._role),
            note=note,
        )


def _legal_moves(game: Game[Any], state: Hashable, role: Role) -> tuple[Move, ...]:
    try:
        return game.legal_moves(state, role)
    except GameError:
        return ()


def _text(joint_move: tuple[Move, ...]) -> str:
    text = "(" + " ".join(map(str, joint_move)) + ")"
    return text if len(text) <= 120 else text[:117] + "..."
