"""HTML tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table; all text is escaped.

    >>> print(html_table("a < b", ["move"], [["noop"]]))
    <table><caption>a &lt; b</caption>
    <tr><th>move</th></tr>
    <tr><td>noop</td></tr></table>
    """
    lines = [_row("th", headings), *(_row("td", row) for row in rows)]
    return f"<table><caption>{escape(caption)}</caption>\n" + "\n".join(lines) + "</table>"


def _row(tag: str, cells: Iterable[object]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
