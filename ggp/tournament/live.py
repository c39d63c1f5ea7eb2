"""Progress of a run: a table that is redrawn in a terminal, else occasional lines."""

from __future__ import annotations

import time
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from ggp.tournament import tables
from ggp.tournament.report import PAIRS_SHOWN, count_text, make_report, rich_table
from ggp.tournament.runner import Progress
from ggp.tournament.store import Run, Store

REFRESH_SECONDS = 2.0
LINE_SECONDS = 15.0
"""Time between two lines without a terminal."""

SHARE = 10
"""Minimum time between two drawings, as a multiple of the time of drawing."""


class RunView:
    """Shows the progress of a run; pass `show` to the runner, inside a `with` block."""

    def __init__(self, console: Console, store: Store, run: Run) -> None:
        self.console, self.store, self.run = console, store, run
        self._live: Live | None = None
        self._next = 0.0

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, progress: Progress) -> None:
        """Show the progress if the last update was long enough ago."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (LINE_SECONDS if self._live is None else REFRESH_SECONDS)
        line = progress_line(progress)
        if self._live is None:
            self.console.print(line, soft_wrap=True)
        else:
            self._live.update(standings(self.store, self.run, line), refresh=True)
            # Summarizing many matches takes time, and playing has priority.
            spent = time.monotonic() - now
            self._next = max(self._next, now + SHARE * spent)


def progress_line(progress: Progress) -> str:
    rate = progress.per_second
    parts = [
        count_text(progress.stored, progress.total),
        f"{progress.saved} not needed" if progress.saved else "",
        f"{progress.running} running",
        f"{60 * rate:.1f} per minute" if rate else "",
        f"about {duration_text(progress.left / rate)} left" if rate and progress.left else "",
    ]
    return ", ".join(filter(None, parts))


def duration_text(seconds: float) -> str:
    """A duration in a readable unit.

    >>> duration_text(40), duration_text(540), duration_text(12_600), duration_text(400_000)
    ('40 s', '9 min', '3.5 h', '4.6 days')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


def standings(store: Store, run: Run, line: str) -> RenderableType:
    """The current win rates below `line`."""
    results = make_report(store, run).results
    parts: list[RenderableType] = [Text(f"{run.name}: {line}", style="bold")]
    for condition in run.plan.conditions:
        is_long = len(results.met(condition.name)) > PAIRS_SHOWN
        of_pairs = tables.brief_crosstable if is_long else tables.win_rates
        table = of_pairs(results, condition.name).upright()
        if not table.rows:
            table = tables.mean_goals(results, condition.name).upright()
        if table.rows:
            parts.append(rich_table(table))
    return Group(*parts)
