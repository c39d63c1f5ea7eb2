"""State tracking from the messages that a player receives, odd ones included.

A tracker turns PLAY messages into a `Position`: the state of the match and the legal moves there. It never
raises for what a manager sends: an impossible joint move is repaired as well as possible, and the position
carries a note for the log. `StateTracker` serves games of complete information; games with `sees` rules need
`Belief`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from gdl.terms import Term
from ggp.game import Game, GameError, IllegalMoveError, Move, Role, legal_or_none

_MAX_LOST_MOVES = 400
"""Maximum joint moves tried when PLAY messages seem to have been lost."""

_MAX_LOST_STEPS = 2

_HASTE_SECONDS = 0.3
"""Rest of the clock at which the search for lost moves stops with what it has found."""

_MAX_CANDIDATES = 50
"""Maximum states kept if it is unknown which of them is the true one."""


@dataclass(frozen=True)
class Position:
    """The state of a match as far as one role knows.

    step         joint moves made so far
    state        the state, or in GDL-II one that agrees with everything seen
    joint_move   what led to it; None in the initial state, and if unknown
    legal        the role's legal moves, sorted by text; empty if the rules give none. After lost messages
                 those that are legal in every possible state, if there are any
    note         what was odd about the last message, for the log; otherwise empty
    """

    step: int
    state: Hashable
    joint_move: tuple[Move, ...] | None
    legal: tuple[Move, ...]
    note: str = ""


class Tracker(Protocol):
    """Follows one match from the messages to one role."""

    @property
    def position(self) -> Position: ...

    def advance(self, terms: tuple[Term, ...] | None, own_move: Move | None, deadline: float) -> Position:
        """The position after a PLAY message.

        terms      the message's list; None for NIL
        own_move   what this role is thought to have moved; None if unknown
        deadline   `time.monotonic()` seconds by which an answer of any quality is wanted
        """
        ...


class StateTracker:
    """Follows a match in which every role receives the whole joint move.

    After a lost PLAY message the moves made meanwhile are unknown. Then all states that agree with the
    messages before and after are kept; each further joint move rules some of them out.
    """

    def __init__(self, game: Game[Any], role: Role) -> None:
        self._game = game
        self._role = role
        self._index = game.roles.index(role)
        self._states: list[Hashable] = [game.initial_state()]
        self._joint_moves: list[tuple[Move, ...]] = []
        # States as possible as the last of `_states`, in the order in which they were found.
        self._others: list[Hashable] = []
        self.position = self._describe("")

    def advance(self, terms: tuple[Term, ...] | None, own_move: Move | None, deadline: float) -> Position:
        if terms is None:
            self.position = self._describe("PLAY without moves" if self._joint_moves else "")
        else:
            self.position = self._describe(self._apply(terms, own_move, deadline))
        return self.position

    def _apply(self, joint_move: tuple[Move, ...], own_move: Move | None, deadline: float) -> str:
        """Make `joint_move`, or its best explanation; return the note."""
        if self._try(joint_move):
            return ""
        if self._joint_moves and joint_move == self._joint_moves[-1]:
            return "repeated"
        reason = f"joint move {_text(joint_move)} is not legal"
        # Messages do get lost: a player that slept never reads those that its manager gave up on. A manager
        # that corrects itself has not been seen yet.
        for count in range(1, _MAX_LOST_STEPS + 1):
            if self._skip_lost(joint_move, own_move, count, deadline):
                steps = "one step was" if count == 1 else f"{count} steps were"
                return f"{reason}; assuming {steps} lost, {1 + len(self._others)} states are possible"
            if count == 1 and self._correct_last(joint_move):
                return f"{reason}; taken as a correction of the last one"
        repaired = self._repair(joint_move, own_move)
        if repaired is not None and self._try(repaired):
            return f"{reason}; continuing with {_text(repaired)}"
        return f"{reason}; ignored"

    def _try(self, joint_move: tuple[Move, ...]) -> bool:
        """Make `joint_move` in every possible state; return whether any of them allows it."""
        candidates = [self._states[-1], *self._others]
        successors = dict.fromkeys(self._successor(state, joint_move) for state in candidates)
        possible = [state for state in successors if state is not None]
        if not possible:
            return False
        self._states.append(possible[0])
        self._joint_moves.append(joint_move)
        self._others = possible[1:]
        return True

    def _successor(self, state: Hashable, joint_move: tuple[Move, ...]) -> Hashable | None:
        if len(joint_move) != len(self._game.roles):
            return None
        try:
            return self._game.next_state(state, joint_move)  # type: ignore[no-any-return]
        except (GameError, IllegalMoveError):
            return None

    def _correct_last(self, joint_move: tuple[Move, ...]) -> bool:
        successor = self._successor(self._states[-2], joint_move) if self._joint_moves else None
        if successor is None:
            return False
        self._states[-1], self._joint_moves[-1], self._others = successor, joint_move, []
        return True

    def _skip_lost(
        self, joint_move: tuple[Move, ...], own_move: Move | None, count: int, deadline: float
    ) -> bool:
        """Find `count` joint moves after which `joint_move` is legal, and make them and it. What this role
        answered comes first, but a late answer may have been replaced."""
        found: dict[Hashable, list[tuple[Hashable, tuple[Move, ...]]]] = {}
        for steps in itertools.islice(self._lost_steps(self._states[-1], own_move, count), _MAX_LOST_MOVES):
            if len(found) >= _MAX_CANDIDATES or (found and time.monotonic() > deadline - _HASTE_SECONDS):
                break
            successor = self._successor(steps[-1][0], joint_move)
            if successor is not None and successor not in found:
                found[successor] = [*steps, (successor, joint_move)]
        if not found:
            return False
        first = next(iter(found.values()))
        self._states += [state for state, _ in first]
        self._joint_moves += [move for _, move in first]
        self._others = list(found)[1:]
        return True

    def _lost_steps(
        self, state: Hashable, own_move: Move | None, count: int
    ) -> Iterator[list[tuple[Hashable, tuple[Move, ...]]]]:
        """All sequences of `count` steps from `state`: the states reached and the joint moves made."""
        for joint_move in self._possible_joint_moves(state, own_move):
            between = self._successor(state, joint_move)
            if between is not None:
                rests = self._lost_steps(between, None, count - 1) if count > 1 else iter([[]])
                yield from ([(between, joint_move), *rest] for rest in rests)

    def _possible_joint_moves(self, state: Hashable, own_move: Move | None) -> Iterator[tuple[Move, ...]]:
        choices = [legal_or_none(self._game, state, role) for role in self._game.roles]
        own = sorted(choices[self._index], key=lambda move: move != own_move)
        for move in own:
            choices[self._index] = (move,)
            yield from itertools.product(*choices)

    def _repair(self, joint_move: tuple[Move, ...], own_move: Move | None) -> tuple[Move, ...] | None:
        """`joint_move` with missing or illegal moves replaced by the first legal one."""
        repaired: list[Move] = []
        for index, role in enumerate(self._game.roles):
            legal = legal_or_none(self._game, self._states[-1], role)
            given = (*joint_move[index : index + 1], *((own_move,) if index == self._index else ()))
            move = next((move for move in (*given, *legal) if move in legal), None)
            if move is None:
                return None
            repaired.append(move)
        return tuple(repaired)

    def _describe(self, note: str) -> Position:
        joint_move = self._joint_moves[-1] if self._joint_moves else None
        return Position(len(self._joint_moves), self._states[-1], joint_move, self._safe_moves(), note)

    def _safe_moves(self) -> tuple[Move, ...]:
        """The role's moves that are legal in every possible state; if there are none, in the likeliest."""
        legal = legal_or_none(self._game, self._states[-1], self._role)
        everywhere = set(legal)
        for state in self._others:
            everywhere.intersection_update(legal_or_none(self._game, state, self._role))
        return tuple(move for move in legal if move in everywhere) or legal


def _text(joint_move: tuple[Move, ...]) -> str:
    text = "(" + " ".join(map(str, joint_move)) + ")"
    return text if len(text) <= 120 else text[:117] + "..."
