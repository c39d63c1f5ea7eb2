"""Hash-consing, and ground rules to gates, in compiled code, for circuits of millions of inputs.

A `GateTable` is the twin of `ggp.circuit.circuit.GateBuilder` as arrays: equal gates become one and constants
are folded in exactly the same way. The twin of `resolve_atoms`, `ggp.circuit.construction`, handles
recursion, too. Letters: G gates there is room for, E gate inputs, S slots (a power of two).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.packed_gates import Int32Array, Int64Array, PackedGates
from ggp.jit.compiling import kernel, piece
from ggp.jit.rows import Index

UNRESOLVED = -1
GATES, INPUTS, SLOTS, GATE0 = range(4)
"""Places in GateTable.size: gates made, their inputs, slots in use, node of the first gate."""
MIN_SLOTS = 1024


class GateTable(NamedTuple):
    """Gates made so far.

    first   int64[G+1], input int32[E]; gate g reads input[first[g] : first[g+1]]
    slot    int32[S]; 0, or a gate + 1. The hash table is its first size[SLOTS] entries
    key     int32[*]; the literals that `conj` is given
    size    int64[4]
    """

    first: Int64Array
    input: Int32Array
    slot: Int32Array
    key: Int32Array
    size: Int64Array


def make_gate_table(gate0: int, gates: int, inputs: int, widest: int) -> GateTable:
    """Make an empty table.

    gates, inputs   at most: gates, and their inputs in all
    widest          at most: literals in one call of `conj`

    Memory that is not reached is not touched, so generous bounds cost nothing.
    """
    slots = MIN_SLOTS
    while slots < 2 * gates + 2:
        slots *= 2
    return GateTable(
        np.zeros(gates + 1, np.int64),
        np.empty(inputs, np.int32),
        np.zeros(slots, np.int32),
        np.empty(widest + 1, np.int32),
        np.array([0, 0, MIN_SLOTS, gate0], np.int64),
    )


def gates_of(table: GateTable) -> PackedGates:
    """The gates of a table."""
    return PackedGates(table.first[: table.size[GATES] + 1].copy(), table.input[: table.size[INPUTS]].copy())


@piece
def sort(items: Int32Array, begin: Index, end: Index) -> None:
    """Sort items[begin:end] in place (Shell, 1959)."""
    gap = np.int64(1)
    while gap * 9 < end - begin:
        gap = gap * 3 + 1
    while gap > 0:
        for i in range(begin + gap, end):
            item = items[i]
            place: Index = i
            while place >= begin + gap and items[place - gap] > item:
                items[place] = items[place - gap]
                place -= gap
            items[place] = item
        gap //= 3


@piece
def hash_of(items: Int32Array, begin: Index, end: Index) -> Index:
    """31 well-mixed bits of items[begin:end]."""
    mixed = np.int64(end - begin)
    for i in range(begin, end):
        mixed = (mixed ^ np.int64(items[i])) * 0x2545F491
        mixed = (mixed ^ (mixed >> 31)) & 0x7FFFFFFF
    mixed *= 0x2C1B3C6D
    return np.int64((mixed ^ (mixed >> 29)) & 0x7FFFFFFF)


@piece
def conj(table: GateTable, count: Index) -> Index:
    """The literal that is the AND of key[:count], which is overwritten."""
    key = table.key
    sort(key, 0, count)
    length = np.int64(0)
    for i in range(count):
        x = key[i]
        if x == 1:
            return np.int64(1)
        if x == 0 or (length > 0 and key[length - 1] == x):
            continue
        if length > 0 and x & 1 and key[length - 1] == x - 1:
            return np.int64(1)
        key[length] = x
        length += 1
    if length == 0:
        return np.int64(0)
    if length == 1:
        return np.int64(key[0])
    return np.int64(2 * (table.size[GATE0] + _find_or_add(table, length)))


@piece
def _find_or_add(table: GateTable, length: Index) -> Index:
    """The gate that reads key[:length]."""
    size, slot, key = table.size, table.slot, table.key
    mask = size[SLOTS] - 1
    place = hash_of(key, 0, length) & mask
    while slot[place]:
        gate = np.int64(slot[place]) - 1
        begin = table.first[gate]
        if table.first[gate + 1] - begin == length:
            same = np.int64(0)
            while same < length and table.input[begin + same] == key[same]:
                same += 1
            if same == length:
                return gate
        place = (place + 1) & mask
    gate = np.int64(size[GATES])
    begin = size[INPUTS]
    for i in range(length):
        table.input[begin + i] = key[i]
    table.first[gate + 1] = begin + length
    slot[place] = gate + 1
    size[GATES] = gate + 1
    size[INPUTS] = begin + length
    if 2 * (gate + 1) >= size[SLOTS] and size[SLOTS] < slot.shape[0]:
        _double(table)
    return gate


@piece
def _double(table: GateTable) -> None:
    """Double the slots and insert every gate again."""
    size, slot = table.size, table.slot
    size[SLOTS] *= 2
    mask = size[SLOTS] - 1
    for place in range(size[SLOTS]):
        slot[place] = 0
    for gate in range(size[GATES]):
        place = hash_of(table.input, table.first[gate], table.first[gate + 1]) & mask
        while slot[place]:
            place = (place + 1) & mask
        slot[place] = gate + 1


class SortedRules(NamedTuple):
    """Ground rules by head, and the depth-first search through them: A atoms, N rules, B body literals.

    first_rule   int64[A+2]; the rules of atom a are first_rule[a] .. first_rule[a+1]-1
    first_body   int64[N+1], body int32[B]; signed atoms
    literal_of   int32[A+1]; the literal of each atom or UNRESOLVED
    waits_for    int32[A+1]; scratch, zeros: the atom that last asked for this one
    is_open      uint8[A+1]; scratch, zeros: the atom waits for others
    stack        int32[B+1]; scratch
    disjunct     int32[*]; scratch, as many as an atom has rules
    """

    first_rule: Int64Array
    first_body: Int64Array
    body: Int32Array
    literal_of: Int32Array
    waits_for: Int32Array
    is_open: NDArray[np.uint8]
    stack: Int32Array
    disjunct: Int32Array


@kernel
def resolve_atoms(rules: SortedRules, table: GateTable, roots: Int32Array) -> int:
    """Give every atom of `roots` its literal, bodies first. Returns 1 if a cycle is met, else 0."""
    for i in range(roots.shape[0]):
        if not _resolve(rules, table, roots[i]):
            return 1
    return 0


@piece
def _resolve(rules: SortedRules, table: GateTable, root: Index) -> bool:
    stack, literal_of, is_open = rules.stack, rules.literal_of, rules.is_open
    stack[0] = root
    top = np.int64(1)
    while top > 0:
        atom = np.int64(stack[top - 1])
        if literal_of[atom] != UNRESOLVED:
            top -= 1
            continue
        missing = np.int64(0)
        if not is_open[atom]:
            begin = rules.first_body[rules.first_rule[atom]]
            end = rules.first_body[rules.first_rule[atom + 1]]
            for place in range(begin, end):
                other = abs(np.int64(rules.body[place]))
                if literal_of[other] != UNRESOLVED or rules.waits_for[other] == atom:
                    continue
                # Every open atom without a literal is an ancestor of this one.
                if is_open[other] or other == atom:
                    return False
                rules.waits_for[other] = atom
                stack[top + missing] = other
                missing += 1
        if missing:
            is_open[atom] = 1
            top += missing
        else:
            literal_of[atom] = _definition(rules, table, atom)
            top -= 1
    return True


@piece
def _definition(rules: SortedRules, table: GateTable, atom: Index) -> Index:
    """The OR of the bodies of `atom`, all of whose atoms have literals."""
    key, disjunct = table.key, rules.disjunct
    first = rules.first_rule[atom]
    alternatives = rules.first_rule[atom + 1] - first
    for alternative in range(alternatives):
        begin = rules.first_body[first + alternative]
        length = rules.first_body[first + alternative + 1] - begin
        for i in range(length):
            x = np.int64(rules.body[begin + i])
            key[i] = rules.literal_of[x] if x > 0 else rules.literal_of[-x] ^ 1
        disjunct[alternative] = conj(table, length) ^ 1
    for alternative in range(alternatives):
        key[alternative] = disjunct[alternative]
    return conj(table, alternatives) ^ 1
