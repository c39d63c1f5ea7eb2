"""`ggp players`: the kinds of players and their options."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from ggp.players.options import PLAYERS, OptionRow, describe_options


@click.command("players")
@click.argument("kinds", metavar="[KIND]...", nargs=-1, type=click.Choice(list(PLAYERS)))
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object per player.")
def command(kinds: tuple[str, ...], is_json: bool) -> None:
    """List the players and their options: type, default, range and meaning.

    Options are written after a colon: mcts:policy=mast,threads=2. Besides these kinds, a player can be
    http://host:port, an HTTP player. KIND limits the list and adds the options for tuning.
    """
    for kind in kinds or PLAYERS:
        rows = describe_options(kind)
        if is_json:
            options = [asdict(row) for row in rows]
            click.echo(json.dumps({"player": kind, "help": PLAYERS[kind], "options": options}))
        else:
            _print_player(kind, rows, is_brief=not kinds)


def _print_player(kind: str, rows: list[OptionRow], *, is_brief: bool) -> None:
    formatter = click.get_current_context().make_formatter()
    formatter.write(f"{kind}   {PLAYERS[kind]}\n")
    tuning = [row for row in rows if row.group]
    with formatter.indentation():
        _write_rows(formatter, [row for row in rows if not row.group])
        if tuning and is_brief:
            formatter.write(f"  and {len(tuning)} options for tuning: ggp players {kind}\n")
        elif tuning:
            formatter.write("  for tuning the search itself:\n")
            _write_rows(formatter, tuning)
    click.echo(formatter.getvalue())


def _write_rows(formatter: click.HelpFormatter, rows: list[OptionRow]) -> None:
    if rows:
        formatter.write_dl([(row.name, f"{row.help}  [{_values(row)}]") for row in rows])


def _values(row: OptionRow) -> str:
    return "; ".join(filter(None, (f"default: {row.default}", row.range)))
