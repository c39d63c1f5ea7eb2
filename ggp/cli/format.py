"""`ggp format`: format rule sheets canonically."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gdl.errors import GdlSyntaxError
from gdl.syntax.formatting import FormattingError, format_kif
from gdl.syntax.parser import looks_infix, parse, with_plain_lines
from ggp.engines.loading import RulesNotFoundError
from ggp.files import write_text
from ggp.validation.sheet import STANDARD_INPUT, read_bytes, sheet_names

SUCCESS, FINDINGS, UNREADABLE = 0, 1, 2


@click.command("format")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
def command(files: tuple[str, ...], check: bool) -> None:
    """Format each FILE, a rule sheet in KIF: one rule or fact per line, bodies aligned, comments kept.

    FILE may be a folder (all .kif files in it); - reads standard input and writes to standard output.

    Exit code: 0 success, 1 errors in a file (with --check also if a file would change), 2 a file cannot be
    read.
    """
    names = sheet_names(files)
    if not names:
        raise click.UsageError(f"no .kif files in {', '.join(files)}")
    codes = [_format(name, check) for name in names]
    if names != [STANDARD_INPUT] or check:
        changed = sum(is_changed for _, is_changed in codes)
        verb = "would change" if check else "changed"
        click.echo(f"{len(names)} file{'s' * (len(names) != 1)}: {changed} {verb}", err=True)
    sys.exit(max(code for code, _ in codes))


def _format(name: str, is_check: bool) -> tuple[int, bool]:
    """Format one file; returns (exit code, whether the layout differs)."""
    try:
        data, label = read_bytes(name)
        text = data.decode("utf-8")
    except (RulesNotFoundError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else None
        return _print_error(f"{name}: {reason}" if reason else str(error), UNREADABLE)
    except UnicodeDecodeError as error:
        return _print_error(f"{name}: not UTF-8 (byte {error.start}): left unchanged", UNREADABLE)
    if looks_infix(with_plain_lines(text)):
        return _print_error(f"{label}: infix syntax left unchanged (only KIF is formatted)", UNREADABLE)
    try:
        parse(text, name=label)
        formatted = format_kif(text, name=label)
    except GdlSyntaxError as error:
        return _print_error(str(error), FINDINGS)
    except FormattingError as error:
        return _print_error(f"{error}: left unchanged", FINDINGS)
    is_changed = formatted.encode() != data
    if is_check:
        if is_changed:
            click.echo(f"{label}: would change", err=True)
        return (FINDINGS if is_changed else SUCCESS), is_changed
    if name == STANDARD_INPUT:
        click.echo(formatted, nl=False)
    elif is_changed:
        try:
            write_text(Path(label), formatted)
        except OSError as error:
            return _print_error(f"{label}: {error.strerror or error}", UNREADABLE)
        click.echo(f"{label}: formatted", err=True)
    return SUCCESS, is_changed


def _print_error(text: str, code: int) -> tuple[int, bool]:
    click.echo(text, err=True)
    return code, False
