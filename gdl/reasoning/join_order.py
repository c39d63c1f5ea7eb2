"""Join order: in which order to solve the literals of a body.

Greedy: filters as soon as their variables are bound, else the literal with the fewest expected
solutions. Expected solutions come from `Statistics`: sizes of relations and distinct values per column,
exact for static relations, measured in the initial state for facts, estimated for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

from gdl.dependencies import DISTINCT, DOES, TRUE
from gdl.program import Literal, Predicate, Rule, arguments_of, predicate_of
from gdl.reasoning.values import Value
from gdl.terms import Compound, Symbol, Term, Variable, variables


class Relation(NamedTuple):
    """What a literal reads: a predicate, or for `true` with a compound the facts of one functor."""

    predicate: Predicate
    functor: str | None = None
    arity: int = 0


def relation_of(atom: Symbol | Compound) -> Relation:
    """The relation that `atom` reads."""
    predicate = predicate_of(atom)
    if predicate == TRUE:
        fact = arguments_of(atom)[0]
        if isinstance(fact, Compound):
            return Relation(TRUE, fact.name, len(fact.arguments))
    return Relation(predicate)


def columns_of(atom: Symbol | Compound) -> tuple[Term, ...]:
    """The columns of `atom` in its relation. For `(true (cell …))` these are the arguments of the fact."""
    if predicate_of(atom) == TRUE:
        fact = arguments_of(atom)[0]
        return fact.arguments if isinstance(fact, Compound) else (fact,)
    return arguments_of(atom)


def names_in(*terms: Term) -> frozenset[str]:
    """The names of all variables in `terms`."""
    return frozenset(variable.name for term in terms for variable in variables(term))


@dataclass(slots=True)
class Size:
    """Expected rows of a relation, and distinct values per column."""

    rows: float
    distinct: tuple[float, ...]


@dataclass(slots=True)
class Statistics:
    """Known sizes of relations. Unknown relations count as `default` rows."""

    sizes: dict[Relation, Size] = field(default_factory=dict)
    role_count: int = 2
    default: float = 4.0

    def measure(self, relation: Relation, rows: Iterable[Sequence[Value]], arity: int) -> None:
        """Record the exact size of a relation of `arity` columns."""
        listed = list(rows)
        distinct = tuple(float(max(1, len({row[i] for row in listed}))) for i in range(arity))
        self.sizes[relation] = Size(float(len(listed)), distinct)

    def fanout(self, atom: Symbol | Compound, bound: frozenset[str]) -> float:
        """Expected rows that match `atom` once `bound` variables have values."""
        if predicate_of(atom) == DOES:
            role, move = arguments_of(atom)
            rows = 1.0 if names_in(role) <= bound else float(self.role_count)
            return rows if isinstance(move, Variable) and move.name not in bound else rows * 0.4
        columns = columns_of(atom)
        size = self.sizes.get(relation_of(atom))
        if size is None:
            size = Size(self.default, (self.default,) * len(columns))
        rows = size.rows
        seen: set[str] = set()
        for column, distinct in zip(columns, size.distinct, strict=False):
            names = names_in(column)
            if names <= bound or (names <= seen and not isinstance(column, Compound)):
                rows /= distinct
            elif isinstance(column, Compound):
                rows /= distinct**0.5
            seen |= names
        return rows

    def distinct_values(self, atom: Symbol | Compound, name: str) -> float:
        """Expected number of distinct values that variable `name` takes in `atom`."""
        size = self.sizes.get(relation_of(atom))
        if size is None:
            return self.default
        for column, distinct in zip(columns_of(atom), size.distinct, strict=False):
            if name in names_in(column):
                return distinct
        return size.rows


@dataclass(frozen=True, slots=True)
class Step:
    """One literal at its position in the order, and how often that step is expected to be reached.

    bound    variables with a value before the step
    needed   variables that later steps or the head read
    """

    literal: Literal
    bound: frozenset[str]
    needed: frozenset[str]
    rows: float


@dataclass(frozen=True, slots=True)
class Plan:
    """An ordered body with its expected cost and number of solutions. The cost is in steps."""

    steps: tuple[Step, ...]
    cost: float
    rows: float


NEGATION_PASSES = 0.7
"""Assumed probability that a negative literal holds."""

DISTINCT_PASSES = 0.9
"""Assumed probability that two terms differ."""


def plan_body(
    literals: Sequence[Literal], bound: frozenset[str], head_names: frozenset[str], statistics: Statistics
) -> Plan:
    """The order of `literals` for solutions over `head_names`. The variables in `bound` have values.

    Raises ValueError if no positive literal binds a variable of a negative one or of `distinct`.
    """
    remaining = list(literals)
    ordered: list[tuple[Literal, frozenset[str], float]] = []
    rows, cost = 1.0, 1.0
    while remaining:
        fanout, position = _next_literal(remaining, bound, statistics)
        literal = remaining.pop(position)
        ordered.append((literal, bound, rows))
        rows *= fanout
        cost += max(rows, 0.01) + ordered[-1][2] * 0.5
        if literal.is_positive and literal.predicate != DISTINCT:
            bound |= names_in(literal.atom)
    needed = head_names
    steps: list[Step] = []
    for literal, before, reached in reversed(ordered):
        steps.append(Step(literal, before, needed, reached))
        needed |= names_in(literal.atom)
    return Plan(tuple(reversed(steps)), cost, rows)


def _next_literal(
    remaining: list[Literal], bound: frozenset[str], statistics: Statistics
) -> tuple[float, int]:
    candidates: list[tuple[float, float, int]] = []
    for position, literal in enumerate(remaining):
        is_bound = names_in(literal.atom) <= bound
        if literal.is_positive and literal.predicate != DISTINCT:
            fanout = statistics.fanout(literal.atom, bound)
            if is_bound:
                fanout = min(fanout, 1.0)
            candidates.append((fanout, fanout, position))
        elif is_bound:
            passes = (0.0, DISTINCT_PASSES) if literal.predicate == DISTINCT else (0.8, NEGATION_PASSES)
            candidates.append((*passes, position))
    if not candidates:
        unsafe = " ".join(str(literal.atom) for literal in remaining)
        raise ValueError(f"no positive literal binds the variables of {unsafe}")
    return min(candidates)[1:]


def estimate_rule(rule: Rule, statistics: Statistics) -> tuple[float, list[float]]:
    """Expected rows that `rule` derives, and distinct values per head argument."""
    arguments = arguments_of(rule.head)
    plan = plan_body(rule.literals, frozenset(), names_in(*arguments), statistics)
    distinct = []
    for argument in arguments:
        values = 1.0
        for name in names_in(argument):
            readers = [one.atom for one in rule.literals if one.is_positive and name in names_in(one.atom)]
            values *= min((statistics.distinct_values(atom, name) for atom in readers), default=1.0)
        distinct.append(max(1.0, min(values, max(plan.rows, 1.0))))
    return min(max(plan.rows, 0.05), prod(distinct)), distinct
