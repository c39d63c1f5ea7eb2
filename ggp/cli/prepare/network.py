"""`ggp prepare network`: a network for one game, trained by self-play."""

from __future__ import annotations

import contextlib
import sys
from concurrent.futures import CancelledError
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ggp.cli.options import Amount, workers_option
from ggp.cli.prepare import kept_place
from ggp.cli.progress import interruptible, load_compiled, reported_as, status_line
from ggp.game import GameError, hides_information

if TYPE_CHECKING:
    from ggp.engines.compiled import CompiledGame
    from ggp.knowledge.taught import TaughtNetwork
    from ggp.teaching.generations import Teaching, TeachingProgress

REPETITIONS = 30
"""Matches of mcts with the network against mcts without, for each role."""
KEPT = "the best network so far is kept"


@click.command("network")
@click.argument("file", metavar="FILE")
@click.option(
    "--minutes",
    default=60.0,
    type=Amount(0.0),
    help="Time for training, one generation at least.",
)
@workers_option
def command(file: str, minutes: float, workers: int | None) -> None:
    """Train a network for the game in FILE by self-play of its search.

    Each generation plays 512 matches, learns from all recent ones and plays against the best before it. With
    --workers, these processes play while this one learns, each 512 matches a generation. At the end, matches
    test whether mcts plays better with the network, at 0.2 s a move. It is kept for the game, next to all
    generations; mcts uses it if it won this test significantly, or with net=FILE.

    The same command resumes. Needs torch: pip install -e '.[learn]'.
    """
    game = load_compiled(file)
    if hides_information(game):
        raise click.ClickException(
            f"{game.name}: the rules hide information, but self-play searches the whole state"
        )

    from ggp.knowledge.folder import KnowledgeFileError
    from ggp.knowledge.taught import FILE_NAME
    from ggp.teaching.generations import Teaching, TeachingOptions
    from ggp.teaching.teacher import TeacherMissingError, import_torch
    from ggp.tournament.network_gate import GateError
    from ggp.tournament.pool import WorkerDiedError, open_workers

    place = kept_place(game, FILE_NAME)
    options = TeachingOptions(seconds=60 * minutes)
    mistakes = GameError, KnowledgeFileError, TeacherMissingError, GateError, WorkerDiedError
    try:
        with reported_as(game.name, *mistakes):
            import_torch()
            begin = _earlier(place, game)
            with contextlib.nullcontext() if workers is None else open_workers(workers) as pool:
                teaching = Teaching(game, options, begin, pool=pool)
                is_interrupted = _teach(teaching, game, place)
            taught = teaching.best
            if not is_interrupted:
                taught, is_interrupted = _judge(taught, game, place)
    except CancelledError:
        raise click.ClickException(f"{game.name}: the workers are gone") from None
    click.echo(verdict(taught))
    click.echo(f"network written to {place}")
    if is_interrupted:
        sys.exit(130)


def _earlier(place: Path, game: CompiledGame) -> TaughtNetwork | None:
    """The network trained so far. Raises OSError, KnowledgeFileError."""
    from ggp.knowledge.taught import TaughtNetwork

    if not place.is_file():
        return None
    found = TaughtNetwork.load(place, game)
    text = f"continuing from generation {found.generation} (delete {place} to begin again)"
    click.echo(f"{game.name}: {text}", err=True)
    return found


def _teach(teaching: Teaching, game: CompiledGame, place: Path) -> bool:
    """Train, and keep every generation; return whether Ctrl-C ended it."""
    latest: TeachingProgress | None = None
    with (
        interruptible(game.name, KEPT) as work,
        status_line(f"{game.name}: first matches, by playouts") as show,
    ):
        for latest in teaching.run():
            show(f"{game.name}: {progress_text(latest)} (Ctrl-C keeps it)")
            if latest.is_best:
                teaching.best.save(place, game)
                kept = place.with_name(f"{place.stem}-{latest.generation:04}{place.suffix}")
                teaching.best.save(kept, game)
        if latest is not None:
            click.echo(progress_text(latest))
    teaching.best.save(place, game)
    return work.is_interrupted


def _judge(taught: TaughtNetwork, game: CompiledGame, place: Path) -> tuple[TaughtNetwork, bool]:
    """Play matches by the clock; return the network with its score, and whether Ctrl-C ended them."""
    from ggp.tournament.network_gate import gate_scores, judged

    scores: list[float] = []
    beginning = f"{game.name}: by the clock, with the network against without"
    with interruptible(game.name, KEPT) as work, status_line(beginning) as show:
        for score in gate_scores(game, place, REPETITIONS):
            scores.append(score)
            mean = 100 * sum(scores) / len(scores)
            show(f"{game.name}: by the clock, {len(scores)} of {REPETITIONS}: {mean:.0f} %")
    if scores:
        taught = judged(taught, scores)
        taught.save(place, game)
    return taught, work.is_interrupted


def progress_text(progress: TeachingProgress) -> str:
    """One line about a generation.

    >>> from ggp.teaching.generations import TeachingProgress
    >>> from ggp.teaching.play import Comparison
    >>> import numpy as np
    >>> won = Comparison(np.array([1.0, 0.5, 1.0, 1.0]))
    >>> progress_text(TeachingProgress(3, 60.0, 20000, 25000, (0.6, 1.5), None, won, True))
    'generation 3, 25,000 positions (417/s), losses 0.600 and 1.500, 88 ± 24 % against playouts'
    """
    rate = progress.positions / max(progress.seconds, 1e-9)
    losses = " and ".join(f"{loss:.3f}" for loss in progress.losses)
    return (
        f"generation {progress.generation}, {progress.positions:,} positions ({rate:,.0f}/s),"
        f" losses {losses}, {progress.against_playouts} against playouts"
    )


def verdict(taught: TaughtNetwork) -> str:
    use = "mcts plays with it" if taught.is_stronger else "mcts uses it only with net=FILE"
    score = f"{100 * taught.score:.0f} ± {100 * taught.error:.0f} % by the clock: {use}"
    if taught.error == 0.5:
        score = "not compared by the clock yet; mcts uses it only with net=FILE"
    return f"generation {taught.generation}: {score}"
