"""Generated reference: commands from click, player options and diagnostics from tables, games from sheets.

`python docs/reference_pages.py command-line` prints one of them; the site has them all (docs/site.py).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from docs.links import ROOT
from gdl.syntax.parser import decode
from ggp.analysis.sheet_comment import read_comment
from ggp.cli.main import app
from ggp.players.options import PLAYERS, OptionRow, describe_options
from ggp.validation.output import CODES, EXPLANATIONS

GROUPS = {
    "GDL1": "Reading",
    "GDL2": "Restrictions of the language",
    "GDL3": "Warnings",
    "GDL4": "Found by playing",
}
"""Headings of the diagnostics by the beginning of their codes."""


def command_line_page() -> str:
    """Every command with its arguments and options, as Markdown."""
    context = click.Context(app, info_name="ggp", show_default=True)
    head = """# Command line

Generated from the code; `ggp COMMAND --help` prints the same. Exit code: 0
success; 1 failure of the task (an invalid rule sheet, a difference, an aborted match); 2 wrong usage or an
unreadable file.

"""
    commands = (
        section
        for name in app.list_commands(context)
        if (command := app.get_command(context, name)) is not None
        for section in _command_sections(command, context, name)
    )
    return head + "\n".join(commands)


def _command_sections(command: click.Command, parent: click.Context, name: str) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent)
    yield f"## {context.command_path}\n"
    yield f"```text\n{' '.join((context.command_path, *command.collect_usage_pieces(context)))}\n```\n"
    for paragraph in (command.help or "").split("\f")[0].split("\n\n"):
        yield (
            f"```text\n{paragraph[2:]}\n```\n" if paragraph.startswith("\b\n") else f"{_escape(paragraph)}\n"
        )
    yield from (f"{_escape(paragraph)}\n" for paragraph in filter(None, (command.epilog or "").split("\n\n")))
    records = [record for each in command.params if (record := each.get_help_record(context)) and record[1]]
    if records:
        yield "| option | meaning |\n|---|---|"
        for names, meaning in records:
            yield f"| `{_code(names)}` | {_escape(meaning)} |"
        yield ""
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            sub = command.get_command(context, each)
            if sub is not None:
                yield from _command_sections(sub, context, each)


def player_options_page() -> str:
    """Every option of every player, as Markdown tables."""
    head = """# Player options

Generated from the code; `ggp players --all` prints the same. A player is written
`kind:option=value,option=value`, for example `mcts:c=50,policy=mast`. Options for tuning
change how the search itself works; leave them alone unless you measure.

"""
    sections: list[str] = []
    known: set[OptionRow] = set()
    for kind, meaning in PLAYERS.items():
        rows = describe_options(kind)
        new = [row for row in rows if row not in known]
        shared = "" if len(new) == len(rows) else " And the options of `mcts`."
        sections += [f"## {kind}\n", f"{_escape(meaning)}{shared}\n", *_option_tables(new)]
        known.update(new)
    return head + "\n".join(sections)


def _option_tables(rows: Sequence[OptionRow]) -> Iterator[str]:
    """A table of the rows for users, then one of those for tuning."""
    for is_tuning in sorted({row.is_tuning for row in rows}):
        if is_tuning:
            yield "For tuning:\n"
        yield "| option | type | default | range | meaning |\n|---|---|---|---|---|"
        for row in rows:
            if row.is_tuning == is_tuning:
                words = (f"`{row.name}`", row.kind, *map(_escape, (row.default, row.range, row.help)))
                yield f"| {' | '.join(words)} |"
        yield ""


def games_table() -> str:
    """Every bundled sheet with title, roles, kind and known value, as its opening comment states them."""
    rows = ["| game | title | roles | kind | value |", "|---|---|---|---|---|"]
    for path in sorted((ROOT / "games").glob("*.kif")):
        comment = read_comment(decode(path.read_bytes()))
        words = (comment.title, *(comment.fields.get(key, "") for key in ("roles", "kind", "value")))
        rows.append(f"| [`{path.stem}`](../../games/{path.name}) | {' | '.join(map(_escape, words))} |")
    return "\n".join(rows)


def diagnostics_list() -> str:
    """Every diagnostic with its title and explanation, grouped, as Markdown."""
    sections: list[str] = []
    for prefix, heading in GROUPS.items():
        sections.append(f"## {heading}\n")
        for code, title in CODES.items():
            if code.startswith(prefix):
                sections += [f"### {code}: {title}\n", f"{EXPLANATIONS[code]}\n"]
    return "\n".join(sections)


def _escape(text: str) -> str:
    """Text that means the same in a Markdown table cell."""
    for plain, escaped in (("|", "\\|"), ("<", "&lt;"), ("*", "\\*"), ("_", "\\_")):
        text = text.replace(plain, escaped)
    return " ".join(text.split()) if "\n\n" not in text else text


def _code(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    writers = {
        "command-line": command_line_page,
        "player-options": player_options_page,
        "games": games_table,
        "diagnostics": diagnostics_list,
    }
    print(writers[sys.argv[1]]())
