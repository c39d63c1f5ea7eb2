"""Boards: what a state looks like, and drawing it as text.

`find_board` (in `board_finder`) recognizes a board from rules and facts; nothing here or there knows
the name of a game.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gdl.program import arguments_of
from gdl.terms import Term

EMPTY = "."
"""How a cell is drawn that holds nothing, or what most cells hold in the beginning."""

Values = tuple[str, ...]
Cell = tuple[int, int]


@dataclass(frozen=True)
class Axis:
    """Coordinates of one direction: arguments at `positions` (outer first) run through `values` in order."""

    positions: tuple[int, ...]
    values: tuple[Values, ...]

    @cached_property
    def index(self) -> Mapping[Values, int]:
        return {value: number for number, value in enumerate(self.values)}

    def find(self, arguments: Sequence[str]) -> int | None:
        """Where a fact with `arguments` lies on this axis."""
        return self.index.get(tuple(arguments[position] for position in self.positions))


@dataclass(frozen=True)
class Layer:
    """One fluent family on a board: where its coordinates are; the other arguments are the content.

    joint   the argument that names a cell as `a1`, if one does; it counts as two, `a` and `1`, and so
            positions in axes and contents run through one more argument than the fluent has
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
        """The cell (across, down) of a fact and what it says is there; None if it is of another family."""
        arguments = arguments_of(fact)
        if fact.name != self.name or len(arguments) != self.arity:
            return None
        texts = argument_texts(arguments, self.joint)
        column, row = self.across.find(texts), self.down.find(texts)
        if column is None or row is None:
            return None
        return (column, row), tuple(texts[position] for position in self.content_positions) or (self.name,)


@dataclass(frozen=True)
class Board:
    """How to draw the states of one game.

    layers      the main family first; later ones are drawn over it
    is_upward   whether the first row is the lowest, as in chess, or the highest, as in a table
    blanks      per layer, the content that is drawn as nothing
    labels      content value → the few characters that stand for it
    """

    layers: tuple[Layer, ...]
    is_upward: bool
    blanks: tuple[Values | None, ...]
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def across(self) -> Axis:
        return self.layers[0].across

    @property
    def down(self) -> Axis:
        return self.layers[0].down

    def place(self, fact: Term) -> tuple[int, Cell, Values] | None:
        """The layer, the cell and the content that a fact tells of; None where it is not of the board."""
        for index, layer in enumerate(self.layers):
            placed = layer.place(fact)
            if placed is not None:
                return index, *placed
        return None

    def contents(self, facts: Iterable[Term]) -> dict[Cell, tuple[Values, ...]]:
        """What lies in each cell that is not blank, the uppermost layer first."""
        found: dict[Cell, tuple[Values, ...]] = {}
        facts = tuple(facts)
        for layer, blank in zip(self.layers, self.blanks, strict=True):
            for fact in facts:
                placed = layer.place(fact)
                if placed is not None and placed[1] != blank:
                    found[placed[0]] = (placed[1], *found.get(placed[0], ()))
        return found

    def label(self, content: Values) -> str:
        """The few characters for the content of a cell."""
        return "".join(self.labels.get(value, value[:2]) for value in content)


def draw(board: Board, facts: Iterable[Term]) -> list[str]:
    """The state `facts` as lines of text with coordinates."""
    cells = {cell: board.label(stack[0]) for cell, stack in board.contents(facts).items()}
    return ["".join(text for text, _ in line) for line in layout(board, cells)]


def layout(board: Board, cells: Mapping[Cell, str]) -> list[list[tuple[str, Cell | None]]]:
    """The drawing as lines of pieces of text, each with the cell that it shows (None: frame, gap)."""
    columns, rows = board.across.values, board.down.values
    names = [value[-1] for value in columns]
    width = max([len(text) for text in cells.values()] + [len(name) for name in names] + [1])
    margin = max(len(value[-1]) for value in rows)
    order = range(len(rows) - 1, -1, -1) if board.is_upward else range(len(rows))
    lines: list[list[tuple[str, Cell | None]]] = []
    previous = None
    for row in order:
        if previous is not None and rows[row][:-1] != rows[previous][:-1]:
            lines.append([])
        previous = row
        line: list[tuple[str, Cell | None]] = [(rows[row][-1].rjust(margin), None)]
        for column in range(len(columns)):
            line.append((_gap(columns, column), None))
            line.append((cells.get((column, row), EMPTY).rjust(width), (column, row)))
        lines.append(line)
    footer: list[tuple[str, Cell | None]] = [(" " * margin, None)]
    for column, name in enumerate(names):
        footer.append((_gap(columns, column) + name.rjust(width), None))
    lines.append(footer)
    return lines


def legend(board: Board, facts: Iterable[Term]) -> list[tuple[str, str]]:
    """(label, full name) of what lies on the board now and is not drawn in full."""
    shown = {content for stack in board.contents(facts).values() for content in stack[:1]}
    pairs = {(board.label(content), " ".join(content)) for content in shown}
    return sorted(pair for pair in pairs if pair[0] != pair[1])


def _gap(columns: Sequence[Values], column: int) -> str:
    return "   " if column and columns[column][:-1] != columns[column - 1][:-1] else " "


def argument_texts(arguments: Sequence[Term], joint: int | None) -> list[str]:
    """The arguments as texts, with `a1` at position `joint` as two."""
    texts = [str(argument) for argument in arguments]
    if joint is not None:
        texts[joint : joint + 1] = texts[joint][:1], texts[joint][1:]
    return texts
