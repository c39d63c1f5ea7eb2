"""Checks of dependence: on state, moves, and a rule's own negation."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from gdl.dependencies import shortest_path
from gdl.errors import Related
from gdl.keywords import KEYWORDS, Keyword
from gdl.program import Literal, Predicate, Program, Rule, body_literals
from gdl.validation.codes import Findings, error, warning
from gdl.validation.sheet import Sheet

SHOWN_RULES = 8
"""Maximum number of rules of a cycle that get a note each."""


def misplaced_dependencies(sheet: Sheet) -> Findings:
    """GDL206 for the keywords that a match needs."""
    return _dependent(sheet, [keyword for keyword in KEYWORDS.values() if keyword.is_strict])


def dependent_declarations(sheet: Sheet) -> Findings:
    """GDL206 for base and input, which no match needs."""
    yield from _dependent(sheet, [keyword for keyword in KEYWORDS.values() if not keyword.is_strict])


def _dependent(sheet: Sheet, keywords: Iterable[Keyword]) -> Findings:
    for keyword in keywords:
        for needed in keyword.never_needs:
            if keyword.predicate not in sheet.program.by_predicate:
                continue
            path = shortest_path(keyword.predicate, KEYWORDS[needed].predicate, sheet.dependencies.callees)
            if path:
                chain = " needs ".join(predicate.name for predicate in path)
                message = f"'{keyword.name}' must not depend on '{needed}': {chain}"
                (rule, literal), *others = (_use_of(sheet.program, *edge) for edge in pairwise(path))
                notes = [
                    Related(f"{r.head.name} needs {used.atom.name}", used.atom.span)
                    for r, used in others[:SHOWN_RULES]
                ]
                yield error("GDL206", message, literal.atom.span or rule.span, *notes)


def _use_of(program: Program, caller: Predicate, callee: Predicate) -> tuple[Rule, Literal]:
    """The first literal of `callee` in rules for `caller`, and its rule."""
    for rule in program.by_predicate[caller]:
        for literal, _ in body_literals(rule):
            if literal.predicate == callee:
                return rule, literal
    raise AssertionError(f"{caller} does not use {callee}")


def negative_rule_cycles(sheet: Sheet) -> Findings:
    """GDL207: rules that need their own conclusion to be false."""
    for cycle in sheet.negative_cycles:
        names = [str(rule.head) for rule in cycle.rules]
        chain = " needs ".join([*_shortened(names), names[0]])
        message = f"negation in a cycle: {chain}, one step through this negation"
        notes = [
            Related(f"{rule.head} is concluded here", rule.head.span) for rule in cycle.rules[:SHOWN_RULES]
        ]
        yield error("GDL207", message, cycle.span, *notes)


def negative_predicate_cycles(sheet: Sheet) -> Findings:
    """GDL303: unstratified predicates, although no rule needs its own negation."""
    dependencies = sheet.dependencies
    reported = {cycle.rules[0].predicate for cycle in sheet.negative_cycles}
    for component in dependencies.components:
        if not dependencies.is_recursive(component) or not reported.isdisjoint(component):
            continue
        members = set(component)
        for predicate in component:
            rules = sheet.program.by_predicate.get(predicate, ())
            uses = (used for rule in rules for used in body_literals(rule))
            negated = (one for one, is_positive in uses if not is_positive and one.predicate in members)
            literal = next(negated, None)
            if literal is None:
                continue
            path = [predicate, *shortest_path(literal.predicate, predicate, dependencies.callees)]
            chain = " needs ".join(_shortened([str(step.name) for step in path]))
            message = (
                f"negation in a cycle of relations: {chain}. No atom depends on its own negation, so the"
                " game can be played here, but other programs may refuse it"
            )
            notes = [
                Related(f"{a.name} needs {b.name}", _use_of(sheet.program, a, b)[1].atom.span)
                for a, b in pairwise(path[1 : SHOWN_RULES + 2])
            ]
            yield warning("GDL303", message, literal.span or literal.atom.span, *notes)
            break


def _shortened(names: list[str]) -> list[str]:
    return names if len(names) <= 12 else [*names[:6], "…", *names[-5:]]


CHECKS = (misplaced_dependencies, negative_rule_cycles, dependent_declarations, negative_predicate_cycles)
