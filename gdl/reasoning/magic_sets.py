"""Magic-set transformation: recursive predicates evaluated on demand.

A recursive predicate such as "the row between these squares is clear, ignoring that one" has thousands
of rows, of which a state needs only a few. For calls that bind some arguments, the rules are rewritten so
that they derive only what a call leads to: every rule is guarded by a *call* predicate that holds the
bound arguments of the calls made so far, and for every recursive literal a rule derives the calls it
makes (Bancilhon, Maier, Sagiv & Ullman 1986; Beeri & Ramakrishnan 1991).

Names of new predicates contain a blank, so they differ from all names of a rule sheet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gdl.program import Literal, Predicate, Rule, arguments_of, atom_with, predicate_of
from gdl.reasoning.evaluation_modes import Adornment, adornment_of, bound_names
from gdl.reasoning.join_order import Relation, Size, Statistics, names_in, plan_body
from gdl.terms import Compound, Symbol

DEMANDED_ROWS = 1000.0
"""Assumed rows of calls and of answers: joins then begin with relations that are known to be small."""


def demanded_size(predicate: Predicate) -> Size:
    """The assumed size of a recursive predicate, or of calls or answers of one."""
    width = DEMANDED_ROWS ** (1 / max(predicate.arity, 1))
    return Size(DEMANDED_ROWS, (width,) * predicate.arity)


@dataclass(frozen=True, slots=True)
class DemandedRules:
    """Rules that answer calls of one predicate with one adornment.

    predicates   all predicates that the rules define
    call         holds the bound arguments of calls: add a row to make a call
    answer       holds the derived rows, with the arity of the original predicate
    loses_bindings  whether some call leaves an argument open that the first call binds
    """

    rules: tuple[Rule, ...]
    predicates: tuple[Predicate, ...]
    call: Predicate
    answer: Predicate
    loses_bindings: bool


def demanded_rules(
    rules: Mapping[Predicate, Sequence[Rule]],
    component: Sequence[Predicate],
    predicate: Predicate,
    adornment: Adornment,
    statistics: Statistics,
) -> DemandedRules:
    """Rewrite a recursive `component` for calls of `predicate` with `adornment`.

    If calls lose arguments on the way, recursive literals are joined late: as if they had many rows.

    adornment   consists of b and f only
    """
    demanded = _demanded(rules, component, predicate, adornment, statistics)
    if not demanded.loses_bindings:
        return demanded
    assumed = statistics.sizes | {Relation(one): demanded_size(one) for one in component}
    return _demanded(rules, component, predicate, adornment, replace(statistics, sizes=assumed))


def _demanded(
    rules: Mapping[Predicate, Sequence[Rule]],
    component: Sequence[Predicate],
    predicate: Predicate,
    adornment: Adornment,
    statistics: Statistics,
) -> DemandedRules:
    found: list[Rule] = []
    names = _Names(f"{predicate} {adornment}")
    pending = [(predicate, adornment)]
    known = {pending[0]: None}
    while pending:
        called, letters = pending.pop()
        for rule in rules.get(called, ()):
            for callee in _rewrite(rule, letters, component, statistics, names, found):
                if callee not in known:
                    known[callee] = None
                    pending.append(callee)
    predicates = [p for one in known for p in (names.call(*one), names.answer(*one))]
    loses_bindings = any(
        letter == "b" and other == "f"
        for called, letters in known
        if called == predicate
        for letter, other in zip(adornment, letters, strict=True)
    )
    return DemandedRules(
        tuple(found),
        tuple(predicates),
        names.call(predicate, adornment),
        names.answer(predicate, adornment),
        loses_bindings,
    )


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of the predicates for calls of `root`: answers of two roots are derived at different times."""

    root: str

    def call(self, predicate: Predicate, letters: Adornment) -> Predicate:
        return Predicate(f"call {predicate} {letters} for {self.root}", letters.count("b"))

    def answer(self, predicate: Predicate, letters: Adornment) -> Predicate:
        return Predicate(f"answer {predicate} {letters} for {self.root}", predicate.arity)

    def call_atom(self, atom: Symbol | Compound, letters: Adornment) -> Symbol | Compound:
        pairs = zip(arguments_of(atom), letters, strict=True)
        bound = tuple(argument for argument, letter in pairs if letter == "b")
        return atom_with(self.call(predicate_of(atom), letters).name, bound)

    def answer_atom(self, atom: Symbol | Compound, letters: Adornment) -> Symbol | Compound:
        return atom_with(self.answer(predicate_of(atom), letters).name, arguments_of(atom))


def _rewrite(
    rule: Rule,
    letters: Adornment,
    component: Sequence[Predicate],
    statistics: Statistics,
    names: _Names,
    found: list[Rule],
) -> list[tuple[Predicate, Adornment]]:
    """Append the guarded rule and the rules for the calls it makes. Return those calls."""
    plan = plan_body(rule.literals, bound_names(rule, letters), names_in(rule.head), statistics)
    body = [Literal(names.call_atom(rule.head, letters))]
    calls = []
    for step in plan.steps:
        literal = step.literal
        if literal.predicate in component:
            inner = adornment_of(literal.atom, step.bound, step.needed).replace("_", "f")
            head = names.call_atom(literal.atom, inner)
            if len(body) > 1 or body[0].atom != head:
                found.append(Rule(head, tuple(body), rule.span))
            calls.append((literal.predicate, inner))
            literal = Literal(names.answer_atom(literal.atom, inner), True, literal.span)
        body.append(literal)
    found.append(Rule(names.answer_atom(rule.head, letters), tuple(body), rule.span))
    return calls
