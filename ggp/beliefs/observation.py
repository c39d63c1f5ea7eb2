"""What a role learns from a step in games with `sees`: its own move and its percepts, never the state."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from gdl.terms import Term
from ggp.game import Game, JointMove, Move, Role


@dataclass(frozen=True)
class Observation:
    """All that one role learns from one step of a game with hidden information.

    own_move   the move that counted; a late or illegal answer is replaced by another move. None if unknown,
               as over HTTP if the manager does not name it
    percepts   what the rules let the role see, sorted by text

    >>> from gdl.terms import Symbol
    >>> Observation(Symbol("bet"), ()).percepts
    ()
    """

    own_move: Move | None
    percepts: tuple[Term, ...]


def observe_step(game: Game[Any], state: Hashable, joint_move: JointMove, role: Role) -> Observation:
    """What `role` observes when `joint_move` is made in `state`. Raises IllegalMoveError.

    >>> import ggp
    >>> game = ggp.load("kuhn_poker", engine="reasoner")
    >>> deal = [ggp.parse_term(move) for move in ("noop", "noop", "(deal king jack)")]
    >>> [str(percept) for percept in observe_step(game, game.initial_state(), deal, game.roles[1]).percepts]
    ['(card jack)']
    """
    return Observation(joint_move[game.roles.index(role)], game.percepts(state, joint_move, role))
