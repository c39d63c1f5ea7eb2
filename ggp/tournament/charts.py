"""Charts of a run as SVG files; the only user of matplotlib, which is an extra."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ggp.tournament import tables
from ggp.tournament.results import PairScore, Results

_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "ggp",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
}
"""The salt makes the same results the same file."""


def write_charts(results: Results, folder: Path) -> dict[str, list[str]]:
    """Draw win rates and ratings of every condition; file names per condition.

    Raises ImportError without matplotlib, OSError.
    """
    import matplotlib

    names: dict[str, list[str]] = {}
    with matplotlib.rc_context(_STYLE):
        for condition in results.plan.conditions:
            if not results.met(condition.name):
                continue
            drawn = {
                f"win-rates-{condition.name}.svg": draw_win_rates(results, condition.name),
                f"ratings-{condition.name}.svg": draw_ratings(results, condition.name),
            }
            for name, figure in drawn.items():
                figure.savefig(folder / name, format="svg", bbox_inches="tight", metadata={"Date": None})
            names[condition.name] = list(drawn)
    return names


def draw_win_rates(results: Results, condition: str) -> Any:
    """One panel per game: every pair's win rate with its interval, beside the line of equal strength."""
    from matplotlib.figure import Figure

    pairs = results.met(condition)
    games = [
        game.name
        for game in results.plan.games
        if any((condition, game.name, a, b) in results.pairs for a, b in pairs)
    ]
    figure = Figure(figsize=(1.6 + 2.2 * len(games), 0.9 + 0.26 * len(pairs)))
    panels = figure.subplots(1, len(games), sharey=True, squeeze=False)[0]
    for panel, game in zip(panels, games, strict=True):
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


def draw_ratings(results: Results, condition: str) -> Any:
    """Every agent's rating with its interval, best first."""
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
