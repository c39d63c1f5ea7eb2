"""The `ggp` command: parses arguments and reports errors in one line.

Each command is the click command `command` of the module of its name. It is imported when it runs, so that
`ggp --help` is instant.

Exit codes: 0 success; 1 failure (an invalid rule sheet, a difference, an aborted match); 2 wrong usage, or a
file that does not exist or cannot be read.
"""

from __future__ import annotations

import atexit
import gc
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click

from ggp.cli.groups import LazyGroup

COMMANDS = {
    "match": "Play a match on this machine, with you as a player or without.",
    "serve": "Play, watch and write games in the browser.",
    "games": "List the games that are known by name, and describe one.",
    "show": "Show a recorded match step by step.",
    "validate": "Check rule sheets: statically, by random matches, by exploring all states.",
    "format": "Format rule sheets in KIF.",
    "export": "Write a game's circuit for model checkers, logic synthesis and drawing.",
    "bench": "Measure the speed of an engine or of the tree search.",
    "solve": "Solve a game: its value and the best moves.",
    "explain": "Show each step of a search on a tree or in a game: as text, picture or page.",
    "prepare": "Prepare a game ahead of matches: opening book, evaluation, network.",
    "tournament": "Play many matches between agents and rate them.",
    "evaluate": "Measure whether a game is balanced, decided by skill, and neither endless nor trivial.",
    "items": "Make and grade questions about games, for programs that read rules.",
    "assess": "Test a player on positions with known answers.",
    "players": "List the players and their options.",
    "player": "Run a player that game managers can reach over HTTP.",
    "manage": "Run a match between HTTP players as game manager.",
}
"""Command → its line in `ggp --help`."""

INSTEAD = {
    "play": "`ggp match GAME human` plays in the terminal, `ggp serve` in the browser",
    "replay": "`ggp show RECORD` shows a match step by step",
    "game": "`ggp games` lists the games, `ggp games info GAME` describes one",
}
"""Advice for words that a newcomer may try."""

CTRL_C_AGAIN_SECONDS = 0.02


class _CommandLine(LazyGroup):
    """The `ggp` group: `ggp help COMMAND` is `ggp COMMAND --help`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)


@click.group(
    cls=_CommandLine,
    package="ggp.cli",
    lines=COMMANDS,
    hints=INSTEAD,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda context, _, value: _version(context, value),
    help="Show the version and exit.",
)
def app() -> None:
    """General Game Playing: play games that the program has never seen, given only their rules.

    FILE is a rule sheet in GDL (KIF or infix), or the name of a bundled game such as connectfour.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run `ggp` and end the process with its exit code."""
    from gdl.errors import GdlError

    # Skip the garbage collection at exit, which takes half a second once numba is imported; threads, files
    # and folders have their own cleanup.
    atexit.register(gc.freeze)
    try:
        with _dropped_ctrl_c_raised_again():
            code, text = app.main(arguments, prog_name="ggp", standalone_mode=False), ""
    except click.ClickException as error:
        error.show()
        code, text = error.exit_code, ""
    except click.Abort:
        code, text = 130, "interrupted"
    except GdlError as error:
        code, text = 2 if type(error).__name__ == "RulesNotFoundError" else 1, str(error)
    except OSError as error:
        has_names = error.filename and error.strerror
        code, text = 2, f"{error.filename}: {error.strerror}" if has_names else str(error)
    except MemoryError as error:
        code, text = 1, f"not enough memory: {error}" if str(error) else "not enough memory"
    except Exception:
        from rich.console import Console

        Console(stderr=True).print_exception(suppress=[click])
        code, text = 1, "this is a bug in ggp, not in your input"
    if text:
        click.echo(text, err=True)
    sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def _dropped_ctrl_c_raised_again() -> Iterator[None]:
    """Ctrl-C that strikes in a finalizer or a callback of C, where Python drops it, strikes again."""
    before = sys.unraisablehook

    def raise_again(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            main_thread = threading.main_thread().ident or 0
            threading.Timer(CTRL_C_AGAIN_SECONDS, signal.pthread_kill, [main_thread, signal.SIGINT]).start()
        else:
            before(unraisable)

    sys.unraisablehook = raise_again
    try:
        yield
    finally:
        sys.unraisablehook = before


def _version(context: click.Context, is_wanted: bool) -> None:
    if is_wanted and not context.resilient_parsing:
        from ggp.match.record import program_version

        click.echo(program_version())
        context.exit()
