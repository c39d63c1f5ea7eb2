"""A board as SVG for a page.

Cells carry `data-cell="column,row"`; contents carry classes, colored by the stylesheet. `analysis.board_svg`
draws the same board as a picture that stands alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gdl.terms import Term
from ggp.analysis.board import Board, Cell, Values
from ggp.analysis.board_svg import Grid, stack_markup
from ggp.analysis.svg import xml_attribute, xml_text

_MARGIN = 24
"""Pixels left and below, for the names of rows and columns."""


def cell_name(cell: Cell) -> str:
    """The name of a cell in `data-cell` and in click paths."""
    return f"{cell[0]},{cell[1]}"


def board_markup(board: Board, facts: Iterable[Term], changed: Iterable[Cell] = ()) -> str:
    """The state `facts` as an SVG element; `changed`: cells that the last move has changed."""
    grid = Grid(board, _MARGIN, 4)
    facts = tuple(facts)
    contents, marked = board.contents(facts), frozenset(changed)
    width, height = grid.width + _MARGIN + 4, grid.height + _MARGIN + 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board" width="{2 * width:g}" '
        f'viewBox="0 0 {width:g} {height:g}" '
        'role="group" aria-label="board">'
    ]
    parts += [_cell(grid, cell, contents.get(cell, ()), is_changed=cell in marked) for cell in grid.cells()]
    parts += grid.walls(facts)
    return "\n".join([*parts, '<g class="names">', *grid.names(), "</g></svg>"])


def _cell(grid: Grid, cell: Cell, stack: Sequence[Values], *, is_changed: bool) -> str:
    board = grid.board
    x, y = grid.middle(cell)
    name = board.cell_text(cell)
    content = " ".join(stack[0]) if stack else "empty"
    kinds = ["cell", "dark" if sum(cell) % 2 and not board.row_shifts else "light"]
    kinds += ["full"] if stack else []
    kinds += ["hole"] if cell in board.holes else []
    kinds += ["changed"] if is_changed else []
    square = grid.outline(cell, 'class="square"')
    piece = stack_markup(board, stack, x, y) if stack else ""
    return (
        f'<g class="{" ".join(kinds)}" data-cell="{cell_name(cell)}" '
        f"aria-label={xml_attribute(f'{name}: {content}')}>{square}{piece}"
        f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="6"/>'
        f"<title>{xml_text(f'{name}: {content}')}</title></g>"
    )
