"""How persons end a match outside of its rules: they resign, agree on a draw, or run out of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ggp.game import RANDOM_ROLE, Role
from ggp.knowledge.folder import checked_count, checked_list, checked_number, checked_text
from ggp.processes.child_end import RequestError

CLOCK_SECONDS = (10.0, 24 * 3600.0)
"""Limits of a person's clock."""


class Settlement:
    """The clocks of persons, an offer of a draw, and the verdict.

    roles     of the game
    persons   who sit at the page
    seconds   of each person for the whole match; None: no clocks
    now       seconds, for the clocks

    `verdict` is a sentence, empty while the match goes on; `goals` what it means, in role order.

    >>> from gdl.terms import Symbol
    >>> white, black = Symbol("white"), Symbol("black")
    >>> settlement = Settlement((white, black), (white, black))
    >>> settlement.offer("white"); settlement.offered
    'white'
    >>> settlement.offer("black"); settlement.verdict, settlement.goals
    ('draw agreed', [50, 50])
    """

    def __init__(
        self,
        roles: Sequence[Role],
        persons: Sequence[Role],
        seconds: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.verdict, self.goals = "", list[int | None]()
        self.offered: str | None = None
        self._roles, self._persons, self._now = tuple(roles), tuple(persons), now
        self._left = {} if seconds is None else dict.fromkeys(persons, seconds)
        self._running: tuple[Role, ...] = ()
        self._since = now()

    def reopen(self) -> None:
        """Go on after a move was taken back."""
        self.verdict, self.goals, self.offered = "", [], None

    def kept(self) -> dict[str, Any]:
        """Clocks and agreements as data, for `resume`."""
        self._count()
        left = {str(role): left for role, left in self._left.items()}
        return {"left": left, "offered": self.offered, "verdict": self.verdict, "goals": self.goals}

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Take up what `kept` returned. Raises ValueError, KeyError, TypeError, AttributeError."""
        left, offered, goals = kept["left"], kept["offered"], checked_list(kept["goals"], len(self._roles))
        self._left = {role: checked_number(left[str(role)], CLOCK_SECONDS[1]) for role in self._left}
        self.offered = offered if offered in map(str, self._persons) else None
        self.verdict = checked_text(kept["verdict"])
        self.goals = [None if goal is None else checked_count(goal, 100) for goal in goals]

    # --- clocks -----------------------------------------------------------------------------------

    def run_clocks(self, roles: Iterable[Role]) -> float | None:
        """Let the clocks of `roles` alone run; return the seconds until one has run out, if any runs."""
        self._count()
        self._running = tuple(role for role in roles if role in self._left)
        for role in self._running:
            if self._left[role] <= 0 and not self.verdict:
                self._lose(role, f"{role} ran out of time")
        if self.verdict:
            self._running = ()
        return min((self._left[role] for role in self._running), default=None)

    def _count(self) -> None:
        now = self._now()
        for role in self._running:
            self._left[role] = max(0.0, self._left[role] - (now - self._since))
        self._since = now

    def view(self) -> dict[str, Any]:
        """Clocks and offer as data: seconds left, and whose clock runs."""
        self._count()
        return {
            "clocks": {str(role): round(left, 1) for role, left in self._left.items()},
            "running": list(map(str, self._running)),
            "offered": self.offered,
        }

    # --- by word ----------------------------------------------------------------------------------

    def resign(self, name: str) -> None:
        """Raises RequestError unless a person of this name sits at the page."""
        self._lose(self._person(name), f"{name} resigns")

    def offer(self, name: str) -> None:
        """Offer a draw, or accept the offer of another person. Raises RequestError."""
        self._person(name)
        if len(self._persons) < 2:
            raise RequestError("there is no other person to offer a draw to")
        if self.offered in (None, name):
            self.offered = name
            return
        players = [role for role in self._roles if role != RANDOM_ROLE]
        self._end("draw agreed", [50 if role in players else None for role in self._roles])

    def decline(self) -> None:
        """The offer no longer stands."""
        self.offered = None

    def _person(self, name: str) -> Role:
        found: Role | None = next((role for role in self._persons if str(role) == name), None)
        if found is None or self.verdict:
            raise RequestError("no person of this name plays here")
        return found

    def _lose(self, loser: Role, why: str) -> None:
        others = [role for role in self._roles if role not in (loser, RANDOM_ROLE)]
        result = f": {others[0]} wins" if len(others) == 1 else ""
        winner = 100 if len(others) == 1 else None
        self._end(
            why + result, [0 if role == loser else winner if role in others else None for role in self._roles]
        )

    def _end(self, verdict: str, goals: list[int | None]) -> None:
        self._count()
        self.verdict, self.goals, self.offered, self._running = verdict, goals, None, ()
