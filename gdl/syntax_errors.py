"""What lark says of a text, as diagnostics that name the fault in terms of GDL.

lark's exceptions are taken as they are (an `UnexpectedToken` has a `token`, an `UnexpectedCharacters` a
`char`), so that only `gdl.parser` imports lark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gdl.errors import Diagnostic, Severity
from gdl.terms import Span

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput


def kif_error(error: UnexpectedInput) -> Diagnostic:
    """The fault in a KIF text whose parentheses are balanced."""
    text = str(getattr(error, "token", "?"))
    if text == ")":
        code, message = "GDL106", "empty list '()': a list begins with a name"
    elif text == "?":
        code, message = "GDL109", "variable without a name after '?'"
    else:
        code, message = "GDL107", f"a list begins with a name, not with '{text}'"
    return Diagnostic(code, Severity.ERROR, message, _place(error, len(text)))


def infix_error(error: UnexpectedInput) -> Diagnostic:
    """The fault in an infix text; without a span where the text ends too early."""
    token = getattr(error, "token", None)
    if token is None:
        text = getattr(error, "char", "?")
        message = f"unexpected character '{text}': quote a name that is no plain word, like 'map+'"
        return Diagnostic("GDL112", Severity.ERROR, message, _place(error, 1))
    if token.type == "$END":
        return Diagnostic("GDL112", Severity.ERROR, "the text ends in the middle of a rule")
    if token.type == "VARIABLE":
        message = f"variable '{token}' stands where an atom belongs: relations begin in lower case"
        return Diagnostic("GDL113", Severity.ERROR, message, _place(error, len(token)))
    message = f"unexpected '{token}': rules are written head :- atom & ~atom"
    return Diagnostic("GDL112", Severity.ERROR, message, _place(error, len(token)))


def moved(diagnostic: Diagnostic, offset: Span) -> Diagnostic:
    """`diagnostic` of a piece of text that begins at `offset`, as one of the whole text."""
    span = diagnostic.span
    if span is None:
        return diagnostic
    placed = Span(
        *_shifted(span.line, span.column, offset), *_shifted(span.end_line, span.end_column, offset)
    )
    return Diagnostic(diagnostic.code, diagnostic.severity, diagnostic.message, placed)


def _shifted(line: int, column: int, offset: Span) -> tuple[int, int]:
    return line + offset.line - 1, column + offset.column - 1 if line == 1 else column


def _place(error: UnexpectedInput, length: int) -> Span:
    return Span(error.line, error.column, error.line, error.column + length)
