"""`ggp prepare`: prepare one game ahead of its matches; the results are stored where players find them.

book         an opening book
evaluation   a linear evaluation, by self-play
network      a network, by matches with itself
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ggp.cli.groups import LazyGroup
from ggp.game import Game

command = LazyGroup(
    name="prepare",
    help="""Compute ahead of its matches what players use in one game, and keep it where they find it.

    Ctrl-C ends the work: the results so far are kept, and the same command resumes.""",
    package=__name__,
    lines={
        "book": "Build an opening book by long searches of the first plies.",
        "evaluation": "Train a linear evaluation by self-play.",
        "network": "Train a network by matches with itself.",
    },
)


def kept_place(game: Game[Any], file_name: str, out: Path | None = None) -> Path:
    """`out`, or the file kept for the game. Raises UsageError without a folder for user data."""
    from ggp.knowledge.folder import kept_file

    place = out or kept_file(game.program, file_name)
    if place is None:
        raise click.UsageError("no folder for user data: name a file with --out")
    return place
