"""`ggp prepare evaluation`: a linear evaluation, trained by self-play."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ggp.cli.options import Count, OutputFile
from ggp.cli.progress import load_compiled, progress_of, reported_as
from ggp.files import write_text
from ggp.game import GameError


@click.command("evaluation")
@click.argument("file", metavar="FILE")
@click.option("-o", "--out", required=True, type=OutputFile(), help="Text file for the weights.")
@click.option("--games", default=2000, type=Count(1), help="Number of games of self-play.")
def command(file: str, out: Path, games: int) -> None:
    """Train a linear evaluation of the game in FILE by self-play and write its weights.

    `alphabeta:evaluation=weights.txt` plays with `--out weights.txt`; the name needs a dot or a slash.
    """
    game = load_compiled(file)

    from ggp.search.alphabeta.learning import learn_evaluation
    from ggp.search.alphabeta.search import AlphaBetaError

    def text(played: int, error: float) -> str:
        return f"{game.name}: {played} of {games} games, mean squared error {error:.4f} (Ctrl-C writes them)"

    with (
        reported_as(game.name, AlphaBetaError, GameError),
        progress_of(text, f"{game.name}: random playouts") as report,
    ):
        learner = learn_evaluation(game, games=games, report=report, is_interruptible=True)
    form = learner.form()
    write_text(out, f"; {game.name}: weights of facts, in goals of {game.roles[0]}\n{form}\n")
    if learner.was_interrupted:
        click.echo(f"{game.name}: interrupted; the weights so far are kept", err=True)
    if learner.curve:
        played, error = learner.curve[-1]
        click.echo(f"mean squared error of the predicted result (0..1): {error:.4f} after {played} games")
    click.echo(f"{len(form.terms)} weights written to {out}")
    if learner.was_interrupted:
        sys.exit(130)
