"""Output of `ggp solve`: results as text or JSON, and lines of progress."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click
import numpy as np

from ggp.analysis.scale import Scale
from ggp.cli.solve_replies import matrix_lines, scale_lines
from ggp.engines.compiled import CompiledGame
from ggp.explain.explanation import count_text
from ggp.game import Move, Role
from ggp.search.root_value import RootProgress, RootValue
from ggp.solver import Progress, Solution
from ggp.solver.limits import estimate_states
from ggp.solver.payoff_matrix import payoff_matrix
from ggp.solver.stages import ENDLESS, RatedMove


def print_result(found: Solution | RootValue, scale: Scale | None = None, *, is_json: bool) -> None:
    """Print a solution, with goals as numbers on a scale."""
    scale = scale or Scale()
    if is_json:
        data = _root_data(found) if isinstance(found, RootValue) else _retrograde_data(found)
        click.echo(json.dumps(data if scale.is_goals else data | {"scale": str(scale)}))
    elif isinstance(found, RootValue):
        click.echo(root_text(found, scale))
    else:
        click.echo(_retrograde_text(found, scale))


def _moves_text(game: CompiledGame, role: Role, moves: Sequence[Move], value: float, shown: str) -> str:
    """One line about the best moves of a role in the initial state; `shown`: the moves, in words."""
    r = game.roles.index(role)
    goals = np.asarray(game.tables.goal_value)[np.asarray(game.tables.goal_role) == r]
    is_lost = len(goals) and value <= goals.min() < goals.max()
    if is_lost and len(moves) == len(game.legal_moves(game.initial_state(), role)):
        return f"every move of {role} loses"
    return f"best moves of {role}: {shown}"


def _first_moves(found: Solution) -> Mapping[Role, tuple[RatedMove, ...]]:
    """Role → its best moves in the initial state."""
    initial = found.game.initial_state()
    return {} if found.game.is_terminal(initial) else found.stage(initial).best_moves


def _values(solution: Solution) -> dict[str, float]:
    values = (int(value) if solution.is_exact else round(value, 9) for value in solution.values())
    return dict(zip(map(str, solution.game.roles), values, strict=True))


def _retrograde_data(found: Solution) -> dict[str, Any]:
    moves = {
        str(role): [
            {"move": str(each.move), "goal": round(each.goal, 9), "probability": round(each.probability, 9)}
            for each in rated
        ]
        for role, rated in _first_moves(found).items()
    }
    return {
        "values": _values(found),
        "game": found.game.name,
        "states": found.space.state_count,
        "best_moves": moves,
        "method": "retrograde",
        "concept": found.concept,
        "transitions": found.space.transitions,
        "seconds": round(found.seconds, 3),
        "longest_line": None if found.depth[0] == ENDLESS else int(found.depth[0]),
        "cyclic_states": found.cyclic,
        "endless": found.endless,
    }


def _retrograde_text(found: Solution, scale: Scale) -> str:
    space, matrix = found.space, payoff_matrix(found.game)
    lines = scale_lines(found.game.name, found.game.roles, found.values(), scale)
    lines.append(f"  by {found.concept}")
    rate = f"{space.transitions / max(found.seconds, 1e-9) / 1e6:.2f} M transitions/s"
    if matrix is not None:
        lines += matrix_lines(matrix, scale)
    for role, moves in _first_moves(found).items() if matrix is None else ():
        is_mixed = any(0 < rated.probability < 1 for rated in moves)
        shares = (f" with probability {each.probability:.4g}" if is_mixed else "" for each in moves)
        shown = (f"{each.move}{share}" for each, share in zip(moves, shares, strict=True))
        text, best = ", ".join(shown), [each.move for each in moves]
        worth = 100.0 if is_mixed else moves[0].goal
        lines.append(f"  {_moves_text(found.game, role, best, worth, text)}")
    counts = f"{space.state_count:,} states, {space.transitions:,} transitions"
    return "\n".join([*lines, *_play_lines(found), f"  {counts}, {found.seconds:.2f} s ({rate})"])


def _play_lines(solution: Solution) -> list[str]:
    """Lines about optimal play: its length, and whether it may be endless."""
    lines, depth = [], int(solution.depth[0])
    length = f"longest line of optimal play: {depth} joint move{'s' * (depth != 1)}"
    lines.append("  optimal play need not end" if depth == ENDLESS else f"  {length}")
    if solution.cyclic:
        lines.append(f"  {solution.cyclic:,} states lie on cycles or lead to them")
    if solution.endless is not None:
        lines.append(f"  endless play counts {solution.endless:g} for {solution.game.roles[0]}")
    return lines


def _root_data(found: RootValue) -> dict[str, Any]:
    values = dict(zip(map(str, found.game.roles), found.values, strict=True))
    best = [
        {"move": str(move), "goal": values[str(found.mover)], "probability": 0.0 if rank else 1.0}
        for rank, move in enumerate(found.best_moves)
    ]
    return {
        "game": found.game.name,
        "values": values,
        "states": None,
        "best_moves": {str(found.mover): best} if found.mover is not None else {},
        "unsettled_moves": [str(move) for move in found.unsettled],
        "method": found.method,
        "line": [str(move) for move in found.line],
        "nodes": found.nodes,
        "leaves": found.leaves,
        "depth": found.depth,
        "seconds": round(found.seconds, 3),
    }


def root_text(found: RootValue, scale: Scale | None = None) -> str:
    lines = scale_lines(found.game.name, found.game.roles, found.values, scale or Scale())
    lines.append(f"  value of the initial state, proven by {found.proof}")
    if found.mover is not None:
        worth = found.values[found.game.roles.index(found.mover)]
        shown = ", ".join(map(str, found.best_moves))
        lines.append(f"  {_moves_text(found.game, found.mover, found.best_moves, worth, shown)}")
    if found.unsettled:
        lines.append(f"  undecided in time: {', '.join(map(str, found.unsettled))}")
    if found.line:
        lines.append(f"  in {len(found.line)} moves: {' '.join(map(str, found.line))}")
    depth = f", depth {found.depth}" if found.depth is not None else ""
    rate = found.nodes / max(found.seconds, 1e-9) / 1e6
    counts = count_text((found.nodes, found.leaves))
    lines.append(f"  {counts}{depth}, {found.seconds:.2f} s ({rate:.2f} M nodes/s)")
    return "\n".join(lines)


def search_text(progress: RootProgress) -> str:
    """The progress of a search in one line."""
    rate = progress.nodes / max(progress.seconds, 1e-9)
    line = f", best known goal {progress.goal}" if progress.goal is not None else ""
    depth = f", depth {progress.depth}" if progress.depth is not None else ""
    return f"{progress.nodes:,} nodes, {progress.leaves:,} leaves, {rate / 1e6:.2f} M nodes/s{depth}{line}"


def progress_text(progress: Progress) -> str:
    """The progress of an enumeration in one line."""
    rate = progress.states / max(progress.seconds, 1e-9)
    estimate = estimate_states(progress.layer_ends)
    forecast = f", estimated total {estimate:,}" if estimate else ""
    depth = len(progress.layer_ends) - 1
    return f"{progress.states:,} states{forecast}, {rate / 1e6:.2f} M states/s, depth {depth}"
