"""A board as SVG for a page: every cell an element of its own, colors left to the stylesheet.

Cells carry `data-cell="column,row"`; contents carry classes. `analysis.board_svg` draws the same board as a
picture that stands alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from gdl.terms import Term
from ggp.analysis.board import Board, Cell, Values
from ggp.analysis.board_svg import DISCS, SIDE, Grid
from ggp.analysis.svg import svg_text

_MARGIN = 24
"""Pixels left and below, for the names of rows and columns."""

_CHESS = {"king": "♚", "queen": "♛", "rook": "♜", "bishop": "♝", "knight": "♞", "pawn": "♟"}
_COLORS = {"w": "white", "b": "black"}
_CHESS_LETTERS = {"k": "king", "q": "queen", "r": "rook", "b": "bishop", "n": "knight", "p": "pawn"}


def cell_name(cell: Cell) -> str:
    """The name of a cell in `data-cell` and in click paths.

    >>> cell_name((2, 0))
    '2,0'
    """
    return f"{cell[0]},{cell[1]}"


def board_markup(board: Board, facts: Iterable[Term], changed: Iterable[Cell] = ()) -> str:
    """The state `facts` as an SVG element.

    changed   cells that the last move has changed

    >>> from ggp.analysis.board import Axis, Layer
    >>> axis = (("1",), ("2",))
    >>> board = Board((Layer("cell", 3, Axis((0,), axis), Axis((1,), axis)),), True, (None,))
    >>> board_markup(board, []).count("data-cell")
    4
    """
    grid = Grid(board, _MARGIN, 4)
    contents, marked = board.contents(tuple(facts)), frozenset(changed)
    width, height = grid.width + _MARGIN + 4, grid.height + _MARGIN + 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board" width="{2 * width:g}" '
        f'viewBox="0 0 {width:g} {height:g}" '
        'role="group" aria-label="board">'
    ]
    rows = range(len(board.down.values))
    for row in reversed(rows) if board.is_upward else rows:
        for column in range(len(board.across.values)):
            cell = (column, row)
            parts.append(_cell(grid, cell, contents.get(cell, ()), is_changed=cell in marked))
    return "\n".join([*parts, '<g class="names">', *grid.names(), "</g></svg>"])


def _cell(grid: Grid, cell: Cell, stack: Sequence[Values], *, is_changed: bool) -> str:
    board = grid.board
    x, y = grid.corner(cell)
    name = " ".join((board.across.values[cell[0]][-1], board.down.values[cell[1]][-1]))
    content = " ".join(stack[0]) if stack else "empty"
    kinds = ["cell", "dark" if sum(cell) % 2 else "light"]
    kinds += ["hole"] if cell in board.holes else []
    kinds += ["changed"] if is_changed else []
    square = f'<rect class="square" x="{x:g}" y="{y:g}" width="{SIDE}" height="{SIDE}"/>'
    piece = _piece(board, stack[0], x + SIDE / 2, y + SIDE / 2) if stack else ""
    return (
        f'<g class="{" ".join(kinds)}" data-cell="{cell_name(cell)}" '
        f"aria-label={quoteattr(f'{name}: {content}')}>{square}{piece}"
        f'<circle class="dot" cx="{x + SIDE / 2:g}" cy="{y + SIDE / 2:g}" r="6"/>'
        f"<title>{escape(f'{name}: {content}')}</title></g>"
    )


def _piece(board: Board, content: Values, x: float, y: float) -> str:
    """A disc for a color, a figure for a chess piece, strokes for x and o, a few characters otherwise."""
    words = content[0].replace("-", "_").split("_") if len(content) == 1 else list(content)
    if words[0] in DISCS and words[1:] in ([], ["man"]):
        return f'<circle class="piece disc" cx="{x:g}" cy="{y:g}" r="16" fill="{DISCS[words[0]]}"/>'
    figure = _chess_figure(words)
    if figure is not None:
        color, glyph = figure
        return svg_text(x, y + 12, glyph, "middle", f' class="piece chess {color}" font-size="34"')
    if words == ["x"]:
        return f'<path class="piece stroke ink-0" d="M{x - 11:g} {y - 11:g}l22 22m0-22l-22 22"/>'
    if words == ["o"]:
        return f'<circle class="piece stroke ink-1" cx="{x:g}" cy="{y:g}" r="12"/>'
    names = tuple(board.labels)
    ink = names.index(content[-1]) % 6 if content[-1] in names else 6
    label = board.label(content)
    size = 20 if len(label) < 3 else 14
    return svg_text(x, y + size * 0.35, label, "middle", f' class="piece ink-{ink}" font-size="{size}"')


def _chess_figure(words: Sequence[str]) -> tuple[str, str] | None:
    """Color and figure of a chess piece, written as words or as two letters such as `wk`.

    >>> _chess_figure(["wk"]), _chess_figure(["black", "pawn"]), _chess_figure(["arrow"])
    (('white', '♚'), ('black', '♟'), None)
    """
    if len(words) == 1 and len(words[0]) == 2:
        color, kind = words[0][0], words[0][1]
        words = [_COLORS.get(color, ""), _CHESS_LETTERS.get(kind, "")]
    if len(words) == 2 and words[0] in ("white", "black") and words[1] in _CHESS:
        return words[0], _CHESS[words[1]]
    return None
