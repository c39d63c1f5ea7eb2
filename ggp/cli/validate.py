"""`ggp validate`: check rule sheets."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import click

from gdl.errors import Severity
from gdl.validation.selection import Selection, is_known
from ggp.cli.options import Count, Limit, Seconds, limit_option
from ggp.cli.progress import status_line
from ggp.validation.output import (
    SheetReport,
    codes_table,
    explanation,
    summary_of,
    text_of,
    to_github,
    to_json,
)
from ggp.validation.properties import PlayLimits, ProofLimits
from ggp.validation.sheet import STANDARD_INPUT, Request, examine, sheet_names

SUCCESS, FINDINGS, UNREADABLE = 0, 1, 2
MANY_FILES = 10
"""Number of files from which progress is shown even without --play or --prove."""
_COLORS = {"error": "red", "warning": "yellow", "note": "cyan"}


def _explain(context: click.Context, _: click.Parameter, code: str | None) -> None:
    if code is None or context.resilient_parsing:
        return
    text = codes_table() if code == "all" else explanation(code)
    if text is None:
        raise click.BadParameter(f"unknown diagnostic {code}: --explain all lists them")
    click.echo(text)
    context.exit()


def _selection(text: str) -> Selection:
    """Codes to report; after a minus, codes not to report."""
    codes: dict[bool, list[str]] = {False: [], True: []}
    for word in filter(None, map(str.strip, text.upper().split(","))):
        code = word.removeprefix("-")
        if not is_known(code):
            raise click.BadParameter(f"unknown code {code}: --explain all lists them")
        codes[word.startswith("-")].append(code)
    return Selection(tuple(codes[False]), tuple(codes[True]))


@click.command("validate")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--play", is_flag=True, help="Play random matches and check every state in them.")
@click.option("--prove", is_flag=True, help="Explore all states within the limits, and prove properties.")
@click.option("--strict", is_flag=True, help="Exit with 1 on warnings, too.")
@click.option(
    "--format",
    "output",
    default="text",
    type=click.Choice(["text", "json", "github"]),
    help="Output format.",
)
@click.option(
    "--seconds",
    default=60.0,
    type=Seconds(0.01),
    help="Time limit per file for --play, and again for --prove.",
)
@limit_option(
    Limit("playouts", Count(1), 100, "random matches"),
    Limit("steps", Count(1), 1000, "of a random match"),
    Limit("states", Count(1), None, "to explore; by default 100 million"),
)
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the match that shows the first fault to this JSON file.",
)
@click.option(
    "--select",
    "selection",
    default="",
    show_default=False,
    type=_selection,
    metavar="CODES",
    help="Report only these codes, or prefixes of codes such as GDL3, or ALL, comma-separated; with a minus"
    " before it, do not report the code. The longer of two prefixes decides.",
)
@click.option("--fix", "is_fixing", is_flag=True, help="Correct mechanical findings in the files.")
@click.option(
    "--explain",
    metavar="CODE",
    is_eager=True,
    expose_value=False,
    callback=_explain,
    help="Explain a diagnostic, such as GDL207, and exit; `all` lists all codes.",
)
def command(
    files: tuple[str, ...],
    play: bool,
    prove: bool,
    strict: bool,
    output: str,
    seconds: float,
    limits: dict[str, int],
    record: Path | None,
    selection: Selection,
    is_fixing: bool,
) -> None:
    """Check each FILE and report errors and warnings with their location.

    FILE is a rule sheet, a folder (all .kif files in it), the name of a bundled game, or - for standard
    input.

    Exit code: 0 no errors, 1 errors in a file (with --strict also warnings), 2 a file cannot be read.
    """
    names = sheet_names(files)
    if not names:
        raise click.UsageError(f"no .kif files in {', '.join(files)}")
    if record is not None and not (play or prove):
        raise click.UsageError("--record needs --play or --prove")
    if is_fixing and STANDARD_INPUT in names:
        raise click.UsageError("--fix changes files and cannot be used with standard input")
    request = Request(
        play=PlayLimits(limits["playouts"], step_limit=limits["steps"], seconds=seconds) if play else None,
        prove=ProofLimits(limits["states"], seconds) if prove else None,
        record=record,
        selection=selection,
        is_fixing=is_fixing,
    )
    reports = []
    is_slow = play or prove or len(names) >= MANY_FILES
    with status_line("") if is_slow else nullcontext(lambda text: None) as show:
        for number, name in enumerate(names, 1):
            place = f"{number} of {len(names)}, {name}"
            show(place)

            def show_stage(stage: str, place: str = place) -> None:
                show(f"{place}: {stage}")

            report = _examine(name, replace(request, progress=show_stage))
            reports.append(report)
            if output == "text":
                _show(report)
    _print_all(reports, output)
    sys.exit(max(_exit_code(report, strict) for report in reports))


def _print_all(reports: Sequence[SheetReport], output: str) -> None:
    """Print the end of the output, after the last file."""
    if output == "text":
        if len(reports) > 1:
            click.echo(summary_of(reports))
    elif text := {"json": to_json, "github": to_github}[output](reports):
        click.echo(text)


def _examine(name: str, request: Request) -> SheetReport:
    try:
        return examine(name, request)
    except (RecursionError, MemoryError) as error:  # one sheet must not suppress the findings of the others
        return SheetReport(name, unreadable=f"{name}: too large to check ({type(error).__name__})")


def _exit_code(report: SheetReport, is_strict: bool) -> int:
    if report.unreadable:
        return UNREADABLE
    if report.count(Severity.ERROR) or (is_strict and report.diagnostics):
        return FINDINGS
    return SUCCESS


def _show(report: SheetReport) -> None:
    text = text_of(report)
    is_plain = bool(os.environ.get("NO_COLOR"))
    click.echo(text if is_plain else _colored(text), err=bool(report.unreadable))


def _colored(text: str) -> str:
    """Color the severities in `text`; click strips colors if the output is not a terminal."""

    def colored(found: re.Match[str]) -> str:
        color = _COLORS[found.group(2)]
        return found.group(1) + click.style(found.group(2), fg=color, bold=True)

    return re.sub(r"^(\S.*?: |\s*)(error|warning|note)(?= GDL\d|: )", colored, text, flags=re.MULTILINE)
