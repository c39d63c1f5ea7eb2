"""Construction of a circuit from ground rules. Nothing is simplified but constants and equal gates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gdl.dependencies import strong_components
from gdl.slices import slice_offsets, slice_places
from ggp.circuit.circuit import (
    FALSE_LITERAL,
    TRUE_LITERAL,
    Circuit,
    CircuitError,
    CircuitTerms,
    GateBuilder,
    Goal,
    Percept,
    collection_paused,
    without_dead_gates,
)
from ggp.circuit.fixpoint import Body, least_fixpoint
from ggp.circuit.packed_gates import Gates, PackedGates

if TYPE_CHECKING:
    from gdl.grounding import GroundProgram

UNRESOLVED = -1
GATE_INPUT_LIMIT = 60_000_000
"""Gate inputs beyond which construction gives up."""
COMPILED_RULES = 60_000
"""Ground rules from which a kernel builds the circuit; with fewer, loading it takes longer than it saves."""


def build(ground: GroundProgram) -> Circuit:
    """The circuit of a ground program. Atoms that depend on each other positively get their least fixpoint.

    Raises CircuitError if an atom depends on its own negation or the circuit exceeds GATE_INPUT_LIMIT.

    >>> from gdl.grounding import ground
    >>> from gdl.syntax.parser import parse
    >>> moves = "(role a) (legal a go) (legal a stay) (<= (next p) (does a go)) (<= (next q) (does a stay))"
    >>> circuit = build(ground(parse(moves + "(init p) (<= terminal (true p) (not (true q)))")))
    >>> circuit.gates, circuit.terminal, circuit.next  # nodes: 1 p, 2 q, 3 go, 4 stay, 5 the gate
    (((2, 5),), 10, (6, 8))
    """
    legal = [atom for of_role in ground.legal_atom for atom in of_role.tolist()]
    goal = [int(atom) for goals in ground.goals for _, atom in goals]
    seen = [int(atom) for percepts in ground.percepts for _, atom in percepts]
    with collection_paused():
        outputs = [*legal, int(ground.terminal_atom), *goal, *ground.next_atom.tolist(), *seen]
        literal_of, gates = _resolved(ground, outputs)

    goals = (Goal(r, int(goal), literal_of[x]) for r, own in enumerate(ground.goals) for goal, x in own)
    circuit = Circuit(
        terms=CircuitTerms(
            tuple(ground.roles),
            tuple(ground.fluents),
            tuple(map(tuple, ground.moves)),
            tuple(term for percepts in ground.percepts for term, _ in percepts),
        ),
        initial=tuple(map(bool, ground.initial)),
        gates=gates,
        legal=tuple(literal_of[atom] for atom in legal),
        terminal=literal_of[ground.terminal_atom],
        goals=tuple(sorted(goals)),
        next=tuple(literal_of[atom] for atom in ground.next_atom.tolist()),
        percepts=tuple(
            Percept(r, literal_of[atom]) for r, own in enumerate(ground.percepts) for _, atom in own
        ),
    )
    return without_dead_gates(circuit)


def _resolved(ground: GroundProgram, roots: list[int]) -> tuple[list[int], Gates]:
    """The literal of every atom (of `roots`, at least) and the gates behind the literals."""
    rules = _Rules(ground)
    if ground.rule_count >= COMPILED_RULES and (found := _resolved_by_kernel(ground, rules, roots)):
        return found
    builder = GateBuilder(_gate0(ground))
    resolver = _Resolver(ground, rules, builder)
    for root in roots:
        resolver.resolve(root)
    return resolver.literal_of, tuple(builder.gates)


def prepare_kernels(ground: GroundProgram) -> None:
    """Compile or load the kernels that `build` needs for `ground`."""
    if ground.rule_count >= COMPILED_RULES:
        _resolved_by_kernel(ground, _Rules(ground), [])


def _resolved_by_kernel(
    ground: GroundProgram, rules: _Rules, roots: list[int]
) -> tuple[list[int], PackedGates] | None:
    """`_Resolver` in compiled code, 100 times faster; None for recursive rules or without a compiler."""
    from ggp.circuit.kernels import SortedRules, gates_of, make_gate_table, resolve_atoms
    from ggp.jit.compiling import IS_COMPILED, announced_compilation

    if not IS_COMPILED:
        return None
    atoms, rule_count, literals = ground.atom_count, ground.rule_count, len(ground.body)
    widest_body = int(np.diff(rules.first_body).max(initial=0))
    most_rules = int(np.diff(rules.first_rule).max(initial=0))
    table = make_gate_table(
        _gate0(ground), rule_count + atoms, literals + rule_count, max(widest_body, most_rules)
    )
    literal_of = np.array(_input_literals(ground), np.int32)
    sorted_rules = SortedRules(
        rules.first_rule,
        rules.first_body,
        rules.body,
        literal_of,
        np.zeros(atoms + 1, np.int32),
        np.zeros(atoms + 1, np.uint8),
        np.empty(literals + 1, np.int32),
        np.empty(most_rules + 1, np.int32),
    )
    with announced_compilation():
        is_recursive = resolve_atoms(sorted_rules, table, np.array(roots, np.int32))
    if is_recursive:
        return None
    gates = gates_of(table)
    _check_size(len(gates.input))
    return literal_of.tolist(), gates


def _gate0(ground: GroundProgram) -> int:
    return 1 + len(ground.fluents) + sum(map(len, ground.moves))


def _check_size(inputs: int) -> None:
    if inputs > GATE_INPUT_LIMIT:
        raise CircuitError(f"the circuit exceeds {GATE_INPUT_LIMIT} gate inputs")


def _input_literals(ground: GroundProgram) -> list[int]:
    """Literals of the constants and of the fluent and move atoms. UNRESOLVED for other atoms."""
    literal_of = [UNRESOLVED] * (ground.atom_count + 1)
    literal_of[:2] = FALSE_LITERAL, TRUE_LITERAL
    for node, atom in enumerate(np.concatenate([ground.fluent_atom, *ground.move_atom]).tolist(), start=1):
        if atom > 1:
            literal_of[atom] = 2 * node
    return literal_of


class _Rules:
    """Ground rules sorted by head. Lists are made for one atom at a time, since there may be millions."""

    def __init__(self, ground: GroundProgram) -> None:
        order = np.argsort(ground.rule_head, kind="stable")
        starts = ground.first_body[:-1].astype(np.int64)[order]
        lengths = np.diff(ground.first_body).astype(np.int64)[order]
        self.first_body = slice_offsets(lengths)
        self.body = ground.body[slice_places(starts, lengths)]
        heads = ground.rule_head[order]
        self.first_rule = np.searchsorted(heads, np.arange(ground.atom_count + 2))

    @cached_property
    def places(self) -> list[int]:
        """`first_rule` as a list, whose single elements are faster to read."""
        found: list[int] = self.first_rule.tolist()
        return found

    def atoms(self, atom: int) -> list[int]:
        """The signed atoms of all rules for `atom`."""
        first, last = self.places[atom], self.places[atom + 1]
        found: list[int] = self.body[self.first_body[first] : self.first_body[last]].tolist()
        return found

    def bodies(self, atom: int) -> list[list[int]]:
        """The bodies of the rules for `atom`."""
        first, last = self.places[atom], self.places[atom + 1]
        atoms = self.atoms(atom)
        if last - first == 1:
            return [atoms]
        ends = (self.first_body[first : last + 1] - self.first_body[first]).tolist()
        return [atoms[start:end] for start, end in pairwise(ends)]


class _NegativeCycleError(Exception):
    """An atom depends on its own negation."""


def _output_name(ground: GroundProgram, atom: int) -> str:
    """The output that `atom` stands for: a keyword with its arguments."""
    names: dict[int, str] = {}
    for role, moves, atoms in zip(ground.roles, ground.moves, ground.legal_atom, strict=True):
        for move, legal in zip(moves, atoms.tolist(), strict=True):
            names.setdefault(legal, f"(legal {role} {move})")
    for fluent, following in zip(ground.fluents, ground.next_atom.tolist(), strict=True):
        names.setdefault(following, f"(next {fluent})")
    for role, goals, percepts in zip(ground.roles, ground.goals, ground.percepts, strict=True):
        for keyword, pairs in (("goal", goals), ("sees", percepts)):
            for term, output in pairs:
                names.setdefault(output, f"({keyword} {role} {term})")
    return names.get(atom, "terminal")


class _Resolver:
    """Turns atoms into literals, bodies first."""

    def __init__(self, ground: GroundProgram, rules: _Rules, builder: GateBuilder) -> None:
        self.ground = ground
        self.rules = rules
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
                    raise CircuitError(f"{name} depends on its own negation") from None
        _check_size(self.builder.input_count)
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
        """Resolve `root` depth first. False, with some atoms resolved, if a cycle is met."""
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
        """Split `body` into a literal over what is known and its atoms of the component."""
        if any(-x in inside for x in body):
            raise _NegativeCycleError
        literal_of = self.literal_of
        known = [literal_of[x] if x > 0 else literal_of[-x] ^ 1 for x in body if x not in inside]
        return self.builder.conj(known), frozenset(x for x in body if x in inside)
