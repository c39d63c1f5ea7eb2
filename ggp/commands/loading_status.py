"""Loading a game with a word on what takes so long, where there is a terminal to say it on."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console

from ggp.game import Game
from ggp.loading import load

QUIET_SECONDS = 0.7
"""Loading that is over by then says nothing."""


def load_visibly(path_or_text: str, engine: str = "auto", *, use_cache: bool = True) -> Game[Any]:
    """`ggp.load`, telling on standard error what it is at; arguments and errors are those of `load`."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return load(path_or_text, engine, use_cache=use_cache)
    begin = time.monotonic()
    status = console.status("")

    def tell(text: str) -> None:
        if time.monotonic() - begin > QUIET_SECONDS:
            status.update(f"{path_or_text}: {text}")
            status.start()

    try:
        return load(path_or_text, engine, use_cache=use_cache, progress=tell)
    finally:
        status.stop()
