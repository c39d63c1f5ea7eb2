"""A state on its board as an SVG picture; the board is the terminal's."""

from __future__ import annotations

from collections.abc import Iterable

from gdl.terms import Term
from ggp.analysis.board import Board, Cell, legend
from ggp.analysis.board_pieces import is_pictured, stack_markup
from ggp.analysis.svg import svg_document, svg_text, xml_text
from ggp.analysis.walls import Wall

SIDE = 44
"""Pixels of a cell, and of a margin."""
HEXAGON_PITCH = SIDE * 0.75**0.5
"""Pixels from row to row of hexagons that are SIDE wide."""
GAP = 12
"""Pixels between the boards of a board of boards."""
LINE_HEIGHT = 16
LINE_CHARACTERS = 80
FACT_LINES = 4
"""Maximum number of lines for facts that the board does not show."""


class Grid:
    """Where the cells of a board lie in a picture, in pixels.

    left, top       the upper left corner of the cells; names stand to the left and below
    width, height   of all cells together
    """

    def __init__(self, board: Board, left: float = SIDE, top: float = SIDE / 2) -> None:
        self.board, self.left, self.top = board, left, top
        rows = range(len(board.down.values))
        pitch = HEXAGON_PITCH if board.row_shifts else SIDE
        self._column_x = _offsets(board, 0, range(len(board.across.values)), SIDE)
        self._row_y = _offsets(board, 1, reversed(rows) if board.is_upward else rows, pitch)
        self._shifts = board.row_shifts or (0,) * len(rows)
        cells = self.cells()
        self.width = max(self.corner(cell)[0] for cell in cells) - left + SIDE
        self.height = max(self.corner(cell)[1] for cell in cells) - top + SIDE

    def cells(self) -> list[Cell]:
        """All cells that are drawn, the top row first."""
        cells = ((column, row) for row in self._row_y for column in self._column_x)
        return [cell for cell in cells if cell not in self.board.outside]

    def corner(self, cell: Cell) -> tuple[float, float]:
        """The upper left corner of a cell, or of the square around its middle."""
        column, row = cell
        x = self._column_x[column] + self._shifts[row] * SIDE / 2
        return self.left + x, self.top + self._row_y[row]

    def middle(self, cell: Cell) -> tuple[float, float]:
        """The middle of a cell."""
        x, y = self.corner(cell)
        return x + SIDE / 2, y + SIDE / 2

    def outline(self, cell: Cell, style: str) -> str:
        """The square or hexagon of a cell; `style`: attributes."""
        x, y = self.corner(cell)
        if not self.board.row_shifts:
            return f'<rect x="{x:g}" y="{y:g}" width="{SIDE}" height="{SIDE}" {style}/>'
        half, radius = SIDE / 2, HEXAGON_PITCH / 1.5
        x, y = x + half, y + half
        rim = [(0, -radius), (half, -radius / 2), (half, radius / 2), (0, radius)]
        rim += [(-half, radius / 2), (-half, -radius / 2)]
        points = " ".join(f"{x + right:.1f},{y + below:.1f}" for right, below in rim)
        return f'<polygon points="{points}" {style}/>'

    def empty_cells(self) -> list[str]:
        """All cells without contents, in their colors."""
        drawn = []
        for cell in self.cells():
            light = "#f7f3e8" if sum(cell) % 2 or self.board.row_shifts else "#ece5d3"
            fill = "#777" if cell in self.board.holes else light
            drawn.append(self.outline(cell, f'fill="{fill}" stroke="#999"'))
        return drawn

    def walls(self, facts: Iterable[Term]) -> list[str]:
        """The walls of a state."""
        return [self.wall(wall) for wall in sorted(self.board.standing_walls(facts))]

    def wall(self, wall: Wall) -> str:
        """A wall, as a line between cells."""
        column, row, is_upright = wall
        x, y = self.corner((max(column, 0), max(row, 0)))
        if is_upright:
            x += SIDE if column >= 0 else 0
        else:
            y += SIDE if (row >= 0) is not self.board.is_upward else 0
        style = 'class="wall" stroke="#5a4632" stroke-width="5" stroke-linecap="round"'
        return f'<path d="M{x:g} {y:g}{"v" if is_upright else "h"}{SIDE}" {style}/>'

    def names(self) -> list[str]:
        """The coordinates of rows and columns; columns that end above the last row have none."""
        firsts: dict[int, int] = {}
        for column, row in self.cells():
            firsts.setdefault(row, column)
        names = []
        for row, column in firsts.items():
            x, y = self.corner((column, row))
            names.append(svg_text(x - 6, y + SIDE / 2 + 4, self.board.down.values[row][-1], "end"))
        if self.board.row_shifts and self.board.outside:
            return names
        below = self.top + self.height + LINE_HEIGHT
        last = list(self._row_y)[-1]
        for column, value in enumerate(self.board.across.values):
            x = self.left + self._column_x[column] + (self._shifts[last] + 1) * SIDE / 2
            names.append(svg_text(x, below, value[-1], "middle"))
        return names


def _offsets(board: Board, side: int, order: Iterable[int], pitch: float) -> dict[int, float]:
    """The first pixel of each column (side 0) or row (1), with gaps between boards and blocks."""
    offsets: dict[int, float] = {}
    place, previous = 0.0, None
    for index in order:
        if previous is not None and board.is_gap(side, previous, index):
            place += GAP if board.blocks == (0, 0) else GAP / 2
        offsets[index], previous = place, index
        place += pitch
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
    parts = [*grid.names(), *grid.empty_cells()]
    for cell, stack in board.contents(facts).items():
        title = f"<title>{xml_text(' '.join(stack[0]))}</title>"  # shows when the pointer rests on the cell
        parts.append(f"<g>{title}{stack_markup(board, stack, *grid.middle(cell))}</g>")
    parts += grid.walls(facts)
    y = grid.top + grid.height + 2.5 * LINE_HEIGHT
    lines = _lines(board, facts)
    parts += [svg_text(4, y + LINE_HEIGHT * number, line) for number, line in enumerate(lines)]
    widest = max((len(line) for line in lines), default=0)
    return svg_document(
        max(grid.left + grid.width + SIDE / 2, 7 * widest + 8), y + LINE_HEIGHT * len(lines), parts
    )


def _lines(board: Board, facts: tuple[Term, ...]) -> list[str]:
    """Lines of limited length: the legend, then the facts off the board."""
    key = "  ".join(f"{label} = {name}" for label, name in legend(board, facts) if not is_pictured((name,)))
    lines, begun = [key] if key else [], ""
    for text in (str(fact) for fact in facts if not board.shows(fact)):
        if begun and len(begun) + len(text) > LINE_CHARACTERS:
            lines.append(begun)
            begun = ""
        begun = f"{begun}  {text}" if begun else text
    lines += [begun] if begun else []
    shown = [text if len(text) <= LINE_CHARACTERS else text[: LINE_CHARACTERS - 1] + "…" for text in lines]
    return shown if len(shown) <= FACT_LINES else [*shown[:FACT_LINES], "…"]
