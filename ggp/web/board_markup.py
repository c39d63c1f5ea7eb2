"""A board as SVG for a page, and the cells to click for a move.

Cells carry `data-cell="column,row"`; contents carry classes, colored by the stylesheet. `analysis.board_svg`
draws the same board as a picture that stands alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

from gdl.program import arguments_of
from gdl.terms import Term
from ggp.analysis.board import Board, Cell, Values, argument_texts
from ggp.analysis.board_svg import Grid, stack_markup
from ggp.analysis.svg import xml_attribute, xml_text

_MARGIN = 24
"""Pixels left and below, for the names of rows and columns."""

Path: TypeAlias = tuple[frozenset[Cell], ...]
"""Clicks in order; each may go to any of these cells."""


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
    name = " ".join((board.across.values[cell[0]][-1], board.down.values[cell[1]][-1]))
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


def click_paths(board: Board, moves: Sequence[Term]) -> list[Path]:
    """The path of each of `moves`: source then target, one cell, or anywhere in a column.

    Only the arguments of a move are interpreted: those that are coordinates of the board, in the order in
    which the board's fluents have them. A move without such arguments has an empty path.

    >>> from ggp.analysis.board import Axis, Layer
    >>> from gdl.syntax.parser import parse_term
    >>> axis = (("1",), ("2",))
    >>> board = Board((Layer("cell", 3, Axis((0,), axis), Axis((1,), axis)),), True, (None,))
    >>> moves = [parse_term(text) for text in ("(move 1 1 2 1)", "(mark 2 2)", "noop")]
    >>> [[sorted(cells) for cells in path] for path in click_paths(board, moves)]
    [[[(0, 0)], [(1, 0)]], [[(1, 1)]], []]
    """
    places = _cells_by_coordinates(board)
    width = len(next(iter(places)))
    lines = _cells_by_line(board)
    groups: dict[tuple[str, int], list[int]] = {}
    texts = [_argument_words(move, board.layers[0].joint is not None) for move in moves]
    for index, move in enumerate(moves):
        groups.setdefault((move.name, len(texts[index])), []).append(index)
    paths: list[Path] = [()] * len(moves)
    for (_, length), members in groups.items():
        group = [texts[index] for index in members]
        fits = [
            at
            for at in range(length - width + 1)
            if {words[at : at + width] for words in group} <= places.keys()
        ]
        # If several readings cover equally many cells, the last counts: a piece is named before its place.
        chosen: list[int] = []
        for at in reversed(fits):
            if not chosen or at + width <= chosen[0]:
                chosen.insert(0, at)
        for index, words in zip(members, group, strict=True):
            if chosen:
                paths[index] = tuple(places[words[at : at + width]] for at in chosen)
            elif length == 1 and words[0] in lines:
                paths[index] = (lines[words[0]],)
    return paths


def _argument_words(move: Term, is_joint: bool) -> tuple[str, ...]:
    """The arguments of a move, those of nested terms included; cells such as `a1` split if `is_joint`."""
    if not is_joint and "(" not in (text := str(move))[1:]:
        return tuple(text.strip("()").split()[1:])  # amazons has 2,000 moves: most are as plain as this
    words: list[str] = []
    pending = list(arguments_of(move))
    while pending:
        term = pending.pop(0)
        if inner := arguments_of(term):
            pending[:0] = inner
            continue
        text = str(term)
        is_cell = is_joint and len(text) > 1 and text[0].isalpha() and text[1:].isdigit()
        words += argument_texts([term], 0) if is_cell else [text]
    return tuple(words)


def _cells_by_coordinates(board: Board) -> Mapping[tuple[str, ...], frozenset[Cell]]:
    """Coordinates, in the order of the first layer's arguments → cell."""
    across, down = board.across, board.down
    positions = (*across.positions, *down.positions)
    found = {}
    for (column, first), (row, second) in product(enumerate(across.values), enumerate(down.values)):
        words = tuple(word for _, word in sorted(zip(positions, first + second, strict=True)))
        found[words] = frozenset([(column, row)])
    return found


def _cells_by_line(board: Board) -> Mapping[str, frozenset[Cell]]:
    """Name of a column → its cells, for moves such as `(drop 3)`; rows if no column has the name."""
    columns, rows = range(len(board.across.values)), range(len(board.down.values))
    of_rows = {board.down.values[row][-1]: frozenset(product(columns, (row,))) for row in rows}
    return of_rows | {board.across.values[each][-1]: frozenset(product((each,), rows)) for each in columns}
