"""A board as SVG for a page.

Cells carry `data-cell="column,row"`; contents carry classes, colored by the stylesheet. `analysis.board_svg`
draws the same board as a picture that stands alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gdl.terms import Term
from ggp.analysis.board import Board, Cell, Values
from ggp.analysis.board_style import owner_of
from ggp.analysis.board_svg import SIDE, Grid, stack_markup
from ggp.analysis.svg import xml_attribute, xml_text

_MARGIN = 24
"""Pixels left and below, for the names of rows and columns."""


def cell_name(cell: Cell) -> str:
    """The name of a cell in `data-cell` and in click paths."""
    return f"{cell[0]},{cell[1]}"


def board_markup(
    board: Board, facts: Iterable[Term], changed: Iterable[Cell] = (), won: Iterable[Cell] = ()
) -> str:
    """The state `facts` as an SVG element; cells have their middle in `data-x` and `data-y`, to turn it.

    changed   cells that the last move has changed
    won       cells that decide the match
    """
    grid = Grid(board, _MARGIN, 8 if board.row_shifts else 4)  # the tips of hexagons reach above their square
    facts = tuple(facts)
    contents, marked, deciding = board.contents(facts), frozenset(changed), frozenset(won)
    width, height = grid.width + _MARGIN + 4, grid.top + grid.height + _MARGIN
    area = f"{grid.left:g} {grid.left + grid.width:g} {grid.top:g} {grid.top + grid.height:g}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board {board.style.kind}" width="{2 * width:g}" '
        f'viewBox="0 0 {width:g} {height:g}" data-area="{area}" role="group" aria-label="board">'
    ]
    if board.style.kind == "frame":
        size = f'x="{grid.left:g}" y="{grid.top:g}" width="{grid.width:g}" height="{grid.height:g}"'
        parts.append(f'<rect class="behind" {size}/>')
        parts += [_fallen(grid, cell, stack, cell in marked) for cell, stack in contents.items()]
    for cell in grid.cells():
        kinds = [name for name, cells in (("changed", marked), ("won", deciding)) if cell in cells]
        parts.append(_cell(grid, cell, contents.get(cell, ()), kinds))
    parts += ['<g class="turns">', *grid.edges(), *grid.walls(facts), "</g>"]
    return "\n".join([*parts, '<g class="names">', *grid.names(), '</g><g class="marks"></g></svg>'])


def _fallen(grid: Grid, cell: Cell, stack: Sequence[Values], is_new: bool) -> str:
    """A disc behind the frame; a new one falls from the top."""
    x, y = grid.middle(cell)
    fall = f' data-fall="{grid.top - y:g}px"' if is_new else ""
    kind = "fallen new" if is_new else "fallen"
    return (
        f'<g class="{kind}" data-x="{x:g}" data-y="{y:g}"{fall}>{stack_markup(grid.board, stack, x, y)}</g>'
    )


def _frame_markup(grid: Grid, cell: Cell) -> str:
    """A square of the frame with a round hole in it."""
    (x, y), half = grid.middle(cell), SIDE / 2
    square = f"M{x - half:g} {y - half:g}h{SIDE}v{SIDE}h{-SIDE}z"
    hole = f"M{x - 17:g} {y:g}a17 17 0 1 0 34 0a17 17 0 1 0 -34 0z"
    return f'<path class="square" fill-rule="evenodd" d="{square}{hole}"/>'


def _cell(grid: Grid, cell: Cell, stack: Sequence[Values], marks: Sequence[str]) -> str:
    board = grid.board
    x, y = grid.middle(cell)
    name = board.cell_text(cell)
    content = " ".join(stack[0]) if stack else "empty"
    kinds = ["cell", "dark" if board.is_dark(cell) else "light", *marks]
    kinds += ["full"] if stack else []
    kinds += ["hole"] if cell in board.holes else []
    owner = owner_of(stack[0][-1], frozenset(board.style.roles)) if stack else None
    owned = "" if owner is None else f" data-owner={xml_attribute(owner)}"
    square, piece = grid.outline(cell, 'class="square"') + grid.hole(cell), ""
    if board.style.kind == "frame":
        square = f'{_frame_markup(grid, cell)}<circle class="under" cx="{x:g}" cy="{y:g}" r="17"/>'
    elif stack:
        piece = stack_markup(board, stack, x, y)
    return (
        f'<g class="{" ".join(kinds)}" data-cell="{cell_name(cell)}" data-x="{x:g}" data-y="{y:g}"{owned} '
        f"aria-label={xml_attribute(f'{name}: {content}')}>{square}{piece}"
        f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="4.5"/>'
        f"<title>{xml_text(f'{name}: {content}')}</title></g>"
    )
