"""The Boolean circuit of a game (its propnet): n-ary AND gates with negated edges.

A node is the constant TRUE (node 0), a fluent, a move or a gate, numbered as in `ggp.tables`: a literal
is `2*node + negated`, a gate is the AND of its inputs, an OR is the negated AND of negated literals. So
one kind of gate serves every rule, equal gates are found by one lookup, and a kernel needs one
loop.

`build` makes the circuit that the ground rules spell out; `ggp.simplify` makes it small.

    CircuitError    the ground rules have no circuit: negation inside recursion, or too large
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gdl.dependencies import strong_components
from gdl.terms import Term
from ggp.fixpoint import Body, least_fixpoint

if TYPE_CHECKING:
    from gdl.grounding import GroundProgram

TRUE_LITERAL = 0
FALSE_LITERAL = 1
UNRESOLVED = -1
GATE_INPUT_LIMIT = 60_000_000
"""Gate inputs beyond which construction gives up; about 4 GiB of tuples."""


class CircuitError(Exception):
    """The ground rules cannot be made a circuit."""


class Phase(IntEnum):
    """The stretches of gates, in the order in which they are settled."""

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
    """`goal(role, value)` holds where `literal` does."""

    role: int
    value: int
    literal: int


class Percept(NamedTuple):
    """Role `role` sees `CircuitTerms.percepts[i]`, i this percept's place, where `literal` holds."""

    role: int
    literal: int


@dataclass(frozen=True)
class Circuit:
    """A game as gates; what each array means is in `ggp.tables.CircuitTables`.

    gates      the inputs of every gate: sorted distinct literals, two or more, of nodes before it
    legal      one literal per move, role by role
    next       one literal per fluent
    initial    whether each fluent holds in the initial state
    exclusive  groups of fluents (indices) of which at most one holds in any reachable state
    """

    terms: CircuitTerms
    initial: tuple[bool, ...]
    gates: tuple[tuple[int, ...], ...]
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
        offsets = [0]
        for moves in self.terms.moves:
            offsets.append(offsets[-1] + len(moves))
        return tuple(offsets)

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
        return sum(map(len, self.gates))

    def outputs(self, phase: Phase) -> list[int]:
        """The literals that `phase` has to settle."""
        if phase is Phase.LEGAL:
            return [*self.legal, self.terminal]
        if phase is Phase.GOAL:
            return [goal.literal for goal in self.goals]
        if phase is Phase.NEXT:
            return list(self.next)
        return [percept.literal for percept in self.percepts]

    def all_outputs(self) -> list[int]:
        return [literal for phase in Phase for literal in self.outputs(phase)]


class GateBuilder:
    """Hash-consing: equal gates become one, constants are folded as gates are made."""

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
        """The inputs of the gate behind `literal`; None where it is no gate."""
        gate = (literal >> 1) - self.gate0
        return self.gates[gate] if gate >= 0 else None


@contextmanager
def collection_paused() -> Iterator[None]:
    """No garbage collection meanwhile: millions of tuples live, and none of them is in a cycle."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def build(ground: GroundProgram) -> Circuit:
    """The circuit of a ground program, nothing simplified but constants and equal gates.

    Atoms that depend on each other positively get their least fixpoint. Raises CircuitError where an
    atom depends on its own negation, or the circuit passes GATE_INPUT_LIMIT.
    """
    terms = CircuitTerms(
        tuple(ground.roles),
        tuple(ground.fluents),
        tuple(tuple(moves) for moves in ground.moves),
        tuple(term for percepts in ground.percepts for term, _ in percepts),
    )
    with collection_paused():
        return _build(ground, terms)


def _build(ground: GroundProgram, terms: CircuitTerms) -> Circuit:
    resolver = _Resolver(ground, GateBuilder(1 + len(terms.fluents) + sum(map(len, terms.moves))))
    resolve = resolver.resolve
    circuit = Circuit(
        terms=terms,
        initial=tuple(bool(value) for value in ground.initial),
        gates=(),
        legal=tuple(resolve(atom) for atoms in ground.legal_atom for atom in atoms.tolist()),
        terminal=resolve(int(ground.terminal_atom)),
        goals=tuple(
            sorted(
                Goal(role, int(value), resolve(int(atom)))
                for role, goals in enumerate(ground.goals)
                for value, atom in goals
            )
        ),
        next=tuple(resolve(atom) for atom in ground.next_atom.tolist()),
        percepts=tuple(
            Percept(role, resolve(int(atom)))
            for role, percepts in enumerate(ground.percepts)
            for _, atom in percepts
        ),
    )
    return without_dead_gates(replace(circuit, gates=tuple(resolver.builder.gates)))


def _input_literals(ground: GroundProgram) -> list[int]:
    """Literals of the constants and of the fluent and move atoms; UNRESOLVED for other atoms."""
    literal_of = [UNRESOLVED] * (ground.atom_count + 1)
    literal_of[:2] = FALSE_LITERAL, TRUE_LITERAL
    node = 1
    for atoms in (ground.fluent_atom, *ground.move_atom):
        for atom in atoms.tolist():
            if atom > 1:
                literal_of[atom] = 2 * node
            node += 1
    return literal_of


class _Rules:
    """Ground rules sorted by head; lists are made for one atom at a time, since there may be millions."""

    def __init__(self, ground: GroundProgram) -> None:
        order = np.argsort(ground.rule_head, kind="stable")
        starts = ground.first_body[:-1].astype(np.int64)[order]
        lengths = np.diff(ground.first_body)[order]
        self.first_body = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        places = np.repeat(starts - self.first_body[:-1], lengths) + np.arange(len(ground.body))
        self.body = ground.body[places]
        heads = ground.rule_head[order]
        self.first_rule = np.searchsorted(heads, np.arange(ground.atom_count + 2)).tolist()

    def atoms(self, atom: int) -> list[int]:
        """The signed atoms of all rules for `atom`."""
        first, last = self.first_rule[atom], self.first_rule[atom + 1]
        if first == last:
            return []
        found: list[int] = self.body[self.first_body[first] : self.first_body[last]].tolist()
        return found

    def bodies(self, atom: int) -> list[list[int]]:
        """The bodies of the rules for `atom`."""
        first, last = self.first_rule[atom], self.first_rule[atom + 1]
        atoms = self.atoms(atom)
        if last - first == 1:
            return [atoms]
        ends = (self.first_body[first : last + 1] - self.first_body[first]).tolist()
        return [atoms[start:end] for start, end in pairwise(ends)]


class _NegativeCycleError(Exception):
    """An atom depends on its own negation."""


def _output_name(ground: GroundProgram, atom: int) -> str:
    """A keyword with its arguments whose atom is `atom`."""
    for role, moves, atoms in zip(ground.roles, ground.moves, ground.legal_atom, strict=True):
        for move, legal in zip(moves, atoms.tolist(), strict=True):
            if legal == atom:
                return f"(legal {role} {move})"
    for fluent, following in zip(ground.fluents, ground.next_atom.tolist(), strict=True):
        if following == atom:
            return f"(next {fluent})"
    for role, goals, percepts in zip(ground.roles, ground.goals, ground.percepts, strict=True):
        for value, goal in goals:
            if goal == atom:
                return f"(goal {role} {value})"
        for term, percept in percepts:
            if percept == atom:
                return f"(sees {role} {term})"
    return "terminal"


class _Resolver:
    """Turns atoms into literals, bodies first."""

    def __init__(self, ground: GroundProgram, builder: GateBuilder) -> None:
        self.ground = ground
        self.rules = _Rules(ground)
        self.literal_of = _input_literals(ground)
        self.builder = builder

    def resolve(self, root: int) -> int:
        """The literal of atom `root`."""
        if self.literal_of[root] == UNRESOLVED and not self._resolve_acyclic(root):
            for component in strong_components([root], self._unresolved):
                try:
                    self._resolve_component(component)
                except _NegativeCycleError:
                    name = _output_name(self.ground, root)
                    raise CircuitError(f"what {name} is depends on its own negation") from None
        if self.builder.input_count > GATE_INPUT_LIMIT:
            raise CircuitError(f"the circuit passes {GATE_INPUT_LIMIT} gate inputs")
        return self.literal_of[root]

    def _unresolved(self, atom: int) -> list[int]:
        """The atoms that the rules of `atom` still wait for."""
        literal_of = self.literal_of
        return list({abs(x): None for x in self.rules.atoms(atom) if literal_of[abs(x)] == UNRESOLVED})

    def _define(self, atom: int) -> None:
        literal_of, conj = self.literal_of, self.builder.conj
        disjuncts = [
            conj([literal_of[x] if x > 0 else literal_of[-x] ^ 1 for x in body]) ^ 1
            for body in self.rules.bodies(atom)
        ]
        literal_of[atom] = conj(disjuncts) ^ 1

    def _resolve_acyclic(self, root: int) -> bool:
        """Resolve `root` depth first; False, with some atoms resolved, where a cycle is met."""
        literal_of = self.literal_of
        opened: set[int] = set()
        stack = [root]
        while stack:
            atom = stack[-1]
            if literal_of[atom] != UNRESOLVED:
                stack.pop()
                continue
            missing = self._unresolved(atom) if atom not in opened else []
            if not missing:
                self._define(atom)
                stack.pop()
                continue
            # Every opened atom without a literal is an ancestor of this one.
            if atom in missing or not opened.isdisjoint(missing):
                return False
            opened.add(atom)
            stack.extend(missing)
        return True

    def _resolve_component(self, component: Sequence[int]) -> None:
        inside = set(component)
        bodies = {atom: [self._split(body, inside) for body in self.rules.bodies(atom)] for atom in component}
        if any(others for alternatives in bodies.values() for _, others in alternatives):
            for atom, literal in least_fixpoint(bodies, self.builder).items():
                self.literal_of[atom] = literal
        elif self.literal_of[component[0]] == UNRESOLVED:
            self._define(component[0])

    def _split(self, body: Sequence[int], inside: set[int]) -> Body:
        """`body` as a literal over what is known and the atoms of the component."""
        if any(-x in inside for x in body):
            raise _NegativeCycleError
        literal_of = self.literal_of
        known = [literal_of[x] if x > 0 else literal_of[-x] ^ 1 for x in body if x not in inside]
        return self.builder.conj(known), frozenset(x for x in body if x in inside)


def cone(circuit: Circuit, roots: Iterable[int]) -> set[int]:
    """The gates (indices into `circuit.gates`) that the literals `roots` need."""
    gate0, gates = circuit.gate0, circuit.gates
    needed: set[int] = set()
    stack = [literal for literal in roots if literal >> 1 >= gate0]
    while stack:
        gate = (stack.pop() >> 1) - gate0
        if gate not in needed:
            needed.add(gate)
            stack.extend([x for x in gates[gate] if x >> 1 >= gate0])
    return needed


def phase_gates(circuit: Circuit) -> list[list[int]]:
    """The gates that each phase settles: those it needs and no earlier phase settled, in order."""
    settled: set[int] = set()
    phases = []
    for phase in Phase:
        needed = cone(circuit, circuit.outputs(phase)) - settled
        settled |= needed
        phases.append(sorted(needed))
    return phases


def with_outputs(
    circuit: Circuit, gates: Sequence[tuple[int, ...]], literal: Callable[[int], int]
) -> Circuit:
    """`circuit` over other gates, each output mapped by `literal`."""
    return replace(
        circuit,
        gates=tuple(gates),
        legal=tuple(map(literal, circuit.legal)),
        terminal=literal(circuit.terminal),
        goals=tuple(goal._replace(literal=literal(goal.literal)) for goal in circuit.goals),
        next=tuple(map(literal, circuit.next)),
        percepts=tuple(percept._replace(literal=literal(percept.literal)) for percept in circuit.percepts),
    )


def without_dead_gates(circuit: Circuit) -> Circuit:
    """`circuit` without the gates that no output needs."""
    gate0 = circuit.gate0
    live = sorted(cone(circuit, circuit.all_outputs()))
    if len(live) == len(circuit.gates):
        return circuit
    node = list(range(gate0 + len(circuit.gates)))
    for place, gate in enumerate(live):
        node[gate0 + gate] = gate0 + place

    def moved(literal: int) -> int:
        return 2 * node[literal >> 1] | literal & 1

    gates = [tuple([2 * node[x >> 1] | x & 1 for x in circuit.gates[gate]]) for gate in live]
    return with_outputs(circuit, gates, moved)
