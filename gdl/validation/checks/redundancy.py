"""Checks for redundancy: duplicate rules, and connectives without effect."""

from __future__ import annotations

from gdl.dependencies import masked
from gdl.errors import Related
from gdl.program import Disjunction, Rule, arguments_of, body_literals
from gdl.terms import Compound, Term, Variable
from gdl.validation.codes import Findings, warning
from gdl.validation.sheet import Sheet, disjunctions_in


def repeated_rules(sheet: Sheet) -> Findings:
    """GDL309; of two equivalent rules, the later one is reported."""
    if sheet.is_intricate:
        return
    duplicates: set[int] = set()
    first: dict[object, Rule] = {}
    for written, alternatives in sheet.alternatives:
        for plain in alternatives:
            earlier = first.setdefault(canonical(plain), written)
            if earlier is not written and id(written) not in duplicates:
                duplicates.add(id(written))
                kind = "rule" if plain.body else "fact"
                message = f"duplicate {kind}: remove one of the two"
                yield warning("GDL309", message, written.span, Related("the first", earlier.span))


def canonical(rule: Rule) -> object:
    """A key equal for rules that are the same up to notation.

    They may differ in variable names and in order and repetition of literals. Literals are sorted with their
    variables masked, so that a duplicate is missed now and then.
    """
    literals = sorted(dict.fromkeys(rule.literals), key=lambda literal: masked(literal.atom))
    names: dict[str, int] = {}

    def numbered(term: Term) -> object:
        if isinstance(term, Variable):
            return names.setdefault(term.name, len(names))
        if isinstance(term, Compound):
            return (term.name, *map(numbered, term.arguments))
        return term.name

    head = numbered(rule.head)
    return head, tuple((literal.is_positive, numbered(literal.atom)) for literal in literals)


def odd_disjunctions(sheet: Sheet) -> Findings:
    """GDL311."""
    for formula in disjunctions_in(sheet.program):
        if not formula.operands:
            yield warning("GDL311", "empty 'or': it never holds", formula.span)
        elif len(formula.operands) == 1:
            yield warning("GDL311", "'or' with one formula: write the formula alone", formula.span)
        for operand in formula.operands:
            if isinstance(operand, Disjunction):
                message = "'or' directly inside 'or': merge them into one"
                yield warning("GDL311", message, operand.span)


def negated_distinct(sheet: Sheet) -> Findings:
    """GDL328."""
    for rule in sheet.program.rules:
        for literal, is_positive in body_literals(rule):
            if literal.atom.name == "distinct" and not is_positive and literal.predicate.arity == 2:
                left, right = arguments_of(literal.atom)
                message = (
                    f"'not' around 'distinct' says that {left} and {right} are equal: use one term for both"
                )
                yield warning("GDL328", message, literal.span or literal.atom.span)


def empty_bodies(sheet: Sheet) -> Findings:
    """GDL312. The span of a fact is that of its head. The span of a rule includes the arrow."""
    for rule in sheet.program.rules:
        if not rule.body and rule.span is not None and rule.span != rule.head.span:
            yield warning("GDL312", f"rule without a body: write it as a fact, {rule.head}", rule.span)


CHECKS = (repeated_rules, odd_disjunctions, negated_distinct, empty_bodies)
