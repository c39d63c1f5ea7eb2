"""`ggp items`: questions about games with answers from the engine."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import click

from gdl.errors import GdlError
from ggp.cli.options import Count, Seconds, engine_option
from ggp.game import GameError
from ggp.items.making import KINDS, SCHEMA, ItemMaker, ItemTerms
from ggp.items.wording import NOTATIONS, Notation

SUCCESS, FAILURE = 0, 1


class Kinds(click.ParamType):  # type: ignore[type-arg]
    """Kinds of question, separated by commas."""

    name = "kinds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        kinds = tuple(dict.fromkeys(kind.strip() for kind in value.split(",")))
        for kind in kinds:
            if kind not in KINDS:
                self.fail(f"unknown kind {kind!r}; kinds are {', '.join(KINDS)}", param, ctx)
        return kinds


@click.command("items")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--count", default=100, show_default=True, type=Count(1, 100_000_000), help="Items for each game."
)
@click.option("--seed", default=0, show_default=True, type=int, help="Random seed of all items.")
@click.option(
    "--kinds",
    default=KINDS,
    type=Kinds(),
    metavar="KINDS",
    help=f"Kinds of question, comma-separated: {', '.join(KINDS)}.  [default: all]",
)
@click.option(
    "--notation",
    default="kif",
    show_default=True,
    type=click.Choice(NOTATIONS),
    help="How rules, states and answers are written.",
)
@click.option("--scramble", is_flag=True, help="Replace all names in the rules by meaningless ones.")
@click.option(
    "--horizon",
    default=5,
    show_default=True,
    type=Count(2, 1000),
    help="Joint moves that a question looks ahead at most.",
)
@click.option(
    "--step-limit",
    default=200,
    show_default=True,
    type=Count(1, 100_000),
    help="Joint moves after which a random match is cut.",
)
@click.option(
    "--states",
    default=100_000,
    show_default=True,
    type=Count(0, 100_000_000),
    help="Solve games of at most this many states for the kinds value and best.",
)
@click.option(
    "--budget", default=600.0, show_default=True, type=Seconds(0.1), help="Time for the items of each game."
)
@click.option("--with-rules", is_flag=True, help="Put the rules into every question.")
@engine_option
def command(
    files: tuple[str, ...],
    count: int,
    seed: int,
    kinds: tuple[str, ...],
    notation: Notation,
    scramble: bool,
    horizon: int,
    step_limit: int,
    states: int,
    budget: float,
    with_rules: bool,
    engine: str,
) -> None:
    """Ask questions about the games in FILE..., with their right answers, as JSON Lines.

    Questions are about states of random matches. Before the items of a game comes a line with its rules.
    Games that are small enough are solved, for questions about values and best moves.

    Exit code: 0 success, 1 a file cannot be read or played, or has fewer questions than --count, 2 wrong
    usage.
    """
    terms = ItemTerms(count, seed, kinds, notation, scramble, horizon, step_limit, states, budget)
    names: dict[str, int] = {}
    code = SUCCESS
    for file in files:
        try:
            is_complete = _write_items(file, engine, terms, names, with_rules=with_rules)
            code = code if is_complete else FAILURE
        except BrokenPipeError:
            raise
        except (GdlError, GameError, OSError, RecursionError, MemoryError) as error:
            code = FAILURE
            click.echo(f"{file}: {error or type(error).__name__}", err=True)
    sys.exit(code)


def _write_items(
    file: str, engine: str, terms: ItemTerms, names: dict[str, int], *, with_rules: bool
) -> bool:
    """Write the rules and items of one game; returns whether there are as many as requested.

    names   how many games of each name there were: their items have ids of their own
    """
    from ggp.cli.loading_status import load_visibly

    game = load_visibly(file, engine)
    names[game.name] = names.get(game.name, 0) + 1
    name = game.name if names[game.name] == 1 else f"{game.name}.{names[game.name]}"
    maker = ItemMaker(game, terms, name=name)
    rules = maker.wording.rules()
    write: Callable[[str], Any] = sys.stdout.write
    write(json.dumps({"schema": SCHEMA, "kind": "rules", "game": name, "rules": rules}) + "\n")
    heading = f"Rules:\n{rules}\n\n" if with_rules else ""
    written = 0
    for item in maker.items():
        write(item.to_json(heading) + "\n")
        written += 1
    sys.stdout.flush()
    for note in maker.notes:
        click.echo(f"{file}: {note}", err=True)
    return written == terms.count
