"""How persons end a match outside of its rules: they resign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ggp.game import RANDOM_ROLE, Role
from ggp.knowledge.folder import checked_count, checked_list, checked_text
from ggp.processes.child_end import RequestError


class Settlement:
    """The verdict on a match: a sentence, empty while it goes on; `goals` what it means, in role order.

    roles     of the game
    persons   who sit at the page

    >>> from gdl.terms import Symbol
    >>> white, black = Symbol("white"), Symbol("black")
    >>> settlement = Settlement((white, black), (white,))
    >>> settlement.resign("white"); settlement.verdict, settlement.goals
    ('white resigns: black wins', [0, 100])
    """

    def __init__(self, roles: Sequence[Role], persons: Sequence[Role]) -> None:
        self.verdict, self.goals = "", list[int | None]()
        self._roles, self._persons = tuple(roles), tuple(persons)

    def reopen(self) -> None:
        """Go on after a move was taken back."""
        self.verdict, self.goals = "", []

    def kept(self) -> dict[str, Any]:
        """The verdict as data, for `resume`."""
        return {"verdict": self.verdict, "goals": self.goals}

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Take up what `kept` returned. Raises ValueError, KeyError, TypeError, AttributeError."""
        goals = checked_list(kept["goals"], len(self._roles))
        self.verdict = checked_text(kept["verdict"])
        self.goals = [None if goal is None else checked_count(goal, 100) for goal in goals]

    def resign(self, name: str) -> None:
        """Raises RequestError unless a person of this name sits at the page."""
        loser = next((role for role in self._persons if str(role) == name), None)
        if loser is None or self.verdict:
            raise RequestError("no person of this name plays here")
        others = [role for role in self._roles if role not in (loser, RANDOM_ROLE)]
        result = f": {others[0]} wins" if len(others) == 1 else ""
        winner = 100 if len(others) == 1 else None
        self.verdict = f"{name} resigns{result}"
        self.goals = [0 if role == loser else winner if role in others else None for role in self._roles]
