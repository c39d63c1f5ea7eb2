"""Which diagnostics are reported: the codes selected, and comments that silence single findings.

A comment `; gdl: ignore GDL307` silences findings of these codes where it stands: at the end of a line those
that begin in that line, on a line of its own those in the form below. `; gdl: ignore-file GDL315` silences
them in the whole sheet. Several codes are separated by commas; a prefix such as `GDL3` names all codes that
begin with it. What follows the codes is a reason.

What leaves a sheet without a meaning (FATAL) is always reported, because no program can load such a sheet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gdl.errors import Diagnostic
from gdl.program import Program
from gdl.syntax.brackets import Lines
from gdl.syntax.parser import looks_infix
from gdl.terms import Span
from gdl.validation.codes import CODES, warning
from gdl.validation.sheet import counted

ALL = "ALL"
OFF_BY_DEFAULT = frozenset({"GDL304"})
"""Codes reported only if selected."""

FATAL = re.compile(r"GDL(1\d\d|20[1-7]|21[019])")
"""Codes that cannot be deselected or silenced: programs refuse to load such sheets."""

_PLAYED = re.compile(r"GDL4\d?\d?")
"""Codes that are only found by playing."""

_COMMENT = re.compile(r"[;%]\s*gdl:\s*(ignore-file|ignore)\b([^\n]*)")
_IN_KIF = re.compile(r";[^\n]*")
_IN_INFIX = re.compile(r"'(?:\\.|[^'\\\n])*'|[;%][^\n]*")
_CODES = re.compile(r"[\s:]*(\w+(?:\s*,\s*\w+)*)")


@dataclass(frozen=True)
class Selection:
    """Codes to report, by prefixes: the longest one that fits decides, and of equal ones `ignore`.

    >>> default, strict = Selection(), Selection(select=("GDL3",), ignore=("GDL315",))
    >>> default.includes("GDL304"), strict.includes("GDL304"), strict.includes("GDL315")
    (False, True, False)
    >>> Selection(ignore=("ALL",)).includes("GDL207")
    True
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def includes(self, code: str) -> bool:
        """Whether findings of `code` are reported."""
        if FATAL.fullmatch(code):
            return True
        if not self.select:
            return code not in OFF_BY_DEFAULT and _fit(self.ignore, code) < 0
        return _fit(self.select, code) > _fit(self.ignore, code)


EVERYTHING = Selection(select=(ALL,))
"""All codes, also those that are off by default."""


def _fit(prefixes: Iterable[str], code: str) -> int:
    """Length of the longest of `prefixes` that fits `code`; -1 if none does."""
    fitting = (0 if prefix == ALL else len(prefix) for prefix in prefixes if is_prefix(prefix, code))
    return max(fitting, default=-1)


def is_prefix(prefix: str, code: str) -> bool:
    return prefix == ALL or code.startswith(prefix)


@dataclass(frozen=True)
class Silence:
    """A comment that silences findings.

    codes        prefixes as written, in capitals
    first, last  the lines it covers; the whole sheet if `first` is 0
    """

    span: Span
    codes: tuple[str, ...]
    first: int
    last: int

    def covers(self, code: str, span: Span | None) -> bool:
        """Whether a finding of `code` at `span` is silenced."""
        is_here = self.first == 0 or (span is not None and self.first <= span.line <= self.last)
        return is_here and any(is_prefix(prefix, code) for prefix in self.codes)


def silences(program: Program) -> list[Silence]:
    """The comments in a sheet that silence findings, in order."""
    text = program.source.text
    if "gdl:" not in text:
        return []
    lines = Lines(text)
    words = _IN_INFIX if looks_infix(text) else _IN_KIF
    return [
        _silence(found, word.start(), lines, program)
        for word in words.finditer(text)
        if (found := _COMMENT.match(word.group()))
    ]


def _silence(found: re.Match[str], start: int, lines: Lines, program: Program) -> Silence:
    span = lines.span(start, start + len(found.group().rstrip()))
    listed = _CODES.match(found.group(2))
    codes = tuple(code.strip().upper() for code in listed.group(1).split(",")) if listed else ()
    if found.group(1) == "ignore-file":
        return Silence(span, codes, 0, 0)
    if program.source.line(span.line)[: span.column - 1].strip():
        return Silence(span, codes, span.line, span.line)
    below = span.line + 1
    places = [rule.span for rule in program.rules if rule.span is not None]
    inside = any(place.line < span.line <= place.end_line for place in places)
    end = next((place.end_line for place in places if place.line > span.line), below)
    return Silence(span, codes, below, below if inside else end)


def silenced(found: Iterable[Diagnostic], comments: Sequence[Silence]) -> tuple[list[Diagnostic], set[int]]:
    """The findings that no comment silences, and the indices of the comments that silence one."""
    kept: list[Diagnostic] = []
    used: set[int] = set()
    for diagnostic in found:
        code, span = diagnostic.code, diagnostic.span
        by = [index for index, comment in enumerate(comments) if comment.covers(code, span)]
        if by and not FATAL.fullmatch(diagnostic.code):
            used.update(by)
        else:
            kept.append(diagnostic)
    return kept, used


def idle_comments(comments: Sequence[Silence], used: set[int]) -> Iterator[Diagnostic]:
    """GDL331: comments that silence nothing."""
    for index, comment in enumerate(comments):
        unknown = [code for code in comment.codes if not is_known(code)]
        if unknown:
            message = f"'ignore' of an unknown code {unknown[0]}: codes look like GDL307"
        elif not comment.codes:
            message = "'ignore' without a code: write for instance '; gdl: ignore GDL307'"
        elif fatal := [code for code in comment.codes if FATAL.fullmatch(code)]:
            message = f"{fatal[0]} cannot be silenced: such a sheet cannot be loaded"
        elif index not in used and not any(map(_PLAYED.fullmatch, comment.codes)):
            message = "'ignore' without effect: nothing here is to be silenced"
        else:
            continue
        yield warning("GDL331", message, comment.span)


def is_known(prefix: str) -> bool:
    """Whether `prefix` is a code or the beginning of one, or `ALL`.

    >>> is_known("GDL3"), is_known("GDL9"), is_known("all")
    (True, False, False)
    """
    return bool(_PLAYED.fullmatch(prefix)) or any(is_prefix(prefix, code) for code in CODES)


def merged_singletons(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """All findings, those of GDL304 as one."""
    kinds: dict[bool, list[Diagnostic]] = {False: [], True: []}
    for diagnostic in found:
        kinds[diagnostic.code == "GDL304"].append(diagnostic)
    singles = kinds[True]
    if len(singles) > 1:
        first = min(singles, key=lambda d: d.span or Span(0, 0, 0, 0))
        more = f" ({counted(len(singles) - 1, 'further variable')} likewise)"
        singles = [replace(first, message=first.message + more)]
    return kinds[False] + singles
