"""Diagnostics from lark's exceptions, in terms of GDL.

The exceptions are distinguished by their attributes (an `UnexpectedToken` has a `token`, an
`UnexpectedCharacters` a `char`), so that only `gdl.syntax.parser` imports lark.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gdl.errors import Diagnostic, Severity
from gdl.terms import Span

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput


def kif_error(error: UnexpectedInput) -> Diagnostic:
    """The diagnostic for an error in balanced KIF text."""
    text = str(getattr(error, "token", "?"))
    if text == ")":
        code, message = "GDL106", "empty list '()': a list begins with a name"
    elif text == "?":
        code, message = "GDL109", "variable without a name after '?'"
    else:
        code, message = "GDL107", f"a list begins with a name, not with '{text}'"
    return Diagnostic(code, Severity.ERROR, message, _place(error, len(text)))


def infix_error(error: UnexpectedInput) -> Diagnostic:
    """The diagnostic for an error in an infix text. Without a span if the text ends too early."""
    token = getattr(error, "token", None)
    code, message = "GDL112", f"unexpected '{token}': write rules as head :- atom & ~atom"
    if token is None:
        text = getattr(error, "char", "?")
        message = f"unexpected character '{text}': quote names that are not plain words, like 'map+'"
    elif token.type == "$END":
        return Diagnostic(code, Severity.ERROR, "the text ends in the middle of a rule")
    elif token.type in ("NAME", "VARIABLE") and "COMMA" in getattr(error, "expected", ()):
        message = (
            f"unexpected '{token}': ',' separates arguments in infix form (in KIF, '(' precedes the name:"
            " (name argument ...))"
        )
    elif token.type == "VARIABLE":
        code = "GDL113"
        message = f"variable '{token}' where an atom is expected: relations begin with a lower-case letter"
    return Diagnostic(code, Severity.ERROR, message, _place(error, 1 if token is None else len(token)))


def moved(diagnostic: Diagnostic, offset: Span) -> Diagnostic:
    """`diagnostic` of a piece at `offset`, placed in the whole text."""
    if diagnostic.span is None:
        return diagnostic
    line, column, end_line, end_column = diagnostic.span
    column += offset.column - 1 if line == 1 else 0
    end_column += offset.column - 1 if end_line == 1 else 0
    shift = offset.line - 1
    return replace(diagnostic, span=Span(line + shift, column, end_line + shift, end_column))


def _place(error: UnexpectedInput, length: int) -> Span:
    return Span(error.line, error.column, error.line, error.column + length)
