"""Pictures of learned weights: colors, and SVG of boards or bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ggp.analysis.board import Board, Cell, layout
from ggp.analysis.board_svg import Grid
from ggp.analysis.svg import svg_document, svg_text

MARGIN = 30
BAR_LENGTH = 160
BAR_HEIGHT = 20
NAME_WIDTH = 150
_GOOD, _BAD, _EVEN = (34, 139, 84), (200, 60, 50), (245, 245, 240)


@dataclass(frozen=True)
class HeatMap:
    """The worth of one role's pieces on each cell, in goals."""

    title: str
    values: Mapping[Cell, float]


def heat_color(value: float, largest: float) -> tuple[int, int, int]:
    """Red for bad, green for good, stronger towards `largest`.

    >>> heat_color(5.0, 5.0), heat_color(0.0, 5.0)
    ((34, 139, 84), (245, 245, 240))
    """
    share = min(1.0, abs(value) / largest) if largest > 0 else 0.0
    end = _GOOD if value > 0 else _BAD
    red, green, blue = (round(even + share * (full - even)) for even, full in zip(_EVEN, end, strict=True))
    return red, green, blue


def draw_heat_maps(board: Board, maps: Sequence[HeatMap]) -> str:
    """An SVG of boards side by side, on one color scale."""
    largest = max((abs(value) for heat in maps for value in heat.values.values()), default=0.0)
    parts: list[str] = []
    left, height = float(MARGIN), 0.0
    for heat in maps:
        grid = Grid(board, left, MARGIN)
        parts.append(svg_text(left, MARGIN * 0.65, heat.title))
        parts += grid.names()
        for cell, value in heat.values.items():
            x, y = grid.middle(cell)
            fill = _css(heat_color(value, largest))
            parts.append(grid.outline(cell, f'fill="{fill}" stroke="#999"'))
            parts.append(svg_text(x, y + 4, f"{value:.1f}", "middle"))
        left += grid.width + 2 * MARGIN
        height = grid.height + 2 * MARGIN
    return svg_document(left - MARGIN, height, parts)


def draw_bars(bars: Sequence[tuple[str, float]]) -> str:
    """An SVG with one bar for each piece: its name and its worth to its owner, in goals."""
    largest = max((abs(value) for _, value in bars), default=0.0) or 1.0
    middle = NAME_WIDTH + BAR_LENGTH
    parts: list[str] = []
    for number, (name, value) in enumerate(bars):
        y = MARGIN / 2 + number * BAR_HEIGHT
        length = abs(value) / largest * BAR_LENGTH
        x = middle if value > 0 else middle - length
        parts.append(svg_text(NAME_WIDTH - 8, y + 14, name, "end"))
        parts.append(
            f'<rect x="{x:.1f}" y="{y + 2}" width="{length:.1f}" height="{BAR_HEIGHT - 4}"'
            f' fill="{_css(heat_color(value, largest))}"/>'
        )
        parts.append(svg_text(middle + BAR_LENGTH + 8, y + 14, f"{value:.1f}", "start"))
    return svg_document(middle + BAR_LENGTH + 60, MARGIN + len(bars) * BAR_HEIGHT, parts)


def heat_lines(board: Board, heat: HeatMap) -> list[list[tuple[str, float | None]]]:
    """The board as lines of text pieces, each with the value it shows (None: frame)."""
    texts = {cell: f"{value:.0f}" for cell, value in heat.values.items()}
    return [
        [(text, None if cell is None else heat.values.get(cell)) for text, cell in line]
        for line in layout(board, texts)
    ]


def _css(color: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)
