"""The list of all checks, and the functions that run them."""

from __future__ import annotations

from collections.abc import Iterable

from gdl.errors import Diagnostic, GdlValidationError, Severity
from gdl.program import Program
from gdl.terms import Span
from gdl.validation.checks import (
    dead_rules,
    dependence,
    facts,
    foreign,
    names,
    recursion,
    redundancy,
    roles,
    safety,
    structure,
)
from gdl.validation.consequences import without_consequences
from gdl.validation.selection import Selection, merged_singletons
from gdl.validation.sheet import Sheet
from gdl.validation.wording import in_infix

MAX_FINDINGS = 100
"""Maximum number of errors, and of warnings, reported for one sheet."""

DEFAULT = Selection()
"""All codes except those that are off by default."""

_ESSENTIAL = (
    structure.missing_roles,
    structure.wrong_arities,
    structure.misplaced_keywords,
    dependence.misplaced_dependencies,
    safety.unsafe_variables,
    dependence.negative_rule_cycles,
    foreign.knowledge,
)

_FILES = (structure, safety, dependence, recursion, roles, names, dead_rules, redundancy, foreign, facts)
_COMPLETE = tuple(check for file in _FILES for check in file.CHECKS)


def check(program: Program) -> list[Diagnostic]:
    """The errors that make `program` meaningless, by place. The program may be normalized or not.

    >>> from gdl.syntax.parser import parse
    >>> [found.code for found in check(parse("(role robot) (<= (legal robot ?x) (not (p ?x)))"))]
    ['GDL205']
    """
    sheet = Sheet(program)
    return _ordered([*sheet.oversized, *(found for test in _ESSENTIAL for found in test(sheet))], sheet)


def validate(program: Program, selection: Selection = DEFAULT) -> list[Diagnostic]:
    """All errors and warnings about `program` that need no playing, by place; what is missing comes last.

    Findings that `selection` excludes are left out. At most MAX_FINDINGS errors and as many warnings. Never
    raises. Pass the program as parsed: normalizing loses how bodies were written.

    >>> from gdl.syntax.parser import parse
    >>> rules = "(role robot) (init on) (legal robto wait) (next on) (goal robot 0) (<= terminal (true on))"
    >>> for found in validate(parse(rules)):
    ...     print(found.code, found.message)
    GDL322 role robot can never move: no rule for 'legal' applies to it
    GDL212 'legal' for robto, which is not a role: did you mean 'robot'?
    """
    sheet = Sheet(program)
    found = [*sheet.oversized, *(found for test in _COMPLETE for found in test(sheet))]
    found = without_consequences(sheet, found)
    return _ordered(merged_singletons(d for d in found if selection.includes(d.code)), sheet)


def require_valid(program: Program) -> None:
    """Raise GdlValidationError with the findings of `check`, if there are any."""
    errors = check(program)
    if errors:
        raise GdlValidationError(errors, program.source)


def _ordered(found: Iterable[Diagnostic], sheet: Sheet) -> list[Diagnostic]:
    unique = dict.fromkeys(found)
    kept: list[Diagnostic] = []
    for severity in Severity:
        kept += sorted((d for d in unique if d.severity is severity), key=reading_order)[:MAX_FINDINGS]
    kept.sort(key=reading_order)
    return [in_infix(diagnostic, sheet) for diagnostic in kept] if sheet.is_infix else kept


def reading_order(diagnostic: Diagnostic) -> tuple[bool, Span, str]:
    """Sort key: by place; what concerns the sheet as a whole, such as a missing relation, comes last."""
    return diagnostic.span is None, diagnostic.span or Span(0, 0, 0, 0), diagnostic.code
