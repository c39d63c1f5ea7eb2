"""Output of `ggp solve`: results as text or JSON, and lines of progress."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from ggp.search.root_value import RootProgress, RootValue
from ggp.solver import Progress, Solution
from ggp.solver.coalitions import CoalitionSolution
from ggp.solver.limits import estimate_states
from ggp.solver.solution import CORRELATED
from ggp.solver.stages import ENDLESS, RatedMove


def print_result(found: Solution | CoalitionSolution | RootValue, *, is_json: bool) -> None:
    if isinstance(found, RootValue):
        output = json.dumps(_root_data(found)) if is_json else root_text(found)
    else:
        output = json.dumps(_retrograde_data(found)) if is_json else _retrograde_text(found)
    click.echo(output)


def _first_moves(found: Solution | CoalitionSolution) -> Mapping[str, tuple[RatedMove, ...]]:
    """Role → its best moves in the initial state."""
    initial = found.game.initial_state()
    stage = None if found.game.is_terminal(initial) else found.stage(initial)
    return {} if stage is None else {str(role): moves for role, moves in stage.best_moves.items()}


def _values(solution: Solution) -> dict[str, float]:
    values = (int(value) if solution.is_exact else round(value, 9) for value in solution.values())
    return dict(zip(map(str, solution.game.roles), values, strict=True))


def _retrograde_data(found: Solution | CoalitionSolution) -> dict[str, Any]:
    moves = {
        role: [
            {"move": str(each.move), "goal": round(each.goal, 9), "probability": round(each.probability, 9)}
            for each in rated
        ]
        for role, rated in _first_moves(found).items()
    }
    shared = {
        "game": found.game.name,
        "states": found.space.state_count,
        "best_moves": moves,
        "method": "retrograde",
        "concept": found.concept,
        "transitions": found.space.transitions,
        "seconds": round(found.seconds, 3),
    }
    if isinstance(found, CoalitionSolution):
        return {"coalition": list(map(str, found.coalition)), "sum": round(found.value(), 9), **shared}
    return {
        "values": _values(found),
        **shared,
        "longest_line": None if found.depth[0] == ENDLESS else int(found.depth[0]),
        "cyclic_states": found.cyclic,
        "endless": found.endless,
    }


def _retrograde_text(found: Solution | CoalitionSolution) -> str:
    space, after = found.space, []
    if isinstance(found, CoalitionSolution):
        against = f" against {', '.join(map(str, found.others))}" if found.others else ""
        lines = [
            f"{found.game.name}: {' and '.join(map(str, found.coalition))}{against} can be sure of"
            f" {found.value():g} of {100 * len(found.coalition)} goals together",
            f"  by {found.concept} of the sum of the coalition's goals",
        ]
        rate = ""
    else:
        values = ", ".join(f"{role} {value:g}" for role, value in _values(found).items())
        lines = [f"{found.game.name}: {values}", f"  by {found.concept}"]
        after = _play_lines(found)
        rate = f" ({space.transitions / max(found.seconds, 1e-9) / 1e6:.2f} M transitions/s)"
    for role, moves in _first_moves(found).items():
        is_mixed = any(0 < rated.probability < 1 for rated in moves) and isinstance(found, Solution)
        shares = (f" with probability {each.probability:.4g}" if is_mixed else "" for each in moves)
        shown = (f"{each.move}{share}" for each, share in zip(moves, shares, strict=True))
        lines.append(f"  best moves of {role}: {', '.join(shown)}")
    counts = f"{space.state_count:,} states, {space.transitions:,} transitions"
    return "\n".join([*lines, *after, f"  {counts}, {found.seconds:.2f} s{rate}"])


def _play_lines(solution: Solution) -> list[str]:
    """Lines about optimal play: its length, and whether it may be endless."""
    lines, depth = [], int(solution.depth[0])
    if solution.concept == CORRELATED:
        lines.append("  where it is correlated, the probabilities of one role's moves are marginals")
    length = f"longest line of optimal play: {depth} joint moves"
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
        "depth": found.depth,
        "seconds": round(found.seconds, 3),
    }


def root_text(found: RootValue) -> str:
    values = ", ".join(f"{role} {value}" for role, value in zip(found.game.roles, found.values, strict=True))
    lines = [f"{found.game.name}: {values}", f"  value of the initial state, proven by {found.method}"]
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
    depth = f", depth {progress.depth}" if progress.depth is not None else ""
    return f"{progress.nodes:,} nodes, {rate / 1e6:.2f} M nodes/s{depth}{line}"


def progress_text(progress: Progress) -> str:
    """The progress of an enumeration in one line."""
    rate = progress.states / max(progress.seconds, 1e-9)
    estimate = estimate_states(progress.layer_ends)
    forecast = f", estimated total {estimate:,}" if estimate else ""
    depth = len(progress.layer_ends) - 1
    return f"{progress.states:,} states{forecast}, {rate / 1e6:.2f} M states/s, depth {depth}"
