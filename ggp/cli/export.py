"""`ggp export`: the circuit of a game for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from ggp.cli.options import OutputFile
from ggp.cli.progress import load_compiled
from ggp.files import write_text

FORMATS = ("aiger", "blif", "dot", "json")


@click.command("export")
@click.argument("file", metavar="FILE")
@click.option(
    "--to", "form", type=click.Choice(FORMATS), default="aiger", show_default=True, help="Format to write."
)
@click.option("-o", "--out", type=OutputFile(is_replaced=True), metavar="FILE", help="Write to this file.")
def command(file: str, form: str, out: Path | None) -> None:
    """Write the circuit of the game in FILE, to standard output or with -o to a file: for model checkers
    (aiger), ABC (blif), Graphviz (dot) or your own program (json).

    Fluents are latches with their initial values, moves are inputs; legal moves, the end, goals and percepts
    are outputs, under the names of the rules. What is simplified by facts about reachable states is right in
    these only.
    """
    game = load_compiled(file)

    from ggp.export import circuits

    text = circuits.FORMATS[form](circuits.named_circuit(game.tables, game.terms))
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text)
        click.echo(f"{game.name}: written to {out}")
