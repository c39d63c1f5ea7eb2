"""What is drawn of a search: the nodes of its tree, and the steps that change how they look; also as text.

The searches emit events; `game_tree` and `simulations` turn these into an `Explanation`, and the drawers read
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ggp.validation.properties import counted


class Shape(StrEnum):
    """The shape of a node: who chooses there."""

    MAX = "max"
    MIN = "min"
    CHANCE = "chance"
    PLAYER = "player"
    LEAF = "leaf"


class Status(StrEnum):
    """How far a node is."""

    NEW = "new"
    OPEN = "open"
    DONE = "done"
    CUT = "cut"


class Look(NamedTuple):
    """How a node looks after a step.

    value    what is known of its value, as in `≥ 3`; below it `window`, what was asked
    note     at a cut branch the bound that cut it, else a remark
    marks    such as K for a killer; `MARKS` explains them
    """

    status: Status = Status.NEW
    value: str = ""
    window: str = ""
    note: str = ""
    marks: str = ""


MARKS = {
    "K": "killer move, tried early",
    "T": "answered by the transposition table",
    "R": "searched again",
    "+": "extended by a ply",
    "−": "reduced in depth at first",
    "S": "singular test: all other moves with a null window",
}


@dataclass
class TreeNode:
    """A node that is drawn.

    path, move    the moves from the root, joined by dots; the last of them
    player        name of the role that chooses, empty at a leaf
    probability   of the move of chance that leads here, as text
    given         the value of a leaf that is known before the search, in a bare tree
    folded        what is left out below, as text
    term          the move in KIF, if it is written in another notation
    """

    number: int
    parent: int
    path: str
    move: str
    shape: Shape
    player: str = ""
    probability: str = ""
    given: str = ""
    folded: str = ""
    term: str = ""
    children: list[int] = field(default_factory=list)


class Table(NamedTuple):
    """Numbers shown next to the tree: a head and rows of text."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass
class Step:
    """One step: a line of text, the node in hand, and what changes.

    ply      nodes above the node in hand; indents the text
    looks    number of a node → how it looks from here on
    counts   nodes expanded and leaves evaluated so far
    """

    text: str
    node: int
    ply: int = 0
    looks: dict[int, Look] = field(default_factory=dict)
    counts: tuple[int, int] = (0, 0)
    tables: tuple[Table, ...] = ()


@dataclass
class Explanation:
    """A search, ready to be drawn.

    summary      lines at the end: the value, the best line, counts, what was folded
    comparison   the same search with and without its refinements
    line         numbers of the nodes on the best line, `best_line` their moves
    horizon      of a value that is not that of the whole game, ` to depth 3`
    positions    number of a node → its position as text, as far as the search saw it; not of bare trees
    """

    title: str
    nodes: list[TreeNode]
    steps: list[Step]
    summary: list[str] = field(default_factory=list)
    comparison: Table | None = None
    value: str = ""
    horizon: str = ""
    line: tuple[int, ...] = ()
    best_line: tuple[str, ...] = ()
    counts: tuple[int, int] = (0, 0)
    positions: dict[int, str] = field(default_factory=dict)

    def looks(self, step: int | None = None) -> list[Look]:
        """How each node looks after `step` steps; None: in the end."""
        looks = [Look()] * len(self.nodes)
        for each in self.steps[: len(self.steps) if step is None else step]:
            for number, look in each.looks.items():
                looks[number] = look
        return looks


def path_text(above: str, move: str) -> str:
    """The moves from the root to a node; `above` those to its parent.

    >>> path_text("", "a"), path_text("a", "b"), path_text("mark 1 1", "noop")
    ('a', 'a.b', 'mark 1 1, noop')
    """
    return f"{above}{', ' if ' ' in above + move else '.'}{move}" if above else move


def count_text(counts: Sequence[int]) -> str:
    """Nodes and leaves in words.

    >>> count_text((4, 9)), count_text((1, 1))
    ('4 nodes expanded, 9 leaves evaluated', '1 node expanded, 1 leaf evaluated')
    """
    nodes, leaves = counts
    return f"{counted(nodes, 'node')} expanded, {leaves:,} {'leaf' if leaves == 1 else 'leaves'} evaluated"


def text_of(found: Explanation) -> str:
    """All steps, then the summary.

    >>> from ggp.explain.searches import explain
    >>> print(text_of(explain("[[3,9],[2,4]]")))
    tree: alphabeta
      1  root: max chooses, window [−∞, ∞]
    ...
    """
    return "\n".join(lines_of(found))


def lines_of(found: Explanation) -> Iterator[str]:
    yield found.title
    digits = max(3, len(str(len(found.steps))))
    for number, step in enumerate(found.steps, 1):
        yield f"{number:>{digits}}  {'  ' * step.ply}{step.text}"
        for table in step.tables:
            yield from (f"{' ' * digits}      {line}" for line in table_lines(table))
    yield ""
    yield from found.summary
    if found.comparison is not None:
        yield from ("", *table_lines(found.comparison))
    marks = {mark for step in found.steps for look in step.looks.values() for mark in look.marks}
    if marks:
        yield from ("", *(f"{mark}  {text}" for mark, text in MARKS.items() if mark in marks))


def table_lines(table: Table) -> Iterator[str]:
    """A table with its title, columns aligned: the first to the left, the others to the right."""
    rows = (table.head, *table.rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.head))]
    yield table.title
    for row in rows:
        cells = [f"{row[0]:<{widths[0]}}", *(f"{c:>{w}}" for c, w in zip(row[1:], widths[1:], strict=True))]
        yield "  " + "  ".join(cells)
