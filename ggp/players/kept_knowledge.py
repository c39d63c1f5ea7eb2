"""Stored knowledge of a game for matches: book, network, tuned options, trial matches.

A file that cannot be used causes only a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ggp.game import Game
from ggp.knowledge.book import FILE_NAME, Book
from ggp.knowledge.folder import (
    NETWORK_FORMAT,
    KnowledgeFileError,
    find_kept_file,
    read_knowledge,
)
from ggp.knowledge.trial import FILE_NAME as TRIAL_FILE_NAME
from ggp.knowledge.trial import Trial
from ggp.players.options import AUTO, OFF
from ggp.search.option_table import OptionError

if TYPE_CHECKING:
    from ggp.engines.compiled import CompiledGame
    from ggp.knowledge.taught import TaughtNetwork

_Knowledge = TypeVar("_Knowledge")

_logger = logging.getLogger("ggp.players")


def check_files(book: str, network: str = OFF) -> None:
    """Raise OSError or OptionError if one of these options names a file of another kind."""
    for option, read in (
        (book, Book.load),
        (network, lambda path: read_knowledge(path, NETWORK_FORMAT)),
    ):
        if option not in (AUTO, OFF):
            try:
                read(option)
            except KnowledgeFileError as error:
                raise OptionError(str(error)) from None


def open_kept(
    game: Game[Any],
    option: str,
    file_name: str,
    load: Callable[[str | Path], _Knowledge],
    consequence: str,
    *,
    may_use_kept: bool = True,
) -> _Knowledge | None:
    """Load the file that an option names, or with `auto` the one kept for the game; None without one.

    consequence   of a file that cannot be used, for the warning
    may_use_kept  whether the moves may depend on what this machine has kept
    """
    try:
        path: str | Path | None = None if option in (AUTO, OFF) else option
        if option == AUTO and may_use_kept:
            path = find_kept_file(game.program, file_name)
        return None if path is None else load(path)
    except (OSError, KnowledgeFileError, MemoryError) as error:
        _logger.warning("%s: %s: %s", game.name, consequence, error)
        return None


def open_book(game: Game[Any], option: str, *, is_counted: bool) -> Book | None:
    """The book for this game by the option `book`; None without one."""
    load, consequence = lambda path: Book.load(path, game.program), "playing without a book"
    book = open_kept(game, option, FILE_NAME, load, consequence, may_use_kept=not is_counted)
    if book is not None:
        _logger.info("%s: opening book with %d positions", game.name, len(book.moves))
    return book


def kept_trial(game: Game[Any]) -> Trial | None:
    """The trial matches kept for the game, with any tree."""
    load, consequence = lambda path: Trial.load(path, game.program), "trial matches begin again"
    return open_kept(game, AUTO, TRIAL_FILE_NAME, load, consequence)


def taught_network(game: CompiledGame, option: str, *, may_use_kept: bool) -> TaughtNetwork | None:
    """The network for this game by the option `net`; None without one."""
    from ggp.knowledge.taught import FILE_NAME as NETWORK_FILE_NAME
    from ggp.knowledge.taught import TaughtNetwork

    load, consequence = lambda path: TaughtNetwork.load(path, game), "playing without a network"
    return open_kept(game, option, NETWORK_FILE_NAME, load, consequence, may_use_kept=may_use_kept)
