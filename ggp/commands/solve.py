"""`ggp solve`: what is a game worth, and how does one play it best?"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ggp.commands.loading_status import load_visibly
from ggp.commands.options import Amount, OutputFile
from ggp.compiled_game import CompiledGame
from ggp.root_value import (
    ALPHABETA,
    BRANCH_AND_BOUND,
    RootProgress,
    RootValue,
    find_root_value,
    search_method,
)
from ggp.solver import Limits, Progress, Solution, SolverError, SolverLimitError, save_solution
from ggp.solver.estimate import estimate_states
from ggp.solver.limits import DEFAULT_MEBIBYTES
from ggp.solver.solution import solve
from ggp.solver.stages import ENDLESS, RatedMove

AUTO, RETROGRADE = "auto", "retrograde"
BYTES_PER_STATE = 40
"""What must stay in memory of a state of a typical game, transitions not counted."""
TABLE_SHARE = 8
"""The part of the memory that a search's transposition table gets: more than that hardly helps."""
ESTIMATE_ERROR = 4
"""How many times too large a forecast may be."""
STATES_BEFORE_ESTIMATE = 5_000_000
"""A matter of seconds. Games cut off after some steps look endless before that (the 8-puzzle)."""


@click.command("solve")
@click.argument("file", metavar="FILE")
@click.option(
    "--method",
    default=AUTO,
    show_default=True,
    type=click.Choice([AUTO, RETROGRADE, ALPHABETA, BRANCH_AND_BOUND]),
    help="How.",
)
@click.option("--seconds", type=Amount(0.0), help="Give up after so long.")
@click.option(
    "--mebibytes",
    default=DEFAULT_MEBIBYTES,
    show_default=True,
    type=click.IntRange(64),
    help="Memory to use.",
)
@click.option("--states", type=click.IntRange(1), help="Give up beyond so many states.")
@click.option("--save", type=OutputFile(is_replaced=True), help="Write the solution to a file.")
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to work in: solving that is interrupted goes on there the next time.",
)
@click.option("--json", "is_json", is_flag=True, help="One JSON object.")
def command(
    file: str,
    method: str,
    seconds: float | None,
    mebibytes: int,
    states: int | None,
    save: Path | None,
    work: Path | None,
    is_json: bool,
) -> None:
    """Find what each role of the game in FILE gets under best play.

    retrograde finds all states and values each of them. alphabeta (two roles in turn, constant sum) and
    branch-and-bound (one role) search for the value of the initial state alone, in little memory. auto begins
    with retrograde and goes over to a search where there are too many states, or after half of --seconds.
    """
    game = load_visibly(file, "lanes")
    assert isinstance(game, CompiledGame)
    fallback = search_method(game) if method == AUTO and save is None else None
    if method in (ALPHABETA, BRANCH_AND_BOUND):
        _require_method(game, method, save, work)
    begin = time.monotonic()
    deadline = None if seconds is None else begin + seconds
    try:
        if method in (ALPHABETA, BRANCH_AND_BOUND):
            found: Solution | RootValue = _search(game, mebibytes, deadline)
        else:
            half = begin + seconds / 2 if seconds is not None and fallback else deadline
            limits = Limits(mebibytes=mebibytes, states=states, deadline=half, work_folder=work)
            found = _solve(game, limits, deadline, fallback)
    except SolverError as error:
        raise click.ClickException(f"{game.name}: {error}{_hint(error, work, save)}") from None
    if isinstance(found, Solution):
        if save is not None:
            save_solution(found, save)
        click.echo(json.dumps(summary(found)) if is_json else _text(found))
    else:
        click.echo(json.dumps(root_summary(found)) if is_json else root_text(found))


def _require_method(game: CompiledGame, method: str, save: Path | None, work: Path | None) -> None:
    if save is not None or work is not None:
        raise click.UsageError(f"--save and --work go with retrograde: {method} keeps no states")
    if search_method(game) != method:
        kind = "one role" if method == BRANCH_AND_BOUND else "two roles that see everything, without chance"
        raise click.UsageError(f"{method} is for games of {kind}; {game.name} is not one")


def _solve(
    game: CompiledGame, limits: Limits, deadline: float | None, fallback: str | None
) -> Solution | RootValue:
    """Retrograde, and where that meets a limit the search method `fallback`, if there is one."""
    if fallback is None:
        return _retrograde(game, limits)
    most = ESTIMATE_ERROR * (limits.mebibytes << 20) // BYTES_PER_STATE
    try:
        return _retrograde(game, replace(limits, estimated_states=most, estimate_from=STATES_BEFORE_ESTIMATE))
    except SolverLimitError as error:
        click.echo(
            f"{game.name}: {error}; {fallback} searches for the value of the initial state"
            " (it cannot be interrupted and gone on with)",
            err=True,
        )
    return _search(game, limits.mebibytes, deadline)


def _retrograde(game: CompiledGame, limits: Limits) -> Solution:
    with _progress_line() as is_shown:
        return solve(game, limits, report=_show_progress if is_shown else None)


def _search(game: CompiledGame, mebibytes: int, deadline: float | None) -> RootValue:
    with _progress_line() as is_shown:
        report = _show_search if is_shown else None
        return find_root_value(game, mebibytes=mebibytes // TABLE_SHARE, deadline=deadline, report=report)


@contextmanager
def _progress_line() -> Iterator[bool]:
    """Whether progress is shown; the line is cleared at the end."""
    is_shown = sys.stderr.isatty()
    try:
        yield is_shown
    finally:
        if is_shown:
            click.echo("\r\033[K", err=True, nl=False)


def _hint(error: SolverError, work: Path | None, save: Path | None) -> str:
    """What one can do about it."""
    if not isinstance(error, SolverLimitError):
        return ""
    if work is not None:
        return f"; the same command with --work {work} goes on from here"
    if save is not None:
        return "; without --save a search may find the value of the initial state alone"
    return ""


def summary(solution: Solution) -> dict[str, Any]:
    """What `--json` prints."""
    game, space = solution.game, solution.space
    return {
        "game": game.name,
        "values": {str(role): worth for role, worth in zip(game.roles, _values(solution), strict=True)},
        "states": space.state_count,
        "best_moves": {
            role: [_move_summary(rated) for rated in moves] for role, moves in _best_moves(solution).items()
        },
        "method": "retrograde",
        "concept": solution.concept,
        "transitions": space.transitions,
        "longest_line": None if solution.depth[0] == ENDLESS else int(solution.depth[0]),
        "cyclic_states": solution.cyclic,
        "endless": solution.endless,
        "seconds": round(solution.seconds, 3),
    }


def root_summary(found: RootValue) -> dict[str, Any]:
    """What `--json` prints where only the initial state was valued."""
    game = found.game
    values = dict(zip(map(str, game.roles), found.values, strict=True))
    best = [
        {"move": str(move), "goal": values[str(found.mover)], "probability": 0.0 if rank else 1.0}
        for rank, move in enumerate(found.best_moves)
    ]
    return {
        "game": game.name,
        "values": values,
        "states": None,
        "best_moves": {str(found.mover): best} if found.mover is not None else {},
        "unsettled_moves": [str(move) for move in found.unsettled],
        "method": found.method,
        "line": [str(move) for move in found.line],
        "nodes": found.nodes,
        "depth": found.depth,
        "seconds": round(found.seconds, 3),
    }


def _values(solution: Solution) -> list[float]:
    return [int(worth) if solution.is_exact else round(worth, 9) for worth in solution.values()]


def _best_moves(solution: Solution) -> dict[str, tuple[RatedMove, ...]]:
    initial = solution.game.initial_state()
    if solution.game.is_terminal(initial):
        return {}
    return {str(role): moves for role, moves in solution.stage(initial).best_moves.items()}


def _move_summary(rated: RatedMove) -> dict[str, Any]:
    return {"move": str(rated.move), "goal": round(rated.goal, 9), "probability": round(rated.probability, 9)}


def _text(solution: Solution) -> str:
    game, space = solution.game, solution.space
    worths = ", ".join(f"{role} {worth:g}" for role, worth in zip(game.roles, _values(solution), strict=True))
    lines = [f"{game.name}: {worths}", f"  by {solution.concept}"]
    for role, moves in _best_moves(solution).items():
        is_mixed = any(0 < rated.probability < 1 for rated in moves)
        shown = (
            f"{rated.move} with probability {rated.probability:.4g}" if is_mixed else str(rated.move)
            for rated in moves
        )
        lines.append(f"  best moves of {role}: {', '.join(shown)}")
    depth = int(solution.depth[0])
    lines.append(
        "  best play need not end"
        if depth == ENDLESS
        else f"  longest line of best play: {depth} joint moves"
    )
    if solution.cyclic:
        lines.append(f"  {solution.cyclic:,} states lie on cycles or before them")
    if solution.endless is not None:
        lines.append(f"  endless play was taken to be worth {solution.endless:g} to {game.roles[0]}")
    rate = space.transitions / max(solution.seconds, 1e-9) / 1e6
    lines.append(
        f"  {space.state_count:,} states, {space.transitions:,} transitions,"
        f" {solution.seconds:.2f} s ({rate:.2f} M transitions/s)"
    )
    return "\n".join(lines)


def root_text(found: RootValue) -> str:
    """What is printed where only the initial state was valued."""
    game = found.game
    worths = ", ".join(f"{role} {worth}" for role, worth in zip(game.roles, found.values, strict=True))
    lines = [f"{game.name}: {worths}", f"  the value of the initial state, proven by {found.method}"]
    if found.mover is not None:
        lines.append(f"  best moves of {found.mover}: {', '.join(map(str, found.best_moves))}")
    if found.unsettled:
        lines.append(f"  not settled in time: {', '.join(map(str, found.unsettled))}")
    if found.line:
        lines.append(f"  in {len(found.line)} moves: {' '.join(map(str, found.line))}")
    depth = f", {found.depth} moves deep" if found.depth is not None else ""
    rate = found.nodes / max(found.seconds, 1e-9) / 1e6
    lines.append(f"  {found.nodes:,} nodes{depth}, {found.seconds:.2f} s ({rate:.2f} M nodes/s)")
    return "\n".join(lines)


def _show_search(progress: RootProgress) -> None:
    rate = progress.nodes / max(progress.seconds, 1e-9)
    line = f", best goal known {progress.goal}" if progress.goal is not None else ""
    click.echo(
        f"\r\033[K{progress.nodes:,} nodes, {rate / 1e6:.2f} M nodes/s, depth {progress.depth}{line}",
        err=True,
        nl=False,
    )


def _show_progress(progress: Progress) -> None:
    rate = progress.states / max(progress.seconds, 1e-9)
    estimate = estimate_states(progress.layer_ends)
    forecast = f", perhaps {estimate:,} in all" if estimate else ""
    click.echo(
        f"\r\033[K{progress.states:,} states{forecast}, {rate / 1e6:.2f} M states/s,"
        f" {len(progress.layer_ends) - 1} moves deep",
        err=True,
        nl=False,
    )
