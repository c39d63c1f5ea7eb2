"""`ggp format`: rule sheets in canonical layout."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import click

from gdl.errors import GdlSyntaxError
from gdl.formatting import format_kif
from gdl.parser import looks_infix
from ggp.sheet_files import STANDARD_INPUT, RulesNotFoundError, read_bytes, sheet_names

ALL_WELL, FINDINGS, UNREADABLE = 0, 1, 2


@click.command("format")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 where a file would change.")
@click.option("--diff", is_flag=True, help="Change nothing; print what would change.")
@click.option("--quiet", is_flag=True, help="Say nothing of what was done.")
def command(files: tuple[str, ...], check: bool, diff: bool, quiet: bool) -> None:
    """Lay out each FILE, a rule sheet in KIF: one rule or fact a line, bodies aligned, comments kept.

    A FILE may be a folder (all .kif files in it); - reads standard input and writes to standard output.

    Exit code: 0 all well, 1 errors in a sheet (with --check also where a file would change), 2 a file
    cannot be read.
    """
    names = sheet_names(files)
    if not names:
        raise click.UsageError(f"no .kif files in {', '.join(files)}")
    codes = [_format(name, check, diff, quiet) for name in names]
    if not quiet and (names != [STANDARD_INPUT] or check or diff):
        changed = sum(is_changed for _, is_changed in codes)
        verb = "would change" if check or diff else "changed"
        click.echo(f"{len(names)} sheet{'s' * (len(names) != 1)}: {changed} {verb}", err=True)
    sys.exit(max(code for code, _ in codes))


def _format(name: str, is_check: bool, is_diff: bool, is_quiet: bool) -> tuple[int, bool]:
    """(exit code, whether the layout differs)."""
    try:
        data, label = read_bytes(name)
        text = data.decode("utf-8")
    except (RulesNotFoundError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else None
        return _complain(f"{name}: {reason}" if reason else str(error), UNREADABLE)
    except UnicodeDecodeError as error:
        return _complain(f"{name}: not UTF-8 (byte {error.start}): left alone", UNREADABLE)
    if looks_infix(text):
        return _complain(f"{label}: in infix form, only KIF is formatted: left alone", UNREADABLE)
    try:
        formatted = format_kif(text, name=label)
    except GdlSyntaxError as error:
        return _complain(str(error), FINDINGS)
    is_changed = formatted.encode() != data
    if is_diff and is_changed:
        _print_diff(text, formatted, label)
    if is_check or is_diff:
        if is_changed and not is_quiet:
            click.echo(f"{label}: would change", err=True)
        return (FINDINGS if is_check and is_changed else ALL_WELL), is_changed
    if name == STANDARD_INPUT:
        click.echo(formatted, nl=False)
    elif is_changed:
        try:
            _write(Path(label), formatted)
        except OSError as error:
            return _complain(f"{label}: {error.strerror or error}", UNREADABLE)
        if not is_quiet:
            click.echo(f"{label}: formatted", err=True)
    return ALL_WELL, is_changed


def _complain(text: str, code: int) -> tuple[int, bool]:
    click.echo(text, err=True)
    return code, False


def _print_diff(text: str, formatted: str, label: str) -> None:
    import difflib

    lines = difflib.unified_diff(
        text.splitlines(), formatted.splitlines(), label, f"{label} (formatted)", lineterm=""
    )
    for line in lines:
        click.echo(line)


def _write(path: Path, text: str) -> None:
    """Replace the file's content at once, so that an interruption leaves the old or the new one."""
    target = path.resolve()
    mode = target.stat().st_mode
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
