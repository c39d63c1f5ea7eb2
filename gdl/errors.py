"""Everything that can be wrong with a rule sheet, and how it is shown.

GdlError
├── RuleSheetError          the text is at fault; carries located diagnostics
│   ├── GdlSyntaxError      GDL1xx: it cannot be read
│   └── GdlValidationError  GDL2xx: it can be read but means nothing
├── ReasoningError          evaluation cannot go on (a limit was passed)
└── GroundingError          the rules cannot be made propositional within the limits
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from gdl.program import Source
from gdl.terms import Span


class Severity(StrEnum):
    """How much a diagnostic matters."""

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

    code      stable, "GDL" and three digits: 1xx syntax, 2xx errors of meaning, 3xx warnings
    message   what is wrong and how to mend it, one sentence
    """

    code: str
    severity: Severity
    message: str
    span: Span | None = None
    related: tuple[Related, ...] = field(default=())


_VISIBLE: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(0x20)},
    **dict.fromkeys(range(0x7F, 0xA0), 0xFFFD),
    ord("\t"): " ",
    ord("\r"): " ",
}
"""Control characters as pictures: the text comes from strangers and is shown in a terminal."""


def render(diagnostic: Diagnostic, source: Source) -> str:
    """`file:line:column: error GDL101: message`, then the line with a caret under the place."""
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
    """Base of every error that `gdl` raises on purpose."""


class RuleSheetError(GdlError):
    """The rule sheet is at fault. `str(error)` is the rendered list of diagnostics."""

    def __init__(self, diagnostics: Sequence[Diagnostic], source: Source) -> None:
        self.diagnostics = tuple(diagnostics)
        self.source = source
        super().__init__("\n".join(render(diagnostic, source) for diagnostic in self.diagnostics))

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.diagnostics, self.source))


class GdlSyntaxError(RuleSheetError):
    """The text is no GDL: unbalanced parentheses, stray characters, nesting beyond the limit."""


class GdlValidationError(RuleSheetError):
    """The text reads as GDL but its rules break a restriction of the language."""


class ReasoningError(GdlError):
    """Forward chaining passed a limit: the rules derive too many or too deep terms."""


class GroundingError(GdlError):
    """The rules cannot be grounded within the limits of time and memory."""
