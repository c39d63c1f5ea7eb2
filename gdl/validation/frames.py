"""Facts that nothing carries over to the next state.

Whatever is to hold after the moves follows from a rule for `next`; what is not mentioned is gone. Where
moves change facts of the initial state and no rule keeps the others, most often a frame axiom is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from gdl.dependencies import TRUE
from gdl.errors import Related
from gdl.program import Rule, arguments_of
from gdl.terms import Compound, Term, Variable
from gdl.validation.codes import Findings, warning
from gdl.validation.sheet import Sheet, body_literals

Fact: TypeAlias = tuple[str, int]
"""Name and number of arguments."""

MAX_STEPS = 200_000
"""Relations looked through; real sheets have some dozens."""


def forgotten_facts(sheet: Sheet) -> Findings:
    """GDL326, for facts of two and more arguments of which several hold at first."""
    makers = _makers(sheet, "next")
    first = _makers(sheet, "init")
    if None in makers:
        return
    asked = {fact for rule in sheet.program.rules for fact in _asked_by(rule)}
    steps = 0
    for fact, rules in makers.items():
        if fact is None or fact[1] < 2 or fact not in asked or not _are_several(first.get(fact, ())):
            continue
        callees = sheet.dependencies.reachable(
            literal.predicate for rule in rules for literal, _ in body_literals(rule)
        )
        steps += len(callees)
        if steps > MAX_STEPS:
            return
        below = (rule for callee in callees for rule in sheet.program.by_predicate.get(callee, ()))
        kept = {found for rule in (*rules, *below) for found in _asked_by(rule)}
        if kept.isdisjoint((fact, None)):
            general = _general(*fact)
            message = (
                f"no rule carries '{fact[0]}' over: what 'next' does not conclude is gone after the moves."
                f" Is a rule missing, such as (<= (next {general}) (true {general}) ...)?"
            )
            note = Related("at first it holds here", first[fact][0].head.span)
            yield warning("GDL326", message, rules[0].head.span, note)


def _makers(sheet: Sheet, keyword: str) -> dict[Fact | None, list[Rule]]:
    """The rules for `init` or `next` by the fact that they make."""
    found: dict[Fact | None, list[Rule]] = {}
    for rule in sheet.program.rules_for(keyword, 1):
        found.setdefault(_fact(arguments_of(rule.head)[0]), []).append(rule)
    return found


def _are_several(rules: Sequence[Rule]) -> bool:
    return len(rules) > 1 or any(rule.body for rule in rules)


def _asked_by(rule: Rule) -> set[Fact | None]:
    """The facts that a body asks for."""
    return {
        _fact(arguments_of(literal.atom)[0])
        for literal, _ in body_literals(rule)
        if literal.predicate == TRUE
    }


def _fact(term: Term) -> Fact | None:
    """None for a variable, which may be any fact."""
    if isinstance(term, Variable):
        return None
    return term.name, len(term.arguments) if isinstance(term, Compound) else 0


def _general(name: str, arity: int) -> str:
    return f"({name} {' '.join('?' + letter for letter in 'xyzuvwabcd'[:arity])})"
