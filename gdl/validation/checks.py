"""The list of all checks, and the functions that run them."""

from __future__ import annotations

from collections.abc import Iterable

from gdl.errors import Diagnostic, GdlValidationError, Severity
from gdl.program import Program
from gdl.terms import Span
from gdl.validation import (
    completeness,
    connectives,
    dependence,
    domains,
    firing,
    goals,
    growth,
    keyword_places,
    names,
    redundancy,
    safety,
    usage,
)
from gdl.validation.sheet import Sheet

MAX_FINDINGS = 100
"""Longest list of errors, and of warnings, that is reported for one sheet."""

_ESSENTIAL = (
    completeness.missing_roles,
    keyword_places.wrong_arities,
    keyword_places.misplaced_keywords,
    dependence.misplaced_dependencies,
    safety.unsafe_variables,
    dependence.negative_rule_cycles,
)

_COMPLETE = (
    *_ESSENTIAL,
    completeness.missing_relations,
    completeness.idle_roles,
    keyword_places.misplaced_declarations,
    keyword_places.keywords_as_terms,
    dependence.dependent_declarations,
    dependence.negative_predicate_cycles,
    growth.recursion,
    growth.growing_states,
    goals.impossible_goals,
    goals.strangers,
    names.other_arities,
    names.bare_parentheses,
    names.unusual_characters,
    names.capitalizations,
    names.relations_as_functions,
    safety.singletons,
    usage.undefined_relations,
    usage.unneeded_relations,
    firing.impossible_rules,
    domains.undeclared,
    domains.overdeclared,
    redundancy.repeated_rules,
    connectives.odd_disjunctions,
    connectives.empty_bodies,
)


def check(program: Program) -> list[Diagnostic]:
    """The errors that leave `program` (normalized or not) without a meaning, by place."""
    sheet = Sheet(program)
    return _ordered([*sheet.oversized, *(found for test in _ESSENTIAL for found in test(sheet))])


def validate(program: Program) -> list[Diagnostic]:
    """All that is wrong or odd about `program` as far as can be told without playing, by place.

    At most MAX_FINDINGS errors and as many warnings. Never raises. `program` should be as the parser
    made it: normalizing loses how bodies were written.
    """
    sheet = Sheet(program)
    return _ordered([*sheet.oversized, *(found for test in _COMPLETE for found in test(sheet))])


def require_valid(program: Program) -> None:
    """Raise GdlValidationError with what `check` finds, if it finds anything."""
    errors = check(program)
    if errors:
        raise GdlValidationError(errors, program.source)


def _ordered(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    unique = dict.fromkeys(found)
    kept: list[Diagnostic] = []
    for severity in Severity:
        kept += sorted((d for d in unique if d.severity is severity), key=_place)[:MAX_FINDINGS]
    return sorted(kept, key=_place)


def _place(diagnostic: Diagnostic) -> tuple[Span, str]:
    return diagnostic.span or Span(0, 0, 0, 0), diagnostic.code
