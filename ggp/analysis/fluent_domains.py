"""Values that each argument of a fluent can take, judged from the rules alone.

Values flow from facts and rule bodies to rule heads: a head argument that is a variable takes what all
positive body literals with that variable allow. `does` takes its moves from `legal`, `true` its facts from
`init` and `next`. The result is an over-approximation that costs milliseconds, even if
grounding would explode. (Argument domains in the sense of Schiffel & Thielscher, "Fluxplayer", 2007.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

from gdl.normalize import normalize
from gdl.program import Literal, Predicate, Program, arguments_of
from gdl.terms import Compound, Symbol, Term, Variable, is_ground

ROUND_LIMIT = 60


class Slot(NamedTuple):
    """One argument position. kind: "fluent", "base", "move", "input", "relation", or "term" inside a term."""

    kind: str
    name: str
    arity: int
    position: int


Domains: TypeAlias = dict[Slot, set[str]]

_KINDS = {
    "true": "fluent",
    "init": "fluent",
    "next": "fluent",
    "base": "base",
    "does": "move",
    "legal": "move",
    "input": "input",
}


def fluent_domains(program: Program) -> Mapping[tuple[str, int], tuple[frozenset[str], ...]]:
    """For each fluent (name, arity ≥ 1) the values of its arguments, as text.

    If the sheet declares `base` for an argument, the declared values are taken instead.
    """
    domains = _all_domains(normalize(program))
    fluents: dict[tuple[str, int], tuple[frozenset[str], ...]] = {}
    for name, arity in {(slot.name, slot.arity) for slot in domains if slot.kind in ("fluent", "base")}:
        values = []
        for position in range(arity):
            flowed = domains.get(Slot("fluent", name, arity, position), set())
            declared = domains.get(Slot("base", name, arity, position), set())
            values.append(frozenset(value for value in declared or flowed if not _is_functor(value)))
        fluents[name, arity] = tuple(values)
    return fluents


def nested_domains(program: Program) -> Mapping[str, Mapping[str, tuple[frozenset[str], ...]]]:
    """For each fluent of one argument that is a term: functor → the values of the term's arguments."""
    domains = _all_domains(normalize(program), with_terms=True)
    found: dict[str, dict[str, tuple[frozenset[str], ...]]] = {}
    for slot, values in domains.items():
        if slot.kind in ("fluent", "base") and slot.arity == 1:
            for value in filter(_is_functor, sorted(values)):
                functor, _, arity = value[1:].rpartition("/")
                slots = (Slot("term", functor, int(arity), position) for position in range(int(arity)))
                arguments = tuple(frozenset(domains.get(each, ())) for each in slots)
                found.setdefault(slot.name, {})[functor] = arguments
    return found


def move_domains(program: Program) -> Iterator[tuple[str, tuple[frozenset[str], ...]]]:
    """For each pattern of moves that a rule allows: name, and the values of its arguments.

    The arguments of terms inside a move stand in their place.

    >>> from gdl.syntax.parser import parse
    >>> (move,) = move_domains(parse("(role p) (size 3) (<= (legal p (put (at ?x) b)) (size ?x))"))
    >>> move[0], list(map(sorted, move[1]))
    ('put', [['3'], ['b']])
    """
    program = normalize(program)
    domains = _all_domains(program, with_terms=True)
    for rule in program.rules:
        if rule.head.name == "legal" and isinstance(move := arguments_of(rule.head)[1], Compound):
            yield move.name, tuple(_leaf_values(domains, "move", move))


def _leaf_values(domains: Domains, kind: str, term: Compound) -> Iterator[frozenset[str]]:
    for position, argument in enumerate(term.arguments):
        if isinstance(argument, Compound):
            yield from _leaf_values(domains, "term", argument)
        elif isinstance(argument, Variable):
            slot = Slot(kind, term.name, len(term.arguments), position)
            yield frozenset(value for value in domains.get(slot, ()) if not value.startswith("("))
        else:
            yield frozenset((str(argument),))


def stated_relations(program: Program, *arities: int) -> Iterator[tuple[Predicate, list[tuple[str, ...]]]]:
    """The relations of these arities that consist of facts, with their rows as text."""
    for predicate, rules in program.by_predicate.items():
        if predicate.arity in arities and not any(rule.body for rule in rules):
            yield predicate, [tuple(map(str, arguments_of(rule.head))) for rule in rules]


def _is_functor(value: str) -> bool:
    """Whether a value stands for all terms with a functor and variables: `(across/2`, without an end."""
    return value.startswith("(") and not value.endswith(")")


def _all_domains(program: Program, *, with_terms: bool = False) -> Domains:
    """Domains of a normalized program; `with_terms` those of arguments inside arguments too."""
    domains: Domains = {}
    # A head argument receives the values that all of its sources share.
    flows: list[tuple[Slot, tuple[Slot, ...]]] = []
    for rule in program.rules:
        places = _variable_places(rule.literals, with_terms=with_terms)
        for slot, term in (*_slots(rule.head), *(_inner_slots(rule.head) if with_terms else ())):
            if isinstance(term, Variable):
                if term.name in places:
                    flows.append((slot, places[term.name]))
            elif is_ground(term):
                domains.setdefault(slot, set()).add(str(term))
            elif with_terms and isinstance(term, Compound) and slot.kind != "term":
                domains.setdefault(slot, set()).add(f"({term.name}/{len(term.arguments)}")
    for _ in range(ROUND_LIMIT):
        is_new = False
        for slot, sources in flows:
            target = domains.setdefault(slot, set())
            before = len(target)
            target |= set.intersection(*(domains.get(source, set()) for source in sources))
            is_new |= len(target) > before
        if not is_new:
            break
    return domains


def _variable_places(
    literals: tuple[Literal, ...], *, with_terms: bool = False
) -> dict[str, tuple[Slot, ...]]:
    """Variable name → its argument positions in positive literals."""
    places: dict[str, tuple[Slot, ...]] = {}
    for literal in literals:
        if literal.is_positive and literal.atom.name != "distinct":
            inner = _inner_slots(literal.atom) if with_terms else ()
            for slot, term in (*_slots(literal.atom), *inner):
                if isinstance(term, Variable):
                    places[term.name] = (*places.get(term.name, ()), slot)
    return places


def _inner_slots(atom: Symbol | Compound) -> Iterator[tuple[Slot, Term]]:
    """Argument positions of the terms inside the arguments of an atom."""
    for _, term in _slots(atom):
        for position, inner in enumerate(arguments_of(term) if isinstance(term, Compound) else ()):
            yield Slot("term", term.name, len(arguments_of(term)), position), inner


def _slots(atom: Symbol | Compound) -> Iterator[tuple[Slot, Term]]:
    """Argument positions of an atom, or of the fluent or move inside a keyword."""
    kind = _KINDS.get(atom.name)
    arguments = arguments_of(atom)
    name = atom.name
    if kind is None:
        kind = "relation"
    elif arguments:
        inner = arguments[-1]
        if kind in ("move", "input") and len(arguments) == 2:
            yield Slot(kind, "role of", 1, 0), arguments[0]
        arguments = arguments_of(inner)
        name = inner.name
    for position, term in enumerate(arguments):
        yield Slot(kind, name, len(arguments), position), term
