"""A state on its board as an SVG picture; the board is the terminal's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

from gdl.terms import Term
from ggp.analysis.board import Board, Cell, Values, legend
from ggp.analysis.svg import svg_document, svg_text

SIDE = 44
"""Pixels of a cell, and of a margin."""
GAP = 12
"""Pixels between the boards of a board of boards."""
LINE_HEIGHT = 16
LINE_CHARACTERS = 80
FACT_LINES = 4
"""Most lines of facts below a board that it does not show."""

DISCS = {
    "red": "#d33f3f",
    "blue": "#3b6fd1",
    "green": "#3a9a5b",
    "yellow": "#f2c230",
    "white": "#ffffff",
    "black": "#222222",
    "magenta": "#b145a8",
    "cyan": "#3fb4c4",
    "teal": "#2a8c8c",
}
"""Contents that are drawn as a disc: those that are nothing but a color."""
INKS = ("#1f4fa3", "#b3261e", "#2e7d32", "#8a5a00", "#6a1b9a", "#00695c")
"""Colors of contents drawn as text, in the order of the board's labels."""


class Grid:
    """Where the cells of a board lie in a picture, in pixels.

    left, top       the upper left corner of the cells; names stand to the left and below
    width, height   of all cells together
    """

    def __init__(self, board: Board, left: float = SIDE, top: float = SIDE / 2) -> None:
        self.board, self.left, self.top = board, left, top
        rows = range(len(board.down.values))
        self._column_x = _offsets(board.across.values, range(len(board.across.values)))
        self._row_y = _offsets(board.down.values, reversed(rows) if board.is_upward else rows)
        self.width = max(self._column_x.values()) + SIDE
        self.height = max(self._row_y.values()) + SIDE

    def corner(self, cell: Cell) -> tuple[float, float]:
        """The upper left corner of a cell."""
        return self.left + self._column_x[cell[0]], self.top + self._row_y[cell[1]]

    def square(self, cell: Cell, fill: str) -> str:
        """The square of a cell."""
        x, y = self.corner(cell)
        return f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" stroke="#999" fill="{fill}"/>'

    def names(self) -> list[str]:
        """The coordinates of columns and rows."""
        below = self.top + self.height + LINE_HEIGHT
        columns = [
            svg_text(self.left + x + SIDE / 2, below, self.board.across.values[column][-1], "middle")
            for column, x in self._column_x.items()
        ]
        return columns + [
            svg_text(self.left - 6, self.top + y + SIDE / 2 + 4, self.board.down.values[row][-1], "end")
            for row, y in self._row_y.items()
        ]


def _offsets(values: Sequence[Values], order: Iterable[int]) -> dict[int, float]:
    """The first pixel of each column (or row), with gaps between boards of boards."""
    offsets: dict[int, float] = {}
    place, previous = 0.0, None
    for index in order:
        if previous is not None and values[index][:-1] != values[previous][:-1]:
            place += GAP
        offsets[index], previous = place, index
        place += SIDE
    return offsets


def board_svg(board: Board, facts: Iterable[Term]) -> str:
    """The state `facts` as an SVG document: board, legend, facts off the board.

    >>> from ggp.analysis.board import Axis, Layer
    >>> axis = (("1",), ("2",))
    >>> board = Board((Layer("cell", 3, Axis((0,), axis), Axis((1,), axis)),), True, (None,))
    >>> board_svg(board, []).count("<rect")  # four cells and the background
    5
    """
    facts = tuple(facts)
    grid = Grid(board)
    contents = board.contents(facts)
    parts = grid.names()
    for column in range(len(board.across.values)):
        for row in range(len(board.down.values)):
            light = "#f7f3e8" if (column + row) % 2 else "#ece5d3"
            parts.append(grid.square((column, row), "#777" if (column, row) in board.holes else light))
    parts += [_content(grid, cell, stack[0]) for cell, stack in contents.items()]
    y = grid.top + grid.height + 2.5 * LINE_HEIGHT
    lines = _lines(board, facts)
    parts += [svg_text(4, y + LINE_HEIGHT * number, line) for number, line in enumerate(lines)]
    widest = max((len(line) for line in lines), default=0)
    return svg_document(
        max(grid.left + grid.width + SIDE / 2, 7 * widest + 8), y + LINE_HEIGHT * len(lines), parts
    )


def _content(grid: Grid, cell: Cell, content: Values) -> str:
    """A disc for a color, a few characters otherwise.

    The full name shows when the pointer rests on it.
    """
    x, y = grid.corner(cell)
    title = f"<title>{escape(' '.join(content))}</title>"
    if len(content) == 1 and content[0] in DISCS:
        center = f'cx="{x + SIDE / 2}" cy="{y + SIDE / 2}" r="{0.36 * SIDE:.1f}"'
        return f'<circle {center} fill="{DISCS[content[0]]}" stroke="#444">{title}</circle>'
    names = tuple(grid.board.labels)
    ink = INKS[names.index(content[-1]) % len(INKS)] if content[-1] in names else "#222222"
    style = f' font-size="20" font-weight="bold" fill="{ink}"'
    text = svg_text(x + SIDE / 2, y + SIDE / 2 + 7, grid.board.label(content), "middle", style)
    return f"<g>{title}{text}</g>"


def _lines(board: Board, facts: tuple[Term, ...]) -> list[str]:
    """Lines of limited length: the legend, then the facts off the board."""
    key = "  ".join(f"{label} = {name}" for label, name in legend(board, facts) if name not in DISCS)
    rest = [str(fact) for fact in facts if board.place(fact) is None]
    lines, line = [key] if key else [], ""
    for text in rest:
        if line and len(line) + len(text) > LINE_CHARACTERS:
            lines.append(line)
            line = ""
        line = f"{line}  {text}" if line else text
    if line:
        lines.append(line)
    shown = [text if len(text) <= LINE_CHARACTERS else text[: LINE_CHARACTERS - 1] + "…" for text in lines]
    return shown if len(shown) <= FACT_LINES else [*shown[:FACT_LINES], "…"]
