"""`ggp book`: an opening book for one game."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ggp.cli.kept_progress import kept_progress
from ggp.cli.loading_status import load_visibly
from ggp.cli.options import Clock, Count, OutputFile, engine_option
from ggp.game import GameError

if TYPE_CHECKING:
    from ggp.game import Game
    from ggp.knowledge.book import Book
    from ggp.players.book_building import BookProgress

MOST_PLIES = 100


@click.command("book")
@click.argument("file", metavar="FILE")
@click.option(
    "--plies",
    default=4,
    show_default=True,
    type=Count(1, MOST_PLIES),
    help="Length of the opening, in plies.",
)
@click.option(
    "--seconds",
    default=10.0,
    show_default=True,
    type=Clock(0.01),
    help="Time for the search of each position.",
)
@click.option("--simulations", type=Count(1), help="Simulations for each position, instead of a time.")
@click.option(
    "-o",
    "--out",
    type=OutputFile(is_replaced=True),
    help="File of the book, for the option book=FILE.  [default: kept for the game]",
)
@click.option("--seed", default=0, show_default=True, type=int, help="Random seed for the searches.")
@engine_option
def command(
    file: str,
    plies: int,
    seconds: float,
    simulations: int | None,
    out: Path | None,
    seed: int,
    engine: str,
) -> None:
    """Search the first plies of the game in FILE for a long time and keep the best moves.

    The book has, for each role, the positions that its own best moves and all moves of the others lead to.
    mcts and alphabeta play from it if its search of a position was at least as long as their own would be;
    book=off switches that off. The same command resumes, deepens or prolongs a book.

    Ctrl-C ends the work: the positions searched until then are kept.
    """
    game = load_visibly(file, engine)

    from ggp.knowledge.folder import KnowledgeFileError
    from ggp.players.book_building import BookError, BookTerms, build_book
    from ggp.validation.properties import counted

    try:
        place, book = _open(game, out)
        kept = len(book.moves)
        terms = BookTerms(plies, seconds, simulations, seed)
        is_interrupted = False
        try:
            text = partial(_progress_text, game.name)
            with kept_progress(f"{game.name}: preparing", text, lambda: book.save(place)) as report:
                build_book(game, book, terms, report=report)
        except KeyboardInterrupt:
            is_interrupted = True
        finally:
            book.save(place)
    except (BookError, GameError, KnowledgeFileError) as error:
        raise click.ClickException(f"{game.name}: {error}") from None
    if is_interrupted:
        click.echo(f"{game.name}: interrupted; what was found is kept", err=True)
    found = counted(len(book.moves), "position")
    click.echo(f"{game.name}: {found} ({len(book.moves) - kept:,} new) in {place}")
    if is_interrupted:
        sys.exit(130)


def _open(game: Game[Any], out: Path | None) -> tuple[Path, Book]:
    """The place of the book, and what it holds by now. Raises OSError, KnowledgeFileError."""
    from ggp.knowledge.book import FILE_NAME, Book
    from ggp.knowledge.folder import kept_file

    place = kept_file(game.program, FILE_NAME) if out is None else out
    if place is None:
        raise click.UsageError("there is no folder for user data: give a file with -o")
    if not place.exists():
        return place, Book.empty(game)
    book = Book.load(place)
    book.require_rules(game.program)
    return place, book


def _progress_text(name: str, progress: BookProgress) -> str:
    """The position at hand."""
    return f"{name}: ply {progress.ply + 1}, {progress.done} of {progress.count} positions"
