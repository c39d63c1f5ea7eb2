"""Review of a finished match: the expectation and preferred move of a short search at every choice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from ggp.analysis.picture import Picture
from ggp.game import RANDOM_ROLE, Move, Role
from ggp.web.agent_thread import Task
from ggp.web.match_history import MatchHistory
from ggp.web.match_view import legal_moves_view

_REVIEW_SECONDS = 8.5
"""Wall time of a whole review, getting ready included, within the next two limits per position."""
_MIN_SECONDS, _MAX_SECONDS = 0.05, 1.0


class MatchReview:
    """The positions searched so far, with the results.

    entries    one per choice, in the order of the steps
    position   the role and step to search next; None at the end
    task       the search that runs; None while the review pauses

    >>> import ggp
    >>> from ggp.analysis.picture import find_picture
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> history = MatchHistory(game)
    >>> history.play([history.legal(role)[0] for role in game.roles])
    >>> review = MatchReview(history, find_picture(game.program, game.facts(game.initial_state())))
    >>> entry = review.note(62.0, history.legal(game.roles[0], 1)[8])
    >>> entry["role"], entry["played"], entry["best"], entry["best_path"], review.position
    ('x', '(mark 1 1)', '(mark 3 3)', '2,2', None)
    """

    def __init__(self, history: MatchHistory, picture: Picture) -> None:
        self.entries: list[dict[str, Any]] = []
        self.task: Task | None = None
        self._history, self._picture = history, picture
        self._begun = time.monotonic()
        self._choices = self._find_choices()
        self.position = next(self._choices, None)

    @property
    def seconds(self) -> float:
        """Of the next search: an equal share of what is left, so that slow ones shorten the others."""
        step = 0 if self.position is None else self.position[1]
        left = self._begun + _REVIEW_SECONDS - time.monotonic()
        share = left / max(1, len(self._history.steps) - step)
        return min(max(share, _MIN_SECONDS), _MAX_SECONDS)

    def begin(self) -> None:
        """Count the time from now on: the review was asked for, or is resumed after a pause."""
        self._begun = time.monotonic()

    def note(self, value: float | None, best: Move) -> dict[str, Any]:
        """Add the result for `position` and move to the next one; return the new entry.

        value   expected goal of the role; None if unknown
        """
        assert self.position is not None
        role, step = self.position
        history = self._history
        legal = history.legal(role, len(history.steps) - step)
        offered = legal_moves_view(self._picture, legal, history.facts(step))
        paths = dict(zip(offered["moves"], offered["paths"], strict=True))
        texts = dict(zip(offered["moves"], offered["texts"], strict=True))
        entry: dict[str, Any] = {"step": step, "role": str(role), "value": value}
        played = history.steps[step].joint_move[history.game.roles.index(role)]
        for name, move in (("best", str(best)), ("played", str(played))):
            entry |= {name: move, f"{name}_path": paths.get(move, ""), f"{name}_text": texts.get(move, move)}
        self.entries.append(entry)
        self.position = next(self._choices, None)
        return entry

    def view(self) -> dict[str, Any]:
        """The review as data: entries, how many steps there are, whether it is done."""
        is_done = self.position is None
        return {"entries": self.entries, "of": len(self._history.steps), "is_done": is_done}

    def _find_choices(self) -> Iterator[tuple[Role, int]]:
        """Every role and step at which it had a choice, as far as the match goes now."""
        history = self._history
        for step in range(len(history.steps)):
            for role in history.game.roles:
                if role != RANDOM_ROLE and len(history.legal(role, len(history.steps) - step)) > 1:
                    yield role, step
