"""fusion: a whole tick of random playouts as two parts, between which numbers are drawn.

    BEFORE_DRAW   LEGAL, GOAL, COUNT     of legal moves only leaves have rows, if several roles share a tree
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
from ggp.native.mapping import VARIABLES, map_gates
from ggp.native.parts import Layout, Part
from ggp.native.schedule import (
    NO_ROW,
    SCRATCH,
    Operations,
    Schedule,
    Value,
    gates_of_phase,
    laid_out,
    literal_value,
    outputs_of_phase,
    pack_operations,
    phase_operations,
)


def schedule_fused(tables: CircuitTables, layout: Layout, part: Part) -> Schedule:
    """The schedule of BEFORE_DRAW or AFTER_DRAW. Raises ScheduleError."""
    choice = choice_operations(layout, is_fused=True)
    fused = before_draw if part == Part.BEFORE_DRAW else after_draw
    # Moves have no rows here, so theirs are free.
    moves = range(1 + tables.fluent_count, tables.gate0)
    spare = chain(range(layout.first_spare, layout.end_spare), moves)
    return pack_operations(fused(tables, layout, choice), spare)


def before_draw(tables: CircuitTables, layout: Layout, choice: Choice) -> Operations:
    """Settle LEGAL and GOAL and count."""
    selecting = {row for source in choice.selecting.source for row in source if row >= 0}
    rows = choice.rows
    if len(layout.turns.literal) > 1:
        legal = {leaf.row for leaf in choice.leaves}
    else:
        legal = set(layout.row_of[tables.legal >> 1].tolist())
    counted = {*range(rows.limit, rows.limit + len(layout.first_slot) * layout.planes)}
    counted |= {*range(rows.has_move, rows.lanes)}
    kept = legal | selecting | counted | _rows_read_later(tables, layout)
    fused = _Fusion()
    begin, end = gates_of_phase(tables, Phase.LEGAL)
    move0 = 1 + tables.fluent_count
    shared = [leaf for leaf in choice.leaves if leaf.is_shared]
    unions = [
        [[int(tables.legal[move.row - move0]), *[move.turn] * move.is_waiting] for move in leaf.moves]
        for leaf in shared
    ]
    row_of = np.concatenate([layout.row_of, np.array([leaf.row for leaf in shared], np.int32)])
    goal = phase_operations(tables, layout, Phase.GOAL, 3)
    alone = Operations()
    for leaf in choice.leaves:
        if not leaf.is_shared and leaf.row != NO_ROW:
            alone.keep(literal_value(leaf.moves[0].literal), leaf.row)
    parts = (choice.counting, goal, alone)
    read = kept | {row for part in parts for source in part.source for row in source}
    outputs = {node for node in outputs_of_phase(tables, begin, end) if int(row_of[node]) in read}
    fused.append(laid_out(map_gates(tables, begin, end, outputs, 3, unions=unions), row_of))
    fused.append(goal)
    fused.append(alone)
    first = len(fused.operations.table)
    fused.append(choice.counting)
    operations = fused.operations
    operations.target = [row if row in kept else NO_ROW for row in operations.target]
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
    begin, end = gates_of_phase(tables, Phase.NEXT)
    # A leaf is selected as a whole, in the row of its first move: that of the role whose turn it is.
    meaning = {
        move.row: (2 * leaf.selected[0].row, move.turn)
        for leaf in choice.leaves
        if leaf.is_shared
        for move in leaf.selected
    }
    outputs = outputs_of_phase(tables, begin, end)
    fused.append(laid_out(map_gates(tables, begin, end, outputs, 3, meaning=meaning), layout.row_of))
    fused.operations.target = [NO_ROW] * len(fused.operations.target)
    advancing, restarted = Operations(), SCRATCH + layout.scratch_rows
    results = []
    for f, literal in enumerate(tables.next.tolist()):
        following = literal_value(2 * int(layout.row_of[literal >> 1]) + (literal & 1))
        if literal >> 1 in meaning:
            both = [literal_value(x) for x in meaning[literal >> 1]]
            following = advancing.add(lambda a, b: a & b, *both)._replace(is_negated=bool(literal & 1))
        first = Value(restarted + 1 + f)
        result = advancing.add(lambda x, r, y: x & ~r | y & r, following, Value(restarted), first)
        results.append(~result.number)
    offset = len(fused.operations.table)
    fused.append(advancing)
    in_place = {offset + number: 1 + f for f, number in enumerate(results)}
    return _Order(fused.operations, selecting, in_place).ordered()


def schedule_in_place(tables: CircuitTables, layout: Layout) -> Schedule:
    """NEXT of a circuit without moves, whose next values overwrite the fluents. Raises ScheduleError."""
    outputs = outputs_of_phase(tables, *gates_of_phase(tables, Phase.NEXT))
    cover = map_gates(tables, *gates_of_phase(tables, Phase.NEXT), outputs, 3)
    operations = laid_out(cover, np.arange(tables.node_count, dtype=np.int32))
    number_of = {node: i for i, node in enumerate(operations.target) if node != NO_ROW}
    operations.target = [NO_ROW] * len(operations.target)
    in_place: dict[int, int] = {}
    for row, literal in enumerate(tables.next.tolist(), start=1):
        number = number_of.get(literal >> 1)
        value = literal_value(literal) if number is None else Value(~number, bool(literal & 1))
        if number is None or value.is_negated or number in in_place:
            if literal == 2 * row:
                continue
            number = ~operations.add(lambda a: a, value).number
        in_place[number] = row
    spare = range(layout.first_spare, layout.end_spare)
    return pack_operations(_Order(operations, range(0), in_place).ordered(), spare)


class _Fusion:
    """Operations of several parts, in which rows that one writes are values of the others."""

    def __init__(self) -> None:
        self.operations = Operations()
        self._writer: dict[int, Value] = {}

    def append(self, part: Operations) -> None:
        offset = len(self.operations.table)
        for table, source, target in zip(*part.columns(), strict=True):
            linked = []
            for place, each in enumerate(source):
                value = Value(each - offset) if each < 0 else self._writer.get(each, Value(each))
                linked.append(value.number)
                if value.is_negated:
                    table = _with_negated(table, place)
            number = self.operations.append(table, linked, target)
            if target != NO_ROW:
                is_copy = len(linked) == 1 and linked[0] < 0 and table in (VARIABLES[0], VARIABLES[0] ^ 0xFF)
                self._writer[target] = Value(linked[0], table != VARIABLES[0]) if is_copy else Value(~number)


def _with_negated(table: int, place: int) -> int:
    """The table of an operation of which one input is given negated."""
    return sum((table >> (pattern ^ 4 >> place) & 1) << pattern for pattern in range(8))


class _Order:
    """Finds an order of those operations that something needs.

    driving     operations to be computed in this order
    in_place    rows that operations overwrite once all others have read them; if one is read itself before
                that, a copy of it does
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
        self._early: dict[int, int] = {}
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
                if self._awaited[number] and number in self._in_place:
                    self._early[number] = self._in_place.pop(number)
                target = self._in_place.get(number, self._given.target[number])
                self._place[number] = self._result.append(self._given.table[number], linked, target)
                for follower in self._followers[number]:
                    self._awaited[follower] -= 1
                    if self._awaited[follower] == 0:
                        waiting.append(follower)
                        self._copy_early(follower)

    def _copy_early(self, number: int) -> None:
        """Write the row of an operation that was emitted before it could be overwritten."""
        if number in self._early:
            self._result.append(0xF0, [~self._number(number)], self._early.pop(number))
