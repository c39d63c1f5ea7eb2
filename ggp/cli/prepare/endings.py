"""`ggp prepare endings`: a table of endings for one game."""

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

from ggp.cli.options import Count, Limit, Seconds, limit_option, out_option
from ggp.cli.prepare import kept_place
from ggp.cli.progress import load_compiled, progress_of, reported_as
from ggp.files import make_private_folder

MAX_PLAYOUTS = 100_000


@click.command("endings")
@click.argument("file", metavar="FILE")
@click.option(
    "--most",
    default=6,
    type=Count(0, 1000),
    help="Start from positions with at most this many pieces or empty cells.",
)
@limit_option(
    Limit("states", Count(1), 10_000_000, "maximum positions kept"),
    Limit("memory", Count(1), 2048, "MiB"),
    Limit("seconds", Seconds(0.0), None, "time limit for finding positions"),
    Limit("playouts", Count(1, MAX_PLAYOUTS), 10_000, "random matches from which positions are taken"),
)
@out_option
def command(file: str, most: int, limits: dict[str, int], out: Path | None) -> None:
    """Solve endings of the game in FILE: positions with few pieces, or with few empty cells.

    The board and random playouts decide which of the two is counted. The playouts also give the first
    positions; all positions reachable from these are added and solved, fewest pieces or empty cells first,
    until a limit or Ctrl-C. The complete part is kept and replaces an earlier table.

    alphabeta plays perfectly in the positions of the table, and its search stops where it reaches one;
    endings=off disables it, endings=FILE uses another table.
    """
    game = load_compiled(file)

    from ggp.cli.solve_output import progress_text
    from ggp.knowledge.folder import ENDINGS_FILE_NAME
    from ggp.solver import SolverError, SolverLimits
    from ggp.solver.endings import EndingTerms, solve_endings
    from ggp.validation.properties import counted

    place = kept_place(game, ENDINGS_FILE_NAME, out)
    deadline = None if limits["seconds"] is None else time.monotonic() + limits["seconds"]
    with reported_as(game.name, SolverError), _stop_at_ctrl_c() as stop, progress_of(progress_text) as report:
        found = solve_endings(
            game,
            EndingTerms(most, limits["playouts"]),
            SolverLimits(
                limits["memory"], limits["states"], deadline=deadline, stop=stop, may_use_disk=False
            ),
            report=report,
        )
    if out is None:
        make_private_folder(place.parent)
    found.save(place)
    if stop.is_set():
        click.echo(f"{game.name}: interrupted; the complete part is kept", err=True)
    counts = ", ".join(f"{count:,} with {number}" for number, count in found.counts.items())
    click.echo(f"{game.name}: {counted(found.solution.space.state_count, 'position')} in {place}")
    click.echo(f"  by {found.counted}: {counts}\n  by {found.solution.concept}")
    if stop.is_set():
        sys.exit(130)


@contextmanager
def _stop_at_ctrl_c() -> Iterator[threading.Event]:
    """Return an event that the first Ctrl-C sets; the second interrupts as usual."""
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
