"""Positions beside a match: after a past step, or after a line of other moves that begins there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gdl.syntax.parser import parse_term
from ggp.analysis.picture import Picture
from ggp.game import JointMove
from ggp.match.outcome import outcome_text
from ggp.processes.child_end import RequestError
from ggp.web.match_history import MatchHistory
from ggp.web.match_view import legal_moves_view, moves_view, shown_state

MAX_LINE = 500
"""Maximum number of joint moves of a line."""


class Exploration:
    """The position explored last; the next one is reached from it, for most are near.

    >>> import ggp
    >>> from ggp.analysis.picture import find_picture
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> history = MatchHistory(game)
    >>> explored = Exploration(history, find_picture(game.program, game.facts(game.initial_state())))
    >>> view = explored.view(0, [["(mark 2 2)", "noop"]])
    >>> view["step"], view["choices"][0]["role"], len(view["choices"][0]["moves"]), view["forced"]
    (1, 'o', 8, {'x': 'noop'})
    """

    def __init__(self, match: MatchHistory, picture: Picture) -> None:
        self._match, self._picture = match, picture
        self._history = MatchHistory(match.game)

    def moves(self, step: int, line: Sequence[Sequence[str]]) -> tuple[JointMove, ...]:
        """The joint moves to the position, legal or not. Raises RequestError, GdlError."""
        roles = len(self._match.game.roles)
        if len(line) > MAX_LINE:
            raise RequestError(f"a line has at most {MAX_LINE} moves")
        if not all(isinstance(row, list) and len(row) == roles for row in line) or not all(
            isinstance(text, str) for row in line for text in row
        ):
            raise RequestError("a line has a move of every role at each step")
        made = [each.joint_move for each in self._match.steps[:step]]
        return (*made, *(tuple(map(parse_term, row)) for row in line))

    def at(self, moves: Sequence[JointMove]) -> MatchHistory:
        """The match of the joint moves `moves`. Raises IllegalMoveError."""
        self._history.follow(moves)
        return self._history

    def reach(self, step: int, line: Sequence[Sequence[str]]) -> MatchHistory:
        """The match up to `step`, then `line`. Raises RequestError, GdlError, IllegalMoveError."""
        return self.at(self.moves(step, line))

    def view(self, step: int, line: Sequence[Sequence[str]]) -> dict[str, Any]:
        """The position as data for the page: the state, and what each role may choose.

        goals     of all roles at the end; None before
        choices   role, moves and paths (see `legal_moves_view`) of every role with a choice, chance included
        forced    the moves of the others
        """
        history = self.reach(step, line)
        last, roles = len(history.steps), history.game.roles
        legal = {} if history.is_over else {role: history.legal(role) for role in roles}
        goals = history.goals() if history.is_over else None
        return {
            "step": last,
            **shown_state(history, self._picture, last),
            "is_over": history.is_over,
            "goals": goals,
            "outcome": outcome_text(list(map(str, roles)), goals) if history.is_over else "",
            "line": moves_view(history, self._picture, None)["history"][step:],
            "choices": [
                {"role": str(role), **legal_moves_view(self._picture, moves, history.facts())}
                for role, moves in legal.items()
                if len(moves) > 1
            ],
            "forced": {str(role): str(moves[0]) for role, moves in legal.items() if len(moves) == 1},
        }
