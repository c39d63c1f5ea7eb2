"""`ggp teach`: a network for one game, taught by matches with itself."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from ggp.cli.loading_status import load_visibly
from ggp.cli.options import Amount, Count, OutputFile
from ggp.game import GameError, hides_information

if TYPE_CHECKING:
    from ggp.engines.compiled import CompiledGame
    from ggp.knowledge.taught import TaughtNetwork
    from ggp.teaching.generations import Teaching, TeachingProgress
    from ggp.teaching.state import TeachingState


class TeachingChoices(TypedDict):
    """Options of the command that are those of `TeachingOptions`."""

    simulations: int
    generations: int | None
    is_resigning: bool
    inner_visits: int
    seed: int


@click.command("teach")
@click.argument("file", metavar="FILE")
@click.option(
    "--minutes", default=60.0, show_default=True, type=Amount(0.0), help="Time to teach, before the gate."
)
@click.option(
    "--simulations", default=100, show_default=True, type=Count(2), help="Per move of the matches that teach."
)
@click.option(
    "--gate",
    "repetitions",
    default=30,
    show_default=True,
    type=Count(0),
    help="Matches of mcts with the network against mcts without, by the clock, for each role.",
)
@click.option(
    "--generations", type=Count(1), help="End after this many generations, even if there is time left."
)
@click.option(
    "--workers",
    metavar="N|dask://HOST:PORT",
    help="Processes that play while this one learns, each 512 matches a generation.",
)
@click.option(
    "--resign/--no-resign",
    "is_resigning",
    default=True,
    show_default=True,
    help="Resign lost matches, as far as an audit allows.",
)
@click.option(
    "--inner-visits",
    default=0,
    show_default=True,
    type=Count(0),
    help="Learn from nodes inside the trees with at least this many visits, too; 0: from roots only.",
)
@click.option(
    "-o", "--out", type=OutputFile(), help="File for the network, instead of the place where mcts finds it."
)
@click.option("--seed", default=0, show_default=True, type=int, help="Random seed for weights and matches.")
@click.option("--restart", is_flag=True, help="Begin with random weights, whatever was taught before.")
def command(
    file: str,
    minutes: float,
    repetitions: int,
    workers: str | None,
    out: Path | None,
    restart: bool,
    **choices: Unpack[TeachingChoices],
) -> None:
    """Teach a network to play the game in FILE, by matches of its search with itself.

    Each generation plays 512 matches, learns from all recent ones and plays against the best before it. At
    the end it turns out how the best is used best, and whether mcts plays better with it, at 0.2 s a move.
    The network is kept for the game, and all generations next to it; mcts uses it if it won that beyond the
    interval, or by net=FILE.

    Ctrl-C ends teaching: the best so far and the samples are kept. The same command goes on from there. With
    --generations the result depends on the seed and the number of workers, not on speed. Needs torch:
    pip install 'ggp-lanes[learn]'.
    """
    game = load_visibly(file, "lanes")

    from ggp.engines.compiled import CompiledGame
    from ggp.teaching.generations import Teaching, TeachingOptions
    from ggp.teaching.teacher import import_torch
    from ggp.tournament.pool import open_workers

    assert isinstance(game, CompiledGame)
    place = _place_for(out, game)
    options = TeachingOptions(seconds=60 * minutes, **choices)
    with _mistakes_in_one_line(game):
        import_torch()
        begin, state = (None, None) if restart else _earlier(place, game)
        with contextlib.nullcontext() if workers is None else open_workers(workers) as pool:
            teaching = Teaching(game, options, begin, state=state, pool=pool)
            is_interrupted = not _teach(teaching, game, place)
        taught = teaching.best
        if not is_interrupted:
            taught, is_interrupted = _judge(taught, game, place, repetitions)
    click.echo(verdict(taught))
    click.echo(f"network written to {place}")
    if is_interrupted:
        sys.exit(130)


def _place_for(out: Path | None, game: CompiledGame) -> Path:
    """Where the network will be. Raises ClickException for games that cannot be taught, UsageError."""
    from ggp.knowledge.folder import kept_file
    from ggp.knowledge.taught import FILE_NAME

    if hides_information(game):
        raise click.ClickException(
            f"{game.name}: searches side by side know the whole state, which the rules hide"
        )
    place = out or kept_file(game.program, FILE_NAME)
    if place is None:
        raise click.UsageError("there is no folder for user data: name a file by --out")
    return place


@contextmanager
def _mistakes_in_one_line(game: CompiledGame) -> Iterator[None]:
    """Turn what a user can mend into ClickException, with the name of the game."""
    from ggp.knowledge.folder import KnowledgeFileError
    from ggp.teaching.teacher import TeacherMissingError
    from ggp.tournament.pool import WorkerDiedError, WorkersError
    from ggp.tournament.tuning import TuningError

    try:
        yield
    except CancelledError:
        raise click.ClickException(f"{game.name}: the workers are gone") from None
    except (
        GameError,
        KnowledgeFileError,
        TeacherMissingError,
        TuningError,
        WorkerDiedError,
        WorkersError,
    ) as error:
        raise click.ClickException(f"{game.name}: {error}") from None


def _earlier(place: Path, game: CompiledGame) -> tuple[TaughtNetwork | None, TeachingState | None]:
    """The network that was taught before, and what belongs to it. Raises OSError, KnowledgeFileError."""
    from ggp.knowledge.folder import KnowledgeFileError
    from ggp.knowledge.taught import TaughtNetwork
    from ggp.teaching.state import TeachingState

    if not place.is_file():
        return None, None
    found = TaughtNetwork.load(place, game)
    state, kept = None, TeachingState.place_next_to(place)
    try:
        state = TeachingState.load(kept, game) if kept.is_file() else None
    except KnowledgeFileError as error:
        click.echo(f"going on without earlier samples: {error}", err=True)
    samples = "no" if state is None else f"{len(state.samples):,}"
    generation = found.generation if state is None else state.generation
    text = f"going on from generation {generation} with {samples} samples (--restart begins again)"
    click.echo(f"{game.name}: {text}", err=True)
    return found, state


def _teach(teaching: Teaching, game: CompiledGame, place: Path) -> bool:
    """Teach, find the share, and keep every generation; whether this came to its end, without Ctrl-C."""
    from ggp.teaching.state import TeachingState

    strengths: list[tuple[int, float]] = []
    try:
        with _live_line(f"{game.name}: first matches, by playouts") as show:
            for progress in teaching.run():
                strengths.append((progress.generation, progress.against_playouts.mean))
                show(f"{game.name}: {progress_text(progress)}")
                if progress.is_best:
                    teaching.best.save(place, game)
                    teaching.best.save(_place_of(place, progress.generation), game)
            if strengths:
                click.echo(strength_text(strengths))
                show(f"{game.name}: side by side against playouts, at equal time")
                for share, (mine, other), found in teaching.find_share():
                    parts = {0.0: "priors with playouts", 1.0: "values alone"}
                    use = parts.get(share, "half value, half playout")
                    click.echo(f"{use}, {mine} simulations against {other} playouts: {found}")
        teaching.best.save(place, game)
        return True
    except KeyboardInterrupt:
        click.echo(f"{game.name}: interrupted; the best network so far is kept", err=True)
        teaching.best.save(place, game)
        return False
    finally:
        if strengths:
            teaching.state().save(TeachingState.place_next_to(place), game)


def _judge(
    taught: TaughtNetwork, game: CompiledGame, place: Path, repetitions: int
) -> tuple[TaughtNetwork, bool]:
    """Matches by the clock; the network with its score so far, and whether Ctrl-C ended them."""
    from ggp.tournament.network_gate import gate_scores, judged

    scores: list[float] = []
    is_interrupted = False
    try:
        with _live_line(f"{game.name}: by the clock, with the network against without") as show:
            for score in gate_scores(game, place, repetitions):
                scores.append(score)
                mean = 100 * sum(scores) / len(scores)
                show(f"{game.name}: by the clock, {len(scores)} of {repetitions}: {mean:.0f} %")
    except KeyboardInterrupt:
        is_interrupted = True
    if scores:
        taught = judged(taught, scores)
        taught.save(place, game)
    return taught, is_interrupted


def _place_of(place: Path, generation: int) -> Path:
    return place.with_name(f"{place.stem}-{generation:04}{place.suffix}")


@contextmanager
def _live_line(first: str) -> Iterator[Callable[[str], None]]:
    """A line that changes, if standard error is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status(first) as status:
        yield status.update


def progress_text(progress: TeachingProgress) -> str:
    """One line about a generation.

    >>> from ggp.teaching.generations import TeachingProgress
    >>> from ggp.teaching.play import Comparison
    >>> import numpy as np
    >>> won = Comparison(np.array([1.0, 0.5, 1.0, 1.0]))
    >>> progress_text(TeachingProgress(3, 60.0, 20000, 25000, (0.6, 1.5), None, won, True, 0.42, 0.013))
    'generation 3, 25,000 positions (417/s), losses 0.600 and 1.500, 88 ± 24 % against playouts, 42 % ...'
    """
    rate = progress.positions / max(progress.seconds, 1e-9)
    resigned = f", {progress.resigned:.0%} resigned ({progress.falsely:.1%} falsely)".replace("%", " %")
    return (
        f"generation {progress.generation}, {progress.positions:,} positions ({rate:,.0f}/s), losses"
        f" {progress.losses[0]:.3f} and {progress.losses[1]:.3f}, {progress.against_playouts} against"
        f" playouts{resigned if progress.resigned else ''} (Ctrl-C keeps it)"
    )


def strength_text(strengths: list[tuple[int, float]], lines: int = 12, width: int = 50) -> str:
    """Scores against playouts at equal numbers of simulations, as a bar chart.

    >>> print(strength_text([(1, 0.4), (2, 0.8)], width=10))
    score against playouts, equal simulations
    generation    1   40 %  ####
    generation    2   80 %  ########
    """
    step = max(1, -(-len(strengths) // lines))
    shown = strengths[step - 1 :: step]
    rows = [f"generation {number:>4} {score:>5.0%}  {'#' * round(width * score)}" for number, score in shown]
    rows = [row.replace("%", " %") for row in rows]
    return "\n".join(["score against playouts, equal simulations", *rows])


def verdict(taught: TaughtNetwork) -> str:
    """What the gate says."""
    if taught.error == 0.5:
        return (
            f"generation {taught.generation}: not compared by the clock yet, so mcts does not use it unasked"
        )
    score = f"{100 * taught.score:.0f} ± {100 * taught.error:.0f} % by the clock"
    use = "mcts plays with it" if taught.is_stronger else "mcts does not use it unasked"
    return f"generation {taught.generation}: {score}: {use}"
