"""The Boolean circuit of a game (its propnet).

Its gates are n-ary ANDs with negated edges.
A node is the constant TRUE (node 0), a fluent, a move or a gate, numbered as in `ggp.circuit.tables`. A
literal is `2*node + negated`, a gate is the AND of its inputs, an OR is the negated AND of negated literals.
So one kind of gate serves every rule, equal gates are found by one lookup, and a kernel needs one loop.

`ggp.circuit.construction` builds the circuit that ground rules spell out, `ggp.circuit.simplify` makes it
small.

    CircuitError    the ground rules have no circuit: negation within recursion, or too large
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from gdl.errors import GdlError
from gdl.terms import Term
from ggp.circuit.packed_gates import (
    Gate,
    Gates,
    Int64Array,
    PackedGates,
    input_count,
    mark_needed,
    packed,
    selected,
)

TRUE_LITERAL = 0
FALSE_LITERAL = 1


class CircuitError(GdlError):
    """The ground rules cannot be turned into a circuit."""


class Phase(IntEnum):
    """Groups of gates, in the order in which they are settled."""

    LEGAL = 0
    GOAL = 1
    NEXT = 2
    SEES = 3


@dataclass(frozen=True)
class CircuitTerms:
    """The terms behind the numbers of a CircuitTables.

    roles      in rule-sheet order
    fluents    fluents[f] is fluent f; sorted by text. Fluents that can never be true are left out
    moves      moves[r][i] is move first_move[r] + i; sorted by text within a role. Moves that can
               never be legal are left out
    percepts   percepts[i] belongs to percept_role[i], percept_literal[i]
    """

    roles: tuple[Term, ...]
    fluents: tuple[Term, ...]
    moves: tuple[tuple[Term, ...], ...]
    percepts: tuple[Term, ...]


class Goal(NamedTuple):
    """`goal(role, value)` holds if `literal` does, and only then."""

    role: int
    value: int
    literal: int


class Percept(NamedTuple):
    """Role `role` sees `CircuitTerms.percepts[i]`, i being this percept's index, if `literal` holds."""

    role: int
    literal: int


@dataclass(frozen=True)
class Circuit:
    """A game as gates; `ggp.circuit.tables.CircuitTables` says what each field means.

    gates      inputs of every gate: at least two distinct literals, sorted, of nodes before it
    legal      one literal per move, role by role
    next       one literal per fluent
    initial    whether each fluent holds in the initial state
    exclusive  groups of fluents (indices) of which at most one holds in any reachable state
    """

    terms: CircuitTerms
    initial: tuple[bool, ...]
    gates: Gates
    legal: tuple[int, ...]
    terminal: int
    goals: tuple[Goal, ...]
    next: tuple[int, ...]
    percepts: tuple[Percept, ...]
    exclusive: tuple[tuple[int, ...], ...] = ()

    @property
    def fluent_count(self) -> int:
        return len(self.terms.fluents)

    @property
    def first_move(self) -> tuple[int, ...]:
        """Offsets of the roles' moves, one more than there are roles."""
        return tuple(accumulate(map(len, self.terms.moves), initial=0))

    @property
    def move0(self) -> int:
        """The node of the first move."""
        return 1 + len(self.terms.fluents)

    @property
    def gate0(self) -> int:
        """The node of the first gate."""
        return self.move0 + sum(map(len, self.terms.moves))

    @property
    def literal_count(self) -> int:
        """Gate inputs in all: what settling every phase costs."""
        return input_count(self.gates)

    def outputs(self, phase: Phase) -> list[int]:
        """The literals that `phase` has to settle."""
        if phase is Phase.LEGAL:
            return [*self.legal, self.terminal]
        if phase is Phase.NEXT:
            return list(self.next)
        return [each.literal for each in (self.goals if phase is Phase.GOAL else self.percepts)]

    def all_outputs(self) -> list[int]:
        return [literal for phase in Phase for literal in self.outputs(phase)]


def cone_of(literals: Iterable[int], inputs: Callable[[int], Iterable[int]]) -> list[int]:
    """The nodes that literals depend on, inputs first, without the constant.

    inputs   the input literals of a node, none if it is not a gate
    """
    nodes: set[int] = {0}
    left = [literal >> 1 for literal in literals]
    while left:
        node = left.pop()
        if node not in nodes:
            nodes.add(node)
            left += [x >> 1 for x in inputs(node)]
    return sorted(nodes - {0})


def bits_of(mask: int) -> Iterator[int]:
    """The places of the ones of `mask`, the lowest first."""
    digits = bin(mask)[:1:-1]
    place = digits.find("1")
    while place >= 0:
        yield place
        place = digits.find("1", place + 1)


class GateBuilder:
    """Hash-consing: equal gates become one, constants are folded as gates are made.

    >>> builder = GateBuilder(gate0=3)
    >>> x, y = 2, 4  # the literals of nodes 1 and 2
    >>> builder.conj([x, y]) == builder.conj([y, TRUE_LITERAL, x])
    True
    >>> builder.disj([x, x ^ 1]) == TRUE_LITERAL
    True
    >>> builder.gates
    [(2, 4)]
    """

    def __init__(self, gate0: int) -> None:
        self.gate0 = gate0
        self.gates: list[tuple[int, ...]] = []
        self.input_count = 0
        self._node: dict[tuple[int, ...], int] = {}

    def conj(self, literals: Iterable[int]) -> int:
        """The literal that is the AND of `literals`."""
        key = tuple(sorted(set(literals)))
        if not key:
            return TRUE_LITERAL
        if key[0] <= FALSE_LITERAL:
            if FALSE_LITERAL in key[:2]:
                return FALSE_LITERAL
            key = key[1:]
            if not key:
                return TRUE_LITERAL
        if len(key) == 1:
            return key[0]
        node = self._node.get(key)
        if node is None:
            previous = -1
            for literal in key:
                if literal == previous + 1 and literal & 1:
                    return FALSE_LITERAL
                previous = literal
            node = self._node[key] = self.gate0 + len(self.gates)
            self.gates.append(key)
            self.input_count += len(key)
        return 2 * node

    def disj(self, literals: Iterable[int]) -> int:
        """The literal that is the OR of `literals`."""
        return self.conj([literal ^ 1 for literal in literals]) ^ 1

    def inputs(self, literal: int) -> tuple[int, ...] | None:
        """The inputs of the gate behind `literal`. None if its node is not a gate."""
        gate = (literal >> 1) - self.gate0
        return self.gates[gate] if gate >= 0 else None


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause garbage collection. Millions of tuples are alive meanwhile, and none of them is in a cycle."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def phase_gates(circuit: Circuit) -> list[Int64Array]:
    """The gates that each phase settles, in order: those that it needs and no earlier phase has settled."""
    gates = packed(circuit.gates)
    is_settled = np.zeros(len(gates), np.bool_)
    phases = []
    for phase in Phase:
        before = is_settled.copy()
        mark_needed(gates, circuit.gate0, circuit.outputs(phase), is_settled)
        phases.append(np.flatnonzero(is_settled & ~before))
    return phases


def with_outputs(circuit: Circuit, gates: Sequence[Gate], literal: Callable[[int], int]) -> Circuit:
    """`circuit` over other gates, each output mapped by `literal`."""
    return replace(
        circuit,
        gates=gates if isinstance(gates, PackedGates) else tuple(gates),
        legal=tuple(map(literal, circuit.legal)),
        terminal=literal(circuit.terminal),
        goals=tuple(goal._replace(literal=literal(goal.literal)) for goal in circuit.goals),
        next=tuple(map(literal, circuit.next)),
        percepts=tuple(percept._replace(literal=literal(percept.literal)) for percept in circuit.percepts),
    )


def rebuilt(circuit: Circuit, gates: Sequence[Gate], literal_of: Sequence[int]) -> Circuit:
    """`circuit` over new gates, without those that no output needs.

    literal_of   int[K]: node of `circuit` -> its literal over the new gates
    """
    return without_dead_gates(with_outputs(circuit, gates, lambda x: literal_of[x >> 1] ^ (x & 1)))


def without_dead_gates(circuit: Circuit) -> Circuit:
    """`circuit` without the gates that no output needs."""
    gates = packed(circuit.gates)
    is_live = np.zeros(len(gates), np.bool_)
    mark_needed(gates, circuit.gate0, circuit.all_outputs(), is_live)
    if is_live.all():
        return circuit
    kept, number = selected(gates, circuit.gate0, is_live)
    node = number.tolist()
    return with_outputs(
        circuit,
        kept if isinstance(circuit.gates, PackedGates) else kept.as_tuples(),
        lambda literal: 2 * node[literal >> 1] | literal & 1,
    )
