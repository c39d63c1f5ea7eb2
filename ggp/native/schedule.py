"""schedule: the operations of one phase in order, in functions of bounded size, with the rows they write.

This is data that every target shares: `emit` makes instructions of it, `interpret` runs it in plain Python.
Only values that something else reads are written to rows: outputs, gates that later phases read, and values
that are loaded again, in another function or because registers do not suffice. The last ones take the rows
that the interpreter of circuits (`ggp.lanes.settle`) shares among its gates, one after another. Which values
stay in registers is decided here (of all, the one read last is dropped; Belady 1966): LLVM spills more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import CircuitTables, Int32Array, Phase
from ggp.native.mapping import ALL_OF_THREE, VARIABLES, Cover, map_gates
from ggp.native.parts import Layout

NO_ROW = -1
FUNCTION_OPERATIONS = 500
"""Operations of one function; the time that LLVM takes grows faster than they do."""
REGISTERS = 29
"""Values in registers at a time, of 32 with AVX-512: some are needed for results."""
SCRATCH = 1 << 28
"""Rows from this number on are those of a second array, which functions about moves work in."""


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


class ScheduleError(Exception):
    """There are not enough rows for the values that are loaded again."""


class Schedule(NamedTuple):
    """N operations of one part in C functions.

    table      uint8[N]: truth tables, see `ggp.native.mapping.Operation`
    source     int32[N, 3]: inputs: a row, or ~i for operation i; missing ones repeat the first
    target     int32[N]: row to write, or NO_ROW
    function   int32[C+1]: the operations of function c are function[c] .. function[c+1]-1
    is_loaded  bool[N, 3]: whether an input is loaded from its row; else the function has it in a register
    """

    table: NDArray[np.uint8]
    source: Int32Array
    target: Int32Array
    function: Int32Array
    is_loaded: NDArray[np.bool_]


def schedule_phase(
    tables: CircuitTables,
    layout: Layout,
    phase: Phase,
    *,
    inputs: int = 3,
    function_operations: int | None = None,
) -> Schedule:
    """The schedule of one phase. Raises ScheduleError if it needs more spare rows than there are.

    inputs   of an operation at most: 3 where one instruction computes any function of three rows, else 2
    """
    operations = phase_operations(tables, layout, phase, inputs)
    return pack_operations(operations, range(layout.first_spare, layout.end_spare), function_operations)


def phase_operations(tables: CircuitTables, layout: Layout, phase: Phase, inputs: int) -> Operations:
    """The operations of one phase, with the rows of all that is read outside of it."""
    begin, end = gates_of_phase(tables, phase)
    cover = map_gates(tables, begin, end, outputs_of_phase(tables, begin, end), inputs)
    return laid_out(cover, layout.row_of)


def gates_of_phase(tables: CircuitTables, phase: Phase) -> tuple[int, int]:
    """The first gate of a phase and the end."""
    ends = [0, *tables.phase_end.tolist()]
    return ends[phase], ends[phase + 1]


def outputs_of_phase(tables: CircuitTables, begin: int, end: int) -> set[int]:
    """The nodes among the gates begin .. end-1 that the outputs of the circuit or later gates read."""
    later = tables.input[tables.first_input[end] :] >> 1
    read = (tables.legal >> 1, tables.next >> 1, tables.goal_literal >> 1, tables.percept_literal >> 1)
    nodes = np.unique(np.concatenate([*read, [tables.terminal >> 1], later]))
    within = (nodes >= tables.gate0 + begin) & (nodes < tables.gate0 + end)
    return set(nodes[within].tolist())


def laid_out(cover: Cover, row_of: Int32Array) -> Operations:
    """The operations of a cover, which write the rows of its roots."""
    first, operations = cover.first, Operations()
    number_of: dict[int, int] = {}
    reads = Counter(value for operation in cover.operations for value in operation.cut)
    reads.update(literal >> 1 for literal in cover.roots.values())
    negated = {x >> 1 for x in cover.roots.values() if x & 1 and reads[x >> 1] == 1}
    for operation in cover.operations:
        source = [~number_of[v] if v >= first else int(row_of[v]) for v in operation.cut]
        table = operation.table ^ (ALL_OF_THREE if operation.value in negated else 0)
        number_of[operation.value] = operations.append(table, source, NO_ROW)
    for node, literal in cover.roots.items():
        is_negated = literal & 1 and literal >> 1 not in negated
        operations.keep(Value(~number_of[literal >> 1], bool(is_negated)), int(row_of[node]))
    return operations


def pack_operations(
    operations: Operations, spare: Iterable[int], function_operations: int | None = None
) -> Schedule:
    """Operations as a schedule with functions of equal size. Raises ScheduleError.

    spare   rows for values that are loaded again
    """
    count = len(operations.table)
    functions = max(1, -(-count // (function_operations or FUNCTION_OPERATIONS)))
    bounds = [count * c // functions for c in range(functions + 1)]
    sources = [[*each, each[0], each[0]][:3] for each in operations.source]
    is_loaded = _plan_loads(sources, bounds)
    loaded = {
        ~x for pair in zip(sources, is_loaded, strict=True) for x, is_ in zip(*pair, strict=True) if is_
    }
    return Schedule(
        np.array(operations.table, np.uint8),
        np.array(sources, np.int32).reshape(-1, 3),
        np.array(_with_spare_rows(operations, loaded, list(spare)[::-1]), np.int32),
        np.array(bounds, np.int32),
        np.array(is_loaded, np.bool_).reshape(-1, 3),
    )


def _plan_loads(sources: list[list[int]], bounds: list[int]) -> list[list[bool]]:
    """Whether the inputs of each operation are loaded from rows."""
    readers: list[dict[int, list[int]]] = [{} for _ in bounds[1:]]
    for of_function, begin, end in zip(readers, bounds, bounds[1:], strict=False):
        for number in range(end - 1, begin - 1, -1):
            for each in {*sources[number]}:
                of_function.setdefault(each, []).append(number)
    is_loaded = []
    for of_function, begin, end in zip(readers, bounds, bounds[1:], strict=False):
        # Values in registers, with the next operation of the function that reads them.
        held: dict[int, int] = {}
        for number in range(begin, end):
            is_loaded.append([each not in held for each in sources[number]])
            for each in {*sources[number]}:
                of_function[each].pop()
            for each in (*sources[number], ~number):
                later = of_function.get(each)
                if later:
                    held[each] = later[-1]
                else:
                    held.pop(each, None)
            while len(held) > REGISTERS:
                del held[max(held, key=held.__getitem__)]
    return is_loaded


def _with_spare_rows(operations: Operations, loaded: set[int], free: list[int]) -> list[int]:
    """Targets: values that are loaded again have a row, if need be a free one until their last reader."""
    last_reader = {~each: i for i, source in enumerate(operations.source) for each in source if each < 0}
    target, rows = list(operations.target), len(free)
    done: dict[int, list[int]] = {}
    for number in range(len(target)):
        free += done.pop(number, [])
        if target[number] == NO_ROW and number in loaded:
            if not free:
                raise ScheduleError(f"more than {rows} rows for values that are loaded again")
            target[number] = free.pop()
            done.setdefault(last_reader[number] + 1, []).append(target[number])
    return target


def interpret(
    schedule: Schedule, value: NDArray[np.uint64], scratch: NDArray[np.uint64] | None = None
) -> None:
    """Run a schedule on rows, uint64[rows, W], as the functions made of it do.

    scratch   the second array, if the schedule has rows from SCRATCH on

    >>> copy = Schedule(
    ...     np.array([0xF0], np.uint8), np.array([[0, 0, 0]], np.int32), np.array([1], np.int32),
    ...     np.array([0, 1], np.int32), np.ones((1, 3), np.bool_),
    ... )
    >>> rows = np.array([[5], [0]], np.uint64)
    >>> interpret(copy, rows); rows[1].tolist()
    [5]
    """

    def place(row: int) -> NDArray[np.uint64]:
        rows, number = (value, row) if row < SCRATCH or scratch is None else (scratch, row - SCRATCH)
        return rows[number : number + 1]

    for begin, end in zip(schedule.function[:-1], schedule.function[1:], strict=True):
        registers: dict[int, NDArray[np.uint64]] = {}
        for i in range(begin, end):
            given = []
            for source, is_loaded in zip(schedule.source[i].tolist(), schedule.is_loaded[i], strict=True):
                if is_loaded:
                    registers[source] = place(source if source >= 0 else int(schedule.target[~source])).copy()
                given.append(registers[source])
            result = np.zeros_like(given[0])
            for pattern in range(8):
                if schedule.table[i] >> pattern & 1:
                    a, b, c = (x if pattern >> k & 1 else ~x for x, k in zip(given, (2, 1, 0), strict=True))
                    result |= a & b & c
            registers[~i] = result
            if schedule.target[i] != NO_ROW:
                place(int(schedule.target[i]))[:] = result
