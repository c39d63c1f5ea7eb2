"""Review of a finished match: the expectation and preferred move of a short search at every choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ggp.analysis.picture import Picture
from ggp.game import RANDOM_ROLE, Move, Role
from ggp.web.agent_thread import Task
from ggp.web.match_history import MatchHistory
from ggp.web.match_view import legal_moves_view

_REVIEW_SECONDS = 30.0
"""Search time of a whole review, within the next two limits per position."""
_MIN_SECONDS, _MAX_SECONDS = 0.2, 1.0


class MatchReview:
    """The positions searched so far, with the results.

    entries   one per choice, in the order of the steps
    task      the search that runs; None while the review pauses

    >>> import ggp
    >>> from ggp.analysis.picture import find_picture
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> history = MatchHistory(game)
    >>> history.play([history.legal(role)[0] for role in game.roles])
    >>> review = MatchReview(history, find_picture(game.program, game.facts(game.initial_state())))
    >>> role, step = review.advance()
    >>> entry = review.note(62.0, history.legal(role, 1)[8])
    >>> str(role), step, entry["played"], entry["best"], entry["best_path"], review.advance()
    ('x', 0, '(mark 1 1)', '(mark 3 3)', '2,2', None)
    """

    def __init__(self, history: MatchHistory, picture: Picture) -> None:
        self.entries: list[dict[str, Any]] = []
        self.task: Task | None = None
        self._history, self._picture = history, picture
        self._open = self._choices()
        self._position: tuple[Role, int] | None = next(self._open, None)

    @property
    def seconds(self) -> float:
        """The time of one search."""
        return min(max(_REVIEW_SECONDS / max(1, len(self._history.steps)), _MIN_SECONDS), _MAX_SECONDS)

    @property
    def is_done(self) -> bool:
        """Whether no position is left."""
        return self._position is None

    def advance(self) -> tuple[Role, int] | None:
        """The role and step to search next, unchanged until `note`; None at the end."""
        return self._position

    def note(self, value: float | None, best: Move) -> dict[str, Any]:
        """Add the result for that position and move to the next one; return the new entry.

        value   expected goal of the role; None if unknown
        """
        assert self._position is not None
        role, step = self._position
        history = self._history
        index = history.game.roles.index(role)
        legal = history.legal(role, len(history.steps) - step)
        offered = legal_moves_view(self._picture, legal)
        paths = dict(zip(offered["moves"], offered["paths"], strict=True))
        played = str(history.steps[step].joint_move[index])
        entry = {
            "step": step,
            "role": str(role),
            "value": value,
            "best": str(best),
            "best_path": paths.get(str(best), ""),
            "played": played,
            "played_path": paths.get(played, ""),
        }
        self.entries.append(entry)
        self._position = next(self._open, None)
        return entry

    def view(self) -> dict[str, Any]:
        """The review as data: entries, how many steps there are, whether it is done."""
        return {"entries": self.entries, "of": len(self._history.steps), "is_done": self.is_done}

    def _choices(self) -> Iterator[tuple[Role, int]]:
        """Every role and step at which it had a choice, as far as the match goes now."""
        history = self._history
        for step in range(len(history.steps)):
            for role in history.game.roles:
                if role != RANDOM_ROLE and len(history.legal(role, len(history.steps) - step)) > 1:
                    yield role, step
