"""`ggp bench`: random playouts per CPU second."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from ggp.bench import calibrate, measure_engine
from ggp.commands.bench_search import FAILURES, bench_searches, tell_failure
from ggp.commands.loading_status import load_visibly
from ggp.commands.options import Amount
from ggp.loading import ENGINES

COLUMNS = ("game", "engine", "set-up s", "playouts/s", "states/s", "ns/state", "length")


@click.command("bench")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--engine", default="auto", show_default=True, type=click.Choice(ENGINES))
@click.option("--seconds", default=3.0, show_default=True, type=Amount(0.01), help="CPU time per game.")
@click.option("--seed", default=0, show_default=True, type=int)
@click.option("--threads", default=1, show_default=True, type=click.IntRange(1, 256), help="Lanes only.")
@click.option(
    "--words",
    type=click.Choice(("1", "2", "4", "8", "16")),
    help="Width of a row in words of 64 games. Lanes only.  [default: the faster of two]",
)
@click.option("--no-cache", is_flag=True, help="Compile anew, whatever the cache holds.")
@click.option("--search", "is_search", is_flag=True, help="Measure the tree search on lanes instead.")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    help="With --search; repeatable.  [default: uniform, mast, rave+mast]",
)
@click.option("--json", "is_json", is_flag=True, help="One JSON object per line and game.")
def command(
    files: tuple[str, ...],
    engine: str,
    seconds: float,
    seed: int,
    threads: int,
    words: str | None,
    no_cache: bool,
    is_search: bool,
    policies: tuple[str, ...],
    is_json: bool,
) -> None:
    """Measure how fast an engine plays uniformly random matches of each FILE.

    Exit code: 0 all were measured, 1 one could not be.
    """
    if policies and not is_search:
        raise click.UsageError("--policy goes with --search")
    if is_search and engine not in ("auto", "lanes"):
        raise click.UsageError(f"--search is measured on lanes, not with {engine}")
    if is_search:
        is_complete = bench_searches(
            files,
            policies,
            seconds=seconds,
            seed=seed,
            threads=threads,
            words=None if words is None else int(words),
            use_cache=not no_cache,
            is_json=is_json,
        )
        sys.exit(0 if is_complete else 1)
    calibration = calibrate()
    table = Table(box=box.SIMPLE_HEAD, title_justify="left")
    for column in COLUMNS:
        is_text = column in ("game", "engine")
        table.add_column(column, justify="left" if is_text else "right", no_wrap=True)
    failed = False
    notes: list[str] = []
    for file in files:
        try:
            result = measure_engine(
                partial(load_visibly, file, engine, use_cache=not no_cache),
                seconds=seconds,
                seed=seed,
                threads=threads,
                words=None if words is None else int(words),
                calibration_seconds=calibration,
            )
        except FAILURES as error:
            failed = True
            tell_failure(file, error, is_json=is_json)
            continue
        if is_json:
            click.echo(json.dumps(result))
        else:
            table.add_row(*_cells(result))
            notes += [f"{result['game']}: {note}" for note in _notes(result)]
    if not is_json and table.row_count:
        table.title = f"per CPU second (calibration loop: {calibration:.3f} CPU s)"
        console = Console(highlight=False)
        console.print(table)
        for note in notes:
            console.print(note, soft_wrap=True)
    sys.exit(1 if failed else 0)


def _cells(result: dict[str, Any]) -> tuple[str, ...]:
    states = result["states_per_cpu_second"]
    return (
        result["game"],
        result["engine"],
        f"{result['setup_seconds']:.3f}",
        _short(result["playouts_per_cpu_second"]),
        _short(states),
        _short(1e9 / states) if states else "-",
        f"{result['mean_length']:.1f}" if result["playouts"] else "-",
    )


def _short(value: float) -> str:
    """Three digits and a thousands letter: 19.6M."""
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g}{letter}"
    return f"{value:.3g}"


def _notes(result: dict[str, Any]) -> list[str]:
    notes = [f"{result['stuck']} stuck"] if result["stuck"] else []
    if result.get("cut"):
        notes.append(f"{result['cut']} cut")
    if result.get("without_goal"):
        notes.append(f"{result['without_goal']} goals missing")
    if result["engine"] == "lanes":
        parts = "/".join(f"{result[f'{part}_seconds'] * 1e6:.1f}" for part in ("settle", "choose", "step"))
        notes.append(
            f"{result['literals']:,} literals, {result['lanes']} lanes, "
            f"{parts} µs a tick (settle/choose/step)"
        )
    return notes
