"""Output of `ggp solve`: results as text or JSON, and lines of progress."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from ggp.search.root_value import RootProgress, RootValue
from ggp.solver import Progress, Solution
from ggp.solver.coalitions import CoalitionSolution
from ggp.solver.estimate import estimate_states
from ggp.solver.solution import CORRELATED
from ggp.solver.stages import ENDLESS, RatedMove

Moves = Mapping[str, tuple[RatedMove, ...]]
"""Role → its best moves."""


def print_result(found: Solution | RootValue, *, is_json: bool) -> None:
    """Print a result as text or as one JSON object."""
    if isinstance(found, Solution):
        click.echo(json.dumps(summary(found)) if is_json else solution_text(found))
    else:
        click.echo(json.dumps(root_summary(found)) if is_json else root_text(found))


def print_coalition(found: CoalitionSolution, *, is_json: bool) -> None:
    """Print the value that a coalition can guarantee, as text or as one JSON object."""
    click.echo(json.dumps(coalition_summary(found)) if is_json else coalition_text(found))


def _first_moves(found: Solution | CoalitionSolution) -> Moves:
    initial = found.game.initial_state()
    stage = None if found.game.is_terminal(initial) else found.stage(initial)
    return {} if stage is None else {str(role): moves for role, moves in stage.best_moves.items()}


def _of_retrograde(found: Solution | CoalitionSolution) -> dict[str, Any]:
    """JSON fields of every enumeration."""
    moves = {
        role: [
            {"move": str(each.move), "goal": round(each.goal, 9), "probability": round(each.probability, 9)}
            for each in rated
        ]
        for role, rated in _first_moves(found).items()
    }
    return {
        "game": found.game.name,
        "states": found.space.state_count,
        "best_moves": moves,
        "method": "retrograde",
        "concept": found.concept,
        "transitions": found.space.transitions,
        "seconds": round(found.seconds, 3),
    }


def coalition_summary(found: CoalitionSolution) -> dict[str, Any]:
    """The value that a coalition can guarantee, as JSON-serializable data."""
    roles = [str(role) for role in found.coalition]
    return {"coalition": roles, "sum": round(found.value(), 9), **_of_retrograde(found)}


def coalition_text(found: CoalitionSolution) -> str:
    """The value that a coalition can guarantee, in a few lines of text."""
    against = f" against {', '.join(map(str, found.others))}" if found.others else ""
    lines = [
        f"{found.game.name}: {' and '.join(map(str, found.coalition))}{against} can be sure of"
        f" {found.value():g} of {100 * len(found.coalition)} goals together",
        f"  by {found.concept} of the sum of the coalition's goals",
    ]
    lines += [
        f"  best moves of {role}: {', '.join(str(rated.move) for rated in moves)}"
        for role, moves in _first_moves(found).items()
    ]
    space = found.space
    lines.append(f"  {space.state_count:,} states, {space.transitions:,} transitions, {found.seconds:.2f} s")
    return "\n".join(lines)


def summary(solution: Solution) -> dict[str, Any]:
    """A solution as JSON-serializable data."""
    return {
        "values": dict(zip(map(str, solution.game.roles), _values(solution), strict=True)),
        **_of_retrograde(solution),
        "longest_line": None if solution.depth[0] == ENDLESS else int(solution.depth[0]),
        "cyclic_states": solution.cyclic,
        "endless": solution.endless,
    }


def _values(solution: Solution) -> list[float]:
    return [int(value) if solution.is_exact else round(value, 9) for value in solution.values()]


def solution_text(solution: Solution) -> str:
    """A solution in a few lines of text."""
    game, space = solution.game, solution.space
    values = ", ".join(f"{role} {value:g}" for role, value in zip(game.roles, _values(solution), strict=True))
    lines = [f"{game.name}: {values}", f"  by {solution.concept}"]
    for role, moves in _first_moves(solution).items():
        is_mixed = any(0 < rated.probability < 1 for rated in moves)
        shown = (
            f"{rated.move} with probability {rated.probability:.4g}" if is_mixed else str(rated.move)
            for rated in moves
        )
        lines.append(f"  best moves of {role}: {', '.join(shown)}")
    if solution.concept == CORRELATED:
        lines.append("  where it is correlated, the probabilities of one role's moves are marginals")
    depth = int(solution.depth[0])
    is_endless = depth == ENDLESS
    lines.append(
        "  optimal play need not end"
        if is_endless
        else f"  longest line of optimal play: {depth} joint moves"
    )
    if solution.cyclic:
        lines.append(f"  {solution.cyclic:,} states lie on cycles or lead to them")
    if solution.endless is not None:
        lines.append(f"  endless play counts {solution.endless:g} for {game.roles[0]}")
    rate = space.transitions / max(solution.seconds, 1e-9) / 1e6
    lines.append(
        f"  {space.state_count:,} states, {space.transitions:,} transitions,"
        f" {solution.seconds:.2f} s ({rate:.2f} M transitions/s)"
    )
    return "\n".join(lines)


def root_summary(found: RootValue) -> dict[str, Any]:
    """The value of the initial state alone as JSON-serializable data."""
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
        "depth": found.depth,
        "seconds": round(found.seconds, 3),
    }


def root_text(found: RootValue) -> str:
    """The value of the initial state alone in a few lines of text."""
    game = found.game
    values = ", ".join(f"{role} {value}" for role, value in zip(game.roles, found.values, strict=True))
    lines = [f"{game.name}: {values}", f"  value of the initial state, proven by {found.method}"]
    if found.mover is not None:
        lines.append(f"  best moves of {found.mover}: {', '.join(map(str, found.best_moves))}")
    if found.unsettled:
        lines.append(f"  undecided in time: {', '.join(map(str, found.unsettled))}")
    if found.line:
        lines.append(f"  in {len(found.line)} moves: {' '.join(map(str, found.line))}")
    depth = f", {found.depth} moves deep" if found.depth is not None else ""
    rate = found.nodes / max(found.seconds, 1e-9) / 1e6
    lines.append(f"  {found.nodes:,} nodes{depth}, {found.seconds:.2f} s ({rate:.2f} M nodes/s)")
    return "\n".join(lines)


def search_text(progress: RootProgress) -> str:
    """The progress of a search in one line."""
    rate = progress.nodes / max(progress.seconds, 1e-9)
    line = f", best known goal {progress.goal}" if progress.goal is not None else ""
    return f"{progress.nodes:,} nodes, {rate / 1e6:.2f} M nodes/s, depth {progress.depth}{line}"


def progress_text(progress: Progress) -> str:
    """The progress of an enumeration in one line."""
    rate = progress.states / max(progress.seconds, 1e-9)
    estimate = estimate_states(progress.layer_ends)
    forecast = f", estimated total {estimate:,}" if estimate else ""
    depth = len(progress.layer_ends) - 1
    return f"{progress.states:,} states{forecast}, {rate / 1e6:.2f} M states/s, depth {depth}"
