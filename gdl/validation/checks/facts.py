"""Checks of facts and moves: undeclared, overdeclared, or lost between states.

Facts and moves are compared with declarations by the shapes of their arguments (`gdl.validation.inference`):
a fact that fits no shape of `base` is certainly missing there. `ggp validate --play` compares whole facts and
moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TypeAlias

from gdl.dependencies import DOES, TRUE, may_unify
from gdl.errors import Related
from gdl.keywords import RANDOM
from gdl.program import Predicate, Rule, arguments_of, body_literals
from gdl.terms import Compound, Symbol, Term, Variable
from gdl.validation.codes import Findings, warning
from gdl.validation.inference import Position, Shapes, Sources, common_tokens, parts_of, token_of
from gdl.validation.sheet import Sheet

BASE = Predicate("base", 1)
INPUT = Predicate("input", 2)
_DECLARED = (("init", BASE, "GDL316"), ("next", BASE, "GDL316"), ("legal", INPUT, "GDL317"))


def undeclared(sheet: Sheet) -> Findings:
    """GDL316, GDL317: heads no instance of which base or input lists."""
    if sheet.inference is None:
        return
    shapes = sheet.inference.shapes
    for name, declaration, code in _DECLARED:
        declared = sheet.program.by_predicate.get(declaration)
        if declared is None or declaration not in shapes.alive:
            continue
        for rule in sheet.plain.rules_for(name, declaration.arity):
            if id(rule) in sheet.inference.misfits:
                continue
            sources, arguments = sheet.inference.sources[id(rule)], enumerate(arguments_of(rule.head))
            parts = (_outside(one, (declaration, index), sources, shapes) for index, one in arguments)
            outside = next(filter(None, parts), None)
            if outside is not None:
                kind = "fact" if declaration == BASE else "move"
                message = (
                    f"{arguments_of(rule.head)[-1]}: '{declaration.name}' lists no such {kind},"
                    f" because {outside} never occurs there"
                )
                note = Related(f"'{declaration.name}' is defined here", declared[0].head.span)
                yield warning(code, message, rule.head.span, note)


def _outside(term: Term, position: Position, sources: Sources, shapes: Shapes) -> Term | None:
    """The first part of a term that cannot stand at a position."""
    if isinstance(term, Variable):
        places = sources.get(term.name)
        return None if not places or common_tokens([*places, position], shapes) else term
    if token_of(term) not in shapes.at(position):
        return term
    parts = (_outside(part, place, sources, shapes) for part, place in parts_of(term, position))
    return next((found for found in parts if found is not None), None)


def overdeclared(sheet: Sheet) -> Findings:
    """GDL323: functions that base or input lists but no rule produces.

    Single facts that never hold are not reported: base is meant to be a superset.
    """
    if sheet.inference is None:
        return
    shapes = sheet.inference.shapes
    for declaration, made in ((BASE, Predicate("true", 1)), (INPUT, Predicate("does", 2))):
        if made not in shapes.alive:
            continue
        kind = "fact" if declaration == BASE else "move"
        possible = shapes.at((made, made.arity - 1))
        for rule in sheet.program.by_predicate.get(declaration, ()):
            term = arguments_of(rule.head)[-1]
            if isinstance(term, Variable):
                continue
            pattern = Compound(made.name, (*[Variable("_")] * (made.arity - 1), term))
            if token_of(term) not in possible and not sheet.inference.is_awaited(pattern):
                message = f"'{declaration.name}' lists {term}, but no rule produces such a {kind}"
                yield warning("GDL323", message, term.span or rule.span)


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


CHECKS = (forgotten_facts, undeclared, overdeclared)
