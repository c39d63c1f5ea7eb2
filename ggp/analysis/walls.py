"""Walls between the cells of a board: which facts name them, and between which cells they stand.

They are recognized from the names and values of fluents.

A family of walls has the coordinates of a cell and a point of the compass, either in its name
(`blockedNorth`) or as an argument (`(wall 3 4 east)`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gdl.program import arguments_of
from gdl.terms import Term

COMPASS = ("north", "east", "south", "west")


class Wall(NamedTuple):
    """A wall, upright between a column and the next one, or level between a row and the next one.

    The column before the first one is -1, as is the row.
    """

    column: int
    row: int
    is_upright: bool


@dataclass(frozen=True)
class WallFamily:
    """The facts of one fluent as walls.

    columns, rows   places of the cells by the text of their coordinate; -1 outside
    at              the arguments with the column, the row and the direction, that one -1 if it is `side`
    is_upward       whether north is towards the next row, or towards the one before
    """

    name: str
    arity: int
    columns: Mapping[str, int]
    rows: Mapping[str, int]
    at: tuple[int, int, int]
    is_upward: bool
    side: str = ""

    def find(self, fact: Term) -> Wall | None:
        """The wall that a fact names."""
        arguments = [str(argument) for argument in arguments_of(fact)]
        if fact.name != self.name or len(arguments) != self.arity:
            return None
        column, row = self.columns.get(arguments[self.at[0]]), self.rows.get(arguments[self.at[1]])
        side = self.side or arguments[self.at[2]]
        if column is None or row is None or side not in COMPASS:
            return None
        if side in ("east", "west"):
            return Wall(column - (side == "west"), row, is_upright=True)
        return Wall(column, row - ((side == "north") is not self.is_upward), is_upright=False)


def wall_arguments(name: str, values: Sequence[frozenset[str]]) -> tuple[int, int, int] | None:
    """The arguments of a family with these values: two coordinates and a direction, or -1 for that."""
    if len(values) == 2 and name.endswith(COMPASS):
        return 0, 1, -1
    directions = [index for index, domain in enumerate(values) if domain and domain <= set(COMPASS)]
    if len(values) != 3 or len(directions) != 1:
        return None
    first, second = (index for index in range(3) if index != directions[0])
    return first, second, directions[0]


def walled_values(facts: Iterable[Term], at: tuple[int, int, int]) -> tuple[set[str], set[str]]:
    """The columns and the rows of the cells that walls name, without those that only border on cells.

    A map often has walls at the east of column 0, where no cells are.
    """
    columns: dict[str, set[bool]] = {}
    rows: dict[str, set[bool]] = {}
    for fact in facts:
        texts = [str(argument) for argument in arguments_of(fact)]
        for found, place in ((columns, at[0]), (rows, at[1])):
            found.setdefault(texts[place], set()).add(texts[at[2]] in ("east", "west"))
    return (
        {value for value, found in columns.items() if found != {True} or len(columns) == 1},
        {value for value, found in rows.items() if found != {False} or len(rows) == 1},
    )
