"""schedule: the operations of one phase in order, in functions of bounded size, with the rows they write.

This is data that every target shares: `emit` makes instructions of it, `interpret` runs it in plain Python.
Only values that something else reads are written to rows: outputs, gates that later phases read, and values
that another function of the same phase reads. The last ones take the rows that the interpreter of circuits
(`ggp.lanes.settle`) shares among its gates, one after another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import CircuitTables, Int32Array, Phase
from ggp.native.mapping import ALL_OF_THREE, Cover, map_gates
from ggp.native.operations import NO_ROW, Operations, Value
from ggp.native.parts import Layout

FUNCTION_OPERATIONS, SMALL_FUNCTION_OPERATIONS, LARGE_PART = 250, 120, 1000
"""Operations of one function; fewer in parts of more than LARGE_PART operations: there LLVM spills registers
more often than functions exchange values."""
SCRATCH = 1 << 28
"""Rows from this number on are those of a second array, which functions about moves work in."""


class ScheduleError(Exception):
    """There are not enough rows for the values between functions."""


class Schedule(NamedTuple):
    """N operations of one part in C functions.

    table      uint8[N]: truth tables, see `ggp.native.mapping.Operation`
    source     int32[N, 3]: inputs: a row, or ~i for operation i; missing ones repeat the first
    target     int32[N]: row to write, or NO_ROW
    function   int32[C+1]: the operations of function c are function[c] .. function[c+1]-1
    """

    table: NDArray[np.uint8]
    source: Int32Array
    target: Int32Array
    function: Int32Array


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

    spare   rows for values that another function reads
    """
    count = len(operations.table)
    usual = FUNCTION_OPERATIONS if count <= LARGE_PART else SMALL_FUNCTION_OPERATIONS
    functions = max(1, -(-count // (function_operations or usual)))
    bounds = [count * c // functions for c in range(functions + 1)]
    target = _with_spare_rows(operations, bounds, list(spare)[::-1])
    return Schedule(
        np.array(operations.table, np.uint8),
        np.array([[*each, each[0], each[0]][:3] for each in operations.source], np.int32).reshape(-1, 3),
        np.array(target, np.int32),
        np.array(bounds, np.int32),
    )


def _with_spare_rows(operations: Operations, bounds: list[int], free: list[int]) -> list[int]:
    """Targets: values that another function reads get a free row, until the last function that reads them."""
    function_of = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)).tolist()
    last_reader = [0] * len(function_of)
    for reader, inputs in enumerate(operations.source):
        for each in inputs:
            if each < 0:
                last_reader[~each] = function_of[reader]
    target, rows = list(operations.target), len(free)
    done: list[list[int]] = [[] for _ in bounds]
    for number, function in enumerate(function_of):
        if number == bounds[function]:
            free += done[function]
        if target[number] == NO_ROW and last_reader[number] > function:
            if not free:
                raise ScheduleError(f"more than {rows} rows between functions")
            target[number] = free.pop()
            done[last_reader[number] + 1].append(target[number])
    return target


def interpret(
    schedule: Schedule, value: NDArray[np.uint64], scratch: NDArray[np.uint64] | None = None
) -> None:
    """Run a schedule on rows, uint64[rows, W], as the functions made of it do.

    scratch   the second array, if the schedule has rows from SCRATCH on

    >>> copy = Schedule(
    ...     np.array([0xF0], np.uint8), np.array([[0, 0, 0]], np.int32), np.array([1], np.int32),
    ...     np.array([0, 1], np.int32),
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
            for source in schedule.source[i].tolist():
                number = ~source
                within = number >= begin and source < 0
                row = source if source >= 0 else int(schedule.target[number])
                given.append(registers[number] if within else place(row).copy())
            result = np.zeros_like(given[0])
            for pattern in range(8):
                if schedule.table[i] >> pattern & 1:
                    a, b, c = (x if pattern >> k & 1 else ~x for x, k in zip(given, (2, 1, 0), strict=True))
                    result |= a & b & c
            registers[i] = result
            if schedule.target[i] != NO_ROW:
                place(int(schedule.target[i]))[:] = result
