"""`ggp games list`: the games that are known by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import click

from gdl.syntax.parser import decode
from ggp.analysis.sheet_comment import read_comment
from ggp.web.catalog import sheets


@click.command("list")
@click.argument("words", metavar="[WORD]...", nargs=-1)
def command(words: tuple[str, ...]) -> None:
    """List the games that commands know by name: those in ./games, then the bundled ones.

    WORD limits the list to games whose name, title or kind contains it, as in `ggp games puzzle`.
    """
    rows = [
        row
        for row in _games()
        if all(any(word.lower() in text.lower() for text in row.values()) for word in words)
    ]
    if rows:
        width = max(len(row["name"]) for row in rows)
        columns = click.get_current_context().make_formatter().width
        for row in rows:
            text = row["title"] + (f" ({row['kind']})" if row["kind"] else "")
            line = f"{row['name']:<{width}}  {text}"
            click.echo(line if len(line) <= columns else f"{line[: columns - 1]}…")
    else:
        click.echo(f"no game mentions {' and '.join(words)}" if words else "no games", err=True)


def _games() -> Iterator[dict[str, str]]:
    """Name, title and kind of each game, by name."""
    for name, path in sorted(sheets().items()):
        with suppress(OSError, ValueError):
            comment = read_comment(decode(path.read_bytes()))
            yield {"name": name, "title": comment.title, "kind": comment.fields.get("kind", "")}
