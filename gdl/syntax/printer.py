"""Printer of terms, formulas, rules and programs in both syntaxes.

Both forms parse back to equal values: `parse(to_kif(program)) == program`, and likewise infix.
Names are printed in their canonical lower case.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from gdl.program import Conjunction, Disjunction, Formula, Literal, Negation, Program, Rule
from gdl.terms import Compound, Symbol, Term, Variable

Printable: TypeAlias = Term | Formula | Rule | Program

INDENT = "    "
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_]*|-[0-9]+")
_PLAIN_VARIABLE = re.compile(r"[a-z][a-z0-9_]*|_[a-z0-9_]+")


def to_kif(value: Printable) -> str:
    """Canonical KIF, with each formula of a body on its line.

    >>> from gdl.syntax.parser import parse
    >>> print(to_kif(parse("terminal :- true(won(X)) & ~lost(X)")), end="")
    (<= terminal
        (true (won ?x))
        (not (lost ?x)))
    """
    if isinstance(value, Program):
        return "".join([to_kif(rule) + "\n" for rule in value.rules])
    if isinstance(value, Rule):
        if not value.body:
            return str(value.head)
        return f"(<= {value.head}" + "".join([f"\n{INDENT}{to_kif(part)}" for part in value.body]) + ")"
    if isinstance(value, Literal):
        return str(value.atom) if value.is_positive else f"(not {value.atom})"
    if isinstance(value, Negation):
        return f"(not {to_kif(value.operand)})"
    if isinstance(value, Conjunction | Disjunction):
        name = "and" if isinstance(value, Conjunction) else "or"
        return "(" + " ".join([name, *map(to_kif, value.operands)]) + ")"
    return str(value)


def to_infix(value: Printable) -> str:
    """Infix form with full stops. Each formula of a body on its own line, joined by `&`.

    >>> from gdl.syntax.parser import parse
    >>> print(to_infix(parse("(<= terminal (true (won ?x)) (not (lost ?x)))")), end="")
    terminal :-
        true(won(X)) &
        ~lost(X).
    """
    if isinstance(value, Program):
        return "".join([to_infix(rule) + "\n" for rule in value.rules])
    if isinstance(value, Rule):
        return f"{_term(value.head)}{_body(value.body)}."
    if isinstance(value, Symbol | Variable | Compound):
        return _term(value)
    return _formula(value)


def _body(body: tuple[Formula, ...]) -> str:
    if not body:
        return ""
    if len(body) == 1:
        # `a & b` would parse as a body of two formulas, `(a & b)` as a body of one
        only = _operand(body[0]) if isinstance(body[0], Conjunction) else _formula(body[0])
        return f" :-\n{INDENT}{only}"
    return f" :-\n{INDENT}" + f" &\n{INDENT}".join(map(_operand, body))


def _formula(formula: Formula) -> str:
    if isinstance(formula, Literal):
        return ("" if formula.is_positive else "~") + _term(formula.atom)
    if isinstance(formula, Negation):
        return "~" + _operand(formula.operand)
    sign = "&" if isinstance(formula, Conjunction) else "|"
    if _is_chain(formula):
        return f" {sign} ".join(map(_operand, formula.operands))
    return sign + "(" + ", ".join(map(_formula, formula.operands)) + ")"


def _operand(formula: Formula) -> str:
    """`formula` as an operand: chains of operators in parentheses."""
    return f"({_formula(formula)})" if _is_chain(formula) else _formula(formula)


def _is_chain(formula: Formula) -> bool:
    return isinstance(formula, Conjunction | Disjunction) and len(formula.operands) > 1


def _term(term: Term) -> str:
    if isinstance(term, Variable):
        if _PLAIN_VARIABLE.fullmatch(term.name):
            return term.name[0].upper() + term.name[1:]
        return "?" + _quoted(term.name)
    name = term.name if _PLAIN_NAME.fullmatch(term.name) else _quoted(term.name)
    if isinstance(term, Compound):
        return name + "(" + ",".join(map(_term, term.arguments)) + ")"
    return name


def _quoted(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
