"""`ggp games features`: the board features that FAST recognizes, and their weights."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ggp.cli.options import OutputFile, json_option
from ggp.cli.progress import load_compiled
from ggp.cli.tables import results_table
from ggp.files import write_text
from ggp.game import GameError

if TYPE_CHECKING:
    from ggp.features.drawing import HeatMap
    from ggp.features.report import FeatureReport


EPISODES = 1024
"""Playouts to learn from: the number that FAST uses."""


@click.command("features")
@click.argument("file", metavar="FILE")
@click.option("--draw", type=OutputFile(), metavar="NAME.svg", help="Draw the weights in this SVG file.")
@json_option
def command(file: str, draw: Path | None, is_json: bool) -> int:
    """Show the board, pieces and moves that FAST recognizes in FILE, and their learned weights.

    Exit code: 0 success, 1 if nothing is recognized or learned.
    """
    try:
        game = load_compiled(file)

        from ggp.features.report import report_features

        report = report_features(game, episodes=EPISODES)
    except (GameError, ImportError, ValueError) as error:
        raise click.ClickException(f"{file}: {error}") from None
    if report is None:
        text = f"{game.name}: no board with pieces of the roles recognized"
        click.echo(json.dumps({"game": game.name, "board": None}) if is_json else text, err=not is_json)
        return 1
    if draw is not None:
        write_text(draw, _drawing(report))
    if is_json:
        click.echo(json.dumps(report.to_dict()))
    else:
        _print_report(report)
    return 0 if report.weights is not None else 1


def _drawing(report: FeatureReport) -> str:
    from ggp.features.drawing import draw_bars, draw_heat_maps

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
        why = "no time to learn" if report.cases else "the features do not distinguish moves"
        console.print(f"{why}: FAST falls back to MAST")
        return
    console.print(
        f"{weights.kind} weights in goal points, from {weights.episodes} playouts"
        f" (mean prediction error {weights.error:.1f})"
    )
    maps = report.heat_maps()
    largest = max((abs(value) for heat in maps for value in heat.values.values()), default=0.0)
    for heat in maps:
        console.print(f"\n{heat.title}", _heat_text(report, heat, largest), sep="\n")


def _piece_table(report: FeatureReport) -> Table:
    weights = [report.piece_weights(p) for p in range(len(report.features.pieces))]
    table = results_table(
        "", ["piece", "owner"], [f"for {role}" for role in report.game.roles if any(weights)]
    )
    for piece, owner, of_piece in zip(report.features.pieces, report.owners, weights, strict=True):
        table.add_row(piece.name, owner or "", *(f"{weight:.1f}" for weight in of_piece))
    return table


def _move_table(report: FeatureReport) -> Table:
    table = results_table("", ["role", "move", "source", "target", "moves", "can capture"], [])
    for family in report.features.families:
        target = _arguments(family.target)
        if family.file is not None:
            target = f"free cell of file {_arguments((family.file,))}"
        role = str(report.game.roles[family.role])
        pattern = f"({' '.join((family.name, _arguments(range(family.arity)))).strip()})"
        moves, capturing = str(len(family.moves)), str(report.capturing(family) or "")
        table.add_row(role, pattern, _arguments(family.source), target, moves, capturing)
    return table


def _arguments(places: Iterable[int] | None) -> str:
    """Arguments of a move by their places: ?1 ?2."""
    return " ".join(f"?{i + 1}" for i in places or ())


def _heat_text(report: FeatureReport, heat: HeatMap, largest: float) -> Text:
    from ggp.features.drawing import heat_color, heat_lines

    text = Text()
    for line in heat_lines(report.features.board, heat):
        for piece, value in line:
            color = "" if value is None else "black on rgb({},{},{})".format(*heat_color(value, largest))
            text.append(piece, style=color)
        text.append("\n")
    text.rstrip()
    return text
