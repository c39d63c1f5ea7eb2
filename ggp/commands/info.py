"""`ggp info`: what kind of game is this?"""

from __future__ import annotations

import json

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ggp.board_finder import find_board
from ggp.info import GameInfo, describe
from ggp.live_view import state_view
from ggp.loading import load


@click.command("info")
@click.argument("file", metavar="FILE")
@click.option("--engine", default="auto", show_default=True, help="auto, reasoner or prolog.")
@click.option("--playouts", default=50, show_default=True, type=click.IntRange(1), help="At most so many.")
@click.option(
    "--seconds", default=2.0, show_default=True, type=click.FloatRange(0.0), help="Time for the playouts."
)
@click.option("--seed", default=0, show_default=True, type=int)
@click.option("--json", "is_json", is_flag=True, help="One JSON object.")
def command(file: str, engine: str, playouts: int, seconds: float, seed: int, is_json: bool) -> None:
    """Tell roles, kind, relations and size of the game in FILE, by its rules and by random playouts."""
    try:
        game = load(file, engine)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    info = describe(game, playouts=playouts, seconds=seconds, seed=seed)
    if is_json:
        click.echo(json.dumps(info.to_dict()))
        return
    console = Console(highlight=False)
    console.print(_overview(info))
    console.print(_predicate_table(info))
    facts = game.facts(game.initial_state())
    console.print(Text(f"\ninitial state, {len(facts)} facts", style="bold"))
    console.print(state_view(find_board(game.program, facts), facts))


def _overview(info: GameInfo) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_row(Text("game", style="bold"), Text(info.game))
    table.add_row(Text("roles", style="bold"), Text(", ".join(info.roles)))
    for index, trait in enumerate(info.traits):
        table.add_row(Text("" if index else "kind", style="bold"), Text(f"{trait.name}: {trait.ground}"))
    table.add_row(Text("rules", style="bold"), Text(f"{info.rules}, {info.strata} strata"))
    table.add_row(Text("fluents", style="bold"), Text(", ".join(info.fluents)))
    for name, text in _playout_lines(info):
        table.add_row(Text(name, style="bold"), Text(text))
    return table


def _playout_lines(info: GameInfo) -> list[tuple[str, str]]:
    ends = "".join(
        f", {count} {word}" for count, word in ((info.stuck, "stuck"), (info.cut, "cut short")) if count
    )
    lines = [("playouts", f"{info.playouts} at random{ends}")]
    if info.mean_moves is not None and info.most_moves is not None:
        moves = ", ".join(
            f"{role} {average:g} (at most {most})"
            for role, average, most in zip(info.roles, info.mean_moves, info.most_moves, strict=True)
        )
        lines.append(("branching", f"mean legal moves {moves}; joint moves {info.mean_joint_moves:g}"))
    if info.mean_length is not None:
        lines.append(("length", f"mean {info.mean_length:g} steps, {info.shortest} to {info.longest}"))
    if info.mean_goals is not None:
        goals = ", ".join(
            f"{role} {'none' if goal is None else f'{goal:g}'}"
            for role, goal in zip(info.roles, info.mean_goals, strict=True)
        )
        lines.append(("mean goals", goals))
    return lines


def _predicate_table(info: GameInfo) -> Table:
    table = Table(title=Text("relations"), title_justify="left")
    for heading in ("relation", "depends on", "stratum", "rules", "facts"):
        table.add_column(heading, justify="left" if heading in ("relation", "depends on") else "right")
    for predicate in info.predicates:
        kind = {"static": "-", "state": "state", "move": "state and moves"}[predicate.kind]
        table.add_row(
            Text(predicate.name), kind, str(predicate.stratum), str(predicate.rules), str(predicate.facts)
        )
    return table
