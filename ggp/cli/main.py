"""The `ggp` command: parses arguments and reports errors in one line.

Each command lives in `ggp.cli.<name>` as a click command called `command`. It is imported when it runs, so
that `ggp --help` is instant.

Exit codes: 0 success; 1 failure (an invalid rule sheet, a difference, an aborted match); 2 wrong usage, or a
file that does not exist or cannot be read.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click

from ggp.suggestions import did_you_mean

COMMANDS = {
    "match": "Play a match on this machine, with you as a player or without.",
    "serve": "Play, watch and write games in the browser.",
    "games": "List the games that are known by name.",
    "show": "Step through a recorded match.",
    "info": "Show title, roles, kind and size of a game.",
    "validate": "Check rule sheets: statically, by random matches, by exploring all states.",
    "format": "Format rule sheets in KIF.",
    "replay": "Check an engine against a reference trace.",
    "bench": "Measure the speed of an engine or of the tree search.",
    "solve": "Solve a game: its value and the best moves.",
    "book": "Build an opening book by long searches of the first plies.",
    "endings": "Solve positions with few pieces or few empty cells, for players.",
    "tune": "Find the options of the tree search that are best for a game.",
    "learn": "Train a linear evaluation by self-play.",
    "teach": "Teach a network by matches with itself.",
    "features": "Show the board features of a game and their learned weights.",
    "tournament": "Play many matches between agents and rate them.",
    "evaluate": "Measure whether a game is balanced, decided by skill, and neither endless nor trivial.",
    "items": "Ask questions about games, with right answers, for programs that read rules.",
    "grade": "Score answers to such questions.",
    "assess": "Test a player on positions with known answers.",
    "players": "List the players and their options.",
    "player": "Run a player that game managers can reach over HTTP.",
    "manage": "Run a match between HTTP players as game manager.",
}
"""Command → its line in `ggp --help`."""


INSTEAD = {
    "play": "`ggp match GAME human` plays in the terminal, `ggp serve` in the browser",
    "game": "`ggp games` lists the games, `ggp info GAME` describes one",
}
"""Advice for commands that do not exist."""

CTRL_C_AGAIN_SECONDS = 0.02


class LazyGroup(click.Group):
    """A command group that imports a command only if it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`ggp help COMMAND` is `ggp COMMAND --help`."""
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            hint = f": {INSTEAD[name]}" if name in INSTEAD else f".{did_you_mean(name, COMMANDS)}"
            raise click.UsageError(f"No such command {name!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"ggp.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
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

    # Python ends by looking for cycles among all objects, which takes half a second once numba is imported.
    # Nobody waits for what they hold; threads, files and folders have ends of their own.
    atexit.register(gc.freeze)
    try:
        with _dropped_ctrl_c_raised_again():
            code = app.main(arguments, prog_name="ggp", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort:
        code = _print_error("interrupted", 130)
    except GdlError as error:
        code = _print_error(str(error), 2 if type(error).__name__ == "RulesNotFoundError" else 1)
    except OSError as error:
        code = _print_error(_os_error_text(error), 2)
    except MemoryError as error:
        code = _print_error(f"not enough memory: {error}" if str(error) else "not enough memory", 1)
    except Exception:
        from rich.console import Console

        Console(stderr=True).print_exception(suppress=[click])
        code = _print_error("this is a bug in ggp, not in your input", 1)
    sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def _dropped_ctrl_c_raised_again() -> Iterator[None]:
    """Ctrl-C that strikes in a finalizer or a callback of C, where Python drops it, strikes again."""
    before = sys.unraisablehook

    def raise_again(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt) and hasattr(signal, "pthread_kill"):
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


def _print_error(text: str, code: int) -> int:
    click.echo(text, err=True)
    return code


def _os_error_text(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
