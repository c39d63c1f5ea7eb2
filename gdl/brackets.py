"""The check before parsing: parentheses, nesting and control characters.

An LALR parser meets an unclosed parenthesis only at the end of the text, so opening ones are
remembered here. `(<=` in KIF and `:-` in the infix form can only stand at the outermost level: where one
comes while parentheses are open, the rule before it is the one that was not closed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from gdl.errors import Diagnostic, Severity
from gdl.term_builders import unescape
from gdl.terms import Span

MAX_NESTING = 200
"""Deepest nesting of parentheses: real sheets need about ten, and terms are walked recursively."""

MAX_DIAGNOSTICS = 20
"""Reading stops after this many errors."""

_CONTROL = r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]"
_KIF_LANDMARK = re.compile(r";[^\n]*|\(\s*<=(?=[\s();])|[()]|" + _CONTROL)
_INFIX_LANDMARK = re.compile(r"[%;][^\n]*|'(?:\\.|[^'\\\n])*'|'|:-|[()~&|,]|" + _CONTROL)

_KIF_NAME = re.compile(r"[^\s();\x00-\x1f\x7f-\x9f]+")


class Lines:
    """Offsets of a text as lines and columns."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def span(self, start: int, end: int) -> Span:
        """The 1-based span of `text[start:end]`."""
        return Span(*self._place(start), *self._place(end))

    def start(self, line: int) -> int:
        """The offset at which 1-based `line` begins; the end of the text where there are fewer lines."""
        return self._starts[line - 1] if line <= len(self._starts) else self._length

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


@dataclass(slots=True)
class BracketScan:
    """What the check found.

    diagnostics   unbalanced or too deep parentheses, stray control characters
    lists         (start, end) offsets of the outermost parenthesized lists, in order
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    lists: list[tuple[int, int]] = field(default_factory=list)


def scan_brackets(text: str, *, is_infix: bool = False) -> BracketScan:
    """Check the parentheses of `text`; never raises. Cost: linear, a visit per parenthesis and comment."""
    scanner = _Scanner(text)
    for landmark in (_INFIX_LANDMARK if is_infix else _KIF_LANDMARK).finditer(text):
        scanner.visit(landmark.start(), landmark.group())
        if len(scanner.faults) >= MAX_DIAGNOSTICS or scanner.is_too_deep:
            break
    else:
        scanner.close_all()
    lines = Lines(text)
    diagnostics = [
        Diagnostic(code, Severity.ERROR, message, lines.span(start, start + 1))
        for start, code, message in sorted(scanner.faults)
    ]
    return BracketScan(diagnostics, scanner.lists)


class _Scanner:
    """Walks the landmarks of a text from left to right and remembers what is open.

    opened   offsets of open parentheses; a `~` (infix) is open too, as ~offset, until its operand is
             over, since a chain of them nests just as deep
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.opened: list[int] = []
        self.faults: list[tuple[int, str, str]] = []
        self.lists: list[tuple[int, int]] = []
        self.is_too_deep = False

    def visit(self, start: int, mark: str) -> None:
        if mark == "(":
            self._open(start, start)
        elif mark == ")":
            self._close(start)
        elif mark == "~":
            self._open(start, ~start)
        elif mark in "&|,":
            self._end_negations()
        elif mark == ":-":
            self.close_all()
        elif mark[0] == "(":
            self.close_all()
            self._open(start, start)
        elif mark[0] == "'":
            message = _quote_fault(mark, is_variable=self.text[start - 1 : start] == "?")
            if message:
                self.faults.append((start, "GDL114", message))
        elif mark[0] not in ";%":
            message = f"control character U+{ord(mark):04X} is not allowed: remove it"
            self.faults.append((start, "GDL104", message))

    def close_all(self) -> None:
        """Here nothing may be open; blame the innermost parenthesis that is."""
        self._end_negations()
        if self.opened:
            self.faults.append((self.opened[-1], "GDL101", "unclosed '(': add the ')' that belongs to it"))
            self.opened.clear()

    def _open(self, start: int, entry: int) -> None:
        self.opened.append(entry)
        if len(self.opened) > MAX_NESTING:
            self.is_too_deep = True
            self.faults.append((start, "GDL103", f"nested more than {MAX_NESTING} deep"))

    def _close(self, start: int) -> None:
        self._end_negations()
        if not self.opened:
            message = "unmatched ')': remove it, or open a parenthesis before"
            self.faults.append((start, "GDL102", message))
        elif len(self.opened) == 1:
            self.lists.append((self.opened.pop(), start + 1))
        else:
            self.opened.pop()

    def _end_negations(self) -> None:
        while self.opened and self.opened[-1] < 0:
            self.opened.pop()


def _quote_fault(quoted: str, is_variable: bool) -> str:
    """Why `quoted` is no name that both syntaxes can write; empty where it is one."""
    if quoted == "'":
        return 'quoted name is not closed on its line: add a "\'"'
    name = unescape(quoted)
    if not _KIF_NAME.fullmatch(name) or (name.startswith("?") and not is_variable):
        return "a name is not empty, holds no blank, parenthesis or semicolon and does not begin with '?'"
    return ""
