"""`ggp endings`: a table of endings for one game."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from ggp.cli.loading_status import load_visibly
from ggp.cli.options import Count, OutputFile, Seconds

MOST_PLAYOUTS = 100_000


@click.command("endings")
@click.argument("file", metavar="FILE")
@click.option(
    "--most",
    default=6,
    show_default=True,
    type=Count(0, 1000),
    help="Begin with positions that have at most this many pieces, or empty cells.",
)
@click.option(
    "--playouts",
    default=10_000,
    show_default=True,
    type=Count(1, MOST_PLAYOUTS),
    help="Random playouts in which such positions are looked for.",
)
@click.option(
    "--states", default=10_000_000, show_default=True, type=Count(1), help="Keep at most this many."
)
@click.option(
    "--memory",
    "mebibytes",
    default=2048,
    show_default=True,
    type=Count(1),
    help="Mebibytes that finding them may take.",
)
@click.option("--seconds", type=Seconds(0.0), help="Time for finding them.  [default: no limit]")
@click.option(
    "-o",
    "--out",
    type=OutputFile(is_replaced=True),
    help="File of the table, for the option endings=FILE.  [default: kept for the game]",
)
@click.option("--seed", default=0, show_default=True, type=int, help="Random seed for the playouts.")
def command(
    file: str,
    most: int,
    playouts: int,
    states: int,
    mebibytes: int,
    seconds: float | None,
    out: Path | None,
    seed: int,
) -> None:
    """Solve endings of the game in FILE: positions with few pieces, or with few empty cells.

    Which of the two is counted follows from the board and from random playouts. They also give the positions
    to begin with; all that follow from these are added and valued, the fewest pieces or empty cells first,
    until --states, --memory, --seconds or Ctrl-C ends it. What was complete until then is kept, in place of
    an earlier table.

    alphabeta plays perfectly in the positions of the table, and searches no further where it reaches one;
    endings=off switches that off.
    """
    game = load_visibly(file, "lanes")

    from ggp.cli.solve_output import progress_line, show_progress
    from ggp.engines.compiled import CompiledGame
    from ggp.knowledge.folder import ENDINGS_FILE_NAME, prepare_kept_file
    from ggp.solver import SolverError, SolverLimits
    from ggp.solver.endings import EndingTerms, solve_endings
    from ggp.validation.properties import counted

    assert isinstance(game, CompiledGame)
    place = prepare_kept_file(game.program, ENDINGS_FILE_NAME) if out is None else out
    if place is None:
        raise click.UsageError("there is no folder for user data: give a file with -o")
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        with _stop_at_ctrl_c() as stop, progress_line() as is_shown:
            limits = SolverLimits(
                mebibytes=mebibytes, states=states, deadline=deadline, stop=stop, may_use_disk=False
            )
            terms = EndingTerms(most, playouts, seed)
            found = solve_endings(game, terms, limits, report=show_progress if is_shown else None)
    except SolverError as error:
        raise click.ClickException(f"{game.name}: {error}") from None
    found.save(place)
    if stop.is_set():
        click.echo(f"{game.name}: interrupted; what was complete is kept", err=True)
    counts = ", ".join(f"{count:,} with {number}" for number, count in found.counts.items())
    click.echo(f"{game.name}: {counted(found.solution.space.state_count, 'position')} in {place}")
    click.echo(f"  by {found.counted}: {counts}\n  by {found.solution.concept}")
    if stop.is_set():
        sys.exit(130)


@contextmanager
def _stop_at_ctrl_c() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; the second interrupts as usual."""
    stop = threading.Event()

    def note(signal_number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
