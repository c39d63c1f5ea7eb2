"""Estimated number of instances of a rule, before grounding.

Two layers, as in database query optimizers. *Domains*: the constants that can occur at each
argument place, a fixpoint over the rules that considers every place by itself. *Sizes*: the number of
rows of a relation, under the usual independence assumption (Selinger et al. 1979): joining on a
variable divides by the larger of the two domains.

Facts form relations of their own: `(true (cell ?x ?y ?p))`, `(next (cell …))` and `(init (cell …))` are
rows of the state relation `cell` with three columns; likewise moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

from gdl.dependencies import reachable
from gdl.grounding.simplification import is_binder
from gdl.program import Literal, Rule, arguments_of, atoms_of
from gdl.terms import Compound, Symbol, Term, Variable, is_ground, match, substitute, variables

MAX_DOMAIN = 3000
"""Maximum number of constants listed for one place; a place with more is open."""

OPEN_SIZE = 10_000.0
"""Assumed domain size of an open place."""

_ROUNDS = 30


class Relation(NamedTuple):
    """A relation by name. `kind` distinguishes states, moves and predicates, `arity` -1 is a symbol."""

    kind: str
    name: str
    arity: int


Domain = set[Term] | None
"""The constants that can occur at a place; None if it is open."""


def _wrapped(kind: str, before: tuple[Term, ...], term: Term) -> tuple[Relation, tuple[Term, ...]]:
    if isinstance(term, Variable):
        return Relation(kind, "", 1), (*before, term)
    columns = arguments_of(term)
    arity = -1 if isinstance(term, Symbol) else len(columns)
    return Relation(kind, term.name, arity), (*before, *columns)


@dataclass
class Estimates:
    """Domains and sizes of all relations of a program. `add` registers new ones.

    nested    argument places where a predicate always has the same function, whose arguments are columns
    domains   relation → one domain per column
    sizes     relation → estimated number of rows
    static    relations that depend neither on the state nor on the move
    """

    nested: dict[tuple[str, int], set[int]] = field(default_factory=dict)
    domains: dict[Relation, list[Domain]] = field(default_factory=dict)
    sizes: dict[Relation, float] = field(default_factory=dict)
    static: set[Relation] = field(default_factory=set)

    def row_of(self, atom: Symbol | Compound) -> tuple[Relation, tuple[Term, ...]]:
        """The relation of an atom and its columns."""
        arguments = arguments_of(atom)
        if atom.name in ("true", "next", "init", "any true", "any next", "any init") and len(arguments) == 1:
            return _wrapped("state", (), arguments[0])
        if atom.name in ("does", "legal", "any does", "any legal") and len(arguments) == 2:
            return _wrapped("move", arguments[:1], arguments[1])
        relation = Relation("predicate", atom.name, len(arguments))
        places = self.nested.get((atom.name, len(arguments)))
        if places:
            columns: list[Term] = []
            for place, argument in enumerate(arguments):
                columns += arguments_of(argument) if place in places else (argument,)
            return relation, tuple(columns)
        return relation, arguments

    def variable_domains(self, literals: Iterable[Literal]) -> dict[str, Domain]:
        """For each bound variable, the constants that all its literals admit."""
        found: dict[str, Domain] = {}
        for literal in literals:
            if is_binder(literal):
                relation, columns = self.row_of(literal.atom)
                places = self.domains.get(relation)
                for place, term in enumerate(columns):
                    self._narrow(found, term, places[place] if places else None)
        return found

    def _narrow(self, found: dict[str, Domain], term: Term, domain: Domain) -> None:
        if isinstance(term, Variable):
            if term.name not in found or found[term.name] is None:
                found[term.name] = domain
            elif domain is not None:
                known = found[term.name]
                assert known is not None
                if known is not domain and not known <= domain:
                    found[term.name] = known & domain
        elif not is_ground(term):
            inner: dict[str, Domain] = {variable.name: None for variable in variables(term)}
            if domain is not None:
                matches = [one for row in domain if (one := match(term, row)) is not None]
                inner = {name: {one[name] for one in matches} for name in inner}
            for name, values in inner.items():
                self._narrow(found, Variable(name), values)

    def instances(self, literals: Sequence[Literal], domains: Mapping[str, Domain] | None = None) -> float:
        """The estimated number of instances of a body."""
        found = self.variable_domains(literals) if domains is None else domains
        rows = 1.0
        places: dict[str, list[float]] = {}
        for literal in literals:
            if not is_binder(literal):
                continue
            relation, columns = self.row_of(literal.atom)
            size = self.sizes.get(relation, OPEN_SIZE)
            rows *= size
            known = self.domains.get(relation)
            seen: set[str] = set()
            for place, term in enumerate(columns):
                width = min(domain_size(known[place] if known else None), max(size, 1.0))
                names = {variable.name for variable in variables(term)}
                if not names or names <= seen:
                    rows /= max(width, 1.0)
                elif isinstance(term, Variable):
                    places.setdefault(term.name, []).append(width)
                seen |= names
        for widths in places.values():
            rows /= prod(sorted(widths)[1:])
        rows = min(rows, prod(domain_size(domain) for domain in found.values()))
        for literal in literals:
            if literal.is_positive and not is_binder(literal):
                widths_seen = [domain_size(found[v.name]) for v in variables(literal.atom) if v.name in found]
                rows *= 1 - 1 / max([2.0, *widths_seen])
        return rows

    def is_static(self, literal: Literal) -> bool:
        """Whether the grounder will decide the literal."""
        return (not is_binder(literal) and literal.is_positive) or self.row_of(literal.atom)[0] in self.static

    def add(self, head: Symbol | Compound, body: Sequence[Literal]) -> None:
        """Register a new relation, defined by the single rule `head :- body`."""
        relation, columns = self.row_of(head)
        found = self.variable_domains(body)
        self.domains[relation] = [found.get(term.name) for term in columns if isinstance(term, Variable)]
        space = prod(domain_size(domain) for domain in self.domains[relation])
        self.sizes[relation] = min(self.instances(body, found), space)
        if all(map(self.is_static, body)):
            self.static.add(relation)

    def forget(self, head: Symbol | Compound) -> None:
        """Undo `add`."""
        relation = self.row_of(head)[0]
        del self.domains[relation], self.sizes[relation]
        self.static.discard(relation)


def domain_size(domain: Domain) -> float:
    """Number of constants, at least one; OPEN_SIZE for an open place."""
    return OPEN_SIZE if domain is None else max(len(domain), 1)


def estimate(rules: Sequence[Rule]) -> Estimates:
    """Domains and sizes of the relations that `rules` define."""
    estimates = Estimates(_nested_places(rules))
    counts: dict[Relation, int] = {}
    derived: list[Rule] = []
    for rule in rules:
        relation, columns = estimates.row_of(rule.head)
        places = estimates.domains.setdefault(relation, [set() for _ in columns])
        if rule.body:
            derived.append(rule)
            continue
        counts[relation] = counts.get(relation, 0) + 1
        for domain, term in zip(places, columns, strict=True):
            if domain is not None:
                domain.add(term)
    _derive_domains(estimates, derived)
    _measure(estimates, counts, derived)
    _find_static(estimates, derived)
    return estimates


def _nested_places(rules: Sequence[Rule]) -> dict[tuple[str, int], set[int]]:
    """The argument places where a predicate always has the same function with arguments."""
    found: dict[tuple[str, int, int], set[tuple[str, int] | None]] = {}
    for rule in rules:
        for atom in atoms_of(rule):
            arguments = arguments_of(atom)
            for place, term in enumerate(arguments):
                is_nested = isinstance(term, Compound) and term.arguments
                function = (str(term.name), len(arguments_of(term))) if is_nested else None
                found.setdefault((atom.name, len(arguments), place), set()).add(function)
    nested: dict[tuple[str, int], set[int]] = {}
    for (name, arity, place), functions in found.items():
        if len(functions) == 1 and None not in functions:
            nested.setdefault((name, arity), set()).add(place)
    return nested


def _derive_domains(estimates: Estimates, derived: Sequence[Rule]) -> None:
    """Compute the domains that the rules with a body lead to.

    Places that still grow after _ROUNDS become open. A rule is tried again only if what it reads has changed.
    """
    reads = [[estimates.row_of(literal.atom)[0] for literal in rule.literals] for rule in derived]
    version: dict[Relation, int] = dict.fromkeys(estimates.domains, 0)
    seen = [-1] * len(derived)
    rounds = 0
    has_changed = True
    while has_changed:
        rounds += 1
        has_changed = False
        for number, rule in enumerate(derived):
            current = sum(version.get(relation, 0) for relation in reads[number])
            if current != seen[number]:
                seen[number] = current
                if _grow(estimates, rule, opens=rounds > _ROUNDS):
                    version[estimates.row_of(rule.head)[0]] += 1
                    has_changed = True


def _grow(estimates: Estimates, rule: Rule, *, opens: bool) -> bool:
    """Add to the domains of the head what the body admits.

    opens   whether places that grow become open at once
    Return whether anything changed.
    """
    found = estimates.variable_domains(rule.literals)
    if any(domain is not None and not domain for domain in found.values()):
        return False
    relation, columns = estimates.row_of(rule.head)
    places = estimates.domains[relation]
    changed = False
    for place, term in enumerate(columns):
        domain = places[place]
        if domain is None:
            continue
        values = values_of(term, found)
        if values is None or len(domain) > MAX_DOMAIN:
            places[place] = None
            changed = True
        elif not values <= domain:
            if opens:
                places[place] = None
            else:
                domain |= values
            changed = True
    return changed


def values_of(term: Term, found: Mapping[str, Domain]) -> Domain:
    """The ground instances of `term`. Returns None if there may be more than MAX_DOMAIN."""
    if isinstance(term, Variable):
        return found.get(term.name)
    rows: list[dict[str, Term]] = [{}]
    for name in dict.fromkeys(variable.name for variable in variables(term)):
        domain = found.get(name)
        if domain is None or len(rows) * len(domain) > MAX_DOMAIN:
            return None
        rows = [row | {name: value} for row in rows for value in domain]
    return {substitute(term, row) for row in rows}


def _measure(estimates: Estimates, counts: Mapping[Relation, int], derived: Sequence[Rule]) -> None:
    """Set all sizes: first what the domains allow, then reduced twice to what the rules can produce."""
    space = {
        relation: prod(domain_size(domain) for domain in places)
        for relation, places in estimates.domains.items()
    }
    heads = {estimates.row_of(rule.head)[0] for rule in derived}
    estimates.sizes = {
        relation: space[relation] if relation in heads else float(counts.get(relation, 0))
        for relation in estimates.domains
    }
    for _ in range(2):
        total: dict[Relation, float] = {}
        for rule in derived:
            relation, columns = estimates.row_of(rule.head)
            found = estimates.variable_domains(rule.literals)
            names = {variable.name for term in columns for variable in variables(term)}
            projected = prod(domain_size(found.get(name)) for name in names)
            rows = min(estimates.instances(rule.literals, found), projected)
            total[relation] = total.get(relation, 0.0) + rows
        for relation, rows in total.items():
            estimates.sizes[relation] = min(rows + counts.get(relation, 0), space[relation])


def _find_static(estimates: Estimates, derived: Sequence[Rule]) -> None:
    """Mark as static all relations that depend on no state or move."""
    dynamic = {relation for relation in estimates.domains if relation.kind != "predicate"}
    readers: dict[Relation, set[Relation]] = {}
    for rule in derived:
        head = estimates.row_of(rule.head)[0]
        for literal in rule.literals:
            if literal.atom.name in ("true", "does"):
                dynamic.add(head)
            elif literal.atom.name != "init":
                readers.setdefault(estimates.row_of(literal.atom)[0], set()).add(head)
    dynamic = reachable(dynamic, lambda one: readers.get(one, ()))
    estimates.static = set(estimates.domains) - dynamic
