"""`ggp prepare options`: the best options of `mcts` for one game."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ggp.cli.prepare import kept_place
from ggp.cli.progress import interruptible, kept_progress, load_compiled, reported_as
from ggp.game import GameError

if TYPE_CHECKING:
    from ggp.knowledge.tuned import Tuning
    from ggp.tournament.tuning import TuningProgress

SIMULATIONS = 5000
"""Simulations per move with uniform playouts; slower policies get fewer."""
REPETITIONS = 60
"""Maximum number of matches per comparison and seat."""


@click.command("options")
@click.argument("file", metavar="FILE")
def command(file: str) -> None:
    """Find the best policy and the best C of UCT for the game in FILE by matches of mcts against itself.

    The candidates mast, fast, rave and past, then C of 20 and 80, play the best so far (at first the
    default) at equal time, until a sequential test decides: 50 Elo better, or not better. The result is kept
    for the game, and mcts plays with it unless its policy or C is given, or tuned=off. To start over, delete
    the file that the command prints.
    """
    game = load_compiled(file)

    from ggp.knowledge.folder import KnowledgeFileError
    from ggp.knowledge.tuned import FILE_NAME, Tuning
    from ggp.tournament.tuning import TuningError, tune

    def text(progress: TuningProgress) -> str:
        return (
            f"{game.name}: candidate {progress.number} of {progress.count}, {progress.challenger},"
            f" {progress.repetition} of at most {progress.most} repetitions"
        )

    place = kept_place(game, FILE_NAME)
    beginning = f"{game.name}: measuring the speed of policies"
    with reported_as(game.name, GameError, KnowledgeFileError, TuningError):
        is_begun = place.exists()
        tuning = Tuning.load(place, game.program) if is_begun else Tuning.empty(game, SIMULATIONS, seed=0)
        with (
            interruptible(game.name) as work,
            kept_progress(beginning, text, lambda: tuning.save(place)) as report,
        ):
            tune(game, tuning, most=REPETITIONS, report=report)
    click.echo(f"{tuning_text(tuning)}\nkept in {place}")
    work.exit_if_interrupted()


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
