"""Load a game, with a progress spinner when attached to a terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ggp.engines.loading import load
from ggp.game import Game

if TYPE_CHECKING:
    from ggp.engines.compilation import CompilationLimits

QUIET_SECONDS = 0.7
"""Loading that takes less time shows no spinner."""


def load_visibly(
    path_or_text: str,
    engine: str = "auto",
    *,
    use_cache: bool = True,
    limits: CompilationLimits | None = None,
) -> Game[Any]:
    """`ggp.load` with progress on standard error; arguments and errors are those of `load`."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        return load(path_or_text, engine, use_cache=use_cache, limits=limits)
    begin = time.monotonic()
    status = console.status("")

    def show(text: str) -> None:
        if time.monotonic() - begin > QUIET_SECONDS:
            status.update(f"{path_or_text}: {text}")
            status.start()

    try:
        return load(path_or_text, engine, use_cache=use_cache, limits=limits, progress=show)
    finally:
        status.stop()
