"""`ggp prepare book`: an opening book for one game."""

from __future__ import annotations

from pathlib import Path

import click

from ggp.cli.options import Clock, Count, out_option
from ggp.cli.prepare import kept_place
from ggp.cli.progress import interruptible, kept_progress, load_visibly, reported_as
from ggp.game import GameError

MAX_PLIES = 100


@click.command("book")
@click.argument("file", metavar="FILE")
@click.option("--plies", default=4, type=Count(1, MAX_PLIES), help="Length of the opening, in plies.")
@click.option("--seconds", default=10.0, type=Clock(0.01), help="Time for the search of each position.")
@out_option
def command(file: str, plies: int, seconds: float, out: Path | None) -> None:
    """Search the first plies of the game in FILE for a long time and keep the best moves.

    The book has, for each role, the positions that its own best moves and all moves of the others lead to.
    mcts and alphabeta play from it if its search of a position was at least as long as their own would be;
    book=off disables it, book=FILE uses another one. The same command resumes a book, or
    extends it with more plies or time.
    """
    game = load_visibly(file)

    from ggp.knowledge.book import FILE_NAME, Book
    from ggp.knowledge.folder import KnowledgeFileError
    from ggp.players.book_building import BookError, BookProgress, BookTerms, build_book
    from ggp.validation.properties import counted

    def text(progress: BookProgress) -> str:
        return f"{game.name}: ply {progress.ply + 1}, {progress.done} of {progress.count} positions"

    with reported_as(game.name, BookError, GameError, KnowledgeFileError):
        place = kept_place(game, FILE_NAME, out)
        book = Book.load(place, game.program) if place.exists() else Book.empty(game)
        kept = len(book.moves)
        beginning = f"{game.name}: preparing"
        with (
            interruptible(game.name) as work,
            kept_progress(beginning, text, lambda: book.save(place)) as report,
        ):
            build_book(game, book, BookTerms(plies, seconds), report=report)
    found = counted(len(book.moves), "position")
    click.echo(f"{game.name}: {found} ({len(book.moves) - kept:,} new) in {place}")
    work.exit_if_interrupted()
