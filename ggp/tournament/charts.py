"""Charts of a run as SVG files; the only module that needs matplotlib (an extra)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ggp.files import replacing
from ggp.tournament import tables
from ggp.tournament.results import PairScore, Results

_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "ggp",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "text.parse_math": False,
}
"""The salt makes files reproducible; dollar signs in names do not start formulas."""

PANELS_PER_ROW = 5

ChartNames = dict[str | None, list[str]]
"""File names by condition; None for charts over several conditions."""


def write_charts(results: Results, folder: Path) -> ChartNames:
    """Draw win rates and ratings by condition, and win rates by number of simulations.

    Raises ImportError without matplotlib, OSError.
    """
    import matplotlib

    names: ChartNames = {}
    with matplotlib.rc_context(_STYLE):
        for condition in results.plan.conditions:
            name = condition.name
            if results.met(name):
                drawn = {
                    f"win-rates-{name}.svg": draw_win_rates(results, name),
                    f"ratings-{name}.svg": draw_ratings(results, name),
                }
                names[name] = _save(drawn, folder)
        if any(tables.growth_points(results, game) for game in results.plan.games):
            names[None] = _save({"win-rates-by-simulations.svg": draw_growth(results)}, folder)
    return names


def _save(drawn: dict[str, Any], folder: Path) -> list[str]:
    for name, figure in drawn.items():
        with replacing(folder / name) as file:
            figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    return list(drawn)


def draw_win_rates(results: Results, condition: str) -> Any:
    """One panel per game: win rates of all pairs with their intervals."""
    from matplotlib.figure import Figure

    pairs = results.met(condition)
    played = {game for of_condition, game, *_ in results.pairs if of_condition == condition}
    games = [game.name for game in results.plan.games if game.name in played]
    across = min(len(games), PANELS_PER_ROW)
    down = -(-len(games) // across)
    size = (1.6 + 2.2 * across, down * (0.9 + 0.26 * len(pairs)))
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
    for panel in panels[len(games) :]:
        panel.set_axis_off()
    for panel, game in zip(panels, games, strict=False):
        panel.axvline(50, color="0.6", linewidth=0.8)
        for row, (a, b) in enumerate(pairs):
            score = results.pairs.get((condition, game, a, b), PairScore())
            if score.count:
                low, high = score.interval
                panel.plot([100 * low, 100 * high], [row, row], color="C0", linewidth=1.5)
                panel.plot([100 * score.rate], [row], "o", color="C0", markersize=4)
        panel.set_xlim(0, 100)
        panel.set_title(game)
        panel.set_xlabel("win rate %")
        panel.set_yticks(range(len(pairs)), [f"{a} vs {b}" for a, b in pairs])
    panels[0].invert_yaxis()
    return figure


def draw_growth(results: Results) -> Any:
    """One panel per game and opponent: win rates by simulations per move."""
    from matplotlib.figure import Figure

    counts = [condition.simulations or 0 for condition in tables.counted_conditions(results.plan)]
    lines: dict[tuple[str, str], dict[str, dict[int, PairScore]]] = {}
    for game in results.plan.games:
        for (agent, opponent), points in tables.growth_points(results, game).items():
            lines.setdefault((game.name, opponent), {})[agent] = points
    drawn = list(dict.fromkeys(agent for of_agents in lines.values() for agent in of_agents))
    figure = Figure(figsize=(1.2 + 3.6 * len(lines), 3.4))
    panels = figure.subplots(1, len(lines), sharey=True, squeeze=False)[0]
    for panel, ((game_name, opponent), of_agents) in zip(panels, lines.items(), strict=True):
        for number, (agent, points) in enumerate(of_agents.items()):
            shift = 1 + 0.03 * (number - (len(of_agents) - 1) / 2)
            _draw_growth_of(panel, agent, points, shift, color=f"C{drawn.index(agent)}")
        panel.axhline(50, color="0.6", linewidth=0.8)
        panel.set_xscale("log")
        panel.set_xticks(counts, [f"{count:,}" for count in counts])
        panel.minorticks_off()
        panel.set_ylim(0, 100)
        panel.set_title(f"{game_name}, against {opponent}")
        panel.set_xlabel("simulations per move")
        panel.legend(frameon=False)
    panels[0].set_ylabel("win rate %")
    return figure


def _draw_growth_of(panel: Any, agent: str, points: dict[int, PairScore], shift: float, color: str) -> None:
    """Draw one agent's line; `shift` keeps the intervals of different agents apart."""
    rates = 100 * np.array([score.rate for score in points.values()])
    low, high = 100 * np.array([score.interval for score in points.values()]).T
    panel.errorbar(
        [shift * count for count in points],
        rates,
        yerr=[rates - low, high - rates],
        fmt="o-",
        markersize=4,
        linewidth=1,
        label=agent,
        color=color,
    )


def draw_ratings(results: Results, condition: str) -> Any:
    """One panel: rating of every agent with its interval, best first."""
    from matplotlib.figure import Figure

    found = tables.ratings(results, condition)
    figure = Figure(figsize=(5, 0.9 + 0.26 * len(found)))
    panel = figure.subplots()
    panel.errorbar(
        [rating.elo for rating in found],
        range(len(found)),
        xerr=[rating.margin for rating in found],
        fmt="o",
        markersize=4,
    )
    panel.axvline(0, color="0.6", linewidth=0.8)
    panel.set_yticks(range(len(found)), [rating.agent for rating in found])
    panel.set_xlabel("Elo, with 95 % interval")
    panel.invert_yaxis()
    return figure
