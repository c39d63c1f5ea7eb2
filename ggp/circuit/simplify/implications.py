"""Implications: inputs settled by the rest of an AND are dropped.

What is known inside an AND is what its inputs imply: an AND implies its inputs, a fact refutes those that
exclude it, a move refutes the role's other moves and implies its own legality (gates that read moves are
settled only for legal ones). An input that is known is dropped, one that is refuted makes the AND false, and
gates that only this AND reads are simplified by what is known around them.
"""

from __future__ import annotations

from collections.abc import Iterable
from time import thread_time

from ggp.circuit.circuit import FALSE_LITERAL, Circuit, GateBuilder, rebuilt
from ggp.circuit.simplify.rewriting import shared_gates

DEPTH_LIMIT = 40
"""Levels of nested gates that are simplified by what is known around them."""
MOVE_LIMIT = 5_000
"""Largest number of moves for which illegal moves are derived."""
CLOSURE_LIMIT = 400
"""Implied literals kept per literal; further ones are ignored."""


def drop_implied(circuit: Circuit, deadline: float) -> Circuit:
    """`circuit` without inputs that other inputs imply. Gates met after `deadline` stay as they are."""
    return _Simplifier(circuit, deadline).run()


class Implications:
    """What literals of a circuit imply in reachable states, under legal moves.

    groups_of   fluent or move node -> the groups it belongs to, of which at most one is true. Negative
                numbers are roles (~role), others index `circuit.exclusive`
    role_moves  per role, the bit set of its moves; bit m is move m of the circuit
    used        the groups from which anything was concluded
    """

    def __init__(self, circuit: Circuit) -> None:
        self.gate0 = circuit.gate0
        self.gates = circuit.gates
        self.move0 = circuit.move0
        self.legal = circuit.legal
        self.exclusive = circuit.exclusive
        self.groups_of: dict[int, list[int]] = {}
        self.role_moves: list[int] = []
        node = circuit.move0
        for role, moves in enumerate(circuit.terms.moves):
            self.role_moves.append(((1 << len(moves)) - 1) << (node - circuit.move0))
            for _ in moves:
                self.groups_of[node] = [~role]
                node += 1
        for group, members in enumerate(circuit.exclusive):
            for fluent in members:
                self.groups_of.setdefault(1 + fluent, []).append(group)
        self.used: set[int] = set()
        self._closure: dict[int, frozenset[int]] = {}
        self._refuted: dict[int, tuple[int, frozenset[int]]] = {}
        self._moves_needing = self._needs() if len(circuit.legal) <= MOVE_LIMIT else {}

    def _needs(self) -> dict[int, int]:
        """Literal -> the moves that are legal only if it holds."""
        needs: dict[int, int] = {}
        for move, literal in enumerate(self.legal):
            for x in self.closure(literal):
                needs[x] = needs.get(x, 0) | 1 << move
        return needs

    def closure(self, literal: int) -> frozenset[int]:
        """All literals that `literal` implies, itself included; refuted group members are left out."""
        if (found := self._closure.get(literal)) is not None:
            return found
        implied: dict[int, None] = {literal: None}
        stack = [literal]
        while stack and len(implied) < CLOSURE_LIMIT:
            x = stack.pop()
            for y in self._directly_implied(x):
                if y not in implied:
                    known = self._closure.get(y)
                    if known is not None:
                        implied.update(dict.fromkeys(known))
                    else:
                        implied[y] = None
                        stack.append(y)
        found = self._closure[literal] = frozenset(implied)
        return found

    def _directly_implied(self, literal: int) -> tuple[int, ...]:
        node = literal >> 1
        if literal & 1 or node < self.move0:
            return ()
        if node < self.gate0:
            return (self.legal[node - self.move0],)
        return self.gates[node - self.gate0]

    def refuted_moves(self, literal: int) -> int:
        """The moves that cannot be made while `literal` holds."""
        if literal not in self._refuted:
            self._refuted[literal] = self._find_refuted_moves(literal)
        moves, groups = self._refuted[literal]
        self.used |= groups
        return moves

    def _find_refuted_moves(self, literal: int) -> tuple[int, frozenset[int]]:
        needs, node = self._moves_needing, literal >> 1
        moves = needs.get(literal ^ 1, 0)
        if self.move0 <= node < self.gate0 and not literal & 1:
            moves |= self.role_moves[~self.groups_of[node][0]] & ~(1 << (node - self.move0))
        groups = set()
        if not literal & 1 and node < self.move0:
            for group in self.groups_of.get(node, ()):
                for fluent in self.exclusive[group]:
                    illegal = needs.get(2 * (1 + fluent), 0)
                    if illegal and 1 + fluent != node:
                        moves |= illegal
                        groups.add(group)
        return moves, frozenset(groups)


class Context:
    """Literals that are known to hold, closed under implication.

    holder    group -> its member that holds
    refuted   bit set of the moves that cannot be made; moves only known not to be made are not in it
    """

    __slots__ = ("consistent", "holder", "implications", "known", "refuted")

    def __init__(self, implications: Implications, outer: Context | None = None) -> None:
        self.implications = implications
        self.known: set[int] = set(outer.known) if outer else {0}
        self.holder: dict[int, int] = dict(outer.holder) if outer else {}
        self.refuted: int = outer.refuted if outer else 0
        self.consistent: bool = outer.consistent if outer else True

    def add(self, literals: Iterable[int]) -> None:
        """Learn a closed set of literals."""
        implications, holder, known = self.implications, self.holder, self.known
        for x in literals:
            if x in known:
                continue
            if self.settles(x ^ 1):
                self.consistent = False
            known.add(x)
            if not x & 1:
                for group in implications.groups_of.get(x >> 1, ()):
                    holder[group] = x >> 1
            self.refuted |= implications.refuted_moves(x)

    def add_last_moves(self) -> bool:
        """Learn the move of each role that has only one left; returns whether there was any.

        What follows from such a move does not justify dropping a literal: the move may follow from that
        literal.
        """
        implications = self.implications
        denied = self.refuted
        for x in self.known:
            if x & 1 and implications.move0 <= x >> 1 < implications.gate0:
                denied |= 1 << ((x >> 1) - implications.move0)
        learned = False
        for role, moves in enumerate(implications.role_moves):
            left = moves & ~denied
            if not left:
                self.consistent = False
            elif not left & (left - 1) and ~role not in self.holder:
                self.add(implications.closure(2 * (implications.move0 + left.bit_length() - 1)))
                learned = True
        return learned

    def settles(self, literal: int) -> bool:
        """Whether `literal` is known to hold."""
        return literal in self.known or bool(literal & 1 and self.excludes(literal >> 1))

    def excludes(self, node: int) -> bool:
        """Whether another fact of a fact's group is known to hold, or a move to be illegal."""
        implications = self.implications
        if node >= implications.move0:
            return node < implications.gate0 and bool(self.refuted >> (node - implications.move0) & 1)
        holder = self.holder
        for group in implications.groups_of.get(node, ()):
            if holder.get(group, node) != node:
                implications.used.add(group)
                return True
        return False

    def value(self, literal: int, depth: int) -> bool | None:
        """The value of `literal`, looking `depth` gates deep. None if it is not known."""
        if self.settles(literal):
            return True
        if self.settles(literal ^ 1):
            return False
        gate = (literal >> 1) - self.implications.gate0
        if gate < 0 or not depth:
            return None
        every = True
        for x in self.implications.gates[gate]:
            known = self.value(x, depth - 1)
            if known is False:
                return bool(literal & 1)
            every = every and known is True
        return not literal & 1 if every else None

    def refutes(self, literals: Iterable[int]) -> bool:
        """Whether one of `literals` is known not to hold."""
        return any(self.settles(x ^ 1) for x in literals)


class _Simplifier:
    """Rebuilds a circuit from the inputs up, single-reader gates together with their reader."""

    def __init__(self, circuit: Circuit, deadline: float) -> None:
        self.circuit = circuit
        self.deadline = deadline
        self.gate0, self.gates = circuit.gate0, circuit.gates
        self.implications = Implications(circuit)
        self.builder = GateBuilder(circuit.gate0)
        self.literal_of = list(range(0, 2 * circuit.gate0, 2)) + [0] * len(circuit.gates)
        self.is_root = self._find_roots()

    def _find_roots(self) -> list[bool]:
        """Gates rebuilt on their own: several gates read them, or they lie too deep in their reader."""
        is_root = shared_gates(self.circuit)
        depth = [0] * len(self.gates)
        for gate in reversed(range(len(self.gates))):
            if depth[gate] > DEPTH_LIMIT:
                is_root[gate] = True
            level = 1 if is_root[gate] else depth[gate] + 1
            for x in self.gates[gate]:
                if x >> 1 >= self.gate0:
                    depth[(x >> 1) - self.gate0] = level
        return is_root

    def run(self) -> Circuit:
        empty = Context(self.implications)
        for gate, inputs in enumerate(self.gates):
            if self.is_root[gate]:
                self.literal_of[self.gate0 + gate] = self._conj(inputs, empty)
        return rebuilt(self.circuit, self.builder.gates, self.literal_of)

    def _conj(self, inputs: tuple[int, ...], outer: Context) -> int:
        """The AND of `inputs` in the new circuit, valid wherever `outer` holds."""
        literals, cubes = self._read(inputs)
        if thread_time() > self.deadline:
            conjuncts = [self._literal(x) for x in literals]
            conjuncts += [self._conj(self._inputs(x), outer) ^ 1 for x in cubes]
            return self.builder.conj(conjuncts)
        closure = self.implications.closure
        context = Context(self.implications, outer)
        implied: set[int] = set()
        for x in literals:
            closed = closure(x)
            if len(closed) > 1:
                implied |= closed - {x}
            context.add(closed)
        if not context.consistent:
            return FALSE_LITERAL
        conjuncts = []
        for x in literals:
            if x in implied or outer.settles(x) or (x & 1 and context.excludes(x >> 1)):
                continue
            if x & 1 and x >> 1 >= self.gate0:
                cube = self._shared_cube(x, context)
                if cube is not None:
                    conjuncts.append(cube ^ 1)
            else:
                conjuncts.append(self._literal(x))
        for x in cubes:
            if not context.refutes(closure(x ^ 1)):
                conjuncts.append(self._conj(self._inputs(x), context) ^ 1)
        return self.builder.conj(conjuncts)

    def _shared_cube(self, literal: int, context: Context) -> int | None:
        """What is left of a negated gate that others read, too. None if the gate is known to be false."""
        gate_literal = literal ^ 1
        closed = self.implications.closure(gate_literal)
        if context.refutes(x for x in closed if x != gate_literal):
            return None
        left = [x for x in self._inputs(literal) if not context.settles(x)]
        if not left:
            return 0
        if len(left) == 1 and self._stands_alone(left[0]):
            return self._literal(left[0])
        return self._literal(gate_literal)

    def _read(self, inputs: tuple[int, ...]) -> tuple[list[int], list[int]]:
        """The inputs of an AND, single-reader ANDs opened: literals, and negated single-reader gates."""
        literals: list[int] = []
        cubes: list[int] = []
        stack = list(inputs)
        while stack:
            x = stack.pop()
            if self._stands_alone(x):
                literals.append(x)
            elif x & 1:
                cubes.append(x)
            else:
                stack.extend(self._inputs(x))
        return literals, cubes

    def _stands_alone(self, literal: int) -> bool:
        node = literal >> 1
        return node < self.gate0 or self.is_root[node - self.gate0]

    def _inputs(self, literal: int) -> tuple[int, ...]:
        return self.gates[(literal >> 1) - self.gate0]

    def _literal(self, literal: int) -> int:
        return self.literal_of[literal >> 1] ^ (literal & 1)
