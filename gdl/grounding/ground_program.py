"""Ground program: a game as propositional rules over numbered atoms.

Letters used in every shape below: F facts that a state may contain, M_r moves of role r, N rules,
E body literals in total.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term

Int32Array: TypeAlias = NDArray[np.int32]
BoolArray: TypeAlias = NDArray[np.bool_]

FALSE_ATOM = 0
TRUE_ATOM = 1


@dataclass(frozen=True, eq=False)
class GroundProgram:
    """Rules over atoms 1..atom_count; `FALSE_ATOM` never holds, `TRUE_ATOM` always does.

    An atom is either an input (a fact of the state or a move) or derived: then it holds if the body of
    one of its rules does. Atoms that are neither inputs nor heads of rules do not occur.

    roles          in rule-sheet order
    fluents        facts that a state may contain, sorted by text; index f
    moves          per role, sorted by text
    fluent_atom    int32[F], inputs; atoms from 2, consecutive
    move_atom      per role int32[M_r], inputs; consecutive from F + 2, role by role
    initial        bool[F], the initial state
    legal_atom     per role int32[M_r]
    next_atom      int32[F]
    terminal_atom  holds in terminal states
    goals          per role (value, atom), sorted by value; terms that are not integers in 0..100 are left out
    percepts       per role (term, atom), sorted by text: GDL-II `sees`
    rule_head      int32[N], never FALSE_ATOM, TRUE_ATOM or an input
    first_body     int32[N + 1], offsets into `body`
    body           int32[E], signed atoms: negative means negated; no constants
    """

    roles: tuple[Term, ...]
    fluents: tuple[Term, ...]
    moves: tuple[tuple[Term, ...], ...]
    atom_count: int
    fluent_atom: Int32Array
    move_atom: tuple[Int32Array, ...]
    initial: BoolArray
    legal_atom: tuple[Int32Array, ...]
    next_atom: Int32Array
    terminal_atom: int
    goals: tuple[tuple[tuple[int, int], ...], ...]
    percepts: tuple[tuple[tuple[Term, int], ...], ...]
    rule_head: Int32Array
    first_body: Int32Array
    body: Int32Array

    @property
    def rule_count(self) -> int:
        """N, the number of ground rules."""
        return len(self.rule_head)
