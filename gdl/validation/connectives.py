"""Bodies written in a way that hides what they mean."""

from __future__ import annotations

from gdl.program import Disjunction
from gdl.validation.codes import Findings, warning
from gdl.validation.sheet import Sheet, formulas_in


def odd_disjunctions(sheet: Sheet) -> Findings:
    """GDL311."""
    for rule in sheet.program.rules:
        for outer in rule.body:
            for formula in formulas_in(outer):
                if not isinstance(formula, Disjunction):
                    continue
                if not formula.operands:
                    yield warning("GDL311", "empty 'or': it never holds", formula.span)
                elif len(formula.operands) == 1:
                    yield warning("GDL311", "'or' with one formula: the formula alone will do", formula.span)
                for operand in formula.operands:
                    if isinstance(operand, Disjunction):
                        message = "'or' directly inside 'or': one with all the formulas says the same"
                        yield warning("GDL311", message, operand.span)


def empty_bodies(sheet: Sheet) -> Findings:
    """GDL312. A fact's span is its head's, a rule's includes the arrow."""
    for rule in sheet.program.rules:
        if not rule.body and rule.span is not None and rule.span != rule.head.span:
            yield warning("GDL312", f"rule without a body: write it as a fact, {rule.head}", rule.span)
