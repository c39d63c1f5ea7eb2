"""The look of a board, recognized from moves and facts: frame, holes, felt, checkered cells, edges.

No game is known by its name. A sheet may choose, in its opening comment:

    board: discs                                discs on plain felt; also frame, holes, checkered, plain, none
    edges: red left right, blue top bottom      whose sides are which
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gdl.program import Program, arguments_of
from gdl.terms import Term, Variable
from ggp.analysis.board import Board, BoardStyle, Cell
from ggp.analysis.move_reading import MoveReading
from ggp.analysis.sheet_comment import read_comment

SIDES = ("left", "right", "bottom", "top")
PARITY_SHARE = 0.6
"""Minimum share of the cells of one color with pieces, and none on the other, that shows its use."""


@dataclass(frozen=True)
class _Evidence:
    """What the style is judged from.

    pieces   cells with a content in the initial state, and the content
    movers   whether moves lead from cell to cell
    """

    board: Board
    reading: MoveReading
    pieces: Mapping[Cell, str]
    roles: frozenset[str]
    movers: bool

    @property
    def is_placing(self) -> bool:
        return bool(self.reading.windows) and not self.movers

    def kind(self) -> str:
        """The kind of board, the first that fits."""
        layer, contents = self.board.layers[0], set(self.board.labels)
        if self.reading.lines and not self.reading.windows and contents <= self.roles:
            return "frame"
        if self.movers and (not layer.content_positions or (self.board.row_shifts and self.board.outside)):
            return "holes"
        if self.movers and not self.board.row_shifts:
            return "checkered"
        has_both = len(set(self.pieces.values()) & self.roles) > 1
        return "discs" if self.is_placing and has_both and contents <= self.roles else "plain"

    def parity(self) -> int:
        """Of the sum of column and row of dark cells: `a1` is dark unless all pieces are on the others."""
        sums = {sum(cell) % 2 for cell in self.pieces}
        half = len(self.board.across.values) * len(self.board.down.values) / 2
        return int(sums == {1} and len(self.pieces) >= PARITY_SHARE * half)

    def turned(self) -> tuple[str, ...]:
        """The roles whose pieces stand at the top."""
        rows: dict[str, list[int]] = {}
        for (_, row), content in self.pieces.items():
            owner = owner_of(content, self.roles)
            if owner is not None:
                rows.setdefault(owner, []).append(row)
        if not self.movers or len(rows) != 2 or self.board.row_shifts:
            return ()
        middle = (len(self.board.down.values) - 1) / 2
        means = {role: sum(found) / len(found) - middle for role, found in rows.items()}
        return tuple(role for role, mean in means.items() if (mean > 0) is self.board.is_upward and mean)


def owner_of(content: str, roles: frozenset[str]) -> str | None:
    """The role whose piece a content is: itself, or the part before the first `_`, or its first letter.

    >>> roles = frozenset({"white", "black"})
    >>> [owner_of(each, roles) for each in ("white", "black_man", "wp", "stone")]
    ['white', 'black', 'white', None]
    """
    if content in roles:
        return content
    first = content.partition("_")[0]
    if first in roles:
        return first
    letters = [role for role in roles if len(content) == 2 and role[0] == content[0]]
    return letters[0] if len(letters) == 1 else None


def find_style(program: Program, reading: MoveReading, facts: Sequence[Term]) -> BoardStyle:
    """The style that rules, opening comment and the facts of the initial state suggest."""
    board = reading.board
    fields = read_comment(program.source.text).fields
    ordered = tuple(str(arguments_of(rule.head)[0]) for rule in program.rules_for("role", 1))
    roles = frozenset(ordered)
    pieces = {cell: stack[0][-1] for cell, stack in board.contents(facts).items()}
    movers = any(len(windows) > 1 for windows in reading.windows.values())
    evidence = _Evidence(board, reading, pieces, roles, movers)
    stated = fields.get("board", "")
    kind = stated if stated in ("plain", "checkered", "frame", "holes", "discs") else evidence.kind()
    edges = _read_edges(fields["edges"], roles) if "edges" in fields else _find_edges(program, board, roles)
    counts = Counter(pieces.values())
    owners = {each: owner_of(each, roles) for each in counts}
    owned = tuple((each, owner, counts[each]) for each, owner in sorted(owners.items()) if owner is not None)
    return BoardStyle(kind, evidence.parity(), edges, evidence.turned(), ordered, owned)


def _read_edges(text: str, roles: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """Side and role, from a text such as `red left right, blue top bottom`."""
    groups = [part.split() for part in text.split(",")]
    return tuple(
        (side, words[0])
        for words in groups
        if words and words[0] in roles
        for side in words[1:]
        if side in SIDES
    )


def _find_edges(program: Program, board: Board, roles: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """Side and role, if rules give each of two roles both ends of a coordinate, as `(edge red 1 ?y)` does."""
    if board.outside or len(board.across.positions) != 1 or len(board.down.positions) != 1:
        return ()
    is_down_first = board.across.positions > board.down.positions
    axes = (board.down, board.across) if is_down_first else (board.across, board.down)
    found: dict[str, str] = {}
    for rule in program.rules:
        words = arguments_of(rule.head)
        if len(words) != 3 or str(words[0]) not in roles:
            continue
        for place, axis in enumerate(axes):
            fixed, free = words[1 + place], words[2 - place]
            ends = {axis.values[0][0]: 0, axis.values[-1][0]: 1}
            if isinstance(free, Variable) and str(fixed) in ends:
                is_column = axis is board.across
                last = ends[str(fixed)]
                level = ("bottom", "top") if board.is_upward else ("top", "bottom")
                found[(("left", "right") if is_column else level)[last]] = str(words[0])
    is_complete = len(found) == 4 and found["left"] == found["right"] != found["top"] == found["bottom"]
    return tuple(found.items()) if is_complete else ()
