"""Which values each argument of a fluent can take, judged from the rules alone.

Values flow from facts and rule bodies to rule heads: a head argument that is a variable takes what all
positive body literals with that variable allow. `does` takes its moves from `legal`, `true` its facts from
`init` and `next`. The result is an over-approximation that costs milliseconds, also where grounding
would explode. (Argument domains in the sense of Schiffel & Thielscher, "Fluxplayer", 2007.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

from gdl.normalize import normalize
from gdl.program import Literal, Program, arguments_of
from gdl.terms import Compound, Symbol, Term, Variable, is_ground

ROUND_LIMIT = 60


class Slot(NamedTuple):
    """One argument place. kind: "fluent", "base", "move" or "relation"."""

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


class _Flow(NamedTuple):
    """A head argument fed by the values that all of `sources` share."""

    target: Slot
    sources: tuple[Slot, ...]


def fluent_domains(program: Program) -> Mapping[tuple[str, int], tuple[frozenset[str], ...]]:
    """For each fluent (name, arity ≥ 1) the values of its arguments, as texts.

    `base` narrows them where the sheet has it: it is taken as the truth about what it lists.
    """
    domains = _all_domains(program)
    fluents: dict[tuple[str, int], tuple[frozenset[str], ...]] = {}
    for name, arity in {(slot.name, slot.arity) for slot in domains if slot.kind in ("fluent", "base")}:
        values = []
        for position in range(arity):
            flowed = domains.get(Slot("fluent", name, arity, position), set())
            declared = domains.get(Slot("base", name, arity, position), set())
            values.append(frozenset(declared or flowed))
        fluents[name, arity] = tuple(values)
    return fluents


def _all_domains(program: Program) -> Domains:
    domains: Domains = {}
    flows: list[_Flow] = []
    for rule in normalize(program).rules:
        places = _variable_places(rule.literals)
        for slot, term in _slots(rule.head):
            if isinstance(term, Variable):
                if term.name in places:
                    flows.append(_Flow(slot, places[term.name]))
            elif is_ground(term):
                domains.setdefault(slot, set()).add(str(term))
    for _ in range(ROUND_LIMIT):
        is_new = False
        for flow in flows:
            is_new |= _let_flow(flow, domains)
        if not is_new:
            break
    return domains


def _let_flow(flow: _Flow, domains: Domains) -> bool:
    """Move values along `flow`; whether anything was new."""
    shared = set.intersection(*(domains.get(source, set()) for source in flow.sources))
    target = domains.setdefault(flow.target, set())
    before = len(target)
    target |= shared
    return len(target) > before


def _variable_places(literals: tuple[Literal, ...]) -> dict[str, tuple[Slot, ...]]:
    """Variable name → where it stands in positive literals."""
    places: dict[str, tuple[Slot, ...]] = {}
    for literal in literals:
        if literal.is_positive and literal.atom.name != "distinct":
            for slot, term in _slots(literal.atom):
                if isinstance(term, Variable):
                    places[term.name] = (*places.get(term.name, ()), slot)
    return places


def _slots(atom: Symbol | Compound) -> Iterator[tuple[Slot, Term]]:
    """The argument places of an atom; of the fluent or move inside, for keywords that wrap one."""
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
