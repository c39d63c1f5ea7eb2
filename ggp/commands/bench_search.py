"""`ggp bench --search`: playouts and descents of the tree search per CPU second."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from gdl.errors import GdlError
from ggp.commands.loading_status import load_visibly
from ggp.game import Game, GameError
from ggp.search.options import MctsOptions

FAILURES = (GdlError, GameError, OSError, ImportError, ValueError)
"""What keeps a file from being measured, without being a fault of ours."""

COLUMNS = ("game", "policy", "playouts/s", "descents/s", "depth", "nodes", "warm-up s")


def bench_searches(
    files: tuple[str, ...],
    policies: tuple[str, ...],
    *,
    seconds: float,
    seed: int,
    threads: int,
    words: int | None,
    use_cache: bool,
    is_json: bool,
) -> bool:
    """Measure every policy on every file and print the results; whether all could be measured."""
    table = Table(*COLUMNS, box=box.SIMPLE_HEAD, title="search, per CPU second", title_justify="left")
    for column in table.columns[2:]:
        column.justify = "right"
        column.no_wrap = True
    options = MctsOptions(threads=threads)
    if words is not None:
        options = replace(options, words=words)
    is_complete = True
    for file in files:
        try:
            game = load_visibly(file, "lanes", use_cache=use_cache)
            _bench_game(game, policies, seconds, seed, options, table, is_json)
        except FAILURES as error:
            is_complete = False
            tell_failure(file, error, is_json=is_json)
    if table.row_count:
        Console(highlight=False).print(table)
    return is_complete


def _bench_game(
    game: Game[Any],
    policies: tuple[str, ...],
    seconds: float,
    seed: int,
    options: MctsOptions,
    table: Table,
    is_json: bool,
) -> None:
    from ggp.compiled_game import CompiledGame
    from ggp.search_bench import POLICIES, measure_searches

    assert isinstance(game, CompiledGame)
    for result in measure_searches(game, policies or POLICIES, seconds=seconds, seed=seed, options=options):
        if is_json:
            click.echo(json.dumps(result.to_dict()))
            continue
        table.add_row(
            result.game,
            result.policy,
            _in_thousands(result.playouts_per_cpu_second),
            _in_thousands(result.descents_per_cpu_second),
            f"{result.mean_depth:.1f}/{result.deepest}",
            _in_thousands(result.nodes) + (" full" if result.is_full else ""),
            f"{result.warm_up_seconds:.2f}",
        )


def tell_failure(file: str, error: Exception, *, is_json: bool) -> None:
    """Say why a file could not be measured."""
    if is_json:
        click.echo(json.dumps({"game": file, "error": str(error)}))
    else:
        click.echo(str(error) if str(error).startswith(file) else f"{file}: {error}", err=True)


def _in_thousands(value: float) -> str:
    """Like 1,264k."""
    return f"{value / 1000:,.0f}k" if value >= 10_000 else f"{value:,.0f}"
