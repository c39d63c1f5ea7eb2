"""The bundled games as the front page shows them: short titles, sizes of one game together, pictures.

A game's family are the sheets with the same first word of the name and the same short title.
"""

from __future__ import annotations

import contextlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from gdl.syntax.parser import decode
from ggp.analysis.sheet_comment import read_comment
from ggp.engines.loading import game_folders
from ggp.files import PACKAGE

_SCENES = PACKAGE / "web" / "scenes.json"
_DETAIL = re.compile(
    r"[:(]|, (?!paper|scissors)"
    r"| (?:on|for|of) (?:a |the )?(?:board|grid|rhombus|small|English|dark|three\b)"
    r"| with (?:one|two|four|five|the|heaps|gold|\d)| from \d|, one round"
)
_TITLE_CHARACTERS = 40
_ARTICLE = re.compile(r"^(?:The game of the |The |A )")


def known_games() -> list[dict[str, Any]]:
    """Descriptions of the games known by name, from their opening comments.

    title, about, roles, kind, value   from the comment
    short, family, size                see `short_title`, `family_of`, `size_of`
    is_featured                        whether the front page shows it first
    """
    found = []
    scenes = featured_scenes()
    for name, path in sorted(sheets().items()):
        with contextlib.suppress(OSError, ValueError):
            comment = read_comment(decode(path.read_bytes()))
            known: dict[str, Any] = {key: comment.fields.get(key, "") for key in ("roles", "kind", "value")}
            short = short_title(comment.title) or name
            known |= {"short": short, "family": family_of(name, short), "size": size_of(name, comment.title)}
            about = " ".join(comment.rules)
            featured = list(scenes).index(name) if name in scenes else None
            found.append(
                {"name": name, "title": comment.title, "about": about, "featured": featured, **known}
            )
    return found


def sheets() -> dict[str, Path]:
    """The sheets by the names of their games; of two of a name, that of the first folder."""
    folders = reversed(list(game_folders()))
    return {path.stem: path for folder in folders for path in folder.glob("*.kif")}


def short_title(title: str) -> str:
    """The title without article, size and remarks.

    >>> short_title("The game of the Amazons on a board of 10x10: a deliberately large game")
    'Amazons'
    >>> short_title("Rock, paper, scissors, one round"), short_title("Nim with heaps of 1, 3, 5 and 7")
    ('Rock, paper, scissors', 'Nim')
    >>> short_title("Penguins who push each other from a floe that melts")
    'Penguins who push each other from a…'
    """
    text = _ARTICLE.sub("", _DETAIL.split(title)[0].strip())
    if len(text) > _TITLE_CHARACTERS:
        text = f"{text[:_TITLE_CHARACTERS].rpartition(' ')[0] or text[:_TITLE_CHARACTERS]}…"
    return text[:1].upper() + text[1:]


def family_of(name: str, short: str) -> str:
    """The key of a game's family.

    >>> family_of("hex_5x5", "Hex"), family_of("dark_hex_4x4", "Dark hex")
    ('hex Hex', 'dark Dark hex')
    """
    return f"{name.partition('_')[0]} {short}"


def size_of(name: str, title: str) -> str:
    """How a sheet differs from the others of its family.

    >>> size_of("connectfour_3p", "Connect four for three on a board 7 wide and 6 high")
    '7×6, three players'
    >>> size_of("goofspiel_hidden", "Goofspiel with four cards and hidden bids"), size_of("nim", "Nim")
    ('hidden', '')
    >>> size_of("liars_dice", "Liar's dice with one die of three sides each")
    ''
    """
    found = re.search(r"(\d+) wide and (\d+)|(\d+)x(\d+)", title)
    parts = ["×".join(filter(None, found.groups()))] if found else []
    if name.endswith("_3p"):
        parts.append("three players")
    last = name.partition("_")[2].rpartition("_")[2]
    if not parts and last and last in title.lower() and last not in short_title(title).lower():
        parts.append(last)
    return ", ".join(parts)


@cache
def featured_scenes() -> dict[str, list[list[str]]]:
    """The games that are shown first → the joint moves to a position in the middle of a match."""
    scenes: dict[str, list[list[str]]] = json.loads(_SCENES.read_text(encoding="utf-8"))
    return scenes
