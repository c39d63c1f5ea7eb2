"""Learned weights of features as pictures: colors, and an SVG of boards or bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from ggp.board import Board, Cell, layout

SIDE = 44
MARGIN = 30
BAR_LENGTH = 160
BAR_HEIGHT = 20
NAME_WIDTH = 150
_GOOD, _BAD, _EVEN = (34, 139, 84), (200, 60, 50), (245, 245, 240)


@dataclass(frozen=True)
class HeatMap:
    """What a piece of one role is worth on each cell, in goals."""

    title: str
    values: Mapping[Cell, float]


@dataclass(frozen=True)
class Bar:
    """What a piece is worth to its owner, in goals."""

    name: str
    value: float


def heat_color(value: float, largest: float) -> tuple[int, int, int]:
    """Red for bad, green for good, the stronger the nearer to `largest`."""
    share = min(1.0, abs(value) / largest) if largest > 0 else 0.0
    end = _GOOD if value > 0 else _BAD
    red, green, blue = (round(even + share * (full - even)) for even, full in zip(_EVEN, end, strict=True))
    return red, green, blue


def draw_heat_maps(board: Board, maps: Sequence[HeatMap]) -> str:
    """An SVG of one board beside the other, all in the same colors."""
    columns, rows = len(board.across.values), len(board.down.values)
    largest = max((abs(value) for heat in maps for value in heat.values.values()), default=0.0)
    width = len(maps) * (columns * SIDE + 2 * MARGIN)
    parts: list[str] = []
    for number, heat in enumerate(maps):
        left = float(MARGIN + number * (columns * SIDE + 2 * MARGIN))
        parts.append(_text(left, MARGIN * 0.65, heat.title, "start"))
        for (column, row), value in heat.values.items():
            x = left + column * SIDE
            y = MARGIN + (rows - 1 - row if board.is_upward else row) * SIDE
            parts.append(
                f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" stroke="#999"'
                f' fill="{_css(heat_color(value, largest))}"/>'
            )
            parts.append(_text(x + SIDE / 2, y + SIDE / 2 + 4, f"{value:.1f}", "middle"))
        for column, names in enumerate(board.across.values):
            parts.append(_text(left + (column + 0.5) * SIDE, MARGIN + rows * SIDE + 16, names[-1], "middle"))
        for row, names in enumerate(board.down.values):
            place = rows - 1 - row if board.is_upward else row
            parts.append(_text(left - 6, MARGIN + (place + 0.5) * SIDE + 4, names[-1], "end"))
    return _svg(width, rows * SIDE + 2 * MARGIN, parts)


def draw_bars(bars: Sequence[Bar]) -> str:
    """An SVG with one bar for each piece."""
    largest = max((abs(bar.value) for bar in bars), default=0.0) or 1.0
    middle = NAME_WIDTH + BAR_LENGTH
    parts: list[str] = []
    for number, bar in enumerate(bars):
        y = MARGIN / 2 + number * BAR_HEIGHT
        length = abs(bar.value) / largest * BAR_LENGTH
        x = middle if bar.value > 0 else middle - length
        parts.append(_text(NAME_WIDTH - 8, y + 14, bar.name, "end"))
        parts.append(
            f'<rect x="{x:.1f}" y="{y + 2}" width="{length:.1f}" height="{BAR_HEIGHT - 4}"'
            f' fill="{_css(heat_color(bar.value, largest))}"/>'
        )
        parts.append(_text(middle + BAR_LENGTH + 8, y + 14, f"{bar.value:.1f}", "start"))
    return _svg(middle + BAR_LENGTH + 60, MARGIN + len(bars) * BAR_HEIGHT, parts)


def heat_lines(board: Board, heat: HeatMap) -> list[list[tuple[str, float | None]]]:
    """The board as lines of pieces of text, each with the value that it shows (None: frame)."""
    texts = {cell: f"{value:.0f}" for cell, value in heat.values.items()}
    return [
        [(text, None if cell is None else heat.values.get(cell)) for text, cell in line]
        for line in layout(board, texts)
    ]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _css(color: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
