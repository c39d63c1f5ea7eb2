"""Progress of work whose results are kept while it goes on."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

_logger = logging.getLogger("ggp")
SAVE_SECONDS = 2.0
"""Time between two writes. Writing a large file takes longer than a short search."""

_Progress = TypeVar("_Progress")


@contextmanager
def kept_progress(
    beginning: str, text: Callable[[_Progress], str], save: Callable[[], None]
) -> Iterator[Callable[[_Progress], None]]:
    """A progress listener: it saves now and then, if it can, and shows `text` on a terminal.

    >>> with kept_progress("nim: preparing", lambda done: f"nim: {done} of 3", lambda: None) as report:
    ...     report(1)
    """
    from rich.console import Console

    with Console(stderr=True).status(beginning) as status:
        saved = time.monotonic()

        def report(progress: _Progress) -> None:
            nonlocal saved
            if time.monotonic() - saved > SAVE_SECONDS:
                saved = time.monotonic()
                try:
                    save()
                except OSError as error:  # there may be room again at the end
                    _logger.warning("cannot be saved now: %s", error)
            status.update(f"{text(progress)} (Ctrl-C stops and keeps them)")

        yield report
