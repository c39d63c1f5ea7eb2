"""Moves of an opening book."""

from __future__ import annotations

from ggp.knowledge.book import Book
from ggp.match.player import MatchSetup
from ggp.players.advisors.advisor import Advisor, Position
from ggp.players.kept_knowledge import open_book
from ggp.search.budget import Budget
from ggp.search.protocol import Advice
from ggp.search.report import MoveReport, SearchReport


class BookAdvisor(Advisor):
    """Plays by the book, unless there is time for a longer search than the book's."""

    def __init__(self, option: str, *, is_counted: bool) -> None:
        """option: `book` of the player. is_counted: the moves must not depend on what this machine kept."""
        self._option, self._is_counted = option, is_counted

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        self._setup = setup
        book = open_book(setup.game, self._option, is_counted=self._is_counted)
        self._book: Book | None = book
        return book is not None

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        assert self._book is not None
        found = self._book.find(self._setup.game, position.state, self._setup.role)
        if found is None or not found[1].is_worth(budget.seconds_left()):
            return None
        move, known = found
        moves = (MoveReport(move, known.visits, known.mean, known.goal),)
        return Advice(move, SearchReport(moves=moves, goal=known.goal, mode="book"), is_final=True)
