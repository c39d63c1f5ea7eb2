"""Predicate dependency graph: SCCs, strata and negative cycles.

The graph has an edge from the head of a rule to every predicate of its body. A negative edge inside
a cycle would make "not" meaningless. Real sheets, however, contain cycles of predicates that are not
cycles of ground atoms, such as `(<= (goal ?r 0) (not (goal ?r 100)))`. Negative cycles are therefore
searched between rules: rule A depends on rule B only if a literal of A can unify with B's head.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from gdl.program import Literal, Predicate, Program, Rule, arguments_of, body_literals
from gdl.terms import Compound, Span, Symbol, Term, Variable

DISTINCT = Predicate("distinct", 2)
TRUE = Predicate("true", 1)
DOES = Predicate("does", 2)

MAX_COMPARISONS = 300_000
"""Maximum comparisons of literals with heads per component; beyond it, heads are no longer distinguished."""

Node = TypeVar("Node", bound=Hashable)

_FOUND = sys.maxsize
"""Index of a node whose component is complete: edges to it no longer lower anything."""


def strong_components(
    nodes: Iterable[Node], successors: Callable[[Node], Iterable[Node]]
) -> list[tuple[Node, ...]]:
    """Strongly connected components, successors first (Tarjan 1972, without recursion).

    >>> graph = {1: [2], 2: [3], 3: [2, 4], 4: []}
    >>> strong_components(graph, graph.__getitem__)
    [(4,), (2, 3), (1,)]
    """
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    found: list[tuple[Node, ...]] = []
    for start in nodes:
        unvisited = [] if start in index else [start]
        work: list[tuple[Node, Iterator[Node]]] = []
        while unvisited or work:
            if unvisited:
                node = unvisited.pop()
                index[node] = low[node] = len(index)
                stack.append(node)
                work.append((node, iter(successors(node))))
            node, pending = work[-1]
            for child in pending:
                if child not in index:
                    unvisited.append(child)
                    break
                if index[child] < low[node]:
                    low[node] = index[child]
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(_pop_component(stack, node, index))
    return found


def _pop_component(stack: list[Node], root: Node, index: dict[Node, int]) -> tuple[Node, ...]:
    component: list[Node] = []
    while not component or component[-1] != root:
        node = stack.pop()
        index[node] = _FOUND
        component.append(node)
    return tuple(reversed(component))


def reachable(roots: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """`roots` and all nodes to which they lead.

    >>> graph = {1: [2], 2: [1], 3: [2]}
    >>> reachable([1], graph.__getitem__)
    {1, 2}
    """
    found: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(successors(node))
    return found


def shortest_path(start: Node, goal: Node, successors: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """A shortest path, ends included; empty if there is none.

    >>> graph = {1: [2, 3], 2: [4], 3: [], 4: []}
    >>> shortest_path(1, 4, graph.__getitem__)
    [1, 2, 4]
    """
    previous = {start: start}
    queue = [start]
    for node in queue:
        if goal in previous:
            break
        for child in successors(node):
            if child not in previous:
                previous[child] = node
                queue.append(child)
    if goal not in previous:
        return []
    path = [goal]
    while path[-1] != start:
        path.append(previous[path[-1]])
    return path[::-1]


def may_unify(left: Term, right: Term) -> bool:
    """Whether two terms could be equal, taking variables as wildcards.

    Each occurrence of a variable is a wildcard of its own.

    >>> from gdl.syntax.parser import parse_term
    >>> may_unify(parse_term("(f ?x a)"), parse_term("(f b ?y)"))
    True
    >>> may_unify(parse_term("(f ?x a)"), parse_term("(f b c)"))
    False
    """
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

    rules    the cycle in order: each rule depends on the next, the last on the first
    literal  the negated literal in the body of the first rule
    """

    rules: tuple[Rule, ...]
    literal: Literal
    span: Span | None


class Dependencies:
    """The predicate dependency graph of a program (normalized or not).

    >>> from gdl.syntax.parser import parse
    >>> dependencies = Dependencies(parse("(<= a b) (<= b c) (<= c b) (<= d (not a))"))
    >>> [[str(predicate) for predicate in component] for component in dependencies.components]
    [['b/0', 'c/0'], ['a/0'], ['d/0']]
    >>> {str(predicate): level for predicate, level in dependencies.strata.items()}
    {'b/0': 0, 'c/0': 0, 'a/0': 0, 'd/0': 1}
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._callees: dict[Predicate, dict[Predicate, bool]] = {}  # → whether it is negated somewhere
        for rule in (rule for rules in program.by_predicate.values() for rule in rules):
            callees = self._callees.setdefault(rule.predicate, {})
            for literal, is_positive in body_literals(rule):
                if literal.predicate != DISTINCT:
                    callees[literal.predicate] = callees.get(literal.predicate, False) or not is_positive
        for callees in list(self._callees.values()):
            for callee in callees:
                self._callees.setdefault(callee, {})

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        """Every predicate that occurs in a head or a body, except distinct/2."""
        return tuple(self._callees)

    def callees(self, predicate: Predicate) -> tuple[Predicate, ...]:
        """The predicates to which rules for `predicate` refer."""
        return tuple(self._callees.get(predicate, ()))

    @cached_property
    def components(self) -> tuple[tuple[Predicate, ...], ...]:
        """Sets of mutually recursive predicates. Each component comes after those it depends on."""
        return tuple(strong_components(self._callees, self.callees))

    def is_recursive(self, component: Sequence[Predicate]) -> bool:
        """Whether the predicates of `component` depend on themselves."""
        return len(component) > 1 or component[0] in self._callees[component[0]]

    @cached_property
    def recursion_of(self) -> dict[Predicate, int]:
        """Number of the component of each recursive predicate."""
        numbered = enumerate(self.components)
        return {
            one: number for number, component in numbered if self.is_recursive(component) for one in component
        }

    @cached_property
    def dynamic(self) -> frozenset[Predicate]:
        """Predicates that depend on the state or the moves."""
        return self._reaching({TRUE, DOES})

    @cached_property
    def move_dependent(self) -> frozenset[Predicate]:
        """Predicates whose extension depends on the moves (`does`)."""
        return self._reaching({DOES})

    def reachable(self, roots: Iterable[Predicate]) -> frozenset[Predicate]:
        """The predicates on which `roots` depend, `roots` included."""
        return frozenset(reachable(roots, self.callees))

    @cached_property
    def strata(self) -> dict[Predicate, int]:
        """Stratum of each predicate.

        It is above the strata that the predicate negates and not below those it uses.

        Predicates in one cycle share a stratum; a negation inside the cycle does not raise it.
        """
        strata: dict[Predicate, int] = {}
        for component in self.components:
            level = 0
            for predicate in component:
                for callee, is_negated in self._callees[predicate].items():
                    if callee not in component:
                        level = max(level, strata[callee] + is_negated)
            strata.update(dict.fromkeys(component, level))
        return strata

    def _reaching(self, targets: set[Predicate]) -> frozenset[Predicate]:
        callers: dict[Predicate, list[Predicate]] = {}
        for caller, callees in self._callees.items():
            for callee in callees:
                callers.setdefault(callee, []).append(caller)
        return frozenset(reachable(targets, lambda predicate: callers.get(predicate, ())))


@dataclass(frozen=True, slots=True)
class Layer:
    """Rules evaluated together. `is_recursive` if they depend on each other or on themselves."""

    rules: tuple[Rule, ...]
    is_recursive: bool


def rule_layers(rules: Sequence[Rule]) -> list[Layer]:
    """Layers of rules that each need only themselves and earlier ones. The rules are those of one component.

    Raises UnstratifiedError if a rule depends on itself through a negation. If distinguishing the rules
    takes more than MAX_COMPARISONS, the rules of a predicate are assumed to depend on each other.
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
                    within = {node: [one for one, _ in edges[node] if one in inside] for node in component}
                    path = shortest_path(target, number, within.__getitem__)
                    ordered = (rules[number], *(rules[node] for node in path[:-1] if node < len(rules)))
                    raise UnstratifiedError(NegativeCycle(ordered, literal, literal.span))
        if numbers:
            # a rule that needs itself shares its component with the node of its head
            layers.append(Layer(tuple(rules[number] for number in numbers), len(component) > 1))
    return layers


class UnstratifiedError(ValueError):
    """A negative cycle between rules; `gdl.validation` reports it as GDL207."""

    def __init__(self, cycle: NegativeCycle) -> None:
        super().__init__("negation in a cycle")
        self.cycle = cycle


def negative_cycles(program: Program) -> list[NegativeCycle]:
    """One negative cycle per component of predicates that has any. `program` must be normalized."""
    dependencies = Dependencies(program)
    found = []
    for component in dependencies.components:
        rules = [rule for predicate in component for rule in program.by_predicate.get(predicate, ())]
        members, uses = set(component), (used for rule in rules for used in rule.literals)
        if any(not used.is_positive and used.predicate in members for used in uses):
            try:
                rule_layers(rules)
            except UnstratifiedError as error:
                found.append(error.cycle)
    return found


class _Heads:
    """Index of rule heads by predicate and first functor. Heads of the same pattern are merged.

    A node of the graph between rules and heads is the number of a rule, or the number of rules plus the
    number of a head. Routing edges through heads keeps the graph small if many rules conclude the same.

    members   the numbers of the rules of each head
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
            key = (rule.predicate, masked(rule.head))
            head = known.get(key)
            if head is None:
                head = known[key] = len(self.members)
                self.members.append([])
                self._patterns.append(rule.head)
                self._of_predicate.setdefault(rule.predicate, []).append(head)
                self._of_first.setdefault((rule.predicate, _first_functor(rule.head)), []).append(head)
            self.members[head].append(number)

    def needed_by(self, rule: Rule) -> list[tuple[int, Literal | None]]:
        """(node, literal) for every head that may answer a literal."""
        found: list[tuple[int, Literal | None]] = []
        for literal in rule.literals:
            predicate = literal.predicate
            if predicate not in self._of_predicate:
                continue
            key = (predicate, masked(literal.atom))
            if key not in self._answers:
                self._answers[key] = self._answering(literal.atom, predicate)
            found += [(self._rule_count + head, literal) for head in self._answers[key]]
            self._comparisons += len(self._answers[key])
        return found

    def _answering(self, atom: Symbol | Compound, predicate: Predicate) -> list[int]:
        functor = _first_functor(atom)
        candidates = self._of_predicate[predicate]
        if functor is not None:
            keys = (predicate, functor), (predicate, None)
            candidates = [head for key in keys for head in self._of_first.get(key, ())]
        self._comparisons += len(candidates)
        if self._comparisons > MAX_COMPARISONS:
            if predicate not in self._any:
                self._any[predicate] = len(self.members)
                heads = self._of_predicate[predicate]
                self.members.append([number for head in heads for number in self.members[head]])
            return [self._any[predicate]]
        return [
            head for head in candidates if not arguments_of(atom) or may_unify(atom, self._patterns[head])
        ]


def _first_functor(atom: Symbol | Compound) -> object:
    """The functor or constant of the first argument. Returns None if it is a variable or absent."""
    arguments = arguments_of(atom)
    if not arguments or isinstance(arguments[0], Variable):
        return None
    return arguments[0].name, len(arguments_of(arguments[0])), type(arguments[0])


def masked(term: Term) -> str:
    """A text equal for terms that differ only in their variables. Blanks do not occur in names."""
    if isinstance(term, Variable):
        return "( )"
    if isinstance(term, Compound) and term.arguments:
        return "(" + " ".join([term.name, *map(masked, term.arguments)]) + ")"
    return str(term)
