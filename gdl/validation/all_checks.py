"""The list of all checks, and the functions that run them."""

from __future__ import annotations

from collections.abc import Iterable

from gdl.errors import Diagnostic, GdlValidationError, Severity
from gdl.program import Program
from gdl.terms import Span
from gdl.validation.checks.dead_rules import impossible_rules, undefined_relations, unneeded_relations
from gdl.validation.checks.dependence import (
    dependent_declarations,
    misplaced_dependencies,
    negative_predicate_cycles,
    negative_rule_cycles,
)
from gdl.validation.checks.facts import forgotten_facts, overdeclared, undeclared
from gdl.validation.checks.foreign import arithmetic, foreign_relations, knowledge
from gdl.validation.checks.names import (
    bare_parentheses,
    capitalizations,
    other_arities,
    relations_as_functions,
    unusual_characters,
)
from gdl.validation.checks.recursion import growing_states, recursion
from gdl.validation.checks.redundancy import (
    empty_bodies,
    negated_distinct,
    odd_disjunctions,
    repeated_rules,
)
from gdl.validation.checks.roles import (
    doubtful_goals,
    idle_roles,
    impossible_goals,
    misspelled_roles,
    unknown_roles,
)
from gdl.validation.checks.safety import singletons, unsafe_variables
from gdl.validation.checks.structure import (
    keywords_as_terms,
    misplaced_declarations,
    misplaced_keywords,
    missing_relations,
    missing_roles,
    percepts_of_next_state,
    wrong_arities,
)
from gdl.validation.consequences import without_consequences
from gdl.validation.selection import (
    Selection,
    idle_comments,
    merged_singletons,
    silenced,
    silences,
)
from gdl.validation.sheet import Sheet
from gdl.validation.wording import in_infix

MAX_FINDINGS = 100
"""Maximum number of errors, and of warnings, reported for one sheet."""

DEFAULT = Selection()
"""All codes except those that are off by default."""

_ESSENTIAL = (
    missing_roles,
    wrong_arities,
    misplaced_keywords,
    misplaced_dependencies,
    unsafe_variables,
    negative_rule_cycles,
    knowledge,
)

_COMPLETE = (
    *_ESSENTIAL,
    missing_relations,
    idle_roles,
    misplaced_declarations,
    percepts_of_next_state,
    keywords_as_terms,
    dependent_declarations,
    negative_predicate_cycles,
    recursion,
    growing_states,
    impossible_goals,
    doubtful_goals,
    unknown_roles,
    misspelled_roles,
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
    negated_distinct,
    empty_bodies,
    foreign_relations,
    arithmetic,
)


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

    Findings that `selection` excludes or a comment silences are left out. At most MAX_FINDINGS errors and as
    many warnings. Never raises. Pass the program as parsed: normalizing loses how bodies were written.

    >>> from gdl.syntax.parser import parse
    >>> rules = "(role robot) (init on) (legal robto wait) (next on) (goal robot 0) (<= terminal (true on))"
    >>> for found in validate(parse(rules)):
    ...     print(found.code, found.message)
    GDL322 role robot can never move: no rule for 'legal' applies to it
    GDL212 'legal' for robto, which is not a role: did you mean 'robot'?
    """
    sheet = Sheet(program)
    comments = silences(program)
    found = [*sheet.oversized, *(found for test in _COMPLETE for found in test(sheet))]
    found = without_consequences(sheet, found)
    kept, used = silenced(found, comments)
    kept += silenced(idle_comments(comments, used), comments)[0]
    return _ordered(merged_singletons(d for d in kept if selection.includes(d.code)), sheet)


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
