"""`ggp tune`: the options of `mcts` that are best for one game."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ggp.cli.kept_progress import kept_progress
from ggp.cli.loading_status import load_visibly
from ggp.cli.options import Count
from ggp.game import GameError

if TYPE_CHECKING:
    from ggp.engines.compiled import CompiledGame
    from ggp.knowledge.tuned import Tuning
    from ggp.tournament.tuning import TuningProgress


@click.command("tune")
@click.argument("file", metavar="FILE")
@click.option(
    "--simulations",
    default=5000,
    show_default=True,
    type=Count(1),
    help="Simulations per move of uniform playouts; slower policies get fewer.",
)
@click.option(
    "--repetitions",
    default=60,
    show_default=True,
    type=Count(8, 100_000),
    help="Maximum number of matches per comparison and seat.",
)
@click.option("--seed", default=0, show_default=True, type=int, help="Random seed for the matches.")
@click.option("--restart", is_flag=True, help="Forget what was found before.")
def command(file: str, simulations: int, repetitions: int, seed: int, restart: bool) -> None:
    """Find the policy and the C of UCT that win the game in FILE, by matches of mcts against itself.

    The candidates mast, fast, rave, grave and past, then C of 20 and 80, play the best so far (at first the
    default) at equal time, until a sequential test decides: 50 Elo better, or not better. The result is kept
    for the game, and mcts plays with it unless its policy or C is given, or tuned=off.

    Ctrl-C ends the work: what was found is kept and used, and the same command resumes.
    """
    game = load_visibly(file, "lanes")

    from ggp.engines.compiled import CompiledGame
    from ggp.knowledge.folder import KnowledgeFileError, kept_file
    from ggp.knowledge.tuned import FILE_NAME
    from ggp.tournament.tuning import TuningError, tune

    assert isinstance(game, CompiledGame)
    place = kept_file(game.program, FILE_NAME)
    if place is None:
        raise click.UsageError("there is no folder for user data")
    is_interrupted = False
    try:
        tuning = _open(game, place, simulations, seed, restart=restart)
        try:
            text = partial(_progress_text, game.name)
            with kept_progress(
                f"{game.name}: measuring the speed of policies", text, lambda: tuning.save(place)
            ) as report:
                tune(game, tuning, most=repetitions, report=report)
        except KeyboardInterrupt:
            is_interrupted = True
        finally:
            tuning.save(place)
    except (GameError, KnowledgeFileError, TuningError) as error:
        raise click.ClickException(f"{game.name}: {error}") from None
    if is_interrupted:
        click.echo(f"{game.name}: interrupted; what was found is kept", err=True)
    click.echo(tuning_text(tuning))
    if is_interrupted:
        sys.exit(130)


def _open(game: CompiledGame, place: Path, simulations: int, seed: int, *, restart: bool) -> Tuning:
    """What was found by now under these conditions. Raises OSError, KnowledgeFileError."""
    from ggp.knowledge.tuned import Tuning

    fresh = Tuning.empty(game, simulations, seed)
    if restart or not place.exists():
        return fresh
    tuning = Tuning.load(place)
    tuning.require_rules(game.program)
    if (tuning.simulations, tuning.seed) != (simulations, seed):
        raise click.UsageError(
            f"{game.name} was tuned with --simulations {tuning.simulations} --seed {tuning.seed};"
            " --restart begins again"
        )
    return tuning


def tuning_text(tuning: Tuning) -> str:
    """Every comparison with its result, and the options found.

    >>> from ggp.knowledge.tuned import Tuning
    >>> print(tuning_text(Tuning("nim", "", 1000, 0, is_finished=True)))
    nim: mcts plays with policy=uniform,c=40
    """
    rows = []
    for each in tuning.comparisons:
        count = len(each.scores)
        score = f"{100 * sum(each.scores) / count:.0f} % of {count} repetitions, " if count else ""
        rows.append(f"{each.challenger} against {each.champion}: {score}{each.verdict or 'not finished'}")
    open_text = "" if tuning.is_finished else " (so far)"
    return "\n".join([*rows, f"{tuning.game}: mcts plays with {tuning.best}{open_text}"])


def _progress_text(name: str, progress: TuningProgress) -> str:
    """The comparison at hand."""
    return (
        f"{name}: candidate {progress.number} of {progress.count}, {progress.challenger},"
        f" {progress.repetition} of at most {progress.most} repetitions"
    )
