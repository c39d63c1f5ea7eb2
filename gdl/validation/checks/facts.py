"""Checks of facts that are lost between states; `ggp validate --play` compares `base` and `input`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TypeAlias

from gdl.dependencies import DOES, TRUE, may_unify
from gdl.errors import Related
from gdl.keywords import RANDOM
from gdl.program import Rule, arguments_of, body_literals
from gdl.terms import Compound, Symbol, Term, Variable
from gdl.validation.codes import Findings, warning
from gdl.validation.sheet import Sheet

Fact: TypeAlias = tuple[str, int]
"""Name and number of arguments."""

MAX_STEPS = 200_000
"""Maximum number of relations examined; real sheets have a few dozen."""


def forgotten_facts(sheet: Sheet) -> Findings:
    """GDL326: facts that nothing carries over.

    Reported for facts with two or more arguments of which several hold initially.

    Only what a rule for `next` concludes holds after the moves. If moves change facts of the initial state
    and no rule keeps the others, a frame axiom is probably missing.
    """
    makers = _makers(sheet, "next")
    first = _makers(sheet, "init")
    if None in makers:
        return
    asked = {fact for rule in sheet.program.rules for fact in _asked_by(rule)}
    steps = 0
    for fact, rules in makers.items():
        begun = first.get(fact, [])
        are_several = len(begun) > 1 or any(rule.body for rule in begun)
        if fact is None or fact[1] < 2 or fact not in asked or not are_several:
            continue
        callees = sheet.dependencies.reachable(
            literal.predicate for rule in rules for literal, _ in body_literals(rule)
        )
        steps += len(callees)
        if steps > MAX_STEPS:
            return
        below = (rule for callee in callees for rule in sheet.program.by_predicate.get(callee, ()))
        kept = {found for rule in (*rules, *below) for found in _asked_by(rule)}
        if kept.isdisjoint((fact, None)) and not _are_renewed(sheet, rules, begun):
            general = f"({fact[0]} {' '.join('?' + letter for letter in 'xyzuvwabcd'[: fact[1]])})"
            message = (
                f"no rule carries '{fact[0]}' over: what 'next' does not conclude is lost after the moves."
                f" Is a rule missing, such as (<= (next {general}) (true {general}) ...)?"
            )
            note = Related("it holds initially here", begun[0].head.span)
            yield warning("GDL326", message, rules[0].head.span, note)


def _are_renewed(sheet: Sheet, makers: Sequence[Rule], first: Sequence[Rule]) -> bool:
    """Whether moves make these facts again, unless `random` waits.

    Either only moves of `random` make them, or each role has one of them and makes it with all its moves.
    """
    chance = Symbol(RANDOM)
    bodies = ([one for one, is_positive in body_literals(rule) if is_positive] for rule in makers)
    causes = [[arguments_of(one.atom) for one in body if one.predicate == DOES] for body in bodies]
    if not all(causes) or all(who == chance for moves in causes for who, _ in moves):
        return all(causes)
    roles = [arguments_of(rule.head)[0] for rule in sheet.program.rules_for("role", 1)]
    facts = [arguments_of(arguments_of(rule.head)[0]) for rule in first]
    waits = any(
        who != chance
        and not any(may_unify(Compound("", move), Compound("", (who, what))) for move in chain(*causes))
        for who, what in (arguments_of(rule.head) for rule in sheet.program.rules_for("legal", 2))
    )
    for index in range(len(facts[0])):
        owners = [fact[index] for fact in facts]
        is_own = all(
            any(who == arguments_of(arguments_of(rule.head)[0])[index] for who, _ in moves)
            for rule, moves in zip(makers, causes, strict=True)
        )
        has_each_one = len(set(owners)) == len(owners) and set(owners) <= set(roles)
        if is_own and not waits and (has_each_one or _is_about_all_roles(first, index)):
            return True
    return False


def _is_about_all_roles(first: Sequence[Rule], index: int) -> bool:
    """Whether the facts come from one rule such as `(<= (init (last ?r none)) (role ?r))`."""
    literals = [literal for rule in first for literal, _ in body_literals(rule)]
    owner = arguments_of(arguments_of(first[0].head)[0])[index]
    return len(first) == len(literals) == 1 and literals[0].atom == Compound("role", (owner,))


def _makers(sheet: Sheet, keyword: str) -> dict[Fact | None, list[Rule]]:
    found: dict[Fact | None, list[Rule]] = {}
    for rule in sheet.program.rules_for(keyword, 1):
        found.setdefault(_fact(arguments_of(rule.head)[0]), []).append(rule)
    return found


def _asked_by(rule: Rule) -> set[Fact | None]:
    asked = (literal.atom for literal, _ in body_literals(rule) if literal.predicate == TRUE)
    return {_fact(arguments_of(atom)[0]) for atom in asked}


def _fact(term: Term) -> Fact | None:
    """Name and arity of a fact. None for a variable, which may be any fact."""
    if isinstance(term, Variable):
        return None
    return term.name, len(term.arguments) if isinstance(term, Compound) else 0


CHECKS = (forgotten_facts,)
