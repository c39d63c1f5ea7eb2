"""Reports of `ggp validate` as text, JSON, or annotations by the workflow commands of GitHub Actions."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gdl.errors import Diagnostic, Severity, render
from gdl.program import Source
from gdl.terms import Span
from gdl.validation import CODES as STATIC_CODES
from gdl.validation.codes import EXPLANATIONS as STATIC_EXPLANATIONS
from gdl.validation.fixes import FIXES
from gdl.validation.repairs import Repair, repairs
from gdl.validation.selection import OFF_BY_DEFAULT
from ggp.match.record import program_version
from ggp.notebook import html_table
from ggp.validation.properties import CODES as DYNAMIC_CODES
from ggp.validation.properties import Outcome, Property, counted

CODES: Mapping[str, str] = {**STATIC_CODES, **DYNAMIC_CODES}
EXPLANATIONS: Mapping[str, str] = {
    **STATIC_EXPLANATIONS,
    "GDL401": (
        "A match was not over after `--limit steps=N` joint moves, or can return to an earlier state and so "
        "continue forever. Count the steps in a fact, and let `terminal` hold at the last."
    ),
    "GDL402": (
        "In a live state some role has no legal move. Give idle roles a move such as `noop`, or make the "
        "state terminal."
    ),
    "GDL403": (
        "In a terminal state every role except `random` has exactly one goal, a whole number from 0 to 100."
    ),
    "GDL404": "`base` must list every fact that may ever hold.",
    "GDL405": "`input` must list every move that may ever be legal.",
    "GDL406": (
        "The role gets 100 in no match, even if all help: the game is not weakly winnable (2008, well-formed "
        "games). Only `--prove` finds this."
    ),
    "GDL407": "In some state the rules derive terms without end.",
}
"""Code → one paragraph: what is wrong, or what to write instead."""

MARKS = (("off by default", OFF_BY_DEFAULT), ("fixable", frozenset(FIXES)), ("by playing", DYNAMIC_CODES))
"""Marks in the list of all codes."""

LINE_LENGTH = 100
"""Of explanations."""


@dataclass(repr=False)
class SheetReport:
    """The findings for one sheet.

    name         the path as given, `-` for standard input
    unreadable   why the sheet could not be read; empty if it could
    note         why something requested was not done
    fixed        number of corrections made to the file

    >>> import ggp
    >>> report = ggp.validate("(role x) (<= (legal x ?m) (not (true ?m)))")
    >>> report.has_errors, report.diagnostics[0].code
    (True, 'GDL205')
    """

    name: str
    source: Source = field(default_factory=lambda: Source("", ""))
    rule_count: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)
    properties: list[Property] = field(default_factory=list)
    unreadable: str = ""
    note: str = ""
    fixed: int = 0

    def __str__(self) -> str:
        return text_of(self)

    def __repr__(self) -> str:
        verdict = self.unreadable or f"{self.rule_count:,} rules, {_verdict(self)}"
        return f"<SheetReport {self.name}: {verdict}>"

    def _repr_html_(self) -> str:
        """The diagnostics as a table, for notebooks."""
        rows: list[list[object]] = [
            [each.code, each.severity.value, "" if each.span is None else each.span.line, each.message]
            for each in self.diagnostics
        ]
        rows += [["", fact.outcome.value, "", fact.statement] for fact in self.properties]
        return html_table(repr(self)[1:-1], ["code", "severity", "line", "message"], rows)

    @property
    def has_errors(self) -> bool:
        """Whether the sheet cannot be read, or some diagnostic is an error."""
        return bool(self.unreadable) or self.count(Severity.ERROR) > 0

    def count(self, severity: Severity) -> int:
        return sum(diagnostic.severity is severity for diagnostic in self.diagnostics)


def text_of(report: SheetReport) -> str:
    """Diagnostics with their source lines, then properties with witnesses."""
    if report.unreadable:
        return report.unreadable
    parts = [render(diagnostic, report.source) for diagnostic in report.diagnostics]
    parts.append(f"{report.name}: {report.rule_count} rules, {_verdict(report)}")
    if report.note:
        parts.append(f"{report.name}: {report.note}")
    for fact in report.properties:
        detail = f" ({fact.detail})" if fact.detail else ""
        parts.append(f"  {fact.outcome.value:<8} {fact.statement}{detail}")
        if fact.witness is not None and fact.outcome is Outcome.REFUTED:
            parts += [f"             {line}" for line in fact.witness.to_text().split("\n")]
    return "\n".join(parts)


def _verdict(report: SheetReport) -> str:
    errors, warnings = report.count(Severity.ERROR), report.count(Severity.WARNING)
    parts = [counted(errors, "error") if errors else "no errors"]
    parts += [counted(warnings, "warning")] if errors or warnings else []
    return ", ".join([*parts, *([f"{report.fixed} fixed"] if report.fixed else [])])


def codes_table() -> str:
    """All codes with their severities and titles, one per line."""
    lines = []
    for code, title in CODES.items():
        severity = Severity.WARNING if code.startswith("GDL3") else Severity.ERROR
        marks = [mark for mark, codes in MARKS if code in codes]
        lines.append(f"{code}  {severity.value:<7}  {title}" + (f" ({', '.join(marks)})" if marks else ""))
    return "\n".join(lines)


def explanation(code: str) -> str | None:
    """Text of `ggp validate --explain CODE`: the title and the wrapped explanation; None for unknown codes.

    >>> print(explanation("gdl106"))
    GDL106: empty list
    `()` has no meaning in GDL; a term without arguments is `(name)`.
    """
    code = code.upper()
    if code not in CODES:
        return None
    text = textwrap.fill(EXPLANATIONS[code], LINE_LENGTH, break_long_words=False, break_on_hyphens=False)
    return f"{code}: {CODES[code]}\n{text}"


def summary_of(reports: Sequence[SheetReport]) -> str:
    """A summary of all sheets in one line."""
    errors, warnings = (sum(r.count(each) for r in reports) for each in (Severity.ERROR, Severity.WARNING))
    clean = sum(not report.diagnostics and not report.unreadable for report in reports)
    unreadable = sum(bool(report.unreadable) for report in reports)
    text = f"{clean} clean, {counted(errors, 'error')}, {counted(warnings, 'warning')}"
    return f"{counted(len(reports), 'sheet')}: {text}" + (f", {unreadable} unreadable" if unreadable else "")


def to_json(reports: Sequence[SheetReport]) -> str:
    """All reports as one JSON document, with what a program needs to repair the sheets."""
    sheets = [
        {
            "file": report.name,
            "rules": report.rule_count,
            **{key: value for key in ("unreadable", "note", "fixed") if (value := getattr(report, key))},
            "diagnostics": list(
                map(_diagnostic_data, report.diagnostics, repairs(report.source, report.diagnostics))
            ),
            "properties": [fact.to_dict() for fact in report.properties],
        }
        for report in reports
    ]
    data = {
        "version": program_version(),
        "errors": sum(report.count(Severity.ERROR) for report in reports),
        "warnings": sum(report.count(Severity.WARNING) for report in reports),
        "sheets": sheets,
    }
    return json.dumps(data, ensure_ascii=False, indent=1)


def _diagnostic_data(diagnostic: Diagnostic, repair: Repair) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        **_span_data(diagnostic.span),
        "text": repair.text,
        "expected": list(repair.expected),
        "edits": [{**_span_data(span), "newText": new} for span, new in repair.edits],
        "keepsMeaning": repair.keeps_meaning,
        "related": [{"message": each.message, **_span_data(each.span)} for each in diagnostic.related],
    }


def _span_data(span: Span | None) -> dict[str, int]:
    if span is None:
        return {}
    places = span.line, span.column, span.end_line, span.end_column
    return dict(zip(("line", "column", "endLine", "endColumn"), places, strict=True))


def to_github(reports: Sequence[SheetReport]) -> str:
    """Workflow commands, one per line, that GitHub shows next to the lines of a change."""
    lines = []
    for report in reports:
        file = f"file={_property(report.name)}"
        if report.unreadable:
            lines.append(f"::error {file}::{_data(report.unreadable)}")
        for diagnostic in report.diagnostics:
            place, span = file, diagnostic.span
            if span is not None:
                place += f",line={span.line},endLine={span.end_line},col={span.column}"
                if span.line == span.end_line:
                    place += f",endColumn={span.end_column}"
            title = f"title={_property(diagnostic.code)}"
            lines.append(f"::{diagnostic.severity.value} {place},{title}::{_data(diagnostic.message)}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
