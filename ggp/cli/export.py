"""`ggp export`: the circuit of a game for other programs."""

from __future__ import annotations

import click

from ggp.cli.progress import load_compiled

FORMATS = ("aiger", "blif", "dot", "json")


@click.command("export")
@click.argument("file", metavar="FILE")
@click.option(
    "--to", "form", type=click.Choice(FORMATS), default="aiger", show_default=True, help="Format to write."
)
def command(file: str, form: str) -> None:
    """Print the circuit of the game in FILE for model checkers (aiger), ABC (blif), Graphviz (dot) or your
    own program (json).

    Fluents are latches with their initial values, moves are inputs; legal moves, the end, goals and percepts
    are outputs, under the names of the rules. What is simplified by facts about reachable states is right in
    these only.
    """
    game = load_compiled(file)

    from ggp.export import circuits

    click.echo(circuits.FORMATS[form](circuits.named_circuit(game.tables, game.terms)), nl=False)
