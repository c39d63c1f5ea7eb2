"""Checks of recursion: terms that grow within or between states.

The language keeps matches finite by a restriction on recursion (Love et al. 2008): in a rule whose head and
literal q are in one cycle, every argument of q is ground, or an argument of the head, or an argument of a
positive literal outside the cycle. Rules that keep this derive finitely many terms, whatever functions they
wrap. If a rule breaks it without wrapping a function around anything, the relation is still finite and the
violation is only formal.

Growth is traced along *slots*: an argument of a relation, or of the fact or move inside `true` and `does`. A
variable that leads from slot s to slot t, d functions deeper than before, is an edge of weight d; a cycle of
positive weight builds ever larger terms, unless the variable also occurs in a slot outside the cycle. Slots
know nothing of the other arguments, so within a state a cycle counts only if a rule on it breaks the
restriction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeAlias

from gdl.dependencies import DOES, TRUE, strong_components
from gdl.errors import Related
from gdl.program import Literal, Predicate, Program, Rule, arguments_of
from gdl.terms import Compound, Symbol, Term, Variable, is_ground
from gdl.validation.codes import Findings, error, warning
from gdl.validation.inference import FED_BY
from gdl.validation.sheet import Sheet

Slot: TypeAlias = tuple[object, ...]
"""(predicate, argument), or (predicate, argument, function, its argument) inside `true` and `does`."""

MAX_EDGES = 50_000
"""Number of edges from which on growth is not checked; real sheets have a few hundred."""

MAX_ROUNDS = 20
"""Maximum rounds of edge removal; each removes at least one edge, and real sheets need two."""


class Edge(NamedTuple):
    """A variable passed from a body's slot to a head's slot.

    weight    how many functions deeper the variable is in the target than in the source
    sources   all slots in which positive literals of the body contain the variable
    """

    source: Slot
    target: Slot
    weight: int
    sources: frozenset[Slot]
    rule: Rule
    variable: Variable


def recursion(sheet: Sheet) -> Findings:
    """GDL208: terms grow. GDL216: the restriction is broken only formally."""
    growing = {id(edge.rule): edge for edge in _growing_edges(sheet, is_over_time=False)}
    for rule, literal, argument in _unrestricted(sheet):
        edge = growing.get(id(rule))
        if edge is None:
            message = (
                f"argument {argument} of the recursive '{literal.atom.name}' is unrestricted: it must be"
                " ground, an argument of the head, or occur in a positive literal outside the recursion"
            )
            note = Related("the head", rule.head.span)
            yield error("GDL216", message, argument.span or literal.span or rule.span, note)
    for edge in growing.values():
        message = (
            f"recursion builds ever larger terms around {edge.variable}:"
            f" restrict {edge.variable} by a positive literal outside the recursion"
        )
        yield error("GDL208", message, edge.variable.span or edge.rule.span)


def growing_states(sheet: Sheet) -> Findings:
    """GDL318: facts or moves that grow from state to state."""
    within = {id(edge.rule) for edge in _growing_edges(sheet, is_over_time=False)}
    for edge in _growing_edges(sheet, is_over_time=True):
        if id(edge.rule) not in within:
            message = (
                f"terms may grow around {edge.variable} from state to state without limit:"
                f" restrict {edge.variable} by a literal that has finitely many values for it"
            )
            yield warning("GDL318", message, edge.variable.span or edge.rule.span)


def growing_rule(program: Program) -> Rule | None:
    """A rule that may grow terms or facts forever, or None. A game with such a rule cannot be grounded.

    >>> from gdl.syntax.parser import parse
    >>> str(growing_rule(parse("(init (n 0)) (<= (next (n (s ?x))) (true (n ?x)))")).head)
    '(next (n (s ?x)))'
    """
    sheet = Sheet(program)
    growing = (edge for over_time in (False, True) for edge in _growing_edges(sheet, is_over_time=over_time))
    return next((edge.rule for edge in growing), None)


def _unrestricted(sheet: Sheet) -> Iterator[tuple[Rule, Literal, Term]]:
    """(rule, recursive literal, argument) for each violation of the restriction on recursion."""
    component_of = sheet.dependencies.recursion_of
    for rule in sheet.plain.rules:
        home = component_of.get(rule.predicate)
        if home is None:
            continue
        inside = [one for one in rule.literals if one.is_positive and component_of.get(one.predicate) == home]
        if not inside:
            continue
        allowed: set[Term] = set(arguments_of(rule.head))
        for literal in rule.literals:
            is_outside = component_of.get(literal.predicate) != home and literal.atom.name != "distinct"
            if literal.is_positive and is_outside:
                allowed.update(_parts(literal.atom))
        for literal in inside:
            for argument in arguments_of(literal.atom):
                if not is_ground(argument) and not _is_restricted(argument, allowed):
                    yield rule, literal, argument


def _is_restricted(argument: Term, allowed: set[Term]) -> bool:
    """Whether `argument` is allowed or consists of allowed parts only."""
    if argument in allowed or isinstance(argument, Symbol):
        return True
    return isinstance(argument, Compound) and all(
        _is_restricted(part, allowed) for part in argument.arguments
    )


def _parts(atom: Term) -> Iterator[Term]:
    for argument in arguments_of(atom):
        yield argument
        yield from _parts(argument)


def _growing_edges(sheet: Sheet, *, is_over_time: bool) -> list[Edge]:
    """The heaviest edge of each component that adds functions."""
    if sheet.is_intricate:
        return []
    all_edges = (edge for rule in sheet.plain.rules for edge in _edges(rule, is_over_time=is_over_time))
    edges = list(islice(all_edges, MAX_EDGES))
    if len(edges) == MAX_EDGES or not any(edge.weight > 0 for edge in edges):
        return []
    broken = {id(rule) for rule, _, _ in _unrestricted(sheet)}
    return [
        max(members, key=lambda edge: edge.weight)
        for members in _unguarded_components(edges)
        if _has_growing_cycle(members)
        # the restriction on recursion says nothing of terms that go through facts or moves
        and any(
            id(edge.rule) in broken or {edge.source[0], edge.target[0]} & {TRUE, DOES} for edge in members
        )
    ]


def _edges(rule: Rule, *, is_over_time: bool) -> Iterator[Edge]:
    sources: dict[str, dict[Slot, int]] = {}
    for literal in rule.literals:
        if literal.is_positive and literal.atom.name != "distinct":
            for variable, slot, depth in _slots(literal.atom, literal.predicate):
                slots = sources.setdefault(variable.name, {})
                slots[slot] = min(depth, slots.get(slot, depth))
    predicate = FED_BY.get(rule.predicate, rule.predicate) if is_over_time else rule.predicate
    for variable, target, depth in _slots(rule.head, predicate):
        places = sources.get(variable.name, {})
        for source, before in places.items():
            yield Edge(source, target, depth - before, frozenset(places), rule, variable)


def _slots(atom: Symbol | Compound, predicate: Predicate) -> Iterator[tuple[Variable, Slot, int]]:
    """(variable, slot, number of functions around it inside the slot)."""
    is_wrapper = predicate.name in ("true", "does", "init", "next", "legal")
    for index, argument in enumerate(arguments_of(atom)):
        parts: list[tuple[Term, Slot]] = [(argument, (predicate, index))]
        if is_wrapper and index == predicate.arity - 1 and isinstance(argument, Compound):
            functor = (argument.name, len(argument.arguments))
            slots = ((predicate, index, functor, place) for place in range(functor[1]))
            parts = list(zip(argument.arguments, slots, strict=True))
        for part, slot in parts:
            for variable, depth in _depths(part):
                yield variable, slot, depth


def _depths(term: Term) -> Iterator[tuple[Variable, int]]:
    stack = [(term, 0)]
    while stack:
        current, depth = stack.pop()
        if isinstance(current, Variable):
            yield current, depth
        elif isinstance(current, Compound):
            stack += [(argument, depth + 1) for argument in current.arguments]


def _unguarded_components(edges: Sequence[Edge]) -> list[list[Edge]]:
    """The edges inside each component of slots. Except those whose variable also comes from outside."""
    kept = list(edges)
    for _ in range(MAX_ROUNDS):
        successors: dict[Slot, list[Slot]] = {}
        for edge in kept:
            successors.setdefault(edge.source, []).append(edge.target)
            successors.setdefault(edge.target, [])
        home: dict[Slot, int] = {}
        for number, component in enumerate(strong_components(successors, successors.__getitem__)):
            home.update(dict.fromkeys(component, number))
        inside = [
            edge
            for edge in kept
            if home[edge.source] == home[edge.target]
            and all(home.get(slot) == home[edge.target] for slot in edge.sources)
        ]
        if len(inside) == len(kept):
            break
        kept = inside
    else:
        return []
    groups: dict[int, list[Edge]] = {}
    for edge in kept:
        groups.setdefault(home[edge.source], []).append(edge)
    return list(groups.values())


def _has_growing_cycle(edges: Sequence[Edge]) -> bool:
    """Whether a cycle of positive weight exists. Bellman-Ford on negated weights, with limited rounds."""
    if all(edge.weight >= 0 for edge in edges):
        return any(edge.weight > 0 for edge in edges)
    height: dict[Slot, int] = {}
    slots = {edge.source for edge in edges}
    for _ in range(min(len(slots) + 1, 10 * MAX_ROUNDS)):
        has_risen = False
        for edge in edges:
            risen = height.get(edge.source, 0) + edge.weight
            if risen > height.get(edge.target, 0):
                height[edge.target] = risen
                has_risen = True
        if not has_risen:
            return False
    return True


CHECKS = (recursion, growing_states)
