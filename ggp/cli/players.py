"""`ggp players`: the kinds of players and their options."""

from __future__ import annotations

import click

from ggp.players.options import PLAYERS, OptionRow, describe_options


@click.command("players")
@click.argument("kinds", metavar="[KIND]...", nargs=-1, type=click.Choice(list(PLAYERS)))
@click.option("--all", "has_tuning", is_flag=True, help="List the options for tuning a search, too.")
def command(kinds: tuple[str, ...], has_tuning: bool) -> None:
    """List the players and their options: default, range and meaning. KIND limits the list.

    Options are written after a colon: mcts:policy=mast,threads=2. A player can also be http://HOST:PORT, an
    HTTP player, or a class of your own, as module:Class or path/to/file.py:Class.
    """
    for kind in kinds or PLAYERS:
        _print_player(kind, describe_options(kind), has_tuning=has_tuning)


def _print_player(kind: str, rows: list[OptionRow], *, has_tuning: bool) -> None:
    formatter = click.get_current_context().make_formatter()
    formatter.write(f"{kind}   {PLAYERS[kind]}\n")
    tuning = [row for row in rows if row.is_tuning]
    with formatter.indentation():
        _write_rows(formatter, [row for row in rows if not row.is_tuning])
        if tuning and has_tuning:
            formatter.write("  for tuning the search itself:\n")
            _write_rows(formatter, tuning)
        elif tuning:
            formatter.write(f"  and {len(tuning)} options for tuning: ggp players {kind} --all\n")
    click.echo(formatter.getvalue())


def _write_rows(formatter: click.HelpFormatter, rows: list[OptionRow]) -> None:
    if rows:
        formatter.write_dl([(row.name, f"{row.help}  [{_values(row)}]") for row in rows])


def _values(row: OptionRow) -> str:
    return "; ".join(filter(None, (f"default: {row.default}", row.range)))
