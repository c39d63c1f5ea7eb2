"""operations: row operations in the order in which they are computed, with the row each writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ggp.native.mapping import ALL_OF_THREE, VARIABLES

NO_ROW = -1


class Value(NamedTuple):
    """A row (number >= 0) or the result of operation ~number, perhaps negated."""

    number: int
    is_negated: bool = False


def literal_value(literal: int) -> Value:
    """The value of the row `literal` >> 1, negated if it is odd."""
    return Value(literal >> 1, bool(literal & 1))


class Operations:
    """Operations in order.

    table    truth tables, see `ggp.native.mapping.Operation`
    source   one to three inputs each: a row, or ~i for operation i
    target   row to write, or NO_ROW

    >>> both = Operations()
    >>> both.add(lambda a, b: a & b, Value(1), Value(2, is_negated=True), target=3)
    Value(number=-1, is_negated=False)
    >>> both.columns()
    ([48], [[1, 2]], [3])
    """

    def __init__(self) -> None:
        self.table: list[int] = []
        self.source: list[list[int]] = []
        self.target: list[int] = []

    def columns(self) -> tuple[list[int], list[list[int]], list[int]]:
        """Tables, sources and targets."""
        return self.table, self.source, self.target

    def append(self, table: int, source: list[int], target: int) -> int:
        """Add an operation; return its number."""
        self.table.append(table)
        self.source.append(source)
        self.target.append(target)
        return len(self.table) - 1

    def add(self, function: Callable[..., int], *inputs: Value, target: int = NO_ROW) -> Value:
        """`function` computes the truth table of the result from those of one to three inputs."""
        of_inputs = [
            variable ^ (ALL_OF_THREE if value.is_negated else 0)
            for variable, value in zip(VARIABLES, inputs, strict=False)
        ]
        source = [value.number for value in inputs]
        return Value(~self.append(function(*of_inputs) & ALL_OF_THREE, source, target))

    def keep(self, value: Value, row: int) -> None:
        """Write the result of an operation, which has no row yet, or a copy of another value."""
        if value.number < 0 and not value.is_negated and self.target[~value.number] == NO_ROW:
            self.target[~value.number] = row
        else:
            self.add(lambda a: a, value, target=row)
