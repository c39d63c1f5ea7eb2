"""Findings that only follow from an error elsewhere in the sheet.

A rule with an error concludes less than was meant, or something else. What the argument shapes of its
relation then seem to rule out, directly or in relations that need it, is left out until the error is gone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

from gdl.dependencies import DOES, TRUE
from gdl.errors import Diagnostic
from gdl.program import Predicate, arguments_of, body_literals, predicate_of
from gdl.terms import Compound, Span, Symbol, Variable
from gdl.validation.inference import FED_BY
from gdl.validation.sheet import Sheet

FOLLOWING = frozenset({"GDL305", "GDL306", "GDL308", "GDL320"})
CAUSES = frozenset({"GDL202", "GDL203", "GDL204", "GDL205", "GDL212", "GDL215", "GDL218", "GDL219", "GDL332"})
"""Errors after which a rule concludes less than was meant, or nothing."""

_FED = {maker.name: fed for maker, fed in FED_BY.items()}
_START, _END = Span(0, 0, 0, 0), (1 << 30, 1 << 30)

Subject: TypeAlias = tuple[Predicate, Predicate | None]
"""A relation; for `true` and `does` with the name and arity of the fact or move, None for a variable."""


def without_consequences(sheet: Sheet, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """`found` without the FOLLOWING ones that pass through a literal or relation with an error.

    >>> from gdl.errors import Severity
    >>> from gdl.syntax.parser import parse
    >>> sheet = Sheet(parse("(p 1) (<= (q ?x ?y) (p ?x)) (<= r (q ?x ?y) (p ?y))"))
    >>> follows = Diagnostic("GDL308", Severity.WARNING, "never applies", Span(1, 38, 1, 47))
    >>> unsafe = Diagnostic("GDL205", Severity.ERROR, "unbound", Span(1, 17, 1, 19))
    >>> len(without_consequences(sheet, [follows])), len(without_consequences(sheet, [follows, unsafe]))
    (1, 1)
    """
    errors = sorted(d.span for d in found if d.code in CAUSES and d.span is not None)
    rules = sheet.program.rules
    if not errors or all(diagnostic.code not in FOLLOWING for diagnostic in found):
        return list(found)
    starts = [rule.span or _START for rule in rules]

    def has_error(span: Span | None) -> bool:
        place = bisect_left(errors, (span or _START)[:2])
        return span is not None and place < len(errors) and errors[place][:2] < span[2:]

    faulty = {_subject(rule.head) for rule in rules if has_error(rule.span)}

    @cache
    def is_tainted(subject: Subject) -> bool:
        predicate, inner = subject
        if subject in faulty or (inner is None and any(predicate == other for other, _ in faulty)):
            return True
        roots = {predicate}
        for maker, fed in FED_BY.items():
            if fed == predicate:
                made = (r for r in sheet.program.by_predicate.get(maker, ()) if _subject(r.head) == subject)
                asked = [literal.atom for rule in made for literal, _ in body_literals(rule)]
                roots.update(map(predicate_of, asked))
                if not faulty.isdisjoint(map(_subject, asked)):
                    return True
        return any((needed, None) in faulty for needed in sheet.dependencies.reachable(roots))

    def follows(diagnostic: Diagnostic) -> bool:
        if diagnostic.code not in FOLLOWING or diagnostic.span is None:
            return False
        place = bisect_right(starts, (*diagnostic.span[:2], *_END)) - 1
        literals = [literal for literal, _ in body_literals(rules[place])] if place >= 0 else []
        start = diagnostic.span[:2]
        here = [each for each in literals if (at := each.atom.span) and at[:2] <= start < at[2:]]
        if any(has_error(literal.atom.span) for literal in here):
            return True
        concerned = literals if diagnostic.code == "GDL308" else here
        return diagnostic.code in {"GDL306", "GDL308"} and any(
            is_tainted(_subject(each.atom)) for each in concerned
        )

    return [diagnostic for diagnostic in found if not follows(diagnostic)]


def _subject(atom: Symbol | Compound) -> Subject:
    predicate = FED_BY.get(predicate_of(atom), predicate_of(atom))
    if predicate.name in _FED:  # with another number of arguments
        return _FED[predicate.name], None
    if predicate not in (TRUE, DOES):
        return predicate, None
    term = arguments_of(atom)[-1]
    return predicate, None if isinstance(term, Variable) else predicate_of(term)
