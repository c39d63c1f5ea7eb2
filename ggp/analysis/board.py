"""Boards as data, and states drawn on them as text.

`board_finder.find_board` recognizes a board from rules and facts; neither module knows the name of any
game.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gdl.program import arguments_of
from gdl.terms import Term
from ggp.analysis.walls import Wall, WallFamily

EMPTY = "."
"""Text of a blank cell: one that holds nothing, or what most cells hold initially."""
HOLE = "#"
"""Text of a place in the grid that is not a cell."""

Values = tuple[str, ...]
Cell = tuple[int, int]


@dataclass(frozen=True)
class Axis:
    """One direction of a board: arguments at `positions` (outer first) take `values` in order."""

    positions: tuple[int, ...]
    values: tuple[Values, ...]

    @cached_property
    def index(self) -> Mapping[Values, int]:
        return {value: number for number, value in enumerate(self.values)}

    def find(self, arguments: Sequence[str]) -> int | None:
        """The place on this axis of a fact with `arguments`; None if it has none."""
        return self.index.get(tuple(arguments[position] for position in self.positions))


@dataclass(frozen=True)
class Layer:
    """One fluent family on a board: which arguments are coordinates; the others are the content.

    joint   the argument that names a cell as `a1`, if one does; it counts as two, `a` and `1`, so that
            positions in axes and contents count one more argument than the fluent has
    """

    name: str
    arity: int
    across: Axis
    down: Axis
    joint: int | None = None

    @cached_property
    def content_positions(self) -> tuple[int, ...]:
        keys = {*self.across.positions, *self.down.positions}
        count = self.arity + (self.joint is not None)
        return tuple(position for position in range(count) if position not in keys)

    def place(self, fact: Term) -> tuple[Cell, Values] | None:
        """Cell (across, down) and content of a fact; None if off this layer."""
        if not is_of(fact, self.name, self.arity):
            return None
        texts = argument_texts(arguments_of(fact), self.joint)
        column, row = self.across.find(texts), self.down.find(texts)
        if column is None or row is None:
            return None
        return (column, row), tuple(texts[position] for position in self.content_positions) or (self.name,)


@dataclass(frozen=True)
class BoardStyle:
    """The look of a board, see `board_style`.

    kind     plain, checkered, frame (discs fall into it), holes (pegs stand in them) or discs (on felt)
    parity   of the sum of column and row of the dark cells of a checkered board
    edges    side (left, right, top, bottom) and the role that has to connect it
    turned   roles whose pieces stand at the top: for them the board is turned
    roles    of the game
    pieces   content and role of the pieces in the initial state, with their number
    """

    kind: str = "plain"
    parity: int = 0
    edges: tuple[tuple[str, str], ...] = ()
    turned: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    pieces: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True)
class Board:
    """How to draw the states of one game.

    layers      the main family first; later ones are drawn over it
    is_upward   whether the first row is at the bottom, as in chess, or at the top, as in a table
    blanks      per layer, the content that is drawn as a blank cell
    labels      content value → the few characters that stand for it
    holes       places of the grid that are not cells, such as the rocks of a maze
    outside     places that are not drawn at all, such as those around a star
    row_shifts  on a board of hexagons, half cells by which each row lies to the right; empty: squares
    blocks      cells across and down of the blocks of which the board consists; 0: none
    walls       fluents that name walls between cells
    has_letters whether columns are shown as letters, although the rules number them
    style       its look
    """

    layers: tuple[Layer, ...]
    is_upward: bool
    blanks: tuple[Values | None, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    holes: frozenset[Cell] = frozenset()
    outside: frozenset[Cell] = frozenset()
    row_shifts: tuple[int, ...] = ()
    blocks: tuple[int, int] = (0, 0)
    walls: tuple[WallFamily, ...] = ()
    has_letters: bool = False
    style: BoardStyle = BoardStyle()

    def is_dark(self, cell: Cell) -> bool:
        """Whether a cell is one of the dark ones of a checkered board."""
        return self.style.kind == "checkered" and sum(cell) % 2 == self.style.parity

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """The columns as they are shown."""
        return shown_columns(self.across.values) if self.has_letters else _last_words(self.across)

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """The rows as they are shown."""
        return _last_words(self.down)

    def cell_text(self, cell: Cell) -> str:
        """The name of a cell: `d5`, or both coordinates if they do not read as one word."""
        column, row = self.column_names[cell[0]], self.row_names[cell[1]]
        letter, number = (row, column) if row.isalpha() and column.isdigit() else (column, row)
        is_word = len(self.across.positions) == len(self.down.positions) == 1
        is_word = is_word and letter.isalpha() and not number[:1].isalpha()
        outer = (*self.across.values[cell[0]][:-1], *self.down.values[cell[1]][:-1])
        return " ".join((*outer, f"{letter}{number}" if is_word else f"{column} {row}"))

    @property
    def across(self) -> Axis:
        return self.layers[0].across

    @property
    def down(self) -> Axis:
        return self.layers[0].down

    def place(self, fact: Term) -> tuple[int, Cell, Values] | None:
        """Layer, cell and content of a fact; None if off the board."""
        places = enumerate(layer.place(fact) for layer in self.layers)
        return next(((index, *placed) for index, placed in places if placed is not None), None)

    def shows(self, fact: Term) -> bool:
        """Whether a fact is drawn: as the content of a cell, or as a wall."""
        return self.place(fact) is not None or any(family.find(fact) is not None for family in self.walls)

    def standing_walls(self, facts: Iterable[Term]) -> frozenset[Wall]:
        """The walls of a state."""
        found = {family.find(fact) for fact in facts for family in self.walls} if self.walls else set()
        width, height = len(self.across.values), len(self.down.values)
        return frozenset(
            wall
            for wall in found
            if wall is not None
            and -wall.is_upright <= wall.column < width
            and wall.is_upright - 1 <= wall.row < height
        )

    def contents(self, facts: Iterable[Term]) -> dict[Cell, tuple[Values, ...]]:
        """The contents of each cell that is not blank, top layer first."""
        found: dict[Cell, tuple[Values, ...]] = {}
        facts = tuple(facts)
        for layer, blank in zip(self.layers, self.blanks, strict=True):
            for fact in facts:
                placed = layer.place(fact)
                if placed is not None and placed[1] != blank:
                    found[placed[0]] = (placed[1], *found.get(placed[0], ()))
        return found

    def is_gap(self, side: int, one: int, other: int) -> bool:
        """Whether neighboring columns (side 0) or rows (side 1) belong to different boards or blocks."""
        values, length = (self.across, self.down)[side].values, self.blocks[side]
        is_other_block = length > 0 and one // length != other // length
        return is_other_block or values[one][:-1] != values[other][:-1]

    def label(self, content: Values) -> str:
        """The few characters that stand for the content of a cell."""
        return "".join(self.labels.get(value, value[:2]) for value in content)


def shown_columns(values: Sequence[Values]) -> tuple[str, ...]:
    """Letters for numbered columns, `a` for the first one.

    >>> shown_columns((("1",), ("2",), ("3",)))
    ('a', 'b', 'c')
    """
    return tuple(chr(ord("a") + number) for number in range(len(values)))


def _last_words(axis: Axis) -> tuple[str, ...]:
    return tuple(value[-1] for value in axis.values)


def layout(
    board: Board, cells: Mapping[Cell, str], walls: frozenset[Wall] = frozenset()
) -> list[list[tuple[str, Cell | None]]]:
    """The drawing as lines of text pieces, each with its cell: None in the frame, gaps and walls."""
    columns, rows = board.column_names, board.row_names
    names = columns
    width = max([len(text) for text in cells.values()] + [len(name) for name in names] + [1])
    margin = max(map(len, rows))
    order = range(len(rows) - 1, -1, -1) if board.is_upward else range(len(rows))
    lines: list[list[tuple[str, Cell | None]]] = []
    previous = None

    def shifted(row: int) -> list[tuple[str, None]]:
        shift = board.row_shifts[row] - min(board.row_shifts) if board.row_shifts else 0
        return [(" " * ((width + 1) * shift // 2), None)] if board.row_shifts else []

    for row in order:
        above = row if board.is_upward else row - 1
        lines += _level_walls(board, walls, above, (margin, width))
        if previous is not None and board.is_gap(1, previous, row):
            lines.append([])
        previous = row
        line: list[tuple[str, Cell | None]] = [(rows[row].rjust(margin), None), *shifted(row)]
        for column in range(len(columns)):
            gap = _gap(board, column)
            line.append((gap[:-1] + "|" if Wall(column - 1, row, True) in walls else gap, None))
            blank = HOLE if (column, row) in board.holes else EMPTY
            blank = " " if (column, row) in board.outside else blank
            line.append((cells.get((column, row), blank).rjust(width), (column, row)))
        if Wall(len(columns) - 1, row, True) in walls:
            line.append(("|", None))
        lines.append(line)
    lines += _level_walls(board, walls, order[-1] - board.is_upward, (margin, width))
    if board.row_shifts and board.outside:
        return lines  # no column stands above its name
    named = [(_gap(board, column) + name.rjust(width), None) for column, name in enumerate(names)]
    return [*lines, [(" " * margin, None), *shifted(order[-1]), *named]]


def _level_walls(
    board: Board, walls: frozenset[Wall], row: int, widths: tuple[int, int]
) -> list[list[tuple[str, Cell | None]]]:
    """A line with the walls between `row` and the next one; none if there are none.

    widths   of the names of rows and of the cells
    """
    columns = range(len(board.across.values))
    standing = [Wall(column, row, False) in walls for column in columns]
    if not any(standing):
        return []
    margin, width = widths
    texts = [
        _gap(board, column) + ("-" if is_wall else " ") * width for column, is_wall in enumerate(standing)
    ]
    return [[(" " * margin + "".join(texts), None)]]


def legend(board: Board, facts: Iterable[Term]) -> list[tuple[str, str]]:
    """(label, full name) of everything on the board that is drawn abbreviated."""
    shown = {content for stack in board.contents(facts).values() for content in stack[:1]}
    pairs = {(board.label(content), " ".join(content)) for content in shown}
    return sorted(pair for pair in pairs if pair[0] != pair[1])


def _gap(board: Board, column: int) -> str:
    return "   " if column and board.is_gap(0, column - 1, column) else " "


def is_of(term: Term, name: str, arity: int) -> bool:
    """Whether a fact or move has this name and number of arguments."""
    return term.name == name and len(arguments_of(term)) == arity


def argument_texts(arguments: Sequence[Term], joint: int | None) -> list[str]:
    """The arguments as text, with `a1` at position `joint` split in two."""
    texts = [str(argument) for argument in arguments]
    if joint is not None:
        texts[joint : joint + 1] = texts[joint][:1], texts[joint][1:]
    return texts
