"""Text and tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.table import Table
from rich.text import Text


def plain_text(text: str, style: str = "") -> Text:
    """`text` for a terminal: control characters, which may come from strangers, become "?".

    >>> plain_text("legal\\x1b[2J").plain
    'legal?[2J'
    """
    return Text("".join(char if char.isprintable() else "?" for char in text), style=style)


def one_line(text: str, style: str = "") -> Text:
    """`plain_text`, truncated instead of wrapped."""
    line = plain_text(text, style)
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def results_table(
    title: str, texts: Iterable[str], numbers: Iterable[str], last: Iterable[str] = ()
) -> Table:
    """A table of results: columns of text, then of numbers, which are aligned right, then of long text."""
    heading = plain_text(title, "italic") if title else None
    table = Table(title=heading, title_justify="left", box=box.SIMPLE_HEAD)
    for name in texts:
        table.add_column(name, no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    for name in last:
        table.add_column(name)
    return table
