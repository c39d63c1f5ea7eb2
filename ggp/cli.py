"""The `ggp` command: parses arguments only, and says mistakes in one line.

Each command lives in `ggp.commands.<name>` as a click command called `command` and is imported when it
is run, so that `ggp --help` answers at once.

Exit codes: 0 all well; 1 the job failed (an invalid rule sheet, a difference, an aborted match);
2 wrong usage, or a file that is not there or cannot be read.
"""

from __future__ import annotations

import importlib
import sys

import click

COMMANDS = {
    "match": "Play a match here, between programs or with you.",
    "info": "Tell what kind of game a rule sheet describes.",
    "validate": "Check rule sheets; play them at random, prove what can be proved.",
    "format": "Lay out rule sheets in KIF.",
    "replay": "Check an engine against a reference trace.",
    "bench": "Measure an engine by random playouts.",
    "solve": "Find what a game is worth and how to play it best.",
    "learn": "Learn to judge the states of a game by playing it.",
    "features": "Show what is recognized on the board of a game and what it is worth.",
    "tournament": "Play agents against each other many times and say who is stronger.",
    "assess": "Measure one player on positions with known answers.",
    "player": "Play over HTTP for any game manager.",
    "manage": "Manage a match between HTTP players.",
}
"""Command → what `ggp --help` says of it."""


class LazyGroup(click.Group):
    """A group that imports a command only when that one is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"ggp.commands.{cmd_name}").command
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
    """General Game Playing: plays games it has never seen, from their rules.

    A FILE is a rule sheet in GDL (KIF or infix), or the name of a game that comes along, such as
    connectfour.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run `ggp` and leave the process with its exit code."""
    from gdl.errors import GdlError

    try:
        code = app.main(arguments, prog_name="ggp", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort:
        code = _complain("interrupted", 130)
    except GdlError as error:
        code = _complain(str(error), 2 if type(error).__name__ == "RulesNotFoundError" else 1)
    except OSError as error:
        code = _complain(_os_error_text(error), 2)
    except Exception:
        from rich.console import Console

        Console(stderr=True).print_exception(suppress=[click])
        code = _complain("this is a bug of ggp, not of your input", 1)
    sys.exit(code if isinstance(code, int) else 0)


def _version(context: click.Context, is_wanted: bool) -> None:
    if is_wanted and not context.resilient_parsing:
        from ggp.match import program_version

        click.echo(program_version())
        context.exit()


def _complain(text: str, code: int) -> int:
    click.echo(text, err=True)
    return code


def _os_error_text(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
