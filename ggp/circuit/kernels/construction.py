"""Ground rules to gates in compiled code.

The twin `ggp.circuit.construction` handles recursion, too.

Letters: A atoms, N rules sorted by head, B body literals in all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.kernels.gate_table import GateTable, conj
from ggp.circuit.packed_gates import Int32Array, Int64Array
from ggp.jit.compiling import kernel, piece
from ggp.jit.rows import Index

UNRESOLVED = -1


class SortedRules(NamedTuple):
    """Ground rules by head, and the depth-first search through them.

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
