"""`ggp validate`: are these rule sheets well-formed, and are they the games they should be?"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from gdl.errors import Severity
from ggp.commands.options import Amount
from ggp.diagnostics_output import SheetReport, summary_of, text_of, to_github, to_json, to_sarif
from ggp.explanations import explanation
from ggp.game_properties import PlayLimits, ProofLimits
from ggp.sheet_files import sheet_names
from ggp.sheet_validation import Request, examine

ALL_WELL, FINDINGS, UNREADABLE = 0, 1, 2
_COLORS = {"error": "red", "warning": "yellow", "note": "cyan"}


def _explain(context: click.Context, _: click.Parameter, code: str | None) -> None:
    if code is None or context.resilient_parsing:
        return
    text = explanation(code)
    if text is None:
        raise click.BadParameter(f"there is no diagnostic {code}")
    click.echo(text)
    context.exit()


@click.command("validate")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--play", is_flag=True, help="Play random matches and check every state of them.")
@click.option("--prove", is_flag=True, help="Explore all states, as far as --states and --seconds allow.")
@click.option("--strict", is_flag=True, help="Exit with 1 where there are warnings, too.")
@click.option(
    "--format",
    "output",
    default="text",
    show_default=True,
    type=click.Choice(["text", "json", "sarif", "github"]),
)
@click.option("--syntax", default="auto", show_default=True, type=click.Choice(["auto", "kif", "infix"]))
@click.option("--quiet", is_flag=True, help="Say nothing of sheets in which nothing is wrong.")
@click.option("--playouts", default=100, show_default=True, type=click.IntRange(1), help="Matches of --play.")
@click.option(
    "--step-limit", default=1000, show_default=True, type=click.IntRange(1), help="Longest match of --play."
)
@click.option(
    "--states",
    type=click.IntRange(1),
    help="Most states of --prove. [default: 100,000,000 on lanes, 200,000 by the reasoner]",
)
@click.option(
    "--seconds",
    default=60.0,
    show_default=True,
    type=Amount(0.01),
    help="Time for --play and for --prove, each, per sheet.",
)
@click.option("--seed", default=0, show_default=True, type=int, help="Decides the random matches.")
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the match that shows the first fault as JSON.",
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
    syntax: str,
    quiet: bool,
    playouts: int,
    step_limit: int,
    states: int | None,
    seconds: float,
    seed: int,
    record: Path | None,
) -> None:
    """Check each FILE and print what is wrong, with place and reason.

    A FILE is a rule sheet, a folder (all .kif files in it), the name of a game that comes along, or - for
    standard input.

    Exit code: 0 no errors, 1 errors in some sheet (with --strict also warnings), 2 a file cannot be read.
    """
    names = sheet_names(files)
    if not names:
        raise click.UsageError(f"no .kif files in {', '.join(files)}")
    if record is not None and not (play or prove):
        raise click.UsageError("--record needs --play or --prove")
    request = Request(
        syntax=syntax,  # type: ignore[arg-type]
        play=PlayLimits(playouts=playouts, step_limit=step_limit, seconds=seconds, seed=seed)
        if play
        else None,
        prove=ProofLimits(states, seconds) if prove else None,
        record=record,
    )
    reports = []
    with _progress(len(names), is_slow=play or prove) as advance:
        for name in names:
            report = _examine(name, request, advance)
            reports.append(report)
            if output == "text":
                _show(report, quiet)
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
    sys.exit(max(_exit_code(report, strict) for report in reports))


def _examine(name: str, request: Request, advance: Callable[[str, int], None]) -> SheetReport:
    report = examine(name, replace(request, progress=lambda text: advance(f"{name}: {text}", 0)))
    advance(name, 1)
    return report


def _exit_code(report: SheetReport, is_strict: bool) -> int:
    if report.unreadable:
        return UNREADABLE
    if report.count(Severity.ERROR) or (is_strict and report.diagnostics):
        return FINDINGS
    return ALL_WELL


def _show(report: SheetReport, is_quiet: bool) -> None:
    text = text_of(report, is_quiet=is_quiet)
    if text:
        is_plain = bool(os.environ.get("NO_COLOR"))
        click.echo(text if is_plain else _colored(text), err=bool(report.unreadable))


def _colored(text: str) -> str:
    """`text` with severities in color; click strips colors where the output is no terminal."""

    def colored(found: re.Match[str]) -> str:
        color = _COLORS[found.group(2)]
        return found.group(1) + click.style(found.group(2), fg=color, bold=True)

    return re.sub(r"^(\S.*?: |\s*)(error|warning|note)(?= GDL\d|: )", colored, text, flags=re.MULTILINE)


@contextmanager
def _progress(count: int, *, is_slow: bool) -> Iterator[Callable[[str, int], None]]:
    """A bar on the error output while many sheets, or slow ones, are examined; only on a terminal."""
    if not sys.stderr.isatty() or (count < 10 and not is_slow):
        yield lambda text, steps: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=30), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=count)
        yield lambda text, steps: progress.update(task, description=text, advance=steps)
