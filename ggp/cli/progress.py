"""Long tasks on a terminal: load a game, show progress, save periodically, stop at Ctrl-C."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from gdl.program import Program
from ggp.engines.loading import make_game, read_program
from ggp.game import Game

if TYPE_CHECKING:
    from ggp.engines.compilation import CompilationLimits
    from ggp.engines.compiled import CompiledGame

_logger = logging.getLogger("ggp")
QUIET_SECONDS = 0.7
"""Loading that takes less time shows no spinner."""
SAVE_SECONDS = 2.0
"""Time between two saves. Writing a large file takes longer than a short search."""

_Progress = TypeVar("_Progress")
_P = ParamSpec("_P")


def load_visibly(rules: str, engine: str = "auto") -> Game[Any]:
    """`ggp.load` with progress on standard error; arguments and errors are those of `load`."""
    return make_visibly(*read_program(rules), engine)


def make_visibly(
    program: Program, name: str, engine: str, *, limits: CompilationLimits | None = None
) -> Game[Any]:
    """Make the game of a program with progress on standard error; errors as in `load`."""
    from rich.console import Console

    begin = time.monotonic()
    console = Console(stderr=True)
    status = console.status("")

    def show(text: str) -> None:
        if time.monotonic() - begin > QUIET_SECONDS:
            status.update(f"{name}: {text}")
            status.start()

    try:
        return make_game(program, name, engine, limits=limits, progress=show if console.is_terminal else None)
    finally:
        status.stop()


def load_compiled(file: str) -> CompiledGame:
    """Load the game on lanes; raises what `load` raises."""
    game = load_visibly(file, "lanes")

    from ggp.engines.compiled import CompiledGame

    assert isinstance(game, CompiledGame)
    return game


@contextmanager
def status_line(beginning: str) -> Iterator[Callable[[str], None]]:
    """Return a function that shows a line with a spinner if standard error is a terminal."""
    with progress_of(str, beginning) as show:
        yield show or (lambda text: None)


@contextmanager
def progress_of(text: Callable[_P, str], beginning: str = "") -> Iterator[Callable[_P, None] | None]:
    """Return a progress listener that shows `text(progress)`; None without a terminal.

    >>> with progress_of(lambda done: f"{done} of 3") as report:
    ...     report is None
    True
    """
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status(beginning) as status:

        def report(*arguments: _P.args, **named: _P.kwargs) -> None:
            status.update(text(*arguments, **named))

        yield report


@contextmanager
def kept_progress(
    beginning: str, text: Callable[[_Progress], str], save: Callable[[], None]
) -> Iterator[Callable[[_Progress], None]]:
    """Return a progress listener that shows `text(progress)` on a terminal; save periodically and at the end.

    >>> with kept_progress("nim: preparing", lambda done: f"nim: {done} of 3", lambda: None) as report:
    ...     report(1)
    """
    saved = time.monotonic()
    with progress_of(lambda progress: f"{text(progress)} (Ctrl-C stops and keeps them)", beginning) as show:

        def report(progress: _Progress) -> None:
            nonlocal saved
            if time.monotonic() - saved > SAVE_SECONDS:
                saved = time.monotonic()
                try:
                    save()
                except OSError as error:  # the disk may have space again at the end
                    _logger.warning("cannot be saved now: %s", error)
            if show is not None:
                show(progress)

        try:
            yield report
        finally:
            save()


@dataclass
class Work:
    """Whether Ctrl-C ended it."""

    is_interrupted: bool = False

    @property
    def exit_code(self) -> int:
        return 130 if self.is_interrupted else 0

    def exit_if_interrupted(self) -> None:
        if self.is_interrupted:
            sys.exit(130)


@contextmanager
def interruptible(name: str, kept: str = "the results so far are kept") -> Iterator[Work]:
    """Ctrl-C ends the `with` block, not the command, which then saves and shows its results so far.

    >>> with interruptible("nim") as work:
    ...     pass
    >>> work.is_interrupted
    False
    """
    work = Work()
    try:
        yield work
    except KeyboardInterrupt:
        work.is_interrupted = True
        click.echo(f"{name}: interrupted; {kept}", err=True)


@contextmanager
def reported_as(name: str, *mistakes: type[Exception]) -> Iterator[None]:
    """Report these errors in one line that starts with the name of the game."""
    try:
        yield
    except mistakes as error:
        raise click.ClickException(f"{name}: {error}") from None
