"""mapping: the gates of one phase as operations with two or three inputs.

A processor with AVX-512 computes any Boolean function of three rows in one instruction, so the AND gates of a
circuit, with any number of inputs, are covered by as few functions of three inputs as possible. This is the
technology mapping of logic synthesis (Mishchenko, Chatterjee, Brayton 2007, "Improvements to technology
mapping for LUT-based FPGAs"):

1. split gates into ANDs of two literals, equal ones shared;
2. enumerate cuts: sets of up to three values from which the AND can be computed, with those of its two inputs
   that have the least area flow (operations, shared among their readers);
3. choose for every value that is needed the cut with the least flow, from the outputs down;
4. recover area: go over the chosen ones in order and take the cut that adds the fewest operations to all.

Letters: values are the nodes of `CircuitTables` below `begin` (constants, fluents, moves, gates of earlier
phases), which are read, and the ANDs of this phase, which are computed. A literal is 2*value + negated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeAlias

from ggp.circuit.tables import CircuitTables

Cut: TypeAlias = tuple[int, ...]

MAX_CUTS = 8
"""Kept for each AND; more find hardly anything."""
RECOVERIES = 2
"""Rounds of area recovery; later ones find nothing."""
ALL_OF_THREE = 0xFF
VARIABLES = (0xF0, 0xCC, 0xAA)
"""Truth tables of three inputs: bit 4*a + 2*b + c is the result for inputs a, b, c."""


@dataclass(frozen=True)
class Operation:
    """One row operation: `value` from the values `cut`.

    table   bit 4*a + 2*b + c is the result for the values a, b, c of `cut`; missing ones do not matter
    """

    value: int
    cut: Cut
    table: int


@dataclass
class _Ands:
    """ANDs of two literals. The ANDs are numbered from `first` on, the values read below."""

    first: int
    inputs: list[tuple[int, int]] = field(default_factory=list)
    known: dict[tuple[int, int], int] = field(default_factory=dict)

    def both(self, a: int, b: int) -> int:
        """The literal of a AND b."""
        key = (a, b) if a < b else (b, a)
        literal = self.known.get(key)
        if literal is None:
            literal = 2 * (self.first + len(self.inputs))
            self.known[key] = literal
            self.inputs.append(key)
        return literal

    def all_of(self, literals: Iterable[int]) -> int:
        """The literal of their AND: a chain in which what is computed last comes last, so cuts reach it."""
        together, *others = sorted(literals)
        for literal in others:
            together = self.both(together, literal)
        return together


def map_gates(
    tables: CircuitTables,
    begin: int,
    end: int,
    outputs: set[int],
    inputs: int,
    *,
    meaning: Mapping[int, tuple[int, int]] | None = None,
    unions: Sequence[Sequence[Sequence[int]]] = (),
) -> Cover:
    """Cover the gates begin .. end-1 of `tables` by operations with at most `inputs` (2 or 3) inputs.

    outputs   nodes among the gates begin .. end-1 whose values are needed
    meaning   nodes that have no row, as two literals of which each is the AND
    unions    the OR of these ANDs of literals, of two literals or more, is needed, too

    >>> import ggp
    >>> tables = ggp.load("tictactoe").tables
    >>> gates = int(tables.phase_end[0])
    >>> outputs = set(range(tables.gate0, tables.gate0 + gates))
    >>> mapped = map_gates(tables, 0, gates, outputs, inputs=3)
    >>> gates, len(mapped.operations) < 2 * gates
    (60, True)
    """
    ands, literal_of = _split(tables, begin, end, meaning or {})
    roots = {node: literal_of[node] for node in sorted(outputs)}
    for number, products in enumerate(unions):
        negated = [
            ands.all_of([literal_of.get(x >> 1, x & ~1) ^ (x & 1) for x in each]) ^ 1 for each in products
        ]
        roots[tables.node_count + number] = ands.all_of(negated) ^ 1
    uses = [0] * len(ands.inputs)
    for literal in roots.values():
        uses[(literal >> 1) - ands.first] += 1
    cuts = _enumerate_cuts(ands, uses, inputs)
    chosen = _cover(ands.first, cuts, uses)
    operations = [
        Operation(ands.first + i, cut, _truth_table(ands, ands.first + i, cut))
        for i, cut in enumerate(chosen)
        if cut is not None
    ]
    return Cover(ands.first, operations, roots)


@dataclass(frozen=True)
class Cover:
    """Operations in an order in which they can be computed.

    first   values from `first` on are computed, those below are nodes that are read
    roots   by node: the literal of a value that it is; unions follow the last node
    """

    first: int
    operations: list[Operation]
    roots: dict[int, int]


def _split(
    tables: CircuitTables, begin: int, end: int, meaning: Mapping[int, tuple[int, int]]
) -> tuple[_Ands, dict[int, int]]:
    """The ANDs, and the literal of each gate by node."""
    first = tables.gate0 + begin
    ands = _Ands(first)
    literal_of: dict[int, int] = {}
    starts = tables.first_input[begin : end + 1].tolist()
    inputs = tables.input[starts[0] : starts[-1]].tolist() if end > begin else []
    for g in range(end - begin):
        given = inputs[starts[g] - starts[0] : starts[g + 1] - starts[0]]
        literals = [literal_of.get(x >> 1, x & ~1) ^ (x & 1) for x in given if x >> 1 not in meaning]
        literals += _with_meaning(ands, [x for x in given if x >> 1 in meaning], meaning)
        literal_of[first + g] = ands.all_of(literals)
    return ands, literal_of


def _with_meaning(ands: _Ands, given: list[int], meaning: Mapping[int, tuple[int, int]]) -> list[int]:
    """Literals of which the AND is that of `given`, which have a meaning.

    Of negated ones with the same second literal x, such as moves of one role, AND ~(a & x) & ~(b & x) .. is
    ~((a | b | ..) & x).
    """
    literals = [ands.both(*meaning[y >> 1]) for y in given if not y & 1]
    negated: dict[int, list[int]] = {}
    for a, x in [meaning[y >> 1] for y in given if y & 1]:
        negated.setdefault(x, []).append(a ^ 1)
    for x, of_x in negated.items():
        literals.append(ands.both(ands.all_of(of_x) ^ 1, x) ^ 1)
    return literals


def _enumerate_cuts(ands: _Ands, outputs: list[int], size: int) -> list[list[Cut]]:
    """The best cuts of every AND, the one with the least area flow first."""
    first = ands.first
    readers = list(outputs)
    for pair in ands.inputs:
        for literal in pair:
            if literal >> 1 >= first:
                readers[(literal >> 1) - first] += 1
    flow: list[float] = []
    kept: list[list[Cut]] = []
    for number, (a, b) in enumerate(ands.inputs):
        sides = [[(x >> 1,), *kept[(x >> 1) - first]] if x >> 1 >= first else [(x >> 1,)] for x in (a, b)]
        unions = {tuple(sorted({*left, *right})) for left in sides[0] for right in sides[1]}
        rated = sorted(
            (sum([flow[v - first] for v in cut if v >= first]), len(cut), cut)
            for cut in unions
            if len(cut) <= size
        )
        best: list[Cut] = []
        for _, _, cut in rated:
            if not any(set(other) <= set(cut) for other in best):
                best.append(cut)
                if len(best) == MAX_CUTS:
                    break
        kept.append(best)
        flow.append((1.0 + rated[0][0]) / max(1, readers[number]))
    return kept


def _cover(first: int, cuts: list[list[Cut]], outputs: list[int]) -> list[Cut | None]:
    """The cut of every AND that is computed; None for the others."""
    best = [each[0] for each in cuts]
    uses = list(outputs)
    for number in range(len(cuts) - 1, -1, -1):
        if uses[number]:
            for value in best[number]:
                if value >= first:
                    uses[value - first] += 1

    def change(values: set[int], by: int) -> int:
        """Read values once more (by = 1) or less (-1); return the operations that this adds or saves."""
        count, waiting = 0, list(values)
        while waiting:
            value = waiting.pop()
            if value >= first:
                other = value - first
                before, uses[other] = uses[other], uses[other] + by
                if min(before, uses[other]) == 0:
                    count += 1
                    waiting += best[other]
        return count

    def exchange(number: int, cut: Cut) -> int:
        """Take another cut of an AND; return the operations that this adds."""
        # What both need stays in use meanwhile, so long chains below it are not walked.
        old, best[number] = best[number], cut
        return change({*cut} - {*old}, 1) - change({*old} - {*cut}, -1)

    for _ in range(RECOVERIES):
        for number, choices in enumerate(cuts):
            if uses[number] and len(choices) > 1:
                counts = list(accumulate([exchange(number, cut) for cut in choices]))
                exchange(number, choices[counts.index(min(counts))])
    return [cut if used else None for cut, used in zip(best, uses, strict=True)]


def _truth_table(ands: _Ands, value: int, cut: Cut) -> int:
    """The function of an AND on its cut."""
    known = dict(zip(cut, VARIABLES, strict=False))

    def table(value: int) -> int:
        found = known.get(value)
        if found is None:
            found = ALL_OF_THREE
            for literal in ands.inputs[value - ands.first]:
                found &= table(literal >> 1) ^ (ALL_OF_THREE if literal & 1 else 0)
            known[value] = found
        return found

    return table(value)
