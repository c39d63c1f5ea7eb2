"""Progress of a run: a line that is redrawn in a terminal, else occasional lines."""

from __future__ import annotations

import time
from contextlib import ExitStack

from rich.console import Console

from ggp.tournament.report import count_text
from ggp.tournament.runner import Progress

LINE_SECONDS = 15.0
"""Time between two lines without a terminal."""


class RunView(ExitStack):
    """Shows the progress of a run; pass `show` to the runner, inside a `with` block."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console, self._next = console, 0.0
        self._status = self.enter_context(console.status("")) if console.is_terminal else None

    def show(self, progress: Progress) -> None:
        """Show the progress, without a terminal if the last line was long enough ago."""
        if self._status is not None:
            self._status.update(progress_line(progress))
        elif (now := time.monotonic()) >= self._next:
            self._next = now + LINE_SECONDS
            self.console.print(progress_line(progress), soft_wrap=True)


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
