"""Counting: rules that count one by one become adders.

Rules count pieces by a chain of "n of the first i cells hold": a gate for every pair (i, n), so about n^2 of
them. If a gate is recognized as "exactly k of L hold" for a set of literals L, the sum of L is computed once,
in binary, by full adders (Wallace, 1964), and the gate becomes a comparison of that sum with k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import thread_time
from typing import NamedTuple, TypeAlias

import numpy as np

from ggp.circuit.circuit import Circuit, GateBuilder, with_outputs, without_dead_gates
from ggp.circuit.packed_gates import as_tuples, packed
from ggp.circuit.simplify.rewriting import cost

MIN_COUNTED = 4
"""Minimum number of literals for which an adder pays."""
MAX_COUNTED = 300

Counted: TypeAlias = frozenset[int]


class Exactly(NamedTuple):
    """True if exactly `number` of the literals `counted` hold."""

    counted: Counted
    number: int


def add_up(circuit: Circuit, deadline: float) -> Circuit:
    """`circuit` with counting chains replaced by adders, if that is smaller."""
    if not _has_choices(circuit):
        return circuit
    circuit = replace(circuit, gates=as_tuples(circuit.gates))
    exactly = _recognize(circuit, deadline)
    if not any(len(count.counted) >= MIN_COUNTED for count in exactly.values()):
        return circuit
    return min(circuit, _with_adders(circuit, exactly), key=cost)


def _has_choices(circuit: Circuit) -> bool:
    """Whether some gate is a choice, as in every counting chain. A choice is "x and a, or not x and b"."""
    gates, gate0 = packed(circuit.gates), circuit.gate0
    is_pair = np.diff(gates.first) == 2
    inputs = gates.input[gates.first[:-1][is_pair, None] + (0, 1)]
    children = (inputs[(inputs & 1).all(axis=1)] >> 1) - gate0
    children = children[(children >= 0).all(axis=1)]
    children = children[is_pair[children].all(axis=1)]
    left, right = (gates.input[gates.first[children[:, side], None] + (0, 1)] for side in (0, 1))
    return bool((left[:, :, None] == right[:, None, :] ^ 1).any())


def _recognize(circuit: Circuit, deadline: float) -> dict[int, Exactly]:
    """Literals of gates that are counts: choices between two counts, and their parts."""
    gate0, gates = circuit.gate0, circuit.gates
    found: dict[int, Exactly] = {}

    def count_of(literal: int) -> Exactly:
        """The count of a literal. One that is not a known count counts itself alone."""
        if literal in found:
            return found[literal]
        if not literal & 1 and literal >> 1 >= gate0:
            first, *rest = sorted(gates[(literal >> 1) - gate0], key=lambda x: x not in found)
            chain: Exactly | None = found.get(first) or _single(first)
            for x in rest:
                chain = chain and (None if x in found or x ^ 1 in found else _all_or_none(chain, x))
            if chain is not None:
                found[literal] = chain
                return chain
        return _single(literal)

    for gate, inputs in enumerate(gates):
        if found and any(x in found for x in inputs):
            count_of(2 * (gate0 + gate))
        if len(inputs) != 2 or not inputs[0] & inputs[1] & 1 or inputs[0] >> 1 < gate0:
            continue
        if thread_time() > deadline:
            return {}
        left, right = (gates[(x >> 1) - gate0] for x in inputs)
        if len(left) != 2 or len(right) != 2:
            continue
        for x in left:
            if x ^ 1 in right:
                positive = count_of(left[0] if left[1] == x else left[1])
                negative = count_of(right[0] if right[1] == x ^ 1 else right[1])
                count = _one_more(x, positive, negative)
                if count is not None:
                    found.pop(2 * (gate0 + gate), None)
                    found[2 * (gate0 + gate) + 1] = count
    return found


def _single(literal: int) -> Exactly:
    return Exactly(frozenset((literal & ~1,)), 1 - (literal & 1))


def _all_or_none(count: Exactly, literal: int) -> Exactly | None:
    """`count` AND `literal`, if `count` is "none" or "all" of its literals. Else None."""
    counted, number = count
    if literal in counted or literal ^ 1 in counted or len(counted) >= MAX_COUNTED:
        return None
    if number == len(counted):
        return _canonical(counted | {literal}, number + 1)
    return _canonical(counted | {literal ^ 1}, 0) if number == 0 else None


def _one_more(literal: int, positive: Exactly, negative: Exactly) -> Exactly | None:
    """The count that is `positive` if `literal` holds and `negative` otherwise. None if that is no count."""
    counted = positive.counted
    if counted != negative.counted or literal in counted or literal ^ 1 in counted:
        return None
    if len(counted) >= MAX_COUNTED:
        return None
    if positive.number + 1 == negative.number:
        return _canonical(counted | {literal}, negative.number)
    if negative.number + 1 == positive.number:
        return _canonical(counted | {literal ^ 1}, positive.number)
    return None


def _canonical(counted: Counted, number: int) -> Exactly:
    """The canonical one of a count and its complement. The first literal decides."""
    if min(counted) & 1:
        return Exactly(frozenset(x ^ 1 for x in counted), len(counted) - number)
    return Exactly(counted, number)


def _with_adders(circuit: Circuit, exactly: dict[int, Exactly]) -> Circuit:
    """`circuit` with adders for the counts that other gates read. The chains become dead gates."""
    gate0, gates = circuit.gate0, circuit.gates
    builder = GateBuilder(gate0)
    literal_of = dict(zip(range(0, 2 * gate0, 2), range(0, 2 * gate0, 2), strict=True))
    sums: dict[Counted, list[int]] = {}
    stack = [x & ~1 for x in circuit.all_outputs()]
    while stack:
        literal = stack[-1]
        if literal in literal_of:
            stack.pop()
            continue
        count = exactly.get(literal) or exactly.get(literal + 1)
        if count is not None and len(count.counted) >= MIN_COUNTED:
            needed: Sequence[int] = tuple(count.counted)
        else:
            count = None
            needed = gates[(literal >> 1) - gate0]
        missing = [x & ~1 for x in needed if x & ~1 not in literal_of]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        values = [literal_of[x & ~1] ^ (x & 1) for x in needed]
        if count is None:
            literal_of[literal] = builder.conj(values)
            continue
        if count.counted not in sums:
            sums[count.counted] = binary_sum(sorted(values), builder)
        bits = sums[count.counted]
        equal = builder.conj([bit ^ 1 ^ (count.number >> place & 1) for place, bit in enumerate(bits)])
        literal_of[literal] = equal if literal in exactly else equal ^ 1
    return without_dead_gates(with_outputs(circuit, builder.gates, lambda x: literal_of[x & ~1] ^ (x & 1)))


def binary_sum(literals: Sequence[int], builder: GateBuilder) -> list[int]:
    """How many of `literals` hold, as bits, the lowest first."""
    columns = [list(literals)]
    bits = []
    for column in columns:
        carries: list[int] = []
        while len(column) > 1:
            total, carry = _half_sum(column.pop(0), column.pop(0), builder)
            if column:
                total, carried = _half_sum(total, column.pop(0), builder)
                carry = builder.disj((carry, carried))
            column.append(total)
            carries.append(carry)
        bits.append(column[0])
        if carries:
            columns.append(carries)
    return bits


def _half_sum(a: int, b: int, builder: GateBuilder) -> tuple[int, int]:
    both = builder.conj((a, b))
    return builder.conj((both ^ 1, builder.conj((a ^ 1, b ^ 1)) ^ 1)), both
