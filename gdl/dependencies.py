"""Who depends on whom: predicates, their cycles and strata.

The graph has an edge from the head of a rule to every predicate of its body. A negative edge inside
a cycle would make "not" meaningless. Real sheets, however, contain cycles of predicates that are
none of ground atoms, such as `(<= (goal ?r 0) (not (goal ?r 100)))`, so cycles are judged
between rules: rule A depends on rule B only where a literal of A can unify with B's head.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from gdl.program import Literal, Predicate, Program, Rule, arguments_of, literals_in
from gdl.terms import Compound, Span, Symbol, Term, Variable

DISTINCT = Predicate("distinct", 2)
TRUE = Predicate("true", 1)
DOES = Predicate("does", 2)

MAX_COMPARISONS = 300_000
"""Literals and heads of a component that are compared before its rules are no longer told apart."""

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

    Raises UnstratifiedError where a rule depends on itself through a negation. Where telling the rules apart
    would take more than MAX_COMPARISONS, they are taken to depend on each other.
    """
    heads = _Heads(rules)
    edges = [heads.needed_by(rule) for rule in rules]
    edges += [[(number, None) for number in members] for members in heads.members]
    layers = []
    for component in strong_components(
        range(len(rules)), lambda node: list(dict.fromkeys(target for target, _ in edges[node]))
    ):
        inside = set(component)
        numbers = sorted(node for node in component if node < len(rules))
        for number in numbers:
            for target, literal in edges[number]:
                if target in inside and literal is not None and not literal.is_positive:
                    cycle = [node for node in _path(edges, inside, target, number) if node < len(rules)]
                    ordered = (rules[number], *(rules[step] for step in cycle[:-1]))
                    raise UnstratifiedError(NegativeCycle(ordered, literal, literal.span))
        if numbers:
            # a rule that needs itself shares its component with the node of its head
            layers.append(Layer(tuple(rules[number] for number in numbers), len(component) > 1))
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
            members = set(component)
            if not any(
                not used.is_positive and used.predicate in members for rule in rules for used in rule.literals
            ):
                continue
            try:
                rule_layers(rules)
            except UnstratifiedError as error:
                found.append(error.cycle)
    return found


class _Heads:
    """The heads of some rules, alike ones together, to find quickly those that answer a literal.

    A node of the graph between rules and heads is a rule's number, or the number of rules plus that of a
    head. Going by way of heads keeps the graph small where many rules conclude the same.

    members   of each head: the numbers of its rules
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.members: list[list[int]] = []
        self._rule_count = len(rules)
        self._patterns: list[Symbol | Compound] = []
        self._of_predicate: dict[Predicate, list[int]] = {}
        self._of_first: dict[tuple[Predicate, object], list[int]] = {}
        self._answers: dict[tuple[Predicate, str], list[int]] = {}
        self._any: dict[Predicate, int] = {}
        self._comparisons = 0
        known: dict[tuple[Predicate, str], int] = {}
        for number, rule in enumerate(rules):
            key = (rule.predicate, _masked(rule.head))
            head = known.get(key)
            if head is None:
                head = known[key] = len(self.members)
                self.members.append([])
                self._patterns.append(rule.head)
                self._of_predicate.setdefault(rule.predicate, []).append(head)
                self._of_first.setdefault((rule.predicate, _first_functor(rule.head)), []).append(head)
            self.members[head].append(number)

    def needed_by(self, rule: Rule) -> list[tuple[int, Literal | None]]:
        """(node, literal) for every head that a literal of `rule` could be an instance of."""
        found: list[tuple[int, Literal | None]] = []
        for literal in rule.literals:
            predicate = literal.predicate
            if predicate not in self._of_predicate:
                continue
            key = (predicate, _masked(literal.atom))
            if key not in self._answers:
                self._answers[key] = self._answering(literal.atom, predicate)
            found += [(self._rule_count + head, literal) for head in self._answers[key]]
            self._comparisons += len(self._answers[key])
        return found

    def _answering(self, atom: Symbol | Compound, predicate: Predicate) -> list[int]:
        functor = _first_functor(atom)
        candidates = self._of_predicate[predicate]
        if functor is not None:
            candidates = [
                *self._of_first.get((predicate, functor), ()),
                *self._of_first.get((predicate, None), ()),
            ]
        self._comparisons += len(candidates)
        if self._comparisons > MAX_COMPARISONS:
            return [self._any_head(predicate)]
        return [head for head in candidates if _may_be_answered(atom, self._patterns[head])]

    def _any_head(self, predicate: Predicate) -> int:
        """One head that stands for all of `predicate`."""
        if predicate not in self._any:
            self._any[predicate] = len(self.members)
            self.members.append(
                [number for head in self._of_predicate[predicate] for number in self.members[head]]
            )
        return self._any[predicate]


def _first_functor(atom: Symbol | Compound) -> object:
    """What the first argument begins with; None where that is a variable or there is none."""
    arguments = arguments_of(atom)
    if not arguments or isinstance(arguments[0], Variable):
        return None
    return arguments[0].name, len(arguments_of(arguments[0])), type(arguments[0])


def _masked(term: Term) -> str:
    """Equal for terms that differ in variables only; blanks do not occur in names."""
    if isinstance(term, Variable):
        return "( )"
    if isinstance(term, Compound) and term.arguments:
        return "(" + " ".join([term.name, *map(_masked, term.arguments)]) + ")"
    return str(term)


def _may_be_answered(atom: Symbol | Compound, head: Symbol | Compound) -> bool:
    """Whether an atom could be an instance of the head of a rule for the same predicate."""
    return not arguments_of(atom) or may_unify(atom, head)


def _path(
    edges: Sequence[Sequence[tuple[int, Literal | None]]], inside: set[int], start: int, goal: int
) -> list[int]:
    """A shortest path of nodes from `start` to `goal` within `inside`, both included."""
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
