"""`ggp learn`: train a linear evaluation by self-play."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ggp.cli.loading_status import load_visibly
from ggp.cli.options import Amount, Count, OutputFile, Seconds
from ggp.game import GameError


@click.command("learn")
@click.argument("file", metavar="FILE")
@click.option(
    "--out",
    required=True,
    type=OutputFile(),
    help="JSON file for the weights.",
)
@click.option("--games", default=2000, show_default=True, type=Count(1), help="Number of games of self-play.")
@click.option("--seconds", type=Seconds(0.0), help="Stop after this time.")
@click.option(
    "--trace",
    default=0.8,
    show_default=True,
    type=Amount(0.0, 1.0),
    help="Lambda of TD(lambda), from 0 to 1.",
)
@click.option("--step", default=1.0, show_default=True, type=Amount(0.0), help="Learning rate.")
@click.option("--seed", default=0, show_default=True, type=int, help="Random seed for the self-play.")
def command(
    file: str, out: Path, games: int, seconds: float | None, trace: float, step: float, seed: int
) -> None:
    """Train a linear evaluation of the game in FILE by self-play and write its weights.

    `alphabeta:weights=OUT` plays with it. If features are recognized (see `ggp features`), their weights are
    included, and `mcts:policy=fast,weights=OUT` plays with these.

    Ctrl-C ends learning: what was learned until then is written.
    """
    game = load_visibly(file, "lanes")

    from ggp.engines.compiled import CompiledGame
    from ggp.search.alphabeta.learning import LearningOptions, learn_evaluation
    from ggp.search.alphabeta.search import AlphaBetaError

    assert isinstance(game, CompiledGame)
    options = LearningOptions(games=games, trace=trace, step=step, seed=seed)
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    try:
        with _progress(game.name, games) as report:
            evaluation = learn_evaluation(
                game, options, deadline=deadline, report=report, is_interruptible=True
            )
    except (AlphaBetaError, GameError) as error:
        raise click.ClickException(f"{game.name}: {error}") from None
    evaluation.save(out)
    if evaluation.was_interrupted:
        click.echo(f"{game.name}: interrupted; what was learned is kept", err=True)
    click.echo(curve_text(evaluation.curve))
    click.echo(f"{len(evaluation.weights)} weights written to {out}")
    if evaluation.features is not None:
        click.echo(f"and {len(evaluation.features.weights)} feature weights ({evaluation.features.kind})")
    if evaluation.was_interrupted:
        sys.exit(130)


@contextmanager
def _progress(name: str, games: int) -> Iterator[Callable[[int, float], None]]:
    """Show how many games have been played, if standard error is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda played, error: None
        return
    with console.status(f"{name}: random playouts") as status:
        yield lambda played, error: status.update(
            f"{name}: {played} of {games} games, mean squared error {error:.4f} (Ctrl-C stops and writes)"
        )


def curve_text(curve: tuple[tuple[int, float], ...], lines: int = 12, width: int = 50) -> str:
    """The learning curve as a bar chart of mean prediction errors.

    >>> print(curve_text(((100, 0.2), (200, 0.1)), width=10))
    mean squared error of the predicted result (0..1)
         100 games  0.2000  ##########
         200 games  0.1000  #####
    """
    size = max(1, -(-len(curve) // lines))
    parts = [curve[i : i + size] for i in range(0, len(curve), size)]
    means = [(part[-1][0], sum(error for _, error in part) / len(part)) for part in parts]
    top = max((error for _, error in means), default=1.0) or 1.0
    rows = [f"{games:>8} games  {error:.4f}  {'#' * round(width * error / top)}" for games, error in means]
    return "\n".join(["mean squared error of the predicted result (0..1)", *rows])
