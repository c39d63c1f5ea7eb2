"""Ratings as SVG for a page: intervals, and lines over the matches; colors from the stylesheet."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from ggp.analysis.svg import svg_text
from ggp.tournament.ratings import Rating

_INKS = 6
"""Number of line colors in the stylesheet; further lines are dashed."""

_WIDTH, _HEIGHT = 760, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 150, 12, 34
_LABEL_GAP = 14
_WHISKER_WIDTH = 150


def whisker(rating: Rating, low: float, high: float) -> str:
    """The interval of a rating as a line with a dot, on a scale from `low` to `high`."""
    span = max(high - low, 1.0)
    start, middle, end, zero = (
        (value - low) / span * (_WHISKER_WIDTH - 10) + 5
        for value in (rating.elo - rating.margin, rating.elo, rating.elo + rating.margin, 0.0)
    )
    return (
        f'<svg class="whisker" width="{_WHISKER_WIDTH}" height="16" aria-hidden="true">'
        f'<line class="axis" x1="{zero:.1f}" y1="0" x2="{zero:.1f}" y2="16"/>'
        f'<line x1="{start:.1f}" y1="8" x2="{end:.1f}" y2="8"/>'
        f'<circle cx="{middle:.1f}" cy="8" r="3.5"/></svg>'
    )


def history_chart(history: Sequence[tuple[int, Sequence[Rating]]]) -> str:
    """Elo over the number of matches, a line per agent with its name; empty with less than two points."""
    if len(history) < 2:
        return ""
    values = [rating.elo for _, found in history for rating in found] or [0.0]
    span = max(values) - min(values)
    # A round distance of at most eight lines.
    step = next((each for each in (10.0, 20.0, 50.0, 100.0, 200.0, 500.0) if span / each <= 7), 1000.0)
    low, high = (min(values) // step) * step, (max(values) // step + 1) * step
    first, last = history[0][0], history[-1][0]

    def place(number: int, elo: float) -> tuple[float, float]:
        x = _LEFT + (number - first) / max(last - first, 1) * (_WIDTH - _LEFT - _RIGHT)
        return x, _TOP + (high - elo) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    right = _WIDTH - _RIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="history" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'role="img" aria-label="ratings over the matches">'
    ]
    for number in range(round((high - low) / step) + 1):
        y = place(first, low + number * step)[1]
        parts.append(f'<line class="axis" x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
        parts.append(svg_text(_LEFT - 6, y + 4, f"{low + number * step:.0f}", "end"))
    ends = ((number, place(number, low)[0]) for number in (first, last))
    parts += [svg_text(x, _HEIGHT - 12, f"{number} matches", "middle") for number, x in ends]
    agents = [rating.agent for rating in history[-1][1]]
    labels = _spread([place(last, rating.elo)[1] for rating in history[-1][1]])
    for index, (agent, label) in enumerate(zip(agents, labels, strict=True)):
        own = [(number, each.elo) for number, found in history for each in found if each.agent == agent]
        points = [place(number, elo) for number, elo in own]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        kind = f"series-{index % _INKS}{' dashed' if index // _INKS % 2 else ''}"
        parts.append(f'<polyline class="{kind}" points="{line}"><title>{escape(agent)}</title></polyline>')
        parts.append(svg_text(right + 8, label + 4, agent, style=f' class="{kind}"'))
    return "\n".join([*parts, "</svg>"])


def _spread(heights: Sequence[float]) -> list[float]:
    """Labels at `heights`, from top to bottom, moved apart where they would overlap."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + _LABEL_GAP) if placed else height)
    limit = float(_HEIGHT - 8)
    for index in reversed(range(len(placed))):
        placed[index] = limit = min(placed[index], limit)
        limit -= _LABEL_GAP
    return placed
