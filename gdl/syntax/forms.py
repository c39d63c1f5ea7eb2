"""Parsed terms to rules, atoms and formulas.

Both syntaxes are first parsed to terms, a rule being a term named `<=`, and only then interpreted. So
a connective in the wrong place is found here, once for both, and reported as such.
"""

from __future__ import annotations

from collections.abc import Sequence

from gdl.errors import Diagnostic, Severity
from gdl.program import Conjunction, Disjunction, Formula, Literal, Negation, Rule
from gdl.terms import Compound, Span, Symbol, Term, Variable

ARROW = "<="
CONNECTIVES = frozenset({ARROW, "and", "or", "not"})
_SHOWN = {"and": "(and (p) (q))", "or": "(or (p) (q))", "not": "(not (p))"}


MAX_ARGUMENTS = 1_000
"""Maximum arguments of an atom or term. Real sheets need a few dozen, and some steps visit all pairs."""


class MisplacedFormError(Exception):
    """A form that has no meaning in its place."""

    def __init__(self, code: str, message: str, span: Span | None) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, Severity.ERROR, message, span)


def rules_of(forms: Sequence[Term], diagnostics: list[Diagnostic]) -> list[Rule]:
    """The rules denoted by top-level `forms`. Errors in the others are appended to `diagnostics`."""
    rules = []
    for form in forms:
        try:
            rules.append(rule_of(form))
        except MisplacedFormError as error:
            diagnostics.append(error.diagnostic)
    return rules


def rule_of(form: Term) -> Rule:
    """The rule `(<= head formula …)`, or a fact. Raises MisplacedFormError."""
    if not isinstance(form, Compound) or form.name != ARROW:
        return Rule(_atom(form), (), form.span)
    if not form.arguments:
        raise MisplacedFormError("GDL108", "rule without a head: write (<= head body ...)", form.span)
    head = _atom(form.arguments[0])
    return Rule(head, tuple([_formula(argument) for argument in form.arguments[1:]]), form.span)


def check_term(term: Term) -> None:
    """Raise MisplacedFormError for rules inside terms, or too many arguments."""
    if isinstance(term, Compound):
        if len(term.arguments) > MAX_ARGUMENTS:
            count = f"{len(term.arguments)} arguments, more than the limit of {MAX_ARGUMENTS}"
            raise MisplacedFormError("GDL116", f"'{term.name}' has {count}", term.span)
        if term.name == ARROW:
            raise _misplaced(term)
        for argument in term.arguments:
            if type(argument) is Compound:
                check_term(argument)


def _formula(form: Term) -> Formula:
    if isinstance(form, Compound) and form.name in CONNECTIVES:
        if form.name == ARROW:
            raise _misplaced(form)
        operands = tuple([_formula(argument) for argument in form.arguments])
        if form.name == "and":
            return Conjunction(operands, form.span)
        if form.name == "or":
            return Disjunction(operands, form.span)
        if len(operands) != 1:
            raise MisplacedFormError(
                "GDL110", f"'not' takes exactly one formula, not {len(operands)}", form.span
            )
        operand = operands[0]
        if isinstance(operand, Literal) and operand.is_positive:
            return Literal(operand.atom, False, form.span)
        return Negation(operand, form.span)
    return Literal(_atom(form), True, form.span)


def _atom(form: Term) -> Symbol | Compound:
    if isinstance(form, Variable):
        raise MisplacedFormError(
            "GDL113", f"variable {form} where an atom is expected: name a relation", form.span
        )
    if isinstance(form, Symbol):
        if form.name in CONNECTIVES and form.name != ARROW:
            text = f"'{form.name}' precedes its formulas, inside parentheses: {_SHOWN[form.name]}"
            raise MisplacedFormError("GDL111", text, form.span)
        if form.name in CONNECTIVES:
            raise _misplaced(form)
    elif form.name in CONNECTIVES:
        raise _misplaced(form)
    else:
        check_term(form)
    return form


def _misplaced(form: Symbol | Compound) -> MisplacedFormError:
    if form == Symbol(ARROW):
        message = "'<=' without its '(' before it: a rule is (<= head body ...)"
    elif form.name == ARROW:
        message = "'<=' inside another form: rules cannot be nested; is a ')' missing before it?"
    else:
        message = f"'{form.name}' is a connective: it can only combine formulas in the body of a rule"
    return MisplacedFormError("GDL111", message, form.span)
