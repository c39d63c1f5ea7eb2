"""Refactoring: cones of one gate are multiplied out and factored again.

Rules are written to be read, and grounding splits them to be fast; neither aims at few gates. So the gates
that only one root needs (its maximal fanout-free cone) are collapsed into an OR of ANDs and factored; the
result is kept if it is smaller. Compare "refactoring" in Mishchenko, Chatterjee and Brayton, DAG-aware AIG
rewriting, 2006.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from time import thread_time
from typing import NamedTuple, TypeAlias

from ggp.circuit.circuit import Circuit, GateBuilder, rebuilt
from ggp.circuit.simplify.factoring import factor_cubes
from ggp.circuit.simplify.rewriting import GATE_COST, cost, fanouts, literal_fanouts

CUBE_LIMIT = 1_500
"""ANDs into which one root may be multiplied out."""
CONE_LIMIT = 3_000
"""Gates that one cone may have."""

Cube: TypeAlias = frozenset[int]


class _Plan(NamedTuple):
    """A cone to be factored again.

    members   its gates, the root last
    negated   whether `cubes` are those of the root's negation
    """

    members: list[int]
    cubes: list[Cube]
    negated: bool


def refactor(circuit: Circuit, deadline: float) -> Circuit:
    """`circuit` with those cones factored again, planned before `deadline`, that get smaller."""
    plans = _plan(circuit, deadline)
    if not plans:
        return circuit
    trial = _Assembly(circuit, plans)
    worthwhile = {root: plan for root, plan in plans.items() if trial.gain(root) > 0}
    smaller = _Assembly(circuit, worthwhile).circuit if worthwhile else circuit
    return min(circuit, smaller, key=cost)


class _Assembly:
    """A circuit rebuilt with the planned cones factored.

    made   root -> the gates that its cone now reads and that were made for a cone
    """

    def __init__(self, circuit: Circuit, plans: dict[int, _Plan]) -> None:
        self.gates = circuit.gates
        self.plans = plans
        self.builder = builder = _RecordingBuilder(circuit.gate0)
        self.made: dict[int, set[int]] = {}
        self.made_for: Counter[int] = Counter()
        self.read_by = literal_fanouts(circuit)
        self.literal_of = literal_of = list(range(0, 2 * circuit.gate0, 2)) + [0] * len(circuit.gates)
        planned = {member for plan in plans.values() for member in plan.members}
        for gate, inputs in enumerate(circuit.gates):
            if gate in plans:
                literal_of[circuit.gate0 + gate] = self._factored(gate)
            elif gate not in planned:
                conjuncts = [literal_of[x >> 1] ^ (x & 1) for x in inputs]
                literal_of[circuit.gate0 + gate] = builder.conj(conjuncts)
        self.circuit = rebuilt(circuit, builder.gates, literal_of)

    def _factored(self, root: int) -> int:
        plan, builder, literal_of = self.plans[root], self.builder, self.literal_of
        readers: dict[int, int] = {}
        cubes = []
        for cube in plan.cubes:
            literals = [literal_of[x >> 1] ^ (x & 1) for x in cube]
            readers.update(zip(literals, (self.read_by[x] for x in cube), strict=True))
            cubes.append(literals)
        builder.record = self.made[root] = set()
        literal = builder.disj(factor_cubes(cubes, builder, readers)) ^ plan.negated
        builder.record = None
        self.made_for.update(self.made[root])
        return literal

    def gain(self, root: int) -> float:
        """What factoring the cone of `root` saves. The cost of gates shared by cones is divided."""
        before = sum(len(self.gates[gate]) + GATE_COST for gate in self.plans[root].members)
        gates, unplanned = self.builder.gates, self.builder.unplanned
        return before - sum(
            (len(gates[gate]) + GATE_COST) / self.made_for[gate]
            for gate in self.made[root]
            if gate not in unplanned
        )


class _RecordingBuilder(GateBuilder):
    """Records the gates that are requested while `record` is a set, and as `unplanned` all others."""

    def __init__(self, gate0: int) -> None:
        super().__init__(gate0)
        self.record: set[int] | None = None
        self.unplanned: set[int] = set()

    def conj(self, literals: Iterable[int]) -> int:
        literal = super().conj(literals)
        if literal >> 1 >= self.gate0:
            (self.unplanned if self.record is None else self.record).add((literal >> 1) - self.gate0)
        return literal


def _plan(circuit: Circuit, deadline: float) -> dict[int, _Plan]:
    """The cones to try, by root. From the outputs down, the largest that fit the limits."""
    gate0, gates = circuit.gate0, circuit.gates
    fanout = fanouts(circuit)
    plans: dict[int, _Plan] = {}
    taken: set[int] = set()
    for root in reversed(range(len(gates))):
        if root in taken or all(x >> 1 < gate0 for x in gates[root]):
            continue
        if thread_time() > deadline:
            break
        members = _cone(root, gates, gate0, fanout)
        if len(members) < 2 or len(members) > CONE_LIMIT:
            continue
        sums = multiply_out(members, gates, gate0)
        if sums is not None:
            plans[root] = _Plan(members, *sums)
            taken.update(members)
    return plans


def _cone(root: int, gates: Sequence[tuple[int, ...]], gate0: int, fanout: list[int]) -> list[int]:
    """The gates that only `root` needs, in topological order, `root` last. Leaves `fanout` as it was."""
    members = [root]
    read = []
    for gate in members:
        if len(members) > CONE_LIMIT:
            break
        for x in gates[gate]:
            node = x >> 1
            if node >= gate0:
                fanout[node] -= 1
                read.append(node)
                if not fanout[node]:
                    members.append(node - gate0)
    for node in read:
        fanout[node] += 1
    return sorted(members)


def multiply_out(
    members: Sequence[int], gates: Sequence[tuple[int, ...]], gate0: int
) -> tuple[list[Cube], bool] | None:
    """The last of `members`, or with True its negation, as an OR of ANDs over literals outside of the cone.

    None if both have more than CUBE_LIMIT.
    """
    count: dict[int, int] = {}
    for gate in members:
        product, total = 1, 0
        for x in gates[gate]:
            node = x >> 1
            product = min(product * count.get(2 * node + (x & 1), 1), CUBE_LIMIT + 1)
            total += count.get(2 * node + (x & 1 ^ 1), 1)
        count[2 * (gate0 + gate)] = product
        count[2 * (gate0 + gate) + 1] = min(total, CUBE_LIMIT + 1)
    root = 2 * (gate0 + members[-1])
    wanted = min(root, root + 1, key=count.__getitem__)
    if count[wanted] > CUBE_LIMIT:
        return None
    needed = {wanted}
    for gate in reversed(members):
        for literal in (2 * (gate0 + gate), 2 * (gate0 + gate) + 1):
            if literal in needed:
                needed.update(x ^ (literal & 1) for x in gates[gate])
    sums: dict[int, set[Cube]] = {}

    def sum_of(literal: int) -> set[Cube]:
        return sums.get(literal, {frozenset((literal,))})

    for gate in members:
        positive = 2 * (gate0 + gate)
        if positive in needed:
            sums[positive] = _product([sum_of(x) for x in gates[gate]])
        if positive + 1 in needed:
            sums[positive + 1] = set().union(*(sum_of(x ^ 1) for x in gates[gate]))
    return list(sums[wanted]), bool(wanted & 1)


def _product(factors: Sequence[set[Cube]]) -> set[Cube]:
    """The AND of ORs of ANDs, multiplied out; contradictions are dropped."""
    product: set[Cube] = {frozenset()}
    for factor in sorted(factors, key=len):
        product = {
            left | right
            for left in product
            for right in factor
            if not any(literal ^ 1 in left for literal in right)
        }
    return product
