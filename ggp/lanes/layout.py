"""LaneTables: a circuit laid out for the kernels that settle it.

`settle` is fast if it need not check for each gate how many inputs it has and which are negated. So gates are
sorted, phase by phase and level by level, into *runs* of gates with the same number of positive and of
negated inputs. A run is one tight loop without branch mispredictions, and a negated input costs nothing (AND
NOT is one instruction). On large circuits this halves the time per literal. Gates are sorted within windows,
which keeps their overall order by liveness, and gates that are not needed at the same time share rows.

Moves are laid out in blocks of eight (the last block of a role has four or eight slots), padded with
slots that are never legal and write to a spare row; `choose` works block by block.

Letters as in `ggp.circuit.tables`; Q runs, S slots (padded moves), L+1 rows (row L is the spare one).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import FALSE_LITERAL, CircuitTables, Int32Array
from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import Index, Rows, lowest_bit, word_count
from ggp.lanes.turns import find_turns
from ggp.native.parts import Part, Turns

BLOCK = 8
WIDTH_COUNT = 6
"""Row widths that there can be machine code for: 1, 2, 4, 8, 16 and 32 words, all that kernels work with."""
COUNT_CODE, SELECT_CODE = int(Part.COUNT), int(Part.SELECT)
BEFORE_DRAW_CODE, AFTER_DRAW_CODE = int(Part.BEFORE_DRAW), int(Part.AFTER_DRAW)

WINDOW = 8192
"""Gates sorted into runs together. Fewer make short runs, more make values wait long in rows."""

NEVER = -1


class GateRuns(NamedTuple):
    """The gates of a circuit, in the order of settling; only `ggp.lanes.settle` reads it.

    run            int32[Q, 3]: positive inputs, negated inputs and number of gates of each run
    phase_run, phase_gate, phase_source    int32[5]: where each phase begins in run, target, source
    source         int32[E]: input rows gate by gate, negated inputs first if there are more than three
    target         int32[G]: row that each gate is written to
    native         int64[8, 7]: addresses of machine code, by part and `native_column`; 0: none.
                   They are filled in while kernels run; see `ggp.native`
    """

    run: Int32Array
    phase_run: Int32Array
    phase_gate: Int32Array
    phase_source: Int32Array
    source: Int32Array
    target: Int32Array
    native: NDArray[np.int64]

    def __reduce__(self) -> tuple[object, ...]:
        """Another process has other addresses."""
        return GateRuns, (*self[:-1], np.zeros_like(self.native))


class LaneTables(NamedTuple):
    """One game as kernels need it. Only gates are numbered otherwise than in CircuitTables.

    schedule       its gates
    row_count      L + 1 rows: constant TRUE, fluents, moves, those of gates, and a spare row
    first_shared   first of the rows of gates that hold nothing between phases; the spare row ends them
    fluent_count, move_count, role_count    F, M, R
    move0          row of move 0
    first_slot     int32[R+1]; slots of role r
    slot_literal   int32[S]; legality of the slot's move
    slot_node      int32[S]; row of the slot's move (or the spare row)
    turns          whose turn it is
    terminal       literal
    next           int32[F]: literal of each fluent in the next state
    next_order     int32[F]: fluents in an order in which the next state can be written in place, after ...
    next_saved     int32[*]: ... the next rows of these fluents were saved
    goal_first     int32[R+1], goal_literal, goal_value    int32[*]: goals of role r
    percept_literal    int32[*], in the order of CircuitTables
    node_of        int32[K]: row of node k of the CircuitTables, until a later gate of its phase takes it over
    """

    schedule: GateRuns
    row_count: int
    first_shared: int
    fluent_count: int
    move_count: int
    role_count: int
    move0: int
    first_slot: Int32Array
    slot_literal: Int32Array
    slot_node: Int32Array
    turns: Turns
    terminal: int
    next: Int32Array
    next_order: Int32Array
    next_saved: Int32Array
    goal_first: Int32Array
    goal_literal: Int32Array
    goal_value: Int32Array
    percept_literal: Int32Array
    node_of: Int32Array


@inlined
def native_column(value: Rows) -> Index:
    """The column of `GateRuns.native` for the width of `value`; the last one, without code, for others."""
    words = word_count(value)
    if words & (words - 1) or words >> WIDTH_COUNT:
        return np.int64(WIDTH_COUNT)
    return np.int64(lowest_bit(np.uint64(words)))


@kernel
def _gate_levels(
    first_input: Int32Array, inputs: Int32Array, gate0: int, part: NDArray[np.int64], level: Int32Array
) -> None:
    """Compute the level of every gate within its part. level[g] = 0 if gate g reads no gate of its part, else
    1 + the highest level that it reads there."""
    for g in range(level.shape[0]):
        deepest = 0
        for j in range(first_input[g], first_input[g + 1]):
            source = (inputs[j] >> 1) - gate0
            if source >= 0 and part[source] == part[g] and level[source] >= deepest:
                deepest = level[source] + 1
        level[g] = deepest


def arrange(tables: CircuitTables, window: int = WINDOW) -> LaneTables:
    """Lay out `tables` for the kernels.

    window   gates sorted together; 0: sort whole phases, and give every gate its own row
    """
    schedule, node_of, kept_rows, gate_rows = _arrange_gates(tables, window)
    spare = tables.gate0 + gate_rows
    first_slot, slot_literal, slot_node = _arrange_moves(tables, node_of, spare)
    following = _renumber(tables.next, node_of)
    order, saved = order_of_writing(following)
    return LaneTables(
        schedule=schedule,
        row_count=spare + 1,
        first_shared=tables.gate0 + kept_rows,
        fluent_count=tables.fluent_count,
        move_count=int(tables.first_move[-1]),
        role_count=tables.role_count,
        move0=1 + tables.fluent_count,
        first_slot=first_slot,
        slot_literal=slot_literal,
        slot_node=slot_node,
        turns=find_turns(tables),
        terminal=int(_renumber(np.array([tables.terminal], np.int32), node_of)[0]),
        next=following,
        next_order=order,
        next_saved=saved,
        goal_first=np.searchsorted(tables.goal_role, np.arange(tables.role_count + 1)).astype(np.int32),
        goal_literal=_renumber(tables.goal_literal, node_of),
        goal_value=tables.goal_value.astype(np.int32),
        percept_literal=_renumber(tables.percept_literal, node_of),
        node_of=node_of,
    )


def _renumber(literals: Int32Array, node_of: Int32Array) -> Int32Array:
    return np.asarray(2 * node_of[literals >> 1] + (literals & 1), np.int32)


def _arrange_gates(tables: CircuitTables, window: int) -> tuple[GateRuns, Int32Array, int, int]:
    """The schedule, the row of each node, and the numbers of rows of gates: not shared, and all."""
    gates = len(tables.first_input) - 1
    arity = np.diff(tables.first_input)
    gate_of_input = np.repeat(np.arange(gates), arity)
    is_negated = (tables.input & 1).astype(bool)
    negated = np.bincount(gate_of_input[is_negated], minlength=gates)
    positive = arity - negated
    phase = np.searchsorted(tables.phase_end, np.arange(gates), side="right")
    part = np.arange(gates) // window if window else np.zeros(gates, np.int64)
    level = np.zeros(gates, np.int32)
    _gate_levels(tables.first_input, tables.input, tables.gate0, part, level)

    order = np.lexsort((positive, negated, level, part, phase))
    rank = np.empty(gates, np.int64)
    rank[order] = np.arange(gates)
    kind = np.stack((phase, positive, negated), axis=1)[order]
    starts = np.flatnonzero(np.r_[True, (kind[1:] != kind[:-1]).any(axis=1)]) if gates else np.zeros(0, int)
    run = np.column_stack((kind[starts, 1:], np.diff(np.r_[starts, gates]))).reshape(-1, 3)
    # Within a gate: positive inputs first up to three inputs, negated ones first beyond (see `settle`).
    comes_second = is_negated == (arity[gate_of_input] <= 3)
    by_gate = np.lexsort((tables.input, comes_second, rank[gate_of_input]))
    source = tables.input[by_gate] >> 1
    first_source = np.r_[0, np.cumsum(arity[order])]
    phase_gate = np.r_[0, tables.phase_end]
    node_of = np.arange(tables.node_count, dtype=np.int32)
    if window:
        read = np.full(len(source), -1, np.int64)
        is_gate = source >= tables.gate0
        read[is_gate] = rank[source[is_gate] - tables.gate0]
        kept = _read_from_outside(tables)[order]
        row, kept_rows, gate_rows = _share_rows(first_source, read, phase_gate.astype(np.int64), kept)
        node_of[tables.gate0 :] = tables.gate0 + row[rank]
    else:
        kept_rows = gate_rows = gates
        node_of[tables.gate0 :] = tables.gate0 + rank
    schedule = GateRuns(
        run=np.ascontiguousarray(run, np.int32),
        phase_run=np.asarray(np.searchsorted(starts, phase_gate), np.int32),
        phase_gate=phase_gate.astype(np.int32),
        phase_source=first_source[phase_gate].astype(np.int32),
        source=node_of[source],
        target=node_of[tables.gate0 + order],
        native=np.zeros((len(Part), WIDTH_COUNT + 1), np.int64),
    )
    return schedule, node_of, kept_rows, gate_rows


def _share_rows(
    first_source: NDArray[np.int64],
    source: NDArray[np.int64],
    phase_gate: NDArray[np.int64],
    is_kept: NDArray[np.bool_],
) -> tuple[Int32Array, int, int]:
    """Row of each gate, counted from 0, and the numbers of rows: not shared, which come first, and all.

    Gates are in the order of settling.

    Of the values of a circuit of half a million gates, only a few thousand are still to be read at any time.
    Rows that are soon written again stay in the processor's caches. Rows are shared only within a phase: a
    gate that a later phase or an output reads keeps its row, so that any phase may be settled again after the
    phases before it.

    first_source   int64[G+1]
    source         int64[E]: gates that gate g reads, from first_source[g] on; negative for other inputs
    phase_gate     int64[P+1]: where each phase begins
    is_kept        bool[G]: read by outputs
    """
    gates = len(first_source) - 1
    reader = np.repeat(np.arange(gates), np.diff(first_source))
    phase = np.searchsorted(phase_gate[1:], np.arange(gates), side="right")
    read = source >= 0
    last_reader = np.full(gates, NEVER, np.int64)
    np.maximum.at(last_reader, source[read], reader[read])
    stays = is_kept | (last_reader == NEVER)
    read_later = read & (phase[source] != phase[reader])
    stays[source[read_later]] = True
    last_reader[stays] = NEVER
    row = np.empty(gates, np.int32)
    row[stays] = np.arange(stays.sum())
    free = np.empty(gates, np.int32)
    kept = int(stays.sum())
    return row, kept, _give_rows(first_source, source, phase_gate, last_reader, kept, free, row)


@kernel
def _give_rows(
    first_source: NDArray[np.int64],
    source: NDArray[np.int64],
    phase_gate: NDArray[np.int64],
    last_reader: NDArray[np.int64],
    first_row: int,
    free: Int32Array,
    row: Int32Array,
) -> int:
    """Assign rows from first_row on to the gates with a last reader; return the number of rows.

    free   int32[G], scratch: a stack of free rows, the one freed last on top
    """
    end_row = first_row
    for p in range(phase_gate.shape[0] - 1):
        top = 0
        for r in range(end_row - 1, first_row - 1, -1):
            free[top] = r
            top += 1
        for g in range(phase_gate[p], phase_gate[p + 1]):
            if last_reader[g] != NEVER:
                if top > 0:
                    top -= 1
                    row[g] = free[top]
                else:
                    row[g] = end_row
                    end_row += 1
            for i in range(first_source[g], first_source[g + 1]):
                other = source[i]
                if other >= 0 and last_reader[other] == g:
                    free[top] = row[other]
                    top += 1
    return end_row


def _read_from_outside(tables: CircuitTables) -> NDArray[np.bool_]:
    """bool[G]: gates that are outputs: legal, terminal, goal, next or percepts."""
    read = np.zeros(tables.node_count, bool)
    for literals in (tables.legal, tables.next, tables.goal_literal, tables.percept_literal):
        read[literals >> 1] = True
    read[tables.terminal >> 1] = True
    return read[tables.gate0 :]


def _arrange_moves(
    tables: CircuitTables, node_of: Int32Array, spare: int
) -> tuple[Int32Array, Int32Array, Int32Array]:
    first_slot = [0]
    literals: list[NDArray[np.int32]] = []
    nodes: list[NDArray[np.int32]] = []
    for first, end in zip(tables.first_move[:-1], tables.first_move[1:], strict=True):
        padding = -int(end - first) % (BLOCK // 2)
        literals += [_renumber(tables.legal[first:end], node_of), np.full(padding, FALSE_LITERAL, np.int32)]
        move0 = 1 + tables.fluent_count
        nodes += [np.arange(move0 + first, move0 + end, dtype=np.int32), np.full(padding, spare, np.int32)]
        first_slot.append(first_slot[-1] + int(end - first) + padding)
    return np.array(first_slot, np.int32), np.concatenate(literals), np.concatenate(nodes)


def order_of_writing(following: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Order for writing next values in place, and fluents to save first.

    following   int32[F]: literal of each fluent's next value
    A fluent that reads the row of another must be written before that row is. Each fluent reads at most one
    other, so what remains after writing all that are free are simple cycles: all of their members are saved.

    >>> order, saved = order_of_writing(np.array([4, 6, 6, 10, 8], np.int32))
    >>> order.tolist(), saved.tolist()  # 0 reads 1, 1 reads 2; 3 and 4 read each other
    ([0, 1, 2], [3, 4])
    """
    count = len(following)
    reads = (following >> 1) - 1
    readers = np.bincount(reads[(reads >= 0) & (reads < count)], minlength=count)
    itself = reads == np.arange(count)
    readers[itself] -= 1
    ready = [int(f) for f in np.flatnonzero(readers == 0)]
    order: list[int] = []
    while ready:
        f = ready.pop()
        order.append(f)
        source = int(reads[f])
        if 0 <= source < count and source != f:
            readers[source] -= 1
            if readers[source] == 0:
                ready.append(source)
    saved = sorted(set(range(count)) - set(order))
    return np.array(order, np.int32), np.array(saved, np.int32)
