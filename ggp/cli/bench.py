"""`ggp bench`: the speed of an engine, or of the tree search, per CPU second."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import click

from gdl.errors import GdlError
from ggp.bench.measurement import Measurement
from ggp.cli.options import Amount, engine_option, json_option
from ggp.cli.progress import load_compiled, load_visibly
from ggp.engines.loading import RulesNotFoundError, find_rules
from ggp.game import GameError
from ggp.search.tree.policies.policy import PolicyError, parse_policy

SUCCESS, FAILURE, UNREADABLE = 0, 1, 2
FAILURES = (GdlError, GameError, OSError, ImportError, ValueError)
"""Errors of the input, not of the program, that prevent a measurement."""

Column: TypeAlias = "tuple[str, Callable[[Measurement], str]]"


@click.command("bench")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@engine_option
@click.option(
    "--seconds",
    default=3.0,
    type=Amount(0.01),
    help="CPU time per game; with --policy, wall-clock time per policy.",
)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    help="Measure the tree search with this policy on lanes instead; repeatable.",
)
@json_option
def command(
    files: tuple[str, ...],
    engine: str,
    seconds: float,
    policies: tuple[str, ...],
    is_json: bool,
) -> None:
    """Measure how fast an engine plays uniformly random matches of each FILE.

    Exit code: 0 if all were measured, 1 if one failed, 2 wrong usage or a file that cannot be read.
    """
    if policies and engine not in ("auto", "lanes"):
        raise click.UsageError(f"--policy is measured on lanes, not with {engine}")
    for policy in policies:
        try:
            parse_policy(policy)
        except PolicyError as error:
            raise click.UsageError(str(error)) from None
    present = [file for file in files if _is_found(file, is_json=is_json)]  # before numba is imported
    if not present:
        sys.exit(UNREADABLE)
    results: list[Measurement] = []
    code = SUCCESS if len(present) == len(files) else UNREADABLE
    try:
        for file in present:
            try:
                for result in _measure(file, engine, policies, seconds):
                    results.append(result)
                    click.echo(json.dumps(result) if is_json else "", nl=is_json)
            except FAILURES as error:
                _report_failure(file, error, is_json=is_json)
                code = max(code, UNREADABLE if isinstance(error, OSError) else FAILURE)
    finally:  # Ctrl-C keeps the measurements so far
        if results and not is_json:
            _print_results(results, SEARCH_COLUMNS if policies else ENGINE_COLUMNS)
    sys.exit(code)


def _is_found(file: str, *, is_json: bool) -> bool:
    try:
        find_rules(file)
    except RulesNotFoundError as error:
        _report_failure(file, error, is_json=is_json)
        return False
    return True


def _measure(file: str, engine: str, policies: Sequence[str], seconds: float) -> Iterator[Measurement]:
    """Measure one game: the tree search with every policy, or the engine if there are none."""
    from ggp.bench.engines import measure_engine
    from ggp.bench.search import measure_search
    from ggp.search.tree.options import MctsOptions

    if not policies:
        yield measure_engine(partial(load_visibly, file, engine), seconds=seconds)
        return
    game, options = load_compiled(file), MctsOptions(threads=1)
    for policy in policies:
        yield measure_search(game, policy, seconds=seconds, options=options)


def _report_failure(file: str, error: Exception, *, is_json: bool) -> None:
    if is_json:
        click.echo(json.dumps({"game": file, "error": str(error)}))
    else:
        click.echo(str(error) if str(error).startswith(file) else f"{file}: {error}", err=True)


def _print_results(results: Sequence[Measurement], columns: Sequence[Column]) -> None:
    from rich.console import Console

    from ggp.cli.tables import results_table

    names = [name for name, _ in columns]
    table = results_table("per CPU second", names[:2], names[2:])
    table.pad_edge = False  # fits 80 columns
    for result in results:
        table.add_row(*(cell(result) for _, cell in columns))
    console = Console(highlight=False)
    console.print(table)
    for result in results:
        for note in _notes(result):
            console.print(f"{result['game']}: {note}", soft_wrap=True)


def _short(value: float) -> str:
    """Three digits and a thousands letter: 19.6M."""
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g}{letter}"
    return f"{value:.3g}"


_STATES = "states_per_cpu_second"
ENGINE_COLUMNS: tuple[Column, ...] = (
    ("game", lambda result: str(result["game"])),
    ("engine", lambda result: str(result["engine"])),
    ("set-up s", lambda result: f"{result['setup_seconds']:.3f}"),
    ("playouts/s", lambda result: _short(result["playouts_per_cpu_second"])),
    ("states/s", lambda result: _short(result[_STATES])),
    ("ns/state", lambda result: _short(1e9 / states) if (states := result[_STATES]) else "-"),
    ("length", lambda result: f"{result['mean_length']:.1f}" if result["playouts"] else "-"),
)
SEARCH_COLUMNS: tuple[Column, ...] = (
    ("game", lambda result: str(result["game"])),
    ("policy", lambda result: str(result["policy"])),
    ("playouts/s", lambda result: _short(result["playouts_per_cpu_second"])),
    ("descents/s", lambda result: _short(result["descents_per_cpu_second"])),
    ("depth", lambda result: f"{result['mean_depth']:.1f}/{result['deepest']}"),
    ("nodes", lambda result: _short(result["nodes"]) + (" full" if result["is_full"] else "")),
    ("warm-up s", lambda result: f"{result['warm_up_seconds']:.2f}"),
)


def _notes(result: Measurement) -> list[str]:
    """Notes below the table: unusual ends of playouts, and the size of a game on lanes."""
    ends = {"stuck": "stuck", "cut": "cut", "without_goal": "goals missing"}
    notes = [f"{result[key]} {text}" for key, text in ends.items() if result.get(key)]
    if "tick_seconds" in result:
        size = f"{result['literals']:,} literals, {result['lanes']} lanes"
        notes.append(f"{size}, {result['tick_seconds'] * 1e6:.1f} µs a tick")
    return notes
