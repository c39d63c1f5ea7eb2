"""`ggp learn`: learn to judge the states of a game by playing it."""

from __future__ import annotations

import time
from pathlib import Path

import click

from ggp.commands.options import Amount
from ggp.compiled_game import CompiledGame
from ggp.game import GameError
from ggp.loading import load
from ggp.search.learning import LearningError, LearningOptions, TemporalDifferenceLearner


@click.command("learn")
@click.argument("file", metavar="FILE")
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="Write to this file."
)
@click.option("--games", default=2000, show_default=True, type=click.IntRange(1))
@click.option("--seconds", type=Amount(0.0), help="Stop after so long.")
@click.option("--trace", default=0.8, show_default=True, type=Amount(0.0, 1.0), help="Lambda.")
@click.option("--step", default=1.0, show_default=True, type=Amount(0.0), help="Learning rate.")
@click.option("--seed", default=0, show_default=True, type=int)
def command(
    file: str, out: Path, games: int, seconds: float | None, trace: float, step: float, seed: int
) -> None:
    """Learn a linear evaluation of the game in FILE from self-play and write it to a JSON file.

    `alphabeta:weights=OUT` plays with it. Where features are recognized (see `ggp features`) their weights
    are written too, and `mcts:policy=fast,weights=OUT` plays with these.
    """
    game = load(file, "lanes")
    assert isinstance(game, CompiledGame)
    options = LearningOptions(games=games, trace=trace, step=step, seed=seed)
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        learner = TemporalDifferenceLearner(game, options)
        evaluation = learner.run(deadline=deadline)
    except (LearningError, GameError) as error:
        raise click.ClickException(f"{game.name}: {error}") from None
    evaluation.save(out)
    click.echo(curve_text(evaluation.curve))
    click.echo(f"{len(evaluation.weights)} weights in {out}")
    if evaluation.features is not None:
        click.echo(f"and of {len(evaluation.features.weights)} features ({evaluation.features.kind})")


def curve_text(curve: tuple[tuple[int, float], ...], lines: int = 12, width: int = 50) -> str:
    """The learning curve as a bar chart: the error of predicted results, averaged over stretches."""
    size = max(1, -(-len(curve) // lines))
    stretches = [curve[i : i + size] for i in range(0, len(curve), size)]
    means = [(part[-1][0], sum(error for _, error in part) / len(part)) for part in stretches]
    top = max((error for _, error in means), default=1.0) or 1.0
    rows = [f"{games:>8} games  {error:.4f}  {'#' * round(width * error / top)}" for games, error in means]
    return "\n".join(["mean squared error of the predicted result (0..1)", *rows])
