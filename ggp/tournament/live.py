"""Progress of a run: a table that is redrawn in a terminal, else occasional lines."""

from __future__ import annotations

import time
from types import TracebackType
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, progress: Progress) -> None:
        """Show the progress if the last update was long enough ago."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (LINE_SECONDS if self._live is None else REFRESH_SECONDS)
        line = progress_line(
            progress.stored, progress.total, progress.saved, progress.running, progress.per_second
        )
        if self._live is None:
            self.console.print(line, soft_wrap=True)
        else:
            self._live.update(standings(self.store, self.run, line), refresh=True)
            # Summarizing many matches takes time, and playing has priority.
            spent = time.monotonic() - now
            self._next = max(self._next, now + SHARE * spent)


def progress_line(stored: int, total: int, saved: int, running: int, per_second: float) -> str:
    """Progress in one line.

    >>> progress_line(120, 400, 0, 2, 0.5)
    '120 of 400 matches, 2 running, 30.0 per minute, about 9 min left'
    """
    left = max(0, total - stored - saved)
    parts = [count_text(stored, total)]
    if saved:
        parts.append(f"{saved} not needed")
    parts.append(f"{running} running")
    if per_second > 0:
        parts.append(f"{60 * per_second:.1f} per minute")
        if left:
            parts.append(f"about {duration_text(left / per_second)} left")
    return ", ".join(parts)


def duration_text(seconds: float) -> str:
    """A duration in a readable unit.

    >>> duration_text(40), duration_text(540), duration_text(12_600)
    ('40 s', '9 min', '3.5 h')
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
