"""`ggp bench`: random playouts per CPU second."""

from __future__ import annotations

import json
import sys
from functools import partial

import click
from rich import box
from rich.console import Console
from rich.table import Table

from gdl.errors import GdlError
from ggp.bench import Measurement, calibrate, measure
from ggp.game import GameError
from ggp.loading import ENGINES, load

COLUMNS = ("game", "engine", "set-up s", "playouts/s", "states/s", "length", "note")


@click.command("bench")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--engine", default="auto", show_default=True, type=click.Choice(ENGINES))
@click.option(
    "--seconds", default=3.0, show_default=True, type=click.FloatRange(0.01), help="CPU time per game."
)
@click.option("--seed", default=0, show_default=True, type=int)
@click.option("--json", "is_json", is_flag=True, help="One JSON object per line and game.")
def command(files: tuple[str, ...], engine: str, seconds: float, seed: int, is_json: bool) -> None:
    """Measure how fast an engine plays uniformly random matches of each FILE.

    Exit code: 0 all were measured, 1 one could not be.
    """
    calibration = calibrate()
    table = Table(box=box.SIMPLE_HEAD, title_justify="left")
    for column in COLUMNS:
        is_text = column in ("game", "engine", "note")
        table.add_column(column, justify="left" if is_text else "right", no_wrap=column != "note")
    failed = False
    for file in files:
        try:
            result = measure(
                partial(load, file, engine),
                engine=engine,
                seconds=seconds,
                seed=seed,
                calibration_seconds=calibration,
            )
        except (GdlError, GameError, OSError, ImportError, ValueError) as error:
            failed = True
            problem = {"game": file, "engine": engine, "error": str(error)}
            if is_json:
                click.echo(json.dumps(problem))
            else:
                click.echo(str(error) if str(error).startswith(file) else f"{file}: {error}", err=True)
            continue
        if is_json:
            click.echo(json.dumps(result.to_dict()))
        else:
            table.add_row(*_cells(result))
    if not is_json and table.row_count:
        table.title = f"per CPU second (calibration loop: {calibration:.3f} CPU s)"
        Console(highlight=False).print(table)
    sys.exit(1 if failed else 0)


def _cells(result: Measurement) -> tuple[str, ...]:
    notes = []
    if result.stuck:
        notes.append(f"{result.stuck} stuck")
    if result.without_goal:
        notes.append(f"{result.without_goal} goals missing")
    return (
        result.game,
        result.engine,
        f"{result.setup_seconds:.3f}",
        f"{result.playouts_per_cpu_second:,.1f}",
        f"{result.states_per_cpu_second:,.0f}",
        f"{result.mean_length:.1f}" if result.playouts else "-",
        ", ".join(notes),
    )
