"""The list of all checks, and the functions that run them."""

from __future__ import annotations

from collections.abc import Iterable

from gdl.errors import Diagnostic, GdlValidationError, Severity
from gdl.program import Program
from gdl.terms import Span
from gdl.validation.completeness import idle_roles, missing_relations, missing_roles
from gdl.validation.connectives import empty_bodies, odd_disjunctions
from gdl.validation.dependence import (
    dependent_declarations,
    misplaced_dependencies,
    negative_predicate_cycles,
    negative_rule_cycles,
)
from gdl.validation.domains import overdeclared, undeclared
from gdl.validation.firing import impossible_rules
from gdl.validation.frames import forgotten_facts
from gdl.validation.goals import doubtful_goals, impossible_goals
from gdl.validation.growth import growing_states, recursion
from gdl.validation.keyword_places import (
    keywords_as_terms,
    misplaced_declarations,
    misplaced_keywords,
    wrong_arities,
)
from gdl.validation.names import (
    bare_parentheses,
    capitalizations,
    other_arities,
    relations_as_functions,
    unusual_characters,
)
from gdl.validation.redundancy import repeated_rules
from gdl.validation.safety import singletons, unsafe_variables
from gdl.validation.sheet import Sheet
from gdl.validation.strangers import facts_about_strangers, strangers
from gdl.validation.usage import undefined_relations, unneeded_relations

MAX_FINDINGS = 100
"""Longest list of errors, and of warnings, that is reported for one sheet."""

_ESSENTIAL = (
    missing_roles,
    wrong_arities,
    misplaced_keywords,
    misplaced_dependencies,
    unsafe_variables,
    negative_rule_cycles,
)

_COMPLETE = (
    *_ESSENTIAL,
    missing_relations,
    idle_roles,
    misplaced_declarations,
    keywords_as_terms,
    dependent_declarations,
    negative_predicate_cycles,
    recursion,
    growing_states,
    impossible_goals,
    doubtful_goals,
    strangers,
    facts_about_strangers,
    forgotten_facts,
    other_arities,
    bare_parentheses,
    unusual_characters,
    capitalizations,
    relations_as_functions,
    singletons,
    undefined_relations,
    unneeded_relations,
    impossible_rules,
    undeclared,
    overdeclared,
    repeated_rules,
    odd_disjunctions,
    empty_bodies,
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
