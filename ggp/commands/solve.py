"""`ggp solve`: what is a game worth, and how does one play it best?"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import click

from ggp.commands.loading_status import load_visibly
from ggp.compiled_game import CompiledGame
from ggp.solver import Limits, Progress, Solution, SolverError, save_solution
from ggp.solver.estimate import estimate_states
from ggp.solver.reachable import DEFAULT_MEBIBYTES
from ggp.solver.solution import solve
from ggp.solver.stages import ENDLESS, RatedMove


@click.command("solve")
@click.argument("file", metavar="FILE")
@click.option("--seconds", type=click.FloatRange(0.0), help="Give up after so long.")
@click.option(
    "--mebibytes",
    default=DEFAULT_MEBIBYTES,
    show_default=True,
    type=click.IntRange(64),
    help="Memory to use.",
)
@click.option("--states", type=click.IntRange(1), help="Give up beyond so many states.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Write the solution to a file.")
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to work in: solving that is interrupted goes on there the next time.",
)
@click.option("--json", "is_json", is_flag=True, help="One JSON object.")
def command(
    file: str,
    seconds: float | None,
    mebibytes: int,
    states: int | None,
    save: Path | None,
    work: Path | None,
    is_json: bool,
) -> None:
    """Find all states of the game in FILE and what each role gets under best play."""
    game = load_visibly(file, "lanes")
    assert isinstance(game, CompiledGame)
    deadline = None if seconds is None else time.monotonic() + seconds
    limits = Limits(mebibytes=mebibytes, states=states, deadline=deadline, work_folder=work)
    is_shown = sys.stderr.isatty()
    try:
        solution = solve(game, limits, report=_show_progress if is_shown else None)
    except SolverError as error:
        raise click.ClickException(f"{game.name}: {error}") from None
    finally:
        if is_shown:
            click.echo("\r\033[K", err=True, nl=False)
    if save is not None:
        save_solution(solution, save)
    click.echo(json.dumps(summary(solution)) if is_json else _text(solution))


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
