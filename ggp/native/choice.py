"""choice: counting legal moves, and selecting the k-th, as operations with three inputs.

The same results as `ggp.lanes.choose`, without tables. The slots of a role are the leaves of a balanced
tree, split into 3 * 2**m and the rest:

    count    add up the legal moves of every subtree with full adders (2 operations for 3 rows), and keep the
             counts of left subtrees; per role, the planes of the count minus one and the lanes with a move
    select   walk from the root down: in a lane the move is in the left subtree if k is less than its count,
             else k is reduced by it: 2 operations for each plane of k

About 3 operations per move to count and 5 to select. A number that differs from lane to lane is a list of
planes, the lowest first, as in `ggp.lanes.choose`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ggp.native.mapping import ALL_OF_THREE, VARIABLES
from ggp.native.schedule import NO_ROW, SCRATCH, Layout, Schedule, ScheduleError, pack_operations

RECOUNTED = 3
"""Counts of subtrees with at most this many leaves are not kept but made again."""


def moves_of_role(layout: Layout, role: int) -> list[tuple[int, int]]:
    """Literal of legality and row of each move of a role."""
    first, end = layout.first_slot[role : role + 2].tolist()
    pairs = zip(layout.slot_literal[first:end].tolist(), layout.slot_node[first:end].tolist(), strict=True)
    return [(literal, row) for literal, row in pairs if row != layout.end_spare]


class ChoiceRows(NamedTuple):
    """Scratch rows that the two functions and `ggp.lanes.choose` share.

    limit     of role r from limit + r * planes on: count minus one; before `select`, k
    has_move  one row per role
    lanes     the lanes in which to select
    end       behind the last of all
    """

    limit: int
    has_move: int
    lanes: int
    end: int


class ChoiceSchedules(NamedTuple):
    """Counting and selecting; sources and targets from SCRATCH on are scratch rows."""

    counting: Schedule
    selecting: Schedule
    rows: ChoiceRows


class _Value(NamedTuple):
    """A row (number >= 0) or the result of operation ~number, perhaps negated."""

    number: int
    is_negated: bool = False


Planes = list[_Value]


class _Operations:
    """Operations in order, with the row each writes."""

    def __init__(self) -> None:
        self.table: list[int] = []
        self.source: list[list[int]] = []
        self.target: list[int] = []

    def columns(self) -> tuple[list[int], list[list[int]], list[int]]:
        """Tables, sources and targets."""
        return self.table, self.source, self.target

    def add(self, function: Callable[..., int], *inputs: _Value, target: int = NO_ROW) -> _Value:
        """`function` computes the truth table of the result from those of one to three inputs."""
        of_inputs = [
            variable ^ (ALL_OF_THREE if value.is_negated else 0)
            for variable, value in zip(VARIABLES, inputs, strict=False)
        ]
        self.table.append(function(*of_inputs) & ALL_OF_THREE)
        self.source.append([value.number for value in inputs])
        self.target.append(target)
        return _Value(~(len(self.table) - 1))

    def keep(self, value: _Value, row: int) -> None:
        """Write the result of an operation, which has no row yet, or a copy of another value."""
        if value.number < 0 and not value.is_negated and self.target[~value.number] == NO_ROW:
            self.target[~value.number] = row
        else:
            self.add(lambda a: a, value, target=row)


def _xor(a: int, b: int, c: int = 0) -> int:
    return a ^ b ^ c


def _majority(a: int, b: int, c: int = 0) -> int:
    return a & b | c & (a | b)


def _borrow(a: int, b: int, c: int = 0) -> int:
    """Of a - b - c."""
    return ~a & (b | c) | b & c


def _left_size(size: int) -> int:
    left = 3
    while 2 * left < size:
        left *= 2
    return left


class _Trees:
    """The trees of all roles; the rows of kept counts by role and range of slots."""

    def __init__(self, layout: Layout) -> None:
        self.roles = len(layout.first_slot) - 1
        self.moves = [moves_of_role(layout, role) for role in range(self.roles)]
        has_move = (self.roles + 3) * layout.planes
        self.rows = ChoiceRows(SCRATCH, SCRATCH + has_move, SCRATCH + has_move + self.roles, 0)
        self.next_row = self.rows.lanes + 1
        self.kept: dict[tuple[int, int, int], list[int]] = {}

    def legal(self, role: int, slot: int) -> _Value:
        literal = self.moves[role][slot][0]
        return _Value(literal >> 1, bool(literal & 1))

    def count(self, operations: _Operations, role: int, begin: int, end: int) -> Planes:
        """Add up the legal moves of slots begin .. end-1."""
        size = end - begin
        if size <= 3:
            legal = [self.legal(role, slot) for slot in range(begin, end)]
            if size == 1:
                return legal
            return [operations.add(_xor, *legal), operations.add(_majority, *legal)]
        middle = begin + _left_size(size)
        left = self.count(operations, role, begin, middle)
        if middle - begin > RECOUNTED:
            rows = list(range(self.next_row, self.next_row + len(left)))
            self.next_row += len(left)
            self.kept[role, begin, middle] = rows
            for value, row in zip(left, rows, strict=True):
                operations.keep(value, row)
        return _sum(operations, left, self.count(operations, role, middle, end), size.bit_length())

    def select(self, operations: _Operations, role: int, slots: range, active: _Value, k: Planes) -> None:
        """Select the k-th legal one of `slots` in the active lanes, and no other."""
        begin, end, size = slots.start, slots.stop, len(slots)
        rows = [row for _, row in self.moves[role][begin:end]]
        if size == 1:
            operations.keep(active, rows[0])
        elif size <= 3:
            self._select_few(operations, [self.legal(role, slot) for slot in slots], rows, active, k)
        else:
            middle = begin + _left_size(size)
            kept = self.kept.get((role, begin, middle))
            left = [_Value(row) for row in kept] if kept else self.count(operations, role, begin, middle)
            k = k[: (size - 1).bit_length()]
            reduced, borrow = _difference(operations, k, left)
            inside = operations.add(lambda a, b: a & b, active, borrow)
            self.select(
                operations, role, range(begin, middle), inside, k[: (middle - begin - 1).bit_length()]
            )
            outside = operations.add(lambda a, b: a & ~b, active, borrow)
            self.select(
                operations, role, range(middle, end), outside, reduced[: (end - middle - 1).bit_length()]
            )

    @staticmethod
    def _select_few(
        operations: _Operations, legal: Planes, rows: list[int], active: _Value, k: Planes
    ) -> None:
        if len(legal) == 2:
            first = operations.add(lambda a, x, k: a & x & ~k, active, legal[0], k[0], target=rows[0])
            operations.add(lambda a, b: a & ~b, active, first, target=rows[1])
            return
        is_first = operations.add(lambda x, k0, k1: x & ~k0 & ~k1, legal[0], k[0], k[1])
        first = operations.add(lambda a, b: a & b, active, is_first, target=rows[0])
        is_next = operations.add(lambda x, k0, k1: ~k1 & ~(k0 ^ x), legal[0], k[0], k[1])
        second = operations.add(lambda a, b, x: a & b & x, active, is_next, legal[1], target=rows[1])
        operations.add(lambda a, b, c: a & ~b & ~c, active, first, second, target=rows[2])


def _sum(operations: _Operations, left: Planes, right: Planes, planes: int) -> Planes:
    """The sum of two numbers; its `planes` planes suffice."""
    total: Planes = []
    carry: list[_Value] = []
    for p in range(planes):
        given = [*left[p : p + 1], *right[p : p + 1], *carry]
        if len(given) < 2:
            return total + given
        total.append(operations.add(_xor, *given))
        carry = [operations.add(_majority, *given)] if p + 1 < planes else []
    return total


def _difference(operations: _Operations, k: Planes, count: Planes) -> tuple[Planes, _Value]:
    """k - count, and the lanes in which k is less."""
    reduced: Planes = []
    borrow: list[_Value] = []
    for p in range(max(len(k), len(count))):
        given = [*k[p : p + 1], *count[p : p + 1], *borrow]
        if p < len(k):
            reduced.append(operations.add(_xor, *given) if len(given) > 1 else given[0])
            borrow = [operations.add(_borrow, *given)] if len(given) > 1 else borrow
        else:
            # k has no such plane, so it is less wherever the count has.
            borrow = [operations.add(lambda b, c=0: b | c, *given)]
    return reduced, borrow[0]


def schedule_choice(layout: Layout) -> ChoiceSchedules:
    """The schedules of counting and selecting the moves of all roles. Raises ScheduleError."""
    trees, planes = _Trees(layout), layout.planes
    if not all(trees.moves):
        raise ScheduleError("a role has no moves")
    counting, selecting = _Operations(), _Operations()
    for role in range(trees.roles):
        total = trees.count(counting, role, 0, len(trees.moves[role]))
        _keep_limit(counting, total, trees.rows.limit + role * planes, planes, trees.rows.has_move + role)
    for role in range(trees.roles):
        first = trees.rows.limit + role * planes
        k = [_Value(row) for row in range(first, first + planes)]
        trees.select(selecting, role, range(len(trees.moves[role])), _Value(trees.rows.lanes), k)
    counting_schedule, end = pack_operations(*counting.columns(), trees.next_row)
    selecting_schedule, other = pack_operations(*selecting.columns(), trees.next_row)
    end = max(end, other)
    if end - SCRATCH > layout.scratch_rows:
        raise ScheduleError(f"choosing moves needs {end - SCRATCH} rows")
    return ChoiceSchedules(counting_schedule, selecting_schedule, trees.rows._replace(end=end))


def _keep_limit(operations: _Operations, total: Planes, limit: int, planes: int, has_move: int) -> None:
    """Keep the count minus one, where it is not zero, and the lanes in which it is not."""
    some: Sequence[_Value] = total
    while len(some) > 1:
        some = [operations.add(lambda a, b, c=0: a | b | c, *some[:3]), *some[3:]]
    operations.keep(some[0], has_move)
    borrow = some[0]
    for p in range(planes):
        if p < len(total):
            operations.add(lambda x, b: x ^ b, total[p], borrow, target=limit + p)
            borrow = operations.add(lambda x, b: b & ~x, total[p], borrow)
        else:
            operations.add(lambda a: 0, total[0], target=limit + p)
