"""fusion: a whole tick of random playouts as two parts, between which numbers are drawn.

    BEFORE_DRAW   LEGAL, GOAL, COUNT     that moves are legal stays in registers, but for what SELECT reads
    AFTER_DRAW    SELECT, NEXT, advance  moves stay in registers; the next states overwrite the states

Operations of one part that read a row written by another one take its value instead. They are put in an order
in which values are used soon: what counts or selects moves goes first to last, what it reads is computed just
before, and what needs nothing else follows at once.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from ggp.circuit.tables import CircuitTables, Phase
from ggp.native.choice import Choice, choice_operations
from ggp.native.operations import NO_ROW, Operations, Value, literal_value
from ggp.native.schedule import (
    SCRATCH,
    Layout,
    Part,
    Schedule,
    pack_operations,
    phase_operations,
)


def schedule_fused(tables: CircuitTables, layout: Layout, part: Part) -> Schedule:
    """The schedule of BEFORE_DRAW or AFTER_DRAW. Raises ScheduleError."""
    choice = choice_operations(layout)
    fused = before_draw if part == Part.BEFORE_DRAW else after_draw
    # Moves have no rows here, so theirs are free.
    moves = range(1 + tables.fluent_count, tables.gate0)
    spare = chain(range(layout.first_spare, layout.end_spare), moves)
    return pack_operations(fused(tables, layout, choice), spare)


def before_draw(tables: CircuitTables, layout: Layout, choice: Choice) -> Operations:
    """Settle LEGAL and GOAL and count."""
    selecting = {row for source in choice.selecting.source for row in source if row >= 0}
    kept = selecting | _rows_read_later(tables, layout)
    fused = _Fusion()
    for phase in (Phase.LEGAL, Phase.GOAL):
        fused.append(phase_operations(tables, layout, phase, 3))
    first = len(fused.operations.table)
    fused.append(choice.counting)
    operations = fused.operations
    operations.target = [row if row in kept or row >= SCRATCH else NO_ROW for row in operations.target]
    return _Order(operations, range(first, len(operations.table)), {}).ordered()


def _rows_read_later(tables: CircuitTables, layout: Layout) -> set[int]:
    """Rows that NEXT reads, or that say how a game ended."""
    begin, end = tables.first_input[tables.phase_end[[Phase.GOAL, Phase.NEXT]]]
    end_literals = (tables.goal_literal, np.array([tables.terminal], np.int32))
    read = np.concatenate([tables.input[begin:end], tables.next, *end_literals])
    return set(layout.row_of[read >> 1].tolist())


def after_draw(tables: CircuitTables, layout: Layout, choice: Choice) -> Operations:
    """Select moves, settle NEXT, and make the next states current, or the first one in lanes that restart."""
    fused = _Fusion()
    fused.append(choice.selecting)
    selecting = range(len(fused.operations.table))
    fused.append(phase_operations(tables, layout, Phase.NEXT, 3))
    fused.operations.target = [NO_ROW] * len(fused.operations.target)
    advancing, restarted = Operations(), SCRATCH + layout.scratch_rows
    for f, literal in enumerate(tables.next.tolist()):
        following = literal_value(2 * int(layout.row_of[literal >> 1]) + (literal & 1))
        first = Value(restarted + 1 + f)
        advancing.add(lambda x, r, y: x & ~r | y & r, following, Value(restarted), first)
    begin = len(fused.operations.table)
    fused.append(advancing)
    in_place = {begin + f: 1 + f for f in range(tables.fluent_count)}
    return _Order(fused.operations, selecting, in_place).ordered()


class _Fusion:
    """Operations of several parts, in which rows that one writes are values of the others."""

    def __init__(self) -> None:
        self.operations = Operations()
        self._writer: dict[int, int] = {}

    def append(self, part: Operations) -> None:
        offset = len(self.operations.table)
        for table, source, target in zip(*part.columns(), strict=True):
            linked = [each - offset if each < 0 else self._writer.get(each, each) for each in source]
            number = self.operations.append(table, linked, target)
            if target != NO_ROW:
                self._writer[target] = ~number


class _Order:
    """Finds an order of those operations that something needs.

    driving     operations to be computed in this order
    in_place    rows that operations overwrite once all others have read them
    """

    def __init__(self, operations: Operations, driving: range, in_place: dict[int, int]) -> None:
        self._given, self._driving, self._in_place = operations, driving, in_place
        count = len(operations.table)
        self._is_needed = [target != NO_ROW for target in operations.target]
        for number in in_place:
            self._is_needed[number] = True
        for number in range(count - 1, -1, -1):
            if self._is_needed[number]:
                for each in operations.source[number]:
                    if each < 0:
                        self._is_needed[~each] = True
        self._followers: list[list[int]] = [[] for _ in range(count)]
        self._awaited = [0] * count
        self._place: list[int | None] = [None] * count
        self._result = Operations()
        self._find_followers()

    def _find_followers(self) -> None:
        """Operations that await others: driving ones and their readers, or readers of a row to overwrite."""
        follows = [number in self._driving for number in range(len(self._awaited))]
        overwriting = {row: number for number, row in self._in_place.items()}
        for number, source in enumerate(self._given.source):
            if not self._is_needed[number]:
                continue
            for each in {*source}:
                if each < 0 and follows[~each] and number not in self._driving:
                    follows[number] = True
                    self._await(number, ~each)
                elif each >= 0 and overwriting.get(each, number) != number:
                    self._await(overwriting[each], number)

    def _await(self, number: int, other: int) -> None:
        self._awaited[number] += 1
        self._followers[other].append(number)

    def ordered(self) -> Operations:
        """The operations in order, numbered by it."""
        for number in self._driving:
            self._emit(number)
        for number in range(len(self._place)):
            if number not in self._in_place or self._awaited[number] == 0:
                self._emit(number)
        # What is left overwrites rows that read each other: written at the end.
        left = [number for number in self._in_place if self._place[number] is None]
        rows = {number: self._in_place.pop(number) for number in left}
        for number in left:
            self._emit(number)
        for number, row in rows.items():
            self._result.append(0xF0, [~self._number(number)], row)
        return self._result

    def _number(self, number: int) -> int:
        place = self._place[number]
        assert place is not None
        return place

    def _emit(self, number: int) -> None:
        """Append an operation after those it reads, and whatever that makes ready."""
        waiting = [number]
        while waiting:
            number = waiting[-1]
            source = self._given.source[number]
            missing = [~each for each in source if each < 0 and self._place[~each] is None]
            if self._place[number] is not None or not self._is_needed[number]:
                waiting.pop()
            elif missing:
                waiting += missing
            else:
                waiting.pop()
                linked = [~self._number(~each) if each < 0 else each for each in source]
                target = self._in_place.get(number, self._given.target[number])
                self._place[number] = self._result.append(self._given.table[number], linked, target)
                for follower in self._followers[number]:
                    self._awaited[follower] -= 1
                    if self._awaited[follower] == 0:
                        waiting.append(follower)
