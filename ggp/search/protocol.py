"""Protocols of searches, and of what works next to a tree search.

Search      a search of one role: how it runs, the best move and a report
Companion   proves something about the root of a tree search, between its slices
Advice      a move, and the report that explains it
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ggp.game import Move
from ggp.search.budget import Budget
from ggp.search.report import SearchReport

NO_SUM = -1
"""Goals of two roles whose sum is not known, or of one role."""


class Search(Protocol):
    """A search of one role. A method of each kind sets where it begins: a state or a belief."""

    @property
    def simulation_count(self) -> int:
        """Playouts, or positions expanded, in all searches so far."""
        ...

    def run(self, budget: Budget) -> int:
        """Continue the search; return the number of playouts, or of positions expanded. Overruns the
        deadline by at most one slice of some milliseconds."""
        ...

    def best_move(self) -> Move | None:
        """The move to make; None if nothing was found."""
        ...

    def report(self) -> SearchReport:
        """Statistics of the moves, and the effort so far."""
        ...


class Companion(Protocol):
    """A prover of facts about the root of a tree search, in a share of its time."""

    @property
    def root_goals(self) -> Mapping[Move, int]:
        """Proven goals of the searching role by its move; another object after news."""
        ...

    @property
    def root_bounds(self) -> Mapping[Move, tuple[int, int]]:
        """The least and the greatest goal that a move of the searching role may lead to, if one of them is
        proven; another object after news."""
        ...

    @property
    def goal_sum(self) -> int:
        """The sum of two roles' goals at the ends; NO_SUM with one role, or as long as it is not known."""
        ...

    @property
    def has_decided(self) -> bool:
        """Whether a move is known that no search can improve on."""
        ...

    def keep_pace(self, begin: float, budget: Budget, *, length: float | None, cores: int = 1) -> None:
        """Work until the share of the time since `begin` is used up.

        begin    of the whole search, in seconds of the clock of `budget`, which is the whole search's
        length   mean number of joint moves of its playouts; None before the first one
        cores    threads of the search, from whose time the share is taken
        """
        ...

    def interrupt(self) -> None:
        """End the work of `keep_pace` in another thread; called again until it has ended."""
        ...


@dataclass(frozen=True)
class Advice:
    """A move with the report that explains it.

    >>> import ggp
    >>> report = ggp.search_state(ggp.load("nim", engine="reasoner"), simulations=50)
    >>> Advice(report.best_move, report).expectation == report.expectation
    True

    is_final   whether nothing that others could find would change it
    """

    move: Move
    report: SearchReport | None = None
    is_final: bool = False

    @property
    def expectation(self) -> float:
        """The goal that the role expects; 0 if that is not known."""
        expected = None if self.report is None else self.report.expectation
        return expected or 0.0
