"""Least fixpoints as gates, for atoms that depend on each other positively.

The atoms of a strong component are unknowns of a system of monotone Boolean equations `x = OR of (outside AND
unknowns)`. Unknowns are eliminated one after another: a body of x that contains x itself cannot be x's only
support and is dropped (over the two truth values the least solution of x = f(x) is f(false), Bekić's
principle); then x is replaced by its definition everywhere else. Choosing the unknown that is cheapest to
replace keeps the circuit small, as minimum-degree ordering does for sparse linear equations: reachability on
a board of n cells takes about n^1.5 gates. If bodies contain several unknowns, replacing can explode; then
the equations are unrolled instead, once per unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ggp.circuit.circuit import FALSE_LITERAL, GateBuilder

Inside: TypeAlias = frozenset[int]
Body: TypeAlias = tuple[int, Inside]
"""A literal of the circuit and the unknowns that must hold with it."""


def least_fixpoint(bodies: Mapping[int, Sequence[Body]], gates: GateBuilder) -> dict[int, int]:
    """Solve `unknown = OR of its bodies`: the literal of every unknown.

    Every unknown inside a body must be a key of `bodies`.
    """
    size = sum(1 + len(inside) for alternatives in bodies.values() for _, inside in alternatives)
    solution = _eliminate(bodies, gates, budget=max(1_000, size * len(bodies)))
    return solution if solution is not None else _unroll(bodies, gates)


def _eliminate(
    bodies: Mapping[int, Sequence[Body]], gates: GateBuilder, budget: int
) -> dict[int, int] | None:
    """Solve by elimination; None if that forms more than `budget` products."""
    system = _System(bodies, gates)
    eliminated: list[tuple[int, list[Body]]] = []
    while system.definition:
        unknown = min(system.definition, key=system.cost)
        budget -= system.cost(unknown)[0]
        if budget < 0:
            return None
        eliminated.append((unknown, system.eliminate(unknown, gates)))
    value: dict[int, int] = {}
    for unknown, definition in reversed(eliminated):
        value[unknown] = gates.conj([system.guard[unknown], _value_of(definition, value, gates)])
    return value


class _System:
    """Equations `unknown = guard AND definition` during elimination.

    A guard is what all bodies of an unknown have in common, such as the piece on its cell. Kept out of the
    definitions, it lets "a chain leads from a to b" and "from b to a" be one gate.

    guard        unknown -> a literal
    definition   unknown -> the unknowns of a body -> the literals that stand with them
    users        unknown -> the unknowns whose definitions contain it
    """

    def __init__(self, bodies: Mapping[int, Sequence[Body]], gates: GateBuilder) -> None:
        self.guard: dict[int, int] = {}
        self.definition: dict[int, dict[Inside, list[int]]] = {unknown: {} for unknown in bodies}
        self.users: dict[int, set[int]] = {unknown: set() for unknown in bodies}
        for unknown, alternatives in bodies.items():
            outsides = [_conjuncts(outside, gates) for outside, _ in alternatives]
            common = set(outsides[0]).intersection(*outsides[1:]) if outsides else set()
            self.guard[unknown] = gates.conj(common)
            for outside, (_, inside) in zip(outsides, alternatives, strict=True):
                self.add(unknown, inside, gates.conj([x for x in outside if x not in common]))

    def add(self, unknown: int, inside: Inside, outside: int) -> None:
        if unknown in inside or outside == FALSE_LITERAL:
            return
        self.definition[unknown].setdefault(inside, []).append(outside)
        for other in inside:
            self.users[other].add(unknown)

    def cost(self, unknown: int) -> tuple[int, int]:
        """Products that eliminating `unknown` forms, and the unknown itself to break ties."""
        return (1 + len(self.definition[unknown])) * len(self.users[unknown]), unknown

    def eliminate(self, unknown: int, gates: GateBuilder) -> list[Body]:
        """Replace `unknown` by its definition everywhere; returns that definition."""
        own = self.definition.pop(unknown).items()
        definition = [(x, inside) for inside, outside in own if (x := gates.disj(outside)) != FALSE_LITERAL]
        for user in self.users.pop(unknown):
            equations = self.definition.get(user)
            if equations is None:
                continue
            for inside in [inside for inside in equations if unknown in inside]:
                factor = gates.disj(equations.pop(inside))
                rest = inside - {unknown}
                for outside, others in definition:
                    self.add(user, rest | others, gates.conj([factor, self.guard[unknown], outside]))
        return definition


def _conjuncts(literal: int, gates: GateBuilder) -> tuple[int, ...]:
    """The inputs of an AND; of anything else the literal itself."""
    return (None if literal & 1 else gates.inputs(literal)) or (literal,)


def _unroll(bodies: Mapping[int, Sequence[Body]], gates: GateBuilder) -> dict[int, int]:
    """Solve by applying the equations to false, at most once per unknown."""
    value = dict.fromkeys(bodies, FALSE_LITERAL)
    for _ in range(len(bodies)):
        following = {unknown: _value_of(each, value, gates) for unknown, each in bodies.items()}
        if following == value:
            break
        value = following
    return value


def _value_of(definition: Sequence[Body], value: Mapping[int, int], gates: GateBuilder) -> int:
    return gates.disj(
        [gates.conj([outside, *(value[other] for other in inside)]) for outside, inside in definition]
    )
