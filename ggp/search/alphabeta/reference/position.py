"""A position and its children: mover, static scores, and values that are already known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ggp.game import Game, Move
from ggp.search.alphabeta.result import AlphaBetaError


class Choice(NamedTuple):
    """A move of one role; roles may have moves of the same name."""

    role: int
    move: Move


@dataclass(eq=False)
class Position:
    """A state as a child of a node. Scores are hundredths of a goal for the first role.

    mover      the role that chooses here; 0 if none does
    choice     the move that led here; None: at the root, or if it was the only one
    end        the score if the position needs no search; None else
    score      static score
    mobility   legal moves of the mover
    rank       place in the order of search: the highest comes first
    """

    state: Any
    mover: int = 0
    choice: Choice | None = None
    end: int | None = None
    score: int = 0
    mobility: int = 1
    rank: int = 0


def signed(score: int, mover: int) -> int:
    """A score for the first role as one for `mover`, and back: the other role minimizes."""
    return score if mover == 0 else -score


def position_of(game: Game[Any], state: Any, choice: Choice | None = None) -> Position:
    """A position without scores. Raises AlphaBetaError if two roles choose at the same time."""
    if game.is_terminal(state):
        return Position(state, choice=choice, end=100 * game.goal(state, game.roles[0]))
    counts = [len(game.legal_moves(state, role)) for role in game.roles]
    choosing = [role for role, count in enumerate(counts) if count > 1]
    if len(choosing) > 1:
        raise AlphaBetaError("two roles choose at the same time")
    mover = choosing[0] if choosing else 0
    return Position(state, mover, choice, mobility=counts[mover])


def successors(game: Game[Any], position: Position) -> list[tuple[Choice | None, Any]]:
    """The choice and the state behind each move, in the order of the rules."""
    legal = [game.legal_moves(position.state, role) for role in game.roles]
    moves = legal[position.mover]
    found: list[tuple[Choice | None, Any]] = []
    for move in moves:
        joint = [move if role == position.mover else other[0] for role, other in enumerate(legal)]
        choice = Choice(position.mover, move) if len(moves) > 1 else None
        found.append((choice, game.next_state(position.state, joint)))
    return found


def immediate_win(game: Game[Any], state: Any) -> int | None:
    """The score of a state that is not terminal and whose mover has a move that ends the game with goal 100.

    None if there is no such move. With a constant sum the score is the exact value of the state: no move is
    better. Source: decisive moves (Teytaud and Teytaud, 2010).
    """
    legal = [game.legal_moves(state, role) for role in game.roles]
    for role, moves in enumerate(legal):
        if any(len(others) > 1 for other, others in enumerate(legal) if other != role):
            continue
        for move in moves:
            joint = [move if each == role else others[0] for each, others in enumerate(legal)]
            after = game.next_state(state, joint)
            if game.is_terminal(after) and game.goal(after, game.roles[role]) == 100:
                return 100 * game.goal(after, game.roles[0])
    return None
