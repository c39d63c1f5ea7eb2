"""`ggp items`: questions about games with answers from the engine, and grading of other answers."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from gdl.errors import GdlError
from ggp.cli.options import INPUT_FILE, Count, Limit, Seconds, json_option, limit_option, seed_option
from ggp.cli.progress import load_visibly
from ggp.game import GameError
from ggp.items.grading import Grades, GradingError, grade_files
from ggp.items.making import KINDS, SCHEMA, ItemMaker, ItemTerms
from ggp.items.wording import NOTATIONS

_SOLVED = "maximum states of a game that is solved, for the kinds value and best"


def _kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(dict.fromkeys(kind.strip() for kind in text.split(",")))
    for kind in kinds:
        if kind not in KINDS:
            raise click.BadParameter(f"unknown kind {kind!r}; kinds are {', '.join(KINDS)}")
    return kinds


@click.group("items")
def command() -> None:
    """Make questions about games, with right answers from the engine, and grade answers to them."""


@command.command("make")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--count", default=100, type=Count(1, 100_000_000), help="Items for each game.")
@seed_option("Random seed of all items.")
@click.option(
    "--kinds",
    default=",".join(KINDS),
    show_default=False,
    type=_kinds,
    metavar="KINDS",
    help=f"Kinds of question, comma-separated: {', '.join(KINDS)}.  [default: all]",
)
@click.option(
    "--notation", default="kif", type=click.Choice(NOTATIONS), help="Notation of rules, states and answers."
)
@click.option(
    "--scramble", "is_scrambled", is_flag=True, help="Replace all names in the rules by meaningless ones."
)
@click.option("--with-rules", is_flag=True, help="Put the rules into every question.")
@limit_option(
    Limit("horizon", Count(2, 1000), 5, "maximum joint moves that a question looks ahead"),
    Limit("steps", Count(1, 100_000), 200, "joint moves of a random match"),
    Limit("states", Count(0, 100_000_000), 100_000, _SOLVED),
    Limit("seconds", Seconds(0.1), 600, "for each game"),
)
def make_command(files: tuple[str, ...], with_rules: bool, limits: dict[str, Any], **given: Any) -> None:
    """Ask questions about the games in FILE..., with their right answers, as JSON Lines.

    Questions are about states of random matches. Before the items of a game comes a line with its rules.
    Games that are small enough are solved, for questions about values and best moves.

    Exit code: 0 success, 1 a file cannot be read or played, or has fewer questions than --count, 2 wrong
    usage.
    """
    names_of = {"steps": "step_limit", "states": "solver_states"}
    terms = ItemTerms(**given, **{names_of.get(name, name): limit for name, limit in limits.items()})
    names: Counter[str] = Counter()
    code = 0
    for file in files:
        try:
            code |= not _write_items(file, terms, names, with_rules=with_rules)
        except BrokenPipeError:
            raise
        except (GdlError, GameError, OSError, RecursionError, MemoryError) as error:
            code = 1
            click.echo(f"{file}: {error or type(error).__name__}", err=True)
    sys.exit(code)


def _write_items(file: str, terms: ItemTerms, names: Counter[str], *, with_rules: bool) -> bool:
    """Write the rules and items of one game; returns whether there are as many as requested.

    names   number of games of each name so far, to give their items distinct ids
    """
    game = load_visibly(file)
    names[game.name] += 1
    name = game.name if names[game.name] == 1 else f"{game.name}.{names[game.name]}"
    maker = ItemMaker(game, terms, name=name)
    rules = maker.wording.rules()
    sys.stdout.write(json.dumps({"schema": SCHEMA, "kind": "rules", "game": name, "rules": rules}) + "\n")
    heading = f"Rules:\n{rules}\n\n" if with_rules else ""
    written = 0
    for item in maker.items():
        sys.stdout.write(item.to_json(heading) + "\n")
        written += 1
    sys.stdout.flush()
    for note in maker.notes:
        click.echo(f"{file}: {note}", err=True)
    return written == terms.count


@command.command("grade")
@click.argument("items", type=INPUT_FILE)
@click.argument("answers", type=INPUT_FILE)
@json_option
def grade_command(items: Path, answers: Path, is_json: bool) -> None:
    """Score ANSWERS to the questions in ITEMS, by kind, game and difficulty.

    ITEMS comes from `ggp items make`. ANSWERS has a line {"id": ..., "answer": ...} for each item; the answer
    is a list, a number, true or false, or such a value as text. Missing and unreadable answers are wrong.

    Exit code: 0 success, 1 ITEMS does not hold items, 2 wrong usage or a file that does not exist.
    """
    try:
        grades = grade_files(items, answers)
    except GradingError as error:
        click.echo(f"{items}: {error}", err=True)
        sys.exit(1)
    if is_json:
        click.echo(json.dumps(grades.to_dict()))
    else:
        _show(grades)


def _show(grades: Grades) -> None:
    from rich.console import Console

    from ggp.cli.tables import plain_text, results_table

    headings = "items", "invalid", "correct", "95 %", "overlap", "regret"
    table = results_table("", ["items of"], headings)
    table.pad_edge = False  # fits 80 columns
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
        console.print(f"answers to no item, or to one answered before: {grades.strange:,}")


def _by_number(entry: tuple[str, object]) -> tuple[int, str]:
    first = entry[0].partition("-")[0]
    return (int(first) if first.isdigit() else -1, entry[0])
