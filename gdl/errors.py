"""Exceptions and diagnostics of `gdl`, and how they are rendered.

GdlError
├── RuleSheetError          the rule sheet is at fault; carries located diagnostics
│   ├── GdlSyntaxError      GDL1xx: the text cannot be parsed
│   └── GdlValidationError  GDL2xx: the rules parse but have no meaning
├── ReasoningError          evaluation stopped because a limit was exceeded
└── GroundingError          the rules cannot be grounded, or not within the limits
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from gdl.program import Source
from gdl.terms import Span


class Severity(StrEnum):
    """Severity of a diagnostic."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that explains a diagnostic, such as an earlier use."""

    message: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a rule sheet.

    code      stable, "GDL" and three digits: 1xx syntax errors, 2xx broken restrictions, 3xx warnings
    message   what is wrong and how to fix it, in one sentence
    span      the place in the text; None if it concerns the sheet as a whole
    related   further places that explain it
    """

    code: str
    severity: Severity
    message: str
    span: Span | None = None
    related: tuple[Related, ...] = field(default=())


RENDERED = 10
"""Maximum number of diagnostics in the text of an error: a file of prose may have thousands."""

_VISIBLE: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(0x20)},
    **dict.fromkeys(range(0x7F, 0xA0), 0xFFFD),
    ord("\t"): " ",
    ord("\r"): " ",
}
"""Control characters as visible symbols: the text is untrusted and is shown in a terminal."""


def render(diagnostic: Diagnostic, source: Source) -> str:
    """`file:line:column: error GDL101: message`, then the line with carets under the place.

    >>> source = Source("nim.kif", "(role x)")
    >>> print(render(Diagnostic("GDL304", Severity.WARNING, "just an example", Span(1, 7, 1, 8)), source))
    nim.kif:1:7: warning GDL304: just an example
     1 | (role x)
       |       ^
    """
    head = f"{diagnostic.severity.value} {diagnostic.code}: {diagnostic.message}"
    parts = [_located(source, diagnostic.span, head)]
    parts += [_located(source, related.span, f"note: {related.message}") for related in diagnostic.related]
    return "\n".join(parts)


def _located(source: Source, span: Span | None, text: str) -> str:
    if span is None:
        return f"{source.name}: {text}"
    line = source.line(span.line).translate(_VISIBLE)
    column = span.column
    start = max(0, column - 90)
    shown = line[start : start + 120]
    gutter = f" {span.line} | "
    width = span.end_column - column if span.end_line == span.line else len(line) - column + 1
    width = max(1, min(width, len(shown) - (column - 1 - start)))
    caret = " " * (len(gutter) - 2) + "| " + " " * (column - 1 - start) + "^" * width
    return f"{source.name}:{span.line}:{span.column}: {text}\n{gutter}{shown}\n{caret}"


class GdlError(Exception):
    """Base class of all errors that `gdl` raises deliberately.

    >>> import gdl
    >>> gdl.parse("(role x")
    Traceback (most recent call last):
    gdl.errors.GdlSyntaxError: <rules>:1:1: error GDL101: unclosed '(': add the ')' that belongs to it...
    """


class RuleSheetError(GdlError):
    """An error in a rule sheet. `str(error)` is the rendered list of its first diagnostics."""

    def __init__(self, diagnostics: Sequence[Diagnostic], source: Source) -> None:
        self.diagnostics = tuple(diagnostics)
        self.source = source
        lines = [render(diagnostic, source) for diagnostic in self.diagnostics[:RENDERED]]
        more = len(self.diagnostics) - len(lines)
        lines += [f"and {more} more findings: ggp validate lists all"] if more else []
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.diagnostics, self.source))


class GdlSyntaxError(RuleSheetError):
    """The text is not GDL: unbalanced parentheses, stray characters, too deep nesting and the like."""


class GdlValidationError(RuleSheetError):
    """The rules parse but break a restriction of the language."""


class ReasoningError(GdlError):
    """Forward chaining exceeded a limit on derived rows or terms."""


class GroundingError(GdlError):
    """The rules cannot be grounded within the limits, or at all."""
