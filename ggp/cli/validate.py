"""`ggp validate`: check rule sheets."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from gdl.errors import Severity
from gdl.validation.selection import Selection, is_known
from ggp.cli.options import Count, Seconds
from ggp.validation.explanations import explanation
from ggp.validation.output import (
    SheetReport,
    codes_table,
    statistics_of,
    summary_of,
    text_of,
    to_github,
    to_json,
    to_sarif,
)
from ggp.validation.properties import PlayLimits, ProofLimits
from ggp.validation.sheet import Request, examine
from ggp.validation.sheet_files import STANDARD_INPUT, sheet_names

SUCCESS, FINDINGS, UNREADABLE = 0, 1, 2
_COLORS = {"error": "red", "warning": "yellow", "note": "cyan"}


def _explain(context: click.Context, _: click.Parameter, code: str | None) -> None:
    if code is None or context.resilient_parsing:
        return
    text = explanation(code)
    if text is None:
        raise click.BadParameter(f"unknown diagnostic {code}")
    click.echo(text)
    context.exit()


def _list_codes(context: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if is_wanted and not context.resilient_parsing:
        click.echo(codes_table())
        context.exit()


def _codes(context: click.Context, _: click.Parameter, text: str | None) -> tuple[str, ...]:
    codes = tuple(code.strip().upper() for code in (text or "").split(",") if code.strip())
    for code in codes:
        if not is_known(code):
            raise click.BadParameter(f"unknown code {code}: see --codes")
    return codes


@click.command("validate")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--play", is_flag=True, help="Play random matches and check every state in them.")
@click.option(
    "--prove", is_flag=True, help="Explore all states within --states and --seconds, and prove properties."
)
@click.option("--strict", is_flag=True, help="Exit with 1 on warnings, too.")
@click.option(
    "--format",
    "output",
    default="text",
    show_default=True,
    type=click.Choice(["text", "json", "sarif", "github"]),
    help="Output format.",
)
@click.option("--json", "is_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--syntax",
    default="auto",
    show_default=True,
    type=click.Choice(["auto", "kif", "infix"]),
    help="Syntax of the rule sheets.",
)
@click.option("--quiet", is_flag=True, help="Print only files with findings.")
@click.option(
    "--playouts",
    default=100,
    show_default=True,
    type=Count(1),
    help="Number of random matches for --play.",
)
@click.option(
    "--step-limit",
    default=1000,
    show_default=True,
    type=Count(1),
    help="Abort random matches after this many steps.",
)
@click.option(
    "--states",
    type=Count(1),
    help="State limit of --prove.  [default: 100,000,000 on lanes, 200,000 with the reasoner]",
)
@click.option(
    "--seconds",
    default=60.0,
    show_default=True,
    type=Seconds(0.01),
    help="Time limit per file for --play, and again for --prove.",
)
@click.option("--seed", default=0, show_default=True, type=int, help="Random seed for the random matches.")
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the match that shows the first fault to this JSON file.",
)
@click.option(
    "--select",
    metavar="CODES",
    callback=_codes,
    help="Report only these codes, or prefixes of codes such as GDL3, or ALL; comma-separated.",
)
@click.option(
    "--ignore",
    metavar="CODES",
    callback=_codes,
    help="Do not report these codes or prefixes; the longer of two prefixes decides.",
)
@click.option("--fix", "is_fixing", is_flag=True, help="Correct what is mechanical in the files.")
@click.option("--statistics", is_flag=True, help="Print the number of findings per code instead of them.")
@click.option(
    "--codes",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_codes,
    help="List all diagnostic codes and exit.",
)
@click.option(
    "--explain",
    metavar="CODE",
    is_eager=True,
    expose_value=False,
    callback=_explain,
    help="Explain a diagnostic, such as GDL207, and exit.",
)
def command(
    files: tuple[str, ...],
    play: bool,
    prove: bool,
    strict: bool,
    output: str,
    is_json: bool,
    syntax: str,
    quiet: bool,
    playouts: int,
    step_limit: int,
    states: int | None,
    seconds: float,
    seed: int,
    record: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    is_fixing: bool,
    statistics: bool,
) -> None:
    """Check each FILE and report errors and warnings with their location.

    FILE is a rule sheet, a folder (all .kif files in it), the name of a bundled game, or - for standard
    input.

    Exit code: 0 no errors, 1 errors in a file (with --strict also warnings), 2 a file cannot be read.
    """
    output = "json" if is_json else output
    names = sheet_names(files)
    if not names:
        raise click.UsageError(f"no .kif files in {', '.join(files)}")
    if record is not None and not (play or prove):
        raise click.UsageError("--record needs --play or --prove")
    if statistics and output != "text":
        raise click.UsageError("--statistics is text: it does not go with --format")
    if is_fixing and STANDARD_INPUT in names:
        raise click.UsageError("--fix changes files: it does not go with standard input")
    request = Request(
        syntax=syntax,  # type: ignore[arg-type]
        play=PlayLimits(playouts=playouts, step_limit=step_limit, seconds=seconds, seed=seed)
        if play
        else None,
        prove=ProofLimits(states, seconds) if prove else None,
        record=record,
        selection=Selection(select, ignore),
        is_fixing=is_fixing,
    )
    reports = []
    with _progress(len(names), is_slow=play or prove) as advance:
        for name in names:
            report = _examine(name, request, advance)
            reports.append(report)
            if output == "text" and (not statistics or report.unreadable):
                _show(report, quiet)
    if statistics:
        click.echo(statistics_of(reports), nl=any(report.diagnostics for report in reports))
    else:
        _print_all(reports, output, quiet)
    sys.exit(max(_exit_code(report, strict) for report in reports))


def _print_all(reports: Sequence[SheetReport], output: str, quiet: bool) -> None:
    """Print what an output format says after the last file."""
    if output == "json":
        click.echo(to_json(reports))
    elif output == "sarif":
        click.echo(to_sarif(reports))
    elif output == "github":
        annotations = to_github(reports)
        if annotations:
            click.echo(annotations)
    elif len(reports) > 1 and not quiet:
        click.echo(summary_of(reports))


def _examine(name: str, request: Request, advance: Callable[[str, int], None]) -> SheetReport:
    try:
        report = examine(name, replace(request, progress=lambda text: advance(f"{name}: {text}", 0)))
    except (RecursionError, MemoryError) as error:  # one sheet must not cost the findings of the others
        report = SheetReport(name, unreadable=f"{name}: too large to check ({type(error).__name__})")
    advance(name, 1)
    return report


def _exit_code(report: SheetReport, is_strict: bool) -> int:
    if report.unreadable:
        return UNREADABLE
    if report.count(Severity.ERROR) or (is_strict and report.diagnostics):
        return FINDINGS
    return SUCCESS


def _show(report: SheetReport, is_quiet: bool) -> None:
    text = text_of(report, is_quiet=is_quiet)
    if text:
        is_plain = bool(os.environ.get("NO_COLOR"))
        click.echo(text if is_plain else _colored(text), err=bool(report.unreadable))


def _colored(text: str) -> str:
    """Color the severities in `text`; click strips colors if the output is not a terminal."""

    def colored(found: re.Match[str]) -> str:
        color = _COLORS[found.group(2)]
        return found.group(1) + click.style(found.group(2), fg=color, bold=True)

    return re.sub(r"^(\S.*?: |\s*)(error|warning|note)(?= GDL\d|: )", colored, text, flags=re.MULTILINE)


@contextmanager
def _progress(count: int, *, is_slow: bool) -> Iterator[Callable[[str, int], None]]:
    """Show a progress bar for many or slow files, if standard error is a terminal."""
    if not sys.stderr.isatty() or (count < 10 and not is_slow):
        yield lambda text, steps: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=30), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=count)
        yield lambda text, steps: progress.update(task, description=text, advance=steps)
