"""Build an opening book: long searches of the positions that a player with the book can reach.

A book of N plies has, for every role, the positions of fewer than N plies that its own best moves and any
moves of all others lead to: the others need not play by the book. Chance is followed in every outcome. Where
several roles choose at once the book ends, because a known move could be answered.

Source: Lincke, "Strategies for the automatic construction of opening books" (2000); the book here is as deep
in all lines instead of deeper in the best ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from ggp.game import RANDOM_ROLE, Game, GameError, Move, Role, hides_information
from ggp.integers import check_integers
from ggp.knowledge.book import MAX_POSITIONS, Book, BookMove, position_digest
from ggp.match.player import MatchSetup
from ggp.match.terms import derived_seed
from ggp.players.mcts import mcts_player
from ggp.players.options import OFF, MctsPlayerOptions
from ggp.search.report import SearchReport
from ggp.search.tree.options import default_options

EXACT_MODES = ("proof", "solution")


class BookError(Exception):
    """The game has no opening for a book, or too large a one."""


@dataclass(frozen=True)
class BookTerms:
    """Depth of the book and effort per position.

    plies         depth of the last positions searched, plus one
    seconds       time of each search
    simulations   playouts of each search instead, which make the book reproducible
    """

    plies: int = 4
    seconds: float = 10.0
    simulations: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises TypeError and ValueError for numbers that are not integers or too small."""
        check_integers(self, plies=0, simulations=1, seed=None)


@dataclass(frozen=True)
class BookProgress:
    """Position `done` of `count` in ply `ply` (from 0) is finished."""

    ply: int
    done: int
    count: int


@dataclass(frozen=True)
class _Position:
    """A position of the opening, and the roles whose book it belongs to."""

    state: Hashable
    owners: frozenset[Role]


def build_book(
    game: Game[Any],
    book: Book,
    terms: BookTerms,
    *,
    report: Callable[[BookProgress], None] = lambda progress: None,
) -> None:
    """Add to `book` the positions that it does not have, or that were searched for less time.

    After an interruption `book` keeps the moves so far; the same call resumes.

    Raises BookError, GameError.
    """
    if hides_information(game):
        raise BookError(f"{game.name} has hidden information: the best move depends on what was seen")
    searcher = _Searcher(game, terms)
    level = [_Position(game.initial_state(), frozenset(r for r in game.roles if r != RANDOM_ROLE))]
    for ply in range(terms.plies):
        level = [each for each in level if _mover(game, each.state)[1]]
        for done, count in _search_level(game, level, book, searcher):
            report(BookProgress(ply, done, count))
        level = _following(game, level, book)


def _search_level(
    game: Game[Any],
    level: list[_Position],
    book: Book,
    searcher: _Searcher,
) -> Iterator[tuple[int, int]]:
    """Search the positions of one ply in which an owner is to move; yields how many of how many are done."""
    movers = ((position, _mover(game, position.state)[0]) for position in level)
    wanted = [(position.state, mover) for position, mover in movers if mover and mover in position.owners]
    for number, (state, mover) in enumerate(wanted):
        yield number, len(wanted)
        digest = position_digest(game.facts(state))
        known = book.moves.get(digest)
        if known is not None and searcher.is_enough(known) and book.find(game, state, mover) is not None:
            continue
        if len(book.moves) >= MAX_POSITIONS:
            raise BookError(f"a book holds at most {MAX_POSITIONS:,} positions")
        book.moves[digest] = searcher.search(state, mover)
    yield len(wanted), len(wanted)


def _mover(game: Game[Any], state: Hashable) -> tuple[Role | None, bool]:
    """The one role with a choice (None without one), and whether the book continues from here."""
    if game.is_terminal(state):
        return None, False
    choosing = [role for role in game.roles if role != RANDOM_ROLE and len(game.legal_moves(state, role)) > 1]
    return (choosing[0] if len(choosing) == 1 else None), len(choosing) <= 1


def _following(game: Game[Any], level: list[_Position], book: Book) -> list[_Position]:
    """The positions one ply later, each once, with all roles whose book reaches it."""
    owners: dict[Hashable, frozenset[Role]] = {}
    for position in level:
        mover, _ = _mover(game, position.state)
        found = None if mover is None else book.find(game, position.state, mover)
        for joint_move in product(*(game.legal_moves(position.state, role) for role in game.roles)):
            state, theirs = game.next_state(position.state, joint_move), position.owners
            if mover is not None and (found is None or joint_move[game.roles.index(mover)] != found[0]):
                theirs -= {mover}
            if theirs:
                owners[state] = owners.get(state, frozenset()) | theirs
                if len(owners) > MAX_POSITIONS:
                    raise BookError(
                        f"the opening has more than {MAX_POSITIONS:,} positions: use fewer --plies"
                    )
    return [_Position(state, theirs) for state, theirs in owners.items()]


class _Searcher:
    """Searches positions of one game for any role, by `mcts` without a book."""

    def __init__(self, game: Game[Any], terms: BookTerms) -> None:
        self._game, self._terms = game, terms
        self._is_prepared = False

    def is_enough(self, known: BookMove) -> bool:
        """Whether a known move was searched for as long as requested."""
        if self._terms.simulations is not None:
            return known.is_exact or known.visits >= self._terms.simulations
        return known.is_worth(self._terms.seconds)

    def search(self, state: Hashable, role: Role) -> BookMove:
        """The move found for `role` in `state` by an independent search. Raises GameError."""
        terms = self._terms
        own = MctsPlayerOptions(simulations=terms.simulations, has_head_start=False, book=OFF)
        player = mcts_player(own, default_options(terms.simulations))
        if not self._is_prepared:
            player.prepare(self._game)
            self._is_prepared = True
        seed = derived_seed(terms.seed, position_digest(self._game.facts(state)))
        player.start(MatchSetup("book", self._game, role, 0.0, terms.seconds, seed), time.monotonic())
        try:
            begin = time.monotonic()
            move = player.choose(state, begin + terms.seconds, None)
            report = player.last_report
            if report is None:
                raise GameError(f"{role} has nothing to choose here")
            return _book_move(role, move, report, time.monotonic() - begin)
        finally:
            player.stop(None)


def _book_move(role: Role, move: Move, report: SearchReport, seconds: float) -> BookMove:
    of_move = next((each for each in report.moves if each.move == move), None)
    visits = sum(each.visits for each in report.moves)
    mean = 50.0 if of_move is None or of_move.expectation is None else of_move.expectation
    goal = None if of_move is None else of_move.goal
    is_exact = report.mode in EXACT_MODES or report.goal is not None
    return BookMove(str(role), str(move), min(max(mean, 0.0), 100.0), visits, goal, seconds, is_exact)
