"""`ggp features`: what FAST recognizes of a game and what it learns."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ggp.commands.loading_status import load_visibly
from ggp.commands.options import Amount
from ggp.feature_drawing import HeatMap, draw_bars, draw_heat_maps, heat_color, heat_lines
from ggp.game import GameError
from ggp.search.options import FEATURE_KINDS
from ggp.written_files import write_text

if TYPE_CHECKING:
    from ggp.feature_report import FeatureReport
    from ggp.features import MoveFamily


@click.command("features")
@click.argument("file", metavar="FILE")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--episodes", default=1024, show_default=True, type=click.IntRange(1), help="Playouts to learn from."
)
@click.option("--seconds", type=Amount(0.0), help="Stop after about so long.")
@click.option(
    "--kind", default="auto", show_default=True, type=click.Choice(FEATURE_KINDS), help="Learn of these."
)
@click.option("--seed", default=0, show_default=True, type=int)
@click.option(
    "--draw", type=click.Path(dir_okay=False, path_type=Path), help="Draw the weights into this SVG."
)
def command(
    file: str, is_json: bool, episodes: int, seconds: float | None, kind: str, seed: int, draw: Path | None
) -> int:
    """Show the board of the game in FILE, its pieces and moves as FAST sees them, and what they are worth.

    The exit code is 1 where nothing is recognized.
    """
    import numpy as np

    from ggp.compiled_game import CompiledGame
    from ggp.feature_report import report_features
    from ggp.recorded_playouts import record_playouts

    try:
        game = load_visibly(file, "lanes")
        assert isinstance(game, CompiledGame)
        deadline = math.inf
        if seconds is not None:
            record_playouts(game, np.arange(0), deadline=-math.inf)  # compiles kernels before the clock runs
            deadline = time.monotonic() + seconds
        report = report_features(game, kind, episodes=episodes, seed=seed, deadline=deadline)
    except (GameError, ImportError, ValueError) as error:
        raise click.ClickException(f"{file}: {error}") from None
    if report is None:
        if is_json:
            click.echo(json.dumps({"game": game.name, "board": None}))
        else:
            click.echo(f"{game.name}: no board with pieces of the roles is recognized", err=True)
        return 1
    if draw is not None:
        write_text(draw, _drawing(report))
    if is_json:
        click.echo(json.dumps(report.to_dict()))
    else:
        _print_report(report)
    return 0 if report.weights is not None else 1


def _drawing(report: FeatureReport) -> str:
    maps = report.heat_maps()
    return draw_heat_maps(report.features.board, maps) if maps else draw_bars(report.bars())


def _print_report(report: FeatureReport) -> None:
    console = Console(highlight=False)
    columns, rows = report.size
    console.print(f"{report.game.name}: board of {columns} × {rows} cells, {', '.join(report.board_names)}")
    console.print(_piece_table(report))
    console.print(_move_table(report))
    weights = report.weights
    if weights is None:
        why = "there was no time to learn" if report.cases else "no move is worth anything by these features"
        console.print(f"{why}: FAST plays by MAST")
        return
    console.print(
        f"weights of {weights.kind}, in goals, from {weights.episodes} playouts"
        f" (predictions are off by {weights.error:.1f})"
    )
    maps = report.heat_maps()
    largest = max((abs(value) for heat in maps for value in heat.values.values()), default=0.0)
    for heat in maps:
        console.print()
        console.print(heat.title)
        console.print(_heat_text(report, heat, largest))


def _piece_table(report: FeatureReport) -> Table:
    table = Table("piece", "owner", box=box.SIMPLE_HEAD)
    is_weighed = any(report.piece_weights(p) for p in range(len(report.features.pieces)))
    for role in report.game.roles if is_weighed else ():
        table.add_column(f"for {role}", justify="right")
    for p, (piece, owner) in enumerate(zip(report.features.pieces, report.owners, strict=True)):
        table.add_row(piece.name, owner or "", *(f"{weight:.1f}" for weight in report.piece_weights(p)))
    return table


def _move_table(report: FeatureReport) -> Table:
    table = Table("role", "move", "source", "target", "moves", "can capture", box=box.SIMPLE_HEAD)
    for family in report.features.families:
        target = _arguments(family.target)
        if family.file is not None:
            target = f"free cell of file {_arguments((family.file,))}"
        table.add_row(
            str(report.game.roles[family.role]),
            _pattern(family),
            _arguments(family.source),
            target,
            str(len(family.moves)),
            str(report.capturing(family) or ""),
        )
    return table


def _pattern(family: MoveFamily) -> str:
    """Like (move a1 a2 a3 a4)."""
    return f"({' '.join((family.name, *(f'a{i + 1}' for i in range(family.arity))))})"


def _arguments(places: tuple[int, ...] | None) -> str:
    return "" if places is None else " ".join(f"a{i + 1}" for i in places)


def _heat_text(report: FeatureReport, heat: HeatMap, largest: float) -> Text:
    text = Text()
    for line in heat_lines(report.features.board, heat):
        for piece, value in line:
            if value is None:
                text.append(piece)
            else:
                red, green, blue = heat_color(value, largest)
                text.append(piece, style=f"black on rgb({red},{green},{blue})")
        text.append("\n")
    text.rstrip()
    return text
