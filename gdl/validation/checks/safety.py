"""Checks of variables: unbound ones, and those that occur only once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gdl.program import Rule, arguments_of, atoms_of, body_literals, variables_of
from gdl.terms import Variable, variables
from gdl.validation.codes import Findings, error, warning
from gdl.validation.sheet import ABOUT_ROLES, Sheet


def unsafe_variables(sheet: Sheet) -> Findings:
    """GDL205: variables that no positive literal of a plain body binds."""
    for rule in sheet.plain.rules:
        yield from _unsafe(rule, is_infix=sheet.is_infix)


def _unsafe(rule: Rule, *, is_infix: bool) -> Findings:
    bound: set[str] = set()
    for literal in rule.literals:
        if literal.is_positive and literal.atom.name != "distinct":
            bound.update(variable.name for variable in variables(literal.atom))
    owners = {arguments_of(atom)[:1] for atom in atoms_of(rule) if atom.name in ABOUT_ROLES}
    reported: set[str] = set()
    for place, variable in _variables_to_bind(rule):
        if variable.name not in bound and variable.name not in reported:
            reported.add(variable.name)
            if rule.body:
                message = (
                    f"variable {variable} in {place} is unbound: use it in a positive literal of the body"
                    + (f", such as (role {variable})" if (variable,) in owners else "")
                )
            else:
                hint = " (names begin with a lower-case letter)" if is_infix else ""
                message = f"variable {variable} in a fact: facts must be ground{hint}"
            yield error("GDL205", message, variable.span or rule.span)


def _variables_to_bind(rule: Rule) -> Iterator[tuple[str, Variable]]:
    for variable in variables(rule.head):
        yield "the head", variable
    for literal in rule.literals:
        if literal.atom.name == "distinct":
            place = "'distinct'"
        elif not literal.is_positive:
            place = "a negation"
        else:
            continue
        for variable in variables(literal.atom):
            yield place, variable


def singletons(sheet: Sheet) -> Findings:
    """GDL304: a variable that occurs once in a rule joins nothing. Often it is misspelled.

    A leading underscore marks it as intended. In the head, a negation or `distinct`, a single occurrence is
    unsafe and reported as GDL205.
    """
    for rule in sheet.program.rules:
        count = Counter(variable.name for variable in variables_of(rule))
        for literal, is_positive in body_literals(rule):
            if not is_positive or literal.atom.name == "distinct":
                continue
            for variable in variables(literal.atom):
                if count[variable.name] == 1 and not variable.name.startswith("_"):
                    message = (
                        f"variable {variable} occurs only here in its rule: is it misspelled?"
                        f" If any value will do, call it ?_{variable.name}"
                    )
                    yield warning("GDL304", message, variable.span or rule.span)


CHECKS = (unsafe_variables, singletons)
