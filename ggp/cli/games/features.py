"""`ggp games features`: the board features that FAST recognizes, and their weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ggp.analysis.board import Cell, layout
from ggp.cli.progress import load_compiled
from ggp.cli.tables import results_table
from ggp.game import GameError

if TYPE_CHECKING:
    from ggp.features.report import FeatureReport


_GOOD, _BAD, _EVEN = (34, 139, 84), (200, 60, 50), (245, 245, 240)
EPISODES = 1024
"""Playouts to learn from: the number that FAST uses."""


@click.command("features")
@click.argument("file", metavar="FILE")
def command(file: str) -> int:
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
        click.echo(f"{game.name}: no board with pieces of the roles recognized", err=True)
        return 1
    _print_report(report)
    return 0 if report.weights is not None else 1


def _print_report(report: FeatureReport) -> None:
    console = Console(highlight=False)
    columns, rows = report.size
    fluents = ", ".join(layer.name for layer in report.features.board.layers)
    console.print(f"{report.game.name}: board of {columns} × {rows} cells, {fluents}")
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
    largest = max((abs(value) for values in maps.values() for value in values.values()), default=0.0)
    for title, values in maps.items():
        console.print(f"\n{title}", _heat_text(report, values, largest), sep="\n")


def _piece_table(report: FeatureReport) -> Table:
    weights = [report.piece_weights(p) for p in range(len(report.features.pieces))]
    table = results_table(
        "", ["piece", "owner"], [f"for {role}" for role in report.game.roles if any(weights)]
    )
    for piece, of_piece in zip(report.features.pieces, weights, strict=True):
        owner = "" if piece.owner < 0 else str(report.game.roles[piece.owner])
        table.add_row(piece.name, owner, *(f"{weight:.1f}" for weight in of_piece))
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


def _heat_text(report: FeatureReport, values: dict[Cell, float], largest: float) -> Text:
    """The board with the value of each cell on its color."""
    text = Text()
    for line in layout(report.features.board, {cell: f"{value:.0f}" for cell, value in values.items()}):
        for piece, cell in line:
            value = None if cell is None else values.get(cell)
            color = "" if value is None else "black on rgb({},{},{})".format(*heat_color(value, largest))
            text.append(piece, style=color)
        text.append("\n")
    text.rstrip()
    return text


def heat_color(value: float, largest: float) -> tuple[int, int, int]:
    """Red for bad, green for good, stronger towards `largest`.

    >>> heat_color(5.0, 5.0), heat_color(0.0, 5.0)
    ((34, 139, 84), (245, 245, 240))
    """
    share = min(1.0, abs(value) / largest) if largest > 0 else 0.0
    end = _GOOD if value > 0 else _BAD
    red, green, blue = (round(even + share * (full - even)) for even, full in zip(_EVEN, end, strict=True))
    return red, green, blue
