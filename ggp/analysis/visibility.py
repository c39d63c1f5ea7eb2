"""Whether percepts reveal everything to every role: a proof on the circuit.

A game with `sees` hides something unless each role can compute the next state from the state before, its
own move and its percepts; then, by induction from the initial state, it always knows the state. Nodes of the
circuit are found to be *known* to a role until nothing changes:

* fluents, own moves and own percepts;
* gates all of whose inputs are known;
* the last input of a known gate if it implies the others: a move implies what makes it legal;
* moves of a known "one of these moves", if no two of them are legal in one state;
* the last move of a role whose other moves are known, since a role makes exactly one.

Without such a proof a game counts as hiding something; a game that reveals all in other ways is played as any
game of incomplete information, which is correct.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from gdl.terms import Symbol, Term
from ggp.circuit.tables import CircuitTables

MAX_DEPTH = 8
"""Maximum depth of gates searched for implied literals."""

Groups = Sequence[Sequence[int]]
"""Groups of fluents of which at most one holds in any reachable state."""


def reveals_everything(tables: CircuitTables, roles: Sequence[Term], exclusive: Groups = ()) -> bool:
    """Whether every role but `random` provably knows the state after every step."""
    circuit = _Circuit(tables, exclusive)
    return all(circuit.is_known_to(r) for r, role in enumerate(roles) if role != Symbol("random"))


class _Circuit:
    """Which nodes a role knows, given the state, its own move and its percepts."""

    def __init__(self, tables: CircuitTables, exclusive: Groups) -> None:
        self.tables = tables
        inputs, bounds = tables.input.tolist(), pairwise(tables.first_input.tolist())
        self.inputs: dict[int, list[int]] = {
            node: inputs[begin:end] for node, (begin, end) in enumerate(bounds, start=tables.gate0)
        }
        self.move0 = 1 + tables.fluent_count
        self.group = {1 + f: number for number, group in enumerate(exclusive) for f in group}
        self._implied: dict[int, frozenset[int]] = {}

    def is_known_to(self, role: int) -> bool:
        """Whether role number `role` knows the next state."""
        tables = self.tables
        observed = set((tables.percept_literal[tables.percept_role == role] >> 1).tolist())
        known = {*range(self.move0), *self._moves_of(role), *observed}
        while True:
            before = len(known)
            for node, inputs in self.inputs.items():
                if all(literal >> 1 in known for literal in inputs):
                    known.add(node)
            for node in observed & self.inputs.keys():
                self._look_inside(node, known)
            for other in range(tables.role_count):
                unknown = [move for move in self._moves_of(other) if move not in known]
                if len(unknown) == 1:
                    known.add(unknown[0])
            observed = {node for node in known if node >= tables.gate0}
            if len(known) == before:
                return all(literal >> 1 in known for literal in tables.next.tolist())

    def _moves_of(self, role: int) -> range:
        first = self.tables.first_move
        return range(self.move0 + int(first[role]), self.move0 + int(first[role + 1]))

    def _look_inside(self, gate: int, known: set[int]) -> None:
        """Add the inputs of a known gate that its value determines."""
        unknown = [x for x in self.inputs[gate] if x >> 1 not in known]
        others = [x for x in self.inputs[gate] if x >> 1 in known]
        if len(unknown) == 1 and all(literal in self._implied_by(unknown[0]) for literal in others):
            known.add(unknown[0] >> 1)
        elif not others and all(x & 1 and self.move0 <= x >> 1 < self.tables.gate0 for x in unknown):
            legal = [self._implied_by(literal & ~1) for literal in unknown]
            if all(self._are_exclusive(one, other) for one, other in combinations(legal, 2)):
                known.update(literal >> 1 for literal in unknown)

    def _implied_by(self, literal: int, depth: int = MAX_DEPTH) -> frozenset[int]:
        """Literals that hold whenever `literal` does, as far as `depth` levels of gates show."""
        if literal in self._implied:
            return self._implied[literal]
        node, found = literal >> 1, {literal}
        inputs = self.inputs.get(node, []) if depth else []
        if literal & 1:
            parts = [self._implied_by(each ^ 1, depth - 1) for each in inputs]
            found.update(frozenset.intersection(*parts) if parts else ())
        else:
            if self.move0 <= node < self.tables.gate0:
                found |= self._implied_by(int(self.tables.legal[node - self.move0]), depth)
            for each in inputs:
                found |= self._implied_by(each, depth - 1)
        self._implied[literal] = frozenset(found)
        return self._implied[literal]

    def _are_exclusive(self, one: frozenset[int], other: frozenset[int]) -> bool:
        """Whether no state can satisfy both sets of literals."""
        if any(literal ^ 1 in other for literal in one):
            return True
        groups = {self.group[x >> 1]: x for x in one if not x & 1 and x >> 1 in self.group}
        held = [x for x in other if not x & 1 and x >> 1 in self.group]
        return any(groups.get(self.group[x >> 1], x) != x for x in held)
