"""`ggp evaluate`: measure how good a game is."""

from __future__ import annotations

import json
import operator
import re
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from gdl.errors import GdlError
from ggp.cli.options import Count, Limit, Seconds, json_option, limit_option
from ggp.cli.progress import load_compiled, progress_of
from ggp.game import GameError
from ggp.game_evaluation.figures import DEFINITIONS, EXACT, percentile

if TYPE_CHECKING:
    from ggp.game_evaluation.evaluate import Evaluation

_COMPARISONS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
SUCCESS, FAILURE, INTERRUPTED = 0, 1, 130
UNPLAYABLE = (GdlError, GameError, OSError, RecursionError, MemoryError)
"""Errors that end the evaluation of one sheet only."""
_FIGURES = [f"{name}: {meaning} ({source})" for name, (meaning, source) in DEFINITIONS.items()]


def requirement(text: str) -> tuple[str, str, float]:
    """A figure, a comparison and a number, such as balance>=0.8."""
    found = re.fullmatch(r"(\w+)\s*(>=|<=|>|<)\s*(-?[\d.]+)", text)
    try:
        name, sign, number = found.groups() if found else ("", "", "")
        bound = float(number)
    except ValueError:
        message = f"{text!r} is not a requirement: write NAME>=NUMBER, such as balance>=0.8"
        raise click.BadParameter(message) from None
    if name not in DEFINITIONS:
        raise click.BadParameter(f"unknown figure {name!r}; figures are {', '.join(DEFINITIONS)}")
    return name, sign, bound


@click.command("evaluate", epilog="\n\n".join(_FIGURES))
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--require",
    "requirements",
    multiple=True,
    type=requirement,
    help="Exit with 1 if a game misses this, such as balance>=0.8; repeatable.",
)
@click.option(
    "--seconds",
    default=60.0,
    type=Seconds(0.1),
    help="Time limit per game; figures then come from the matches played so far.",
)
@limit_option(
    Limit("simulations", Count(2, 1_000_000), 256, "playouts per decision of the stronger search"),
    Limit(
        "matches", Count(2, 1_000_000), 128, "between searches, per figure; fewer if its interval is narrow"
    ),
    Limit("playouts", Count(1, 1_000_000), 512, "random matches"),
    Limit("steps", Count(1, 100_000), 500, "joint moves of a match"),
)
@json_option
def command(
    files: tuple[str, ...],
    requirements: tuple[tuple[str, str, float], ...],
    seconds: float,
    limits: dict[str, int],
    is_json: bool,
) -> None:
    """Measure each game in FILE...: is it balanced, decided by skill, neither endless nor trivial?

    Random matches, matches between equal searches and between a search and one with half its playouts are
    played side by side; a game of up to a million states is solved, and exact values replace estimates.
    Every figure has a 95 % interval and a sample size; the list below explains them.

    Ctrl-C ends the work with the figures so far. Exit code: 0 success, 1 a requirement is not met or a game
    cannot be played, 2 wrong usage.
    """
    from ggp.game_evaluation.evaluate import EvaluationTerms, evaluate

    terms = EvaluationTerms(
        limits["simulations"], limits["matches"], limits["playouts"], limits["steps"], seconds
    )
    code = SUCCESS
    for file in files:
        try:
            game = load_compiled(file)
            with progress_of(partial("{}: {}, {} of {}".format, game.name)) as report:
                found = evaluate(game, terms, report)
        except UNPLAYABLE as error:
            code, text = max(code, FAILURE), str(error) or type(error).__name__
            failure = json.dumps({"schema": 1, "game": file, "error": text})
            click.echo(failure if is_json else text, err=not is_json)
            continue
        misses = _misses(found, requirements)
        if is_json:
            click.echo(json.dumps({**found.to_dict(), "unmet": misses}))
        else:
            _show(found, misses)
        code = max(code, FAILURE) if misses else code
        if found.is_interrupted:
            sys.exit(INTERRUPTED)
    sys.exit(code)


def _misses(found: Evaluation, requirements: tuple[tuple[str, str, float], ...]) -> list[str]:
    figures = {figure.name: figure for figure in found.figures}
    misses = []
    for name, sign, bound in requirements:
        if name not in figures:
            misses.append(f"{name}{sign}{bound:g}: not measured")
        elif not _COMPARISONS[sign](figures[name].value, bound):
            misses.append(f"{name}{sign}{bound:g}: it is {figures[name].value:.3f}")
    return misses


def _show(found: Evaluation, misses: list[str]) -> None:
    from rich.console import Console

    from ggp.cli.tables import plain_text, results_table

    console = Console(highlight=False)
    title = f"{found.game}: {', '.join(found.roles)}"
    table = results_table(title, ["figure"], ["value", "95 % interval", "rank %", "sample"], ["from"])
    table.columns[0].min_width = max(map(len, DEFINITIONS))
    for figure in found.figures:
        place = percentile(figure.name, figure.value)
        rank = "" if place is None else str(place)
        interval = "exact" if figure.source == EXACT else f"{figure.low:.3f} to {figure.high:.3f}"
        numbers = f"{figure.value:.3f}", interval, rank, f"{figure.sample:,}"
        table.add_row(figure.name, *numbers, figure.source)
    console.print(table)
    for line in (*found.notes, *(f"not met: {miss}" for miss in misses)):
        console.print(plain_text(line), soft_wrap=True)
