"""What a program needs to repair a sheet: the offending text, the forms expected there, and an edit to try.

Edits of codes in `gdl.validation.fixes` keep the meaning. All others are guesses: a parenthesis where it is
most likely missing, the name that a misspelled one resembles. Sheets with thousands of findings are cheap:
texts are cut, and guesses that need another scan of the text are few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gdl.errors import Diagnostic, GdlSyntaxError, Severity
from gdl.keywords import FORMS, KEYWORDS
from gdl.program import Source
from gdl.syntax.brackets import MAX_DIAGNOSTICS, Lines, scan_brackets
from gdl.syntax.parser import looks_infix, parse
from gdl.terms import Span
from gdl.validation.all_checks import check
from gdl.validation.fixes import FIXES, Edit

MAX_TEXT = 500
"""Characters of an offending text that are kept."""
MAX_SCANNED = 100_000
"""In longer texts no place for a parenthesis is looked for."""
MAX_CLOSED = 5
"""A form that lacks more parentheses needs a person."""

_RULE = "(<= head body ...)"
EXPECTED: Mapping[str, tuple[str, ...]] = {
    "GDL106": ("(name argument ...)", "name"),
    "GDL107": ("(name argument ...)",),
    "GDL108": (_RULE,),
    "GDL109": ("?name",),
    "GDL110": ("(not formula)",),
    "GDL111": (_RULE, "(not formula)", "(or formula ...)", "(and formula ...)"),
    "GDL112": ("head :- atom & ~atom.", "name(argument, ...)"),
    "GDL113": ("(name argument ...)", "name"),
    "GDL114": ("'name'",),
    "GDL115": ("(name argument ...)",),
    "GDL201": (FORMS["role"],),
    "GDL209": ("(goal robot 100)", "(goal robot 0)"),
    "GDL213": (FORMS["role"],),
    "GDL324": ("(goal robot 100)", "(goal robot 0)"),
}
"""Code → the forms of which one belongs in the place; those of keywords are in `gdl.keywords.FORMS`."""
_OF_KEYWORDS = frozenset({"GDL202", "GDL214", "GDL321", "GDL327"})
"""Findings about the keyword that they quote first."""

_QUOTED = re.compile(r"'([^']+)'")
_MEANT = re.compile(r"did you mean '([^']+)'")
_OPENING = re.compile(r"is the '\(' before '([^']+)' missing")
_USE_TRUE = "use 'true'"
_COMMENT_OR_RULE = re.compile(r";[^\n]*|\(\s*<=(?=[\s();])|\n\(")


@dataclass(frozen=True)
class Repair:
    """How one finding may be repaired.

    text           what stands in its place, cut to MAX_TEXT characters; empty for the sheet as a whole
    expected       forms of which one belongs there, in KIF; empty if the message says it all
    edits          replacements in the text, in order and without overlap; empty if there is nothing to try
    keeps_meaning  whether the edits change the notation alone
    """

    text: str = ""
    expected: tuple[str, ...] = ()
    edits: tuple[tuple[Span, str], ...] = ()
    keeps_meaning: bool = False


def repairs(source: Source, diagnostics: Sequence[Diagnostic]) -> Iterator[Repair]:
    """A repair for each of the diagnostics of a text, in their order.

    >>> from gdl.syntax.parser import parse
    >>> try:
    ...     _ = parse("(role x\\n(role o)")
    ... except GdlSyntaxError as error:
    ...     next(repairs(error.source, error.diagnostics))
    Repair(text='(', expected=(), edits=((Span(line=1, column=8, end_line=1, end_column=8), ')'),), ...)
    """
    finder = _Finder(source.text, is_infix=looks_infix(source.text))
    safe = _safe_edits(source, diagnostics)
    for diagnostic in diagnostics:
        span = diagnostic.span
        text = "" if span is None else finder.at(span)
        kept = safe.get((diagnostic.code, span), ())
        edits = kept or (() if span is None else tuple(finder.guesses(diagnostic, span)))
        spans = tuple((finder.lines.span(edit.start, edit.end), edit.new) for edit in sorted(edits))
        yield Repair(text[:MAX_TEXT], _expected(diagnostic), spans, bool(kept))


def _expected(diagnostic: Diagnostic) -> tuple[str, ...]:
    if diagnostic.code in _OF_KEYWORDS:
        return tuple(FORMS[name] for name in _QUOTED.findall(diagnostic.message)[:1] if name in FORMS)
    if diagnostic.code == "GDL204" and _USE_TRUE in diagnostic.message:
        return (FORMS["true"],)
    return EXPECTED.get(diagnostic.code, ())


def _safe_edits(
    source: Source, diagnostics: Sequence[Diagnostic]
) -> dict[tuple[str, Span | None], tuple[Edit, ...]]:
    """(code, place) → the edits of `gdl.validation.fixes`, in texts that it would correct."""
    codes = {diagnostic.code for diagnostic in diagnostics} & FIXES.keys()
    if not codes or looks_infix(source.text):
        return {}
    try:
        program = parse(source.text, name=source.name)
    except GdlSyntaxError:
        return {}
    if any(found.severity is Severity.ERROR for found in check(program)):
        return {}
    return {(code, span): tuple(edits) for code in codes for span, edits in FIXES[code](program) if edits}


class _Finder:
    """Guesses edits in one text."""

    def __init__(self, text: str, *, is_infix: bool) -> None:
        self.text, self.is_infix = text, is_infix
        self.lines = Lines(text)
        self.fault_count: int | None = None

    def at(self, span: Span) -> str:
        return self.text[slice(*self.lines.offsets(span))]

    def guesses(self, diagnostic: Diagnostic, span: Span) -> Iterator[Edit]:
        """The edits of one guess."""
        start, code, message = self.lines.offsets(span)[0], diagnostic.code, diagnostic.message
        meant = _MEANT.search(message)
        if meant:
            yield from self.rename(span, [self.at(span), *_QUOTED.findall(message)], meant[1])
        elif code == "GDL101" and not self.is_infix:
            yield from self.first_that_helps(span, self.closings(start))
        elif code == "GDL102":
            opening = _OPENING.search(message)
            yield from self.first_that_helps(span, self.openings(start, opening[1] if opening else ""))
        elif code == "GDL104":
            yield Edit(start, start + 1, "")
        elif code == "GDL204" and _USE_TRUE in message:
            yield from self.rename(span, _QUOTED.findall(message)[:1], "true")

    def rename(self, span: Span, names: Sequence[str], meant: str) -> Iterator[Edit]:
        """Write `meant` for the first of `names` that is a name and stands in the place."""
        text, offset = self.at(span), self.lines.offsets(span)[0]
        for name in names:
            if re.search(r"[\s()]", name) or (name in KEYWORDS and meant not in KEYWORDS):
                continue
            found = re.search(rf"(?<![\w?]){re.escape(name)}(?!\w)", text, re.IGNORECASE)
            if found and name != meant:
                yield Edit(offset + found.start(), offset + found.end(), meant)
                return

    def closings(self, start: int) -> Iterator[Edit]:
        """`)` before the next form that begins a line, before the next rule, at the end."""
        places = [
            found.start()
            for found in _COMMENT_OR_RULE.finditer(self.text, start + 1)
            if not found.group().startswith(";")
        ][:2]
        for place in (*places, len(self.text)):
            end = self.end_of_form(start, place)
            for count in range(1, MAX_CLOSED + 1):
                yield Edit(end, end, ")" * count)

    def end_of_form(self, start: int, place: int) -> int:
        """Where the text between the offsets ends, without blanks and comments after it."""
        end = start
        for line in self.text[start:place].splitlines(keepends=True):
            written = line.partition(";")[0].rstrip()
            if written:
                end = start + len(written)
            start += len(line)
        return end

    def openings(self, start: int, name: str) -> Iterator[Edit]:
        """`(` before the name that an unmatched `)` follows, or no `)`."""
        if name:
            place = self.text.rfind(name, 0, start)
            if place >= 0:
                yield Edit(place, place, "(")
        yield Edit(start, start + 1, "")

    def first_that_helps(self, span: Span, edits: Iterator[Edit]) -> Iterator[Edit]:
        """The first edit after which fewer parentheses are at fault, or others if there are too many."""
        if len(self.text) > MAX_SCANNED:
            return
        if self.fault_count is None:
            self.fault_count = len(self.faults(self.text))
        for edit in edits:
            left = self.faults(self.text[: edit.start] + edit.new + self.text[edit.end :])
            if len(left) < self.fault_count or (len(left) == MAX_DIAGNOSTICS and span not in left):
                yield edit
                return

    def faults(self, text: str) -> list[Span | None]:
        return [fault.span for fault in scan_brackets(text, is_infix=self.is_infix).diagnostics]
