"""Exactly one move per role: gates over one role's moves are sets.

Gates that read moves are settled only while exactly one move of every role is selected. So a gate over moves
of a single role, however nested, says "the move is in S": OR(S) = NOT OR(moves - S), and the AND of two such
sets is their intersection. Each set is written in the cheapest way: as it was, as its own OR, or by the moves
that it excludes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from time import thread_time

from ggp.circuit.circuit import FALSE_LITERAL, Circuit, GateBuilder, bits_of, rebuilt
from ggp.circuit.simplify.rewriting import fanouts

MoveSets = dict[int, int]
"""Role -> bit set of the role's moves (bit i = its i-th move): the role's move is one of them."""

SET_BITS_LIMIT = 400_000_000
"""Bits of move sets to keep in all; beyond that, further gates are left as they are."""


def merge_move_sets(circuit: Circuit, deadline: float) -> Circuit:
    """`circuit` with sets of moves intersected and complemented. Gates met after `deadline` stay."""
    if not any(circuit.terms.moves):
        return circuit
    gate0 = circuit.gate0
    merger = _SetMerger(circuit, deadline)
    fanout = fanouts(circuit)
    literal_of = list(range(0, 2 * gate0, 2))
    for gate, inputs in enumerate(circuit.gates, start=gate0):
        literal = merger.conj([literal_of[x >> 1] ^ (x & 1) for x in inputs])
        literal_of.append(literal)
        merger.readers[literal >> 1] += fanout[gate]
    return rebuilt(circuit, merger.builder.gates, literal_of)


class _SetMerger:
    """Makes gates and remembers which of them are only sets of moves.

    known     gate literal -> the sets of which it is the AND
    readers   node of the new circuit -> how often the gates that it replaces are read
    """

    def __init__(self, circuit: Circuit, deadline: float) -> None:
        self.deadline = deadline
        self.first = [circuit.move0 + offset for offset in circuit.first_move]
        self.move0, self.gate0 = circuit.move0, circuit.gate0
        self.role_of = [role for role, moves in enumerate(circuit.terms.moves) for _ in moves]
        self.every = [(1 << len(moves)) - 1 for moves in circuit.terms.moves]
        self.builder = GateBuilder(circuit.gate0)
        self.readers: Counter[int] = Counter()
        self.known: dict[int, MoveSets] = {}
        self.bits_left = SET_BITS_LIMIT

    def sets(self, literal: int) -> MoveSets | None:
        """The sets whose AND `literal` is; None if it is something else."""
        node = literal >> 1
        if node < self.move0:
            return None
        if node < self.gate0:
            role = self.role_of[node - self.move0]
            bit = 1 << (node - self.first[role])
            return {role: self.every[role] & ~bit if literal & 1 else bit}
        return self.known.get(literal)

    def conj(self, inputs: Sequence[int]) -> int:
        rest: list[int] = []
        written: dict[int, list[int]] = {}
        allowed: MoveSets = {}
        for x in inputs:
            sets = self.sets(x) if x >> 1 >= self.move0 else None
            if sets is None:
                rest.append(x)
            else:
                for role, bits in sets.items():
                    allowed[role] = allowed.get(role, self.every[role]) & bits
                    written.setdefault(role, []).append(x)
        if not allowed or thread_time() > self.deadline or self.bits_left < 0:
            return self.builder.conj(inputs)
        if not all(allowed.values()):
            return FALSE_LITERAL
        for roles in self._entangled(written):
            as_was = set().union(*(written[role] for role in roles))
            if self._cost_as_was(as_was) < sum(self._cost(role, allowed[role]) for role in roles):
                rest += as_was
            else:
                for role in roles:
                    rest += self._write(role, allowed[role])
        literal = self.builder.conj(rest)
        if all(self.sets(x) is not None for x in set(rest)):
            self._remember(literal, allowed)
        return literal

    def _entangled(self, written: dict[int, list[int]]) -> list[list[int]]:
        """The roles in groups: roles that occur in one literal are in one group."""
        mixed = {
            role for role, literals in written.items() if any(len(self.sets(x) or ()) > 1 for x in literals)
        }
        groups = [[role] for role in written if role not in mixed]
        return [*groups, sorted(mixed)] if mixed else groups

    def _cost_as_was(self, literals: Iterable[int]) -> int:
        """Gate inputs that keeping `literals` costs, those of gates that only this one reads included."""
        builder = self.builder
        return sum(1 if self.readers[x >> 1] != 1 else 1 + len(builder.inputs(x) or ()) for x in literals)

    def _cost(self, role: int, bits: int) -> int:
        wanted = bits.bit_count()
        refused = self.every[role].bit_count() - wanted
        return 1 if wanted == 1 and refused else min(refused, wanted + 1)

    def _write(self, role: int, bits: int) -> list[int]:
        """Inputs of an AND that represent `bits`."""
        refused = self.every[role] & ~bits
        if bits.bit_count() == 1 or refused.bit_count() > bits.bit_count() + 1:
            literal = self.builder.disj(self._moves(role, bits))
            self._remember(literal, {role: bits})
            return [literal] if refused else []
        return [x ^ 1 for x in self._moves(role, refused)]

    def _moves(self, role: int, bits: int) -> list[int]:
        return [2 * (self.first[role] + move) for move in bits_of(bits)]

    def _remember(self, literal: int, sets: MoveSets) -> None:
        if literal in self.known or literal >> 1 < self.gate0:
            return
        self.bits_left -= sum(self.every[role].bit_length() for role in sets)
        self.known[literal] = sets
        if len(sets) == 1:
            ((role, bits),) = sets.items()
            self.known[literal ^ 1] = {role: self.every[role] & ~bits}
