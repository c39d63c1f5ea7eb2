"""Who depends on whom: predicates, their cycles and strata.

The graph has an edge from the head of a rule to every predicate of its body. A negative edge inside
a cycle would make "not" meaningless. Real sheets, however, contain cycles of predicates that are
none of ground atoms, such as `(<= (goal ?r 0) (not (goal ?r 100)))`, so cycles are judged
between rules: rule A depends on rule B only where a literal of A can unify with B's head.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from gdl.program import Literal, Predicate, Program, Rule, arguments_of, literals_in
from gdl.terms import Compound, Span, Symbol, Term, Variable

DISTINCT = Predicate("distinct", 2)
TRUE = Predicate("true", 1)
DOES = Predicate("does", 2)

Node = TypeVar("Node", bound=Hashable)


def strong_components(
    nodes: Iterable[Node], successors: Callable[[Node], Iterable[Node]]
) -> list[tuple[Node, ...]]:
    """Strongly connected components, successors first (Tarjan 1972, without recursion)."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    on_stack: set[Node] = set()
    stack: list[Node] = []
    found: list[tuple[Node, ...]] = []
    for start in nodes:
        if start in index:
            continue
        work = [(start, iter(successors(start)))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, pending = work[-1]
            for child in pending:
                if child not in index:
                    index[child] = low[child] = len(index)
                    stack.append(child)
                    on_stack.add(child)
                    work.append((child, iter(successors(child))))
                    break
                if child in on_stack:
                    low[node] = min(low[node], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = [stack.pop()]
                    while component[-1] != node:
                        component.append(stack.pop())
                    on_stack.difference_update(component)
                    found.append(tuple(reversed(component)))
    return found


def may_unify(left: Term, right: Term) -> bool:
    """Whether two terms could be equal under some values of their variables (each seen as a wildcard)."""
    if isinstance(left, Variable) or isinstance(right, Variable):
        return True
    if isinstance(left, Compound) and isinstance(right, Compound):
        return (
            left.name == right.name
            and len(left.arguments) == len(right.arguments)
            and all(map(may_unify, left.arguments, right.arguments))
        )
    return left == right


@dataclass(frozen=True, slots=True)
class NegativeCycle:
    """Rules that depend on each other through a negation.

    rules    the cycle, in order; each depends on the next and the last on the first
    literal  the negated literal, in the first rule's body
    """

    rules: tuple[Rule, ...]
    literal: Literal
    span: Span | None


class Dependencies:
    """The predicate graph of a program (normalized or not)."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._callees: dict[Predicate, dict[Predicate, None]] = {}
        for predicate, rules in program.by_predicate.items():
            callees = self._callees.setdefault(predicate, {})
            for rule in rules:
                for formula in rule.body:
                    for literal, _ in literals_in(formula):
                        if literal.predicate != DISTINCT:
                            callees[literal.predicate] = None
        for callees in list(self._callees.values()):
            for callee in callees:
                self._callees.setdefault(callee, {})

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        """Every predicate that occurs in a head or a body, except distinct/2."""
        return tuple(self._callees)

    def callees(self, predicate: Predicate) -> tuple[Predicate, ...]:
        """The predicates that rules for `predicate` refer to."""
        return tuple(self._callees.get(predicate, ()))

    @cached_property
    def components(self) -> tuple[tuple[Predicate, ...], ...]:
        """Sets of mutually recursive predicates; what a component depends on comes before it."""
        return tuple(strong_components(self._callees, self.callees))

    def is_recursive(self, component: Sequence[Predicate]) -> bool:
        """Whether the predicates of `component` depend on themselves."""
        return len(component) > 1 or component[0] in self._callees[component[0]]

    @cached_property
    def dynamic(self) -> frozenset[Predicate]:
        """Predicates whose extension depends on the state or the moves (`true` or `does`)."""
        return self._reaching({TRUE, DOES})

    @cached_property
    def move_dependent(self) -> frozenset[Predicate]:
        """Predicates whose extension depends on the moves (`does`)."""
        return self._reaching({DOES})

    def reachable(self, roots: Iterable[Predicate]) -> frozenset[Predicate]:
        """The predicates that `roots` depend on, themselves included."""
        found: set[Predicate] = set()
        stack = list(roots)
        while stack:
            predicate = stack.pop()
            if predicate not in found:
                found.add(predicate)
                stack.extend(self._callees.get(predicate, ()))
        return frozenset(found)

    @cached_property
    def strata(self) -> dict[Predicate, int]:
        """Stratum of each predicate: above what it negates, not below what it uses.

        Predicates in one cycle share a stratum; a negation inside the cycle does not raise it.
        """
        strata: dict[Predicate, int] = {}
        for component in self.components:
            level = 0
            for predicate in component:
                for callee in self._callees[predicate]:
                    if callee not in component:
                        level = max(level, strata[callee] + self._negates(predicate, callee))
            strata.update(dict.fromkeys(component, level))
        return strata

    def _negates(self, predicate: Predicate, callee: Predicate) -> bool:
        return any(
            literal.predicate == callee and not positive
            for rule in self.program.by_predicate.get(predicate, ())
            for formula in rule.body
            for literal, positive in literals_in(formula)
        )

    def _reaching(self, targets: set[Predicate]) -> frozenset[Predicate]:
        callers: dict[Predicate, list[Predicate]] = {}
        for caller, callees in self._callees.items():
            for callee in callees:
                callers.setdefault(callee, []).append(caller)
        found = set(targets)
        stack = list(targets)
        while stack:
            for caller in callers.get(stack.pop(), ()):
                if caller not in found:
                    found.add(caller)
                    stack.append(caller)
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class Layer:
    """Rules that may depend on each other; `is_recursive` says whether they do."""

    rules: tuple[Rule, ...]
    is_recursive: bool


def rule_layers(rules: Sequence[Rule]) -> list[Layer]:
    """Order the rules of one component so that each layer needs only itself and earlier ones.

    Raises UnstratifiedError where a rule depends on itself through a negation.
    """
    numbers: dict[Predicate, list[int]] = {}
    for number, rule in enumerate(rules):
        numbers.setdefault(rule.predicate, []).append(number)
    edges = [_rules_needed(rule, rules, numbers) for rule in rules]
    layers = []
    for members in strong_components(
        range(len(rules)), lambda number: [target for target, _ in edges[number]]
    ):
        inside = set(members)
        for number in members:
            for target, literal in edges[number]:
                if target in inside and not literal.is_positive:
                    cycle = _path(edges, inside, target, number)
                    ordered = (rules[number], *(rules[step] for step in cycle[:-1]))
                    raise UnstratifiedError(NegativeCycle(ordered, literal, literal.span))
        is_recursive = any(target in inside for number in members for target, _ in edges[number])
        layers.append(Layer(tuple(rules[number] for number in sorted(members)), is_recursive))
    return layers


class UnstratifiedError(ValueError):
    """A negative cycle between rules; `gdl.validation` reports it with its place."""

    def __init__(self, cycle: NegativeCycle) -> None:
        super().__init__("negation in a cycle")
        self.cycle = cycle


def negative_cycles(program: Program) -> list[NegativeCycle]:
    """One negative cycle for every component of rules that has one. `program` must be normalized."""
    dependencies = Dependencies(program)
    found = []
    for component in dependencies.components:
        if dependencies.is_recursive(component):
            rules = [rule for predicate in component for rule in program.by_predicate.get(predicate, ())]
            try:
                rule_layers(rules)
            except UnstratifiedError as error:
                found.append(error.cycle)
    return found


def _rules_needed(
    rule: Rule, rules: Sequence[Rule], numbers: Mapping[Predicate, Sequence[int]]
) -> list[tuple[int, Literal]]:
    """(rule number, literal) for every rule whose head a literal of `rule` can unify with."""
    return [
        (number, literal)
        for literal in rule.literals
        for number in numbers.get(literal.predicate, ())
        if _may_be_answered(literal.atom, rules[number].head)
    ]


def _may_be_answered(atom: Symbol | Compound, head: Symbol | Compound) -> bool:
    """Whether an atom could be an instance of the head of a rule for the same predicate."""
    return not arguments_of(atom) or may_unify(atom, head)


def _path(edges: list[list[tuple[int, Literal]]], inside: set[int], start: int, goal: int) -> list[int]:
    """A shortest path of rule numbers from `start` to `goal` within `inside`, both included."""
    previous = {start: start}
    frontier = [start]
    while goal not in previous:
        following = []
        for number in frontier:
            for target, _ in edges[number]:
                if target in inside and target not in previous:
                    previous[target] = number
                    following.append(target)
        frontier = following
    path = [goal]
    while path[-1] != start:
        path.append(previous[path[-1]])
    return path[::-1]
