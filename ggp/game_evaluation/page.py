"""Evaluations as one HTML page: each figure as a chart among the bundled games, durations as bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from ggp.game_evaluation.evaluate import Evaluation
from ggp.game_evaluation.figures import DEFINITIONS, EXACT, Figure, percentile, reference_values

WIDTH, HEIGHT, MARGIN = 260, 22, 8
"""Size of a chart in pixels."""
BARS_HEIGHT, MAX_BARS, WIDEST_BAR = 90, 60, 30.0
SHARES = 1.0
"""Figures whose reference lies within 0 and this are drawn from 0 to 1."""
WIDE = 50.0
"""Ratio of the largest to the smallest value beyond which a scale is logarithmic."""

_STYLE = """
:root { color-scheme: light dark; --ink: #22252b; --paper: #faf9f6; --faint: #8a8f98; --accent: #1f5fa8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e7ea; --paper: #17191d; --faint: #7c828d; --accent: #7db4f2; }
}
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2em auto;
  max-width: 66em; padding: 0 1em; }
table { border-collapse: collapse; } td, th { padding: .15em .8em .15em 0; text-align: left; }
td, th { white-space: nowrap; } td.n { text-align: right; font-variant-numeric: tabular-nums; }
.faint { color: var(--faint); } svg { display: block; }
.axis { stroke: var(--faint); } .game { fill: var(--faint); opacity: .35; }
.interval { stroke: var(--accent); stroke-width: 3; } .value, .bar { fill: var(--accent); }
"""


def page_of(evaluations: Sequence[Evaluation]) -> str:
    """A self-contained page: a section for each game, then the definitions of all figures."""
    sections = "\n".join(map(_section, evaluations))
    terms = "\n".join(
        f"<dt id='{name}'>{name}</dt><dd>{escape(text)} <span class='faint'>({escape(source)})</span></dd>"
        for name, (text, source) in DEFINITIONS.items()
    )
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>Games judged</title>\n"
        f"<meta name='viewport' content='width=device-width'><style>{_STYLE}</style></head><body>\n"
        "<h1>Games judged</h1>\n<p>Each chart shows a value with its 95 % interval; the pale strokes are the "
        f"bundled games.</p>\n{sections}\n<h2>Definitions</h2>\n<dl>{terms}</dl>\n</body></html>\n"
    )


def _section(found: Evaluation) -> str:
    notes = "".join(f"<li>{escape(note)}</li>" for note in found.notes)
    rows = "\n".join(map(_row, found.figures))
    return (
        f"<h2>{escape(found.game)}</h2>\n<p>{escape(', '.join(found.roles))}</p>\n<ul>{notes}</ul>\n"
        "<table><tr><th>figure</th><th>value</th><th>95 % interval</th><th></th><th>rank %</th>"
        f"<th>sample</th><th>from</th></tr>\n{rows}\n</table>\n{durations_chart(found.durations)}"
    )


def _row(figure: Figure) -> str:
    rank = percentile(figure.name, figure.value)
    interval = "exact" if figure.source == EXACT else f"{figure.low:.3f} to {figure.high:.3f}"
    return (
        f"<tr><td><a href='#{figure.name}'>{figure.name}</a></td><td class='n'>{figure.value:.3f}</td>"
        f"<td class='n faint'>{interval}</td><td>{figure_chart(figure)}</td>"
        f"<td class='n'>{'' if rank is None else rank}</td><td class='n'>{figure.sample:,}</td>"
        f"<td class='faint'>{escape(figure.source)}</td></tr>"
    )


def figure_chart(figure: Figure) -> str:
    """A value and its interval as SVG, on the scale of the bundled games."""
    others = reference_values().get(figure.name, [])
    place = _scale([*others, figure.low, figure.value, figure.high])
    middle = HEIGHT / 2
    dots = "".join(
        f"<rect class='game' x='{place(each) - 1:.1f}' y='{middle - 5}' width='2' height='10'/>"
        for each in others
    )
    return (
        f"<svg width='{WIDTH}' height='{HEIGHT}' role='img' aria-label='{figure.value:.3f}'>"
        f"<line class='axis' x1='{MARGIN}' x2='{WIDTH - MARGIN}' y1='{middle}' y2='{middle}'/>{dots}"
        f"<line class='interval' x1='{place(figure.low):.1f}' x2='{place(figure.high):.1f}' "
        f"y1='{middle}' y2='{middle}'/>"
        f"<circle class='value' cx='{place(figure.value):.1f}' cy='{middle}' r='5'/></svg>"
    )


def _scale(values: Sequence[float]) -> Callable[[float], float]:
    """Values to pixels: shares from 0 to 1, others from least to greatest, wide ranges by logarithm."""
    low, high = min(values), max(values)
    positive = [each for each in values if each > 0]
    bent: Callable[[float], float] = float
    if high > SHARES and high > WIDE * min(positive, default=high):
        low, bent = max(low, min(positive)), math.log
    elif high <= SHARES:
        low, high = min(low, 0.0), 1.0
    first, last = bent(low), bent(high)

    def place(value: float) -> float:
        share = (bent(min(max(value, low), high)) - first) / (last - first) if last > first else 0.5
        return MARGIN + (WIDTH - 2 * MARGIN) * share

    return place


def durations_chart(durations: dict[int, int]) -> str:
    """Histogram of the lengths of matches; empty without matches."""
    if not durations:
        return ""
    shortest, longest = min(durations), max(durations)
    width = -(-(longest - shortest + 1) // MAX_BARS)
    bars = [0] * ((longest - shortest) // width + 1)
    for length, count in durations.items():
        bars[(length - shortest) // width] += count
    step = min(WIDEST_BAR, 2 * WIDTH / len(bars))
    shapes = "".join(
        f"<rect class='bar' x='{i * step:.1f}' y='{BARS_HEIGHT * (1 - count / max(bars)):.1f}' "
        f"width='{0.9 * step:.1f}' height='{BARS_HEIGHT * count / max(bars):.1f}'>"
        f"<title>{count} matches</title></rect>"
        for i, count in enumerate(bars)
    )
    return (
        f"<p>Joint moves of a match, from {shortest} to {longest}:</p>\n"
        f"<svg width='{2 * WIDTH}' height='{BARS_HEIGHT}' role='img' aria-label='lengths'>{shapes}</svg>"
    )
