"""`ggp solve` for games with hidden information: equilibria of two roles, best play of one."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ggp.analysis.scale import Scale
from ggp.cli.progress import progress_of

if TYPE_CHECKING:
    from ggp.engines.compiled import CompiledGame
    from ggp.solver import SolverLimits
    from ggp.solver.cfr import ApproximateEquilibrium, CfrProgress, UnrollingProgress

LARGEST_DENOMINATOR = 100
NARROW = 1e-6
"""Width of bounds that rarely contain a fraction with a small denominator by accident."""


def print_equilibrium(
    game: CompiledGame,
    limits: SolverLimits,
    accuracy: float,
    scale: Scale,
    *,
    shows_strategy: bool,
    is_json: bool,
) -> None:
    """Solve a game and print values, bounds and, if asked for, strategies. Raises SolverError."""
    from ggp.solver.cfr import CfrOptions, solve_hidden

    with progress_of(progress_text) as report:
        found = solve_hidden(game, limits, CfrOptions(accuracy=accuracy), report)
    if is_json:
        strategy = {"strategy": _strategy_data(found)} if shows_strategy else {}
        click.echo(json.dumps(_equilibrium_data(found) | strategy))
        return
    click.echo(equilibrium_text(found, accuracy, scale))
    if shows_strategy:
        click.echo(_strategy_text(found))


def progress_text(progress: UnrollingProgress | CfrProgress) -> str:
    """The progress of unrolling or of iterations in one line."""
    from ggp.solver.cfr import CfrProgress

    seconds = max(progress.seconds, 1e-9)
    if isinstance(progress, CfrProgress):
        rate = f"{progress.iterations:,} iterations, {progress.iterations / seconds:,.0f}/s"
        return f"{rate}, exploitability {progress.exploitability:.3g}"
    rate = f"{progress.histories:,} histories, {progress.histories / seconds / 1e6:.2f} M histories/s"
    return f"{rate}, depth {progress.depth}"


def equilibrium_text(found: ApproximateEquilibrium, accuracy: float, scale: Scale | None = None) -> str:
    """Values, method and effort in a few lines of text."""
    form, graph = found.form, found.form.graph
    digits = 9 if found.exploitability < NARROW else 6
    pairs = zip(graph.agents, found.values, strict=False)
    lines = [f"{graph.game.name}: " + ", ".join(f"{role} {value:.{digits}g}" for role, value in pairs)]
    if scale is not None and not scale.is_goals:
        scaled = zip(graph.agents, map(scale.text, found.values), strict=False)
        lines.append(f"  on the scale {scale}: " + ", ".join(f"{role} {text}" for role, text in scaled))
    if len(graph.agents) == 1:
        lines.append("  by a best response: one role and chance")
    elif found.iterations == 0:
        lines.append("  by a best response: only one role has choices")
    else:
        lines.append("  equilibrium in mixed strategies by predictive CFR+")
        lines.append(
            f"  the value of {graph.agents[0]} lies between {found.bounds[0]:.9g} and {found.bounds[1]:.9g}:"
            f" exploitability {found.exploitability:.2g}"
        )
        if unit := stake(found):
            exact = simplest_fraction(found, unit)
            is_fraction = exact is not None and exact.denominator > 1
            equals = f" ({exact} lies between the bounds)" if is_fraction else ""
            gain = f"gains {_gain(found, unit):.9g} times the smallest stake of {unit:g} goals"
            lines.append(f"  {graph.agents[0]} {gain}{equals}")
    if found.is_interrupted:
        lines.append("  interrupted: the strategies so far")
    elif found.exploitability > max(accuracy, 1e-9):
        lines.append(f"  out of time: the accuracy wanted is {accuracy:g}")
    sets = sum(plex.set_count for plex in form.plexes)
    rate = found.iterations / max(found.seconds, 1e-9)
    lines.append(
        f"  {graph.state_count:,} states, {form.histories:,} histories, {sets:,} information sets,"
        f" {len(form.payoff):,} payoffs"
    )
    lines.append(f"  {found.iterations:,} iterations, {found.seconds:.2f} s ({rate:,.0f} iterations/s)")
    return "\n".join(lines)


def stake(found: ApproximateEquilibrium) -> float:
    """The greatest common divisor of all gains and losses at ends, in goals; 0 if no role gains."""
    graph = found.form.graph
    doubled = np.abs(2 * graph.payoff[np.diff(graph.first_edge) == 0]).astype(np.int64)
    return float(np.gcd.reduce(doubled)) / 2 if len(doubled) else 0.0


def _gain(found: ApproximateEquilibrium, unit: float) -> float:
    """The gain of agent 0 in units."""
    return (found.values[0] - found.form.graph.total / 2) / unit


def simplest_fraction(found: ApproximateEquilibrium, unit: float) -> Fraction | None:
    """The gain of agent 0 in units as a fraction, if the bounds contain only one with a small denominator."""
    below, above = ((bound - found.form.graph.total / 2) / unit for bound in found.bounds)
    if above - below > NARROW:
        return None
    fraction = Fraction((below + above) / 2).limit_denominator(LARGEST_DENOMINATOR)
    return fraction if below - 1e-15 <= float(fraction) <= above + 1e-15 else None


def _strategy_text(found: ApproximateEquilibrium) -> str:
    """One line per information set: the observations, and the moves with their probabilities."""
    from ggp.solver.cfr import information_sets

    lines, role = [], None
    for each in information_sets(found.form, found.strategies):
        if each.role != role:
            role = each.role
            lines.append(f"{role}:")
        played = sorted(each.probabilities.items(), key=lambda pair: -pair[1])
        moves = ", ".join(f"{move} {share:.4f}" for move, share in played if share >= 0.00005)
        lines.append(f"  [{each}] {moves}")
    return "\n".join(lines)


def _equilibrium_data(found: ApproximateEquilibrium) -> dict[str, Any]:
    form, graph = found.form, found.form.graph
    unit = stake(found)
    agents = list(map(str, graph.agents))
    return {
        "game": graph.game.name,
        "values": dict(zip(agents, found.values, strict=False)),
        "bounds": list(found.bounds),
        "exploitability": found.exploitability,
        "smallest_stake": unit,
        "gain_in_stakes": _gain(found, unit) if unit else 0.0,
        "method": "cfr",
        "states": graph.state_count,
        "histories": form.histories,
        "information_sets": dict(zip(agents, (plex.set_count for plex in form.plexes), strict=False)),
        "payoffs": len(form.payoff),
        "iterations": found.iterations,
        "is_interrupted": found.is_interrupted,
        "seconds": round(found.seconds, 3),
    }


def _strategy_data(found: ApproximateEquilibrium) -> list[dict[str, Any]]:
    from ggp.solver.cfr import information_sets

    return [
        {
            "role": str(each.role),
            "observations": [
                {"move": str(move), "percepts": list(map(str, percepts))} for move, percepts in each.observed
            ],
            "reach": round(each.reach, 12),
            "probabilities": {str(move): round(share, 12) for move, share in each.probabilities.items()},
        }
        for each in information_sets(found.form, found.strategies)
    ]
