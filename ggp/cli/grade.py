"""`ggp grade`: score answers to items."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from ggp.cli.options import InputFile
from ggp.items.grading import Grades, GradingError, grade_files


@click.command("grade")
@click.argument("items", type=InputFile())
@click.argument("answers", type=InputFile())
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def command(items: str, answers: str, is_json: bool) -> None:
    """Score ANSWERS to the questions in ITEMS, by kind, game and difficulty.

    ITEMS is what `ggp items` wrote. ANSWERS has a line {"id": ..., "answer": ...} for each item; the answer
    is a list, a number, true or false, or text that says so. What is missing or unreadable counts as wrong.

    Exit code: 0 success, 1 ITEMS does not hold items, 2 wrong usage or a file that does not exist.
    """
    try:
        grades = grade_files(Path(items), Path(answers))
    except GradingError as error:
        click.echo(f"{items}: {error}", err=True)
        sys.exit(1)
    if is_json:
        click.echo(json.dumps(grades.to_dict()))
    else:
        _show(grades)


def _show(grades: Grades) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from ggp.cli.live_view import plain_text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("items of", no_wrap=True)
    for name in ("items", "invalid", "correct", "95 %", "overlap", "regret"):
        table.add_column(name, justify="right", no_wrap=True)
    rows = [("all", grades.total)]
    for by, tallies in grades.groups.items():
        rows += [(f"{by} {name}", tally) for name, tally in sorted(tallies.items(), key=_by_number)]
    for name, tally in rows:
        found = tally.to_dict()
        share = "" if found["share"] is None else f"{found['share']:.3f}"
        numbers = f"{tally.items:,}", f"{tally.items - tally.readable:,}", share
        means = ("" if found[key] is None else f"{found[key]:.3g}" for key in ("overlap", "regret"))
        table.add_row(plain_text(name), *numbers, f"{found['low']:.2f} to {found['high']:.2f}", *means)
    console = Console(highlight=False)
    console.print(table)
    if grades.strange:
        console.print(f"{grades.strange:,} lines answer no item, or one that was answered before")


def _by_number(entry: tuple[str, object]) -> tuple[int, str]:
    first = entry[0].partition("-")[0]
    return (int(first) if first.isdigit() else -1, entry[0])
