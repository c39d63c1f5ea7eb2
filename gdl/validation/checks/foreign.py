"""Checks for relations and functions of other languages: equality, arithmetic, quantifiers, knowledge.

In GDL each of these is a relation or function like any other, so a sheet may define it, and then nothing is
reported. Without rules it never holds, which is not what its author meant.
"""

from __future__ import annotations

from gdl.syntax.foreign_in_kif import (
    ARITHMETIC,
    ARROWS,
    COMPARISONS,
    EQUAL,
    JOINS,
    NEGATIONS,
    NO_EQUALITY,
    NO_NUMBERS,
    NO_ORDER,
    NO_QUANTIFIER,
    UNEQUAL,
    order_asked,
)
from gdl.terms import Compound, Variable, is_ground, variables
from gdl.validation.codes import Findings, error, warning
from gdl.validation.sheet import Sheet, terms_below

QUANTIFIERS = frozenset({"exists", "forall", "∃", "∀"})
EQUALITY_WORDS = frozenset({"equal", "equals", "eq", "same"})
UNEQUAL_WORDS = frozenset({"different", "unequal", "neq", "dif", "noteq", "notequal"})
FOREIGN = ARITHMETIC.union(ARROWS, COMPARISONS, EQUAL, JOINS, NEGATIONS, UNEQUAL, QUANTIFIERS)
FOREIGN |= EQUALITY_WORDS | UNEQUAL_WORDS
"""Names of relations that other languages define."""


def foreign_relations(sheet: Sheet) -> Findings:
    """GDL218, at each place."""
    for atom in foreign_atoms(sheet):
        if atom.name in FOREIGN:
            yield error("GDL218", _instead(atom), atom.span)


def foreign_atoms(sheet: Sheet) -> list[Compound]:
    """The atoms of FOREIGN relations without rules, and of `knows`."""
    return [
        literal.atom
        for _, literal, _ in sheet.literals()
        if literal.atom.name in FOREIGN | {"knows"}
        and literal.atom.name not in sheet.names_defined
        and isinstance(literal.atom, Compound)
    ]


def _instead(atom: Compound) -> str:
    name, shown = atom.name, list(map(str, atom.arguments))
    left, right = [*shown, "?x", "?y"][:2] if len(shown) > 1 else ("?x", "?y")
    if name in UNEQUAL | UNEQUAL_WORDS:
        return f"GDL writes '{name}' as (distinct {left} {right})"
    sums = [term for term in atom.arguments if isinstance(term, Compound) and term.name in ARITHMETIC]
    if name in EQUAL and sums:
        operand = next((str(each) for each in variables(sums[0])), "?x")
        return NO_NUMBERS.format(operand, right if sums[0] is atom.arguments[0] else left)
    if name in EQUAL | EQUALITY_WORDS:
        return NO_EQUALITY.format(left, right).replace("'='", f"'{name}'")
    if name in NEGATIONS and len(shown) == 1:
        return f"'{name}' has no meaning in GDL: write (not {shown[0]})"
    if name in JOINS:
        return f"'{name}' has no meaning in GDL: write ({' '.join([JOINS[name], *shown])})"
    if name in COMPARISONS and name != "is":
        return NO_ORDER.format(order_asked(name, left, right))
    if name in ARITHMETIC or name == "is":
        operand = next((str(each) for term in atom.arguments[1:] for each in variables(term)), "?x")
        return NO_NUMBERS.format(operand, left if name == "is" else "?next")
    if name in QUANTIFIERS:
        return NO_QUANTIFIER.format(name)
    return f"GDL has no '{name}' in bodies: write a rule for it, (<= head body ...)"


def knowledge(sheet: Sheet) -> Findings:
    """GDL219: played without it, this would be another game."""
    for atom in foreign_atoms(sheet):
        if atom.name == "knows" and 1 <= len(atom.arguments) <= 3:
            yield error("GDL219", "GDL-III is not supported: without 'knows' this is another game", atom.span)


def arithmetic(sheet: Sheet) -> Findings:
    """GDL332: sums that nothing computes, unless the sheet has such terms without variables."""
    terms = [
        term
        for term in sheet.terms()
        if isinstance(term, Compound) and term.name in ARITHMETIC and len(term.arguments) == 2
    ]
    reported = {id(term) for atom in foreign_atoms(sheet) for term in terms_below(atom)}
    plain = {term.name for term in terms if is_ground(term)}
    for term in terms:
        operand = next((each for each in term.arguments if isinstance(each, Variable)), None)
        if operand is not None and term.name not in plain and id(term) not in reported:
            message = f"{term} stays as it is. {NO_NUMBERS.format(operand, '?next')}"
            yield warning("GDL332", message, term.span)


CHECKS = (knowledge, foreign_relations, arithmetic)
