"""Titles and explanations of all diagnostics of `gdl` by stable code, read from `codes.md`.

A diagnostic's message is written by the check that finds it: `gdl.validation.checks` names the file of every
code.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from gdl.errors import Diagnostic, Related, Severity
from gdl.terms import Span

_SECTION = re.compile(r"^## (GDL\d+) (.+)\n((?:.+\n)+)", re.MULTILINE)
_SECTIONS = _SECTION.findall(Path(__file__).with_name("codes.md").read_text(encoding="utf-8"))

CODES: Mapping[str, str] = {code: title for code, title, _ in _SECTIONS}
"""Code → title."""

EXPLANATIONS: Mapping[str, str] = {code: " ".join(text.split()) for code, _, text in _SECTIONS}
"""Code → one paragraph of Markdown: what is wrong, or what to write instead."""

Findings = Iterator[Diagnostic]


def error(code: str, message: str, span: Span | None, *related: Related) -> Diagnostic:
    """An error: the rules break a restriction of the language."""
    return Diagnostic(code, Severity.ERROR, message, span, related)


def warning(code: str, message: str, span: Span | None, *related: Related) -> Diagnostic:
    """A warning: the game is playable, but probably not as meant."""
    return Diagnostic(code, Severity.WARNING, message, span, related)
