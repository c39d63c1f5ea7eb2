"""Walls between the cells of a board: which facts name them, and between which cells they stand.

A family of walls has the coordinates of a cell and a point of the compass, either in its name
(`blockedNorth`) or as an argument (`(wall 3 4 east)`).
"""

from __future__ import annotations

from collections.abc import Mapping
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
        """The wall that a fact names.

        >>> from gdl.syntax.parser import parse_term
        >>> family = WallFamily("wall", 3, {"1": 0, "2": 1}, {"1": 0}, (0, 1, 2), is_upward=True)
        >>> family.find(parse_term("(wall 2 1 west)")), family.find(parse_term("(wall 9 9 west)"))
        (Wall(column=0, row=0, is_upright=True), None)
        """
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
