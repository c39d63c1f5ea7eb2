"""`ggp validate`: are these rule sheets well-formed?"""

from __future__ import annotations

import sys

import click

from gdl.errors import GdlSyntaxError, Severity, render
from gdl.validation import check
from ggp.loading import RulesNotFoundError, read_program

ALL_WELL, FINDINGS, UNREADABLE = 0, 1, 2


@click.command("validate")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--quiet", is_flag=True, help="Say nothing of sheets without errors.")
def command(files: tuple[str, ...], quiet: bool) -> None:
    """Check each FILE and print what is wrong, with place and reason.

    Exit code: 0 no errors, 1 errors in some sheet, 2 a file cannot be read.
    """
    sys.exit(max(_validate(file, quiet) for file in files))


def _validate(file: str, quiet: bool) -> int:
    try:
        program, _ = read_program(file)
        diagnostics = check(program)
    except RulesNotFoundError as error:
        click.echo(str(error), err=True)
        return UNREADABLE
    except OSError as error:
        click.echo(f"{file}: {error.strerror or error}", err=True)
        return UNREADABLE
    except GdlSyntaxError as error:
        click.echo(str(error))
        return FINDINGS
    for diagnostic in diagnostics:
        click.echo(render(diagnostic, program.source))
    has_errors = any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
    if not has_errors and not quiet:
        click.echo(f"{file}: {len(program.rules)} rules, no errors")
    return FINDINGS if has_errors else ALL_WELL
