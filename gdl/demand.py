"""Recursive predicates answered on demand: the magic-set transformation.

A recursive predicate such as "the row between these squares is clear, ignoring that one" has thousands
of rows of which a state asks for a few. For calls that bind some arguments, the rules are rewritten so that
they derive only what a call leads to: every rule is guarded by a *call* predicate that holds the
bound arguments of the calls made so far, and for every recursive literal a rule derives the calls it
makes (Bancilhon, Maier, Sagiv & Ullman 1986; Beeri & Ramakrishnan 1991).

Names of the new predicates contain a blank, which no symbol of a rule sheet can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gdl.evaluation_modes import Adornment, adornment_of, bound_names
from gdl.join_order import Statistics, names_in, plan_body
from gdl.program import Literal, Predicate, Rule, arguments_of
from gdl.terms import Compound, Symbol, Term


@dataclass(frozen=True, slots=True)
class DemandedRules:
    """Rules that answer calls of one predicate with one adornment.

    call     holds the bound arguments of calls: add a row to ask
    answer   holds the rows derived, with the arity of the original predicate
    """

    rules: tuple[Rule, ...]
    predicates: tuple[Predicate, ...]
    call: Predicate
    answer: Predicate


def demanded_rules(
    rules: Mapping[Predicate, Sequence[Rule]],
    component: Sequence[Predicate],
    predicate: Predicate,
    adornment: Adornment,
    statistics: Statistics,
) -> DemandedRules:
    """Rewrite the rules of a recursive `component` for calls of `predicate` with `adornment`.

    adornment   of b and f only
    """
    found: list[Rule] = []
    pending = [(predicate, adornment)]
    known = {pending[0]: None}
    while pending:
        called, letters = pending.pop()
        for rule in rules.get(called, ()):
            for callee in _rewrite(rule, letters, component, statistics, found):
                if callee not in known:
                    known[callee] = None
                    pending.append(callee)
    predicates = [p for called, letters in known for p in (_call(called, letters), _answer(called, letters))]
    return DemandedRules(
        tuple(found), tuple(predicates), _call(predicate, adornment), _answer(predicate, adornment)
    )


def _rewrite(
    rule: Rule, letters: Adornment, component: Sequence[Predicate], statistics: Statistics, found: list[Rule]
) -> list[tuple[Predicate, Adornment]]:
    """Append the guarded rule and the rules for the calls it makes; return those calls."""
    arguments = arguments_of(rule.head)
    bound = bound_names(rule, letters)
    plan = plan_body(rule.literals, bound, names_in(*arguments), statistics)
    body = [Literal(_atom(_call(rule.predicate, letters), _bound(arguments, letters)))]
    calls = []
    for step in plan.steps:
        literal = step.literal
        if literal.predicate in component:
            inner = adornment_of(literal.atom, step.bound, step.needed).replace("_", "f")
            inner_arguments = arguments_of(literal.atom)
            head = _atom(_call(literal.predicate, inner), _bound(inner_arguments, inner))
            if len(body) > 1 or body[0].atom != head:
                found.append(Rule(head, tuple(body), rule.span))
            calls.append((literal.predicate, inner))
            literal = Literal(_atom(_answer(literal.predicate, inner), inner_arguments), True, literal.span)
        body.append(literal)
    found.append(Rule(_atom(_answer(rule.predicate, letters), arguments), tuple(body), rule.span))
    return calls


def _call(predicate: Predicate, letters: Adornment) -> Predicate:
    return Predicate(f"call {predicate.name}/{predicate.arity} {letters}", letters.count("b"))


def _answer(predicate: Predicate, letters: Adornment) -> Predicate:
    return Predicate(f"answer {predicate.name}/{predicate.arity} {letters}", predicate.arity)


def _bound(arguments: tuple[Term, ...], letters: Adornment) -> tuple[Term, ...]:
    return tuple(argument for argument, letter in zip(arguments, letters, strict=True) if letter == "b")


def _atom(predicate: Predicate, arguments: tuple[Term, ...]) -> Symbol | Compound:
    return Compound(predicate.name, arguments) if arguments else Symbol(predicate.name)
