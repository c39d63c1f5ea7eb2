"""Review of a finished match: the expectation and preferred move of a short search at every choice."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gdl.program import Program, arguments_of
from ggp.analysis.picture import Picture
from ggp.analysis.sheet_comment import read_comment
from ggp.game import RANDOM_ROLE, Move, Role
from ggp.web.agent_thread import Task
from ggp.web.match_history import MatchHistory
from ggp.web.match_view import legal_moves_view

_REVIEW_SECONDS = 8.5
"""Wall time of a whole review, getting ready included, within the next two limits per position."""
_MIN_SECONDS, _MAX_SECONDS = 0.05, 1.0
_LOSS = 10
"""Expected points that a move must cost to be called a mistake."""


def _shares_goals(program: Program) -> bool:
    """Whether the rules give two players goals that add up to 100, as far as their text shows.

    >>> from gdl.syntax.parser import parse
    >>> _shares_goals(parse("(role a) (role b) (<= (goal ?r 100) (won ?r)) (<= (goal ?r 0) (lost ?r))"))
    True
    >>> _shares_goals(parse("(role a) (role b) (<= (goal ?r 90) both) (<= (goal ?r 50) (not both))"))
    False
    """
    players = [rule for rule in program.rules_for("role", 1) if arguments_of(rule.head)[0] != RANDOM_ROLE]
    goals = {str(arguments_of(rule.head)[1]) for rule in program.rules_for("goal", 2)}
    is_stated = "zero-sum" in read_comment(program.source.text).fields.get("kind", "")
    is_even = all(goal.isdigit() and str(100 - int(goal)) in goals for goal in goals)
    return len(players) == 2 and (is_stated or is_even)


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
        self._is_shared = _shares_goals(history.game.program)
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

    def view(self, goals: Sequence[int | None] | None) -> dict[str, Any]:
        """The review as data: entries, mistakes, how many steps there are, whether it is done.

        goals   of the end, in role order; None if it is not known
        """
        is_done, steps = self.position is None, len(self._history.steps)
        return {"entries": self.entries, "mistakes": self.mistakes(goals), "of": steps, "is_done": is_done}

    def mistakes(self, goals: Sequence[int | None] | None) -> list[dict[str, Any]]:
        """The moves that cost at least `_LOSS` although the search prefers another, the costliest first.

        A move is judged by what the next search expects, also that of the other of two roles that share 100:
        so both of two mistakes in a row are found.

        `after` is the expectation of the role after its move, `lost` what the move has cost.
        """
        found = []
        for entry in self.entries:
            after = self._after(entry, goals)
            if after is None or entry["value"] is None or entry["best"] == entry["played"]:
                continue
            lost = round(entry["value"]) - round(after)  # of the numbers that are shown
            if lost >= _LOSS:
                found.append({**entry, "after": after, "lost": lost})
        return sorted(found, key=lambda each: -each["lost"])

    def _after(self, entry: Mapping[str, Any], goals: Sequence[int | None] | None) -> float | None:
        """What the role of an entry can expect after its move; None if that is not known."""
        role, history = entry["role"], self._history
        later = [each for each in self.entries if each["step"] > entry["step"]]
        own = [each for each in later if each["role"] == role]
        if self._is_shared and later and (not own or later[0]["step"] < own[0]["step"]):
            value = later[0]["value"]
            return None if value is None else 100 - value
        if own or later or self.position is not None or goals is None:
            return own[0]["value"] if own else None
        return goals[list(map(str, history.game.roles)).index(role)]

    def _find_choices(self) -> Iterator[tuple[Role, int]]:
        """Every role and step at which it had a choice, as far as the match goes now."""
        history = self._history
        for step in range(len(history.steps)):
            for role in history.game.roles:
                if role != RANDOM_ROLE and len(history.legal(role, len(history.steps) - step)) > 1:
                    yield role, step
