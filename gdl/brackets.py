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
from gdl.terms import Span

MAX_NESTING = 200
"""Deepest nesting of parentheses: real sheets need about ten, and terms are walked recursively."""

MAX_DIAGNOSTICS = 20
"""Reading stops after this many errors."""

_CONTROL = r"[\x00-\x08\x0e-\x1f\x7f]"
_KIF_LANDMARK = re.compile(r";[^\n]*|\(\s*<=(?=[\s();])|[()]|" + _CONTROL)
_INFIX_LANDMARK = re.compile(r"[%;][^\n]*|'(?:\\.|[^'\\\n])*'|'|:-|[()]|" + _CONTROL)

_KIF_NAME = re.compile(r"[^\s();]*")


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
    scan = BracketScan()
    opened: list[int] = []
    faults: list[tuple[str, str, int]] = []
    for landmark in (_INFIX_LANDMARK if is_infix else _KIF_LANDMARK).finditer(text):
        start = landmark.start()
        mark = text[start]
        if mark == ")":
            if not opened:
                faults.append(("GDL102", "unmatched ')': remove it, or open a parenthesis before", start))
            elif len(opened) == 1:
                scan.lists.append((opened.pop(), landmark.end()))
            else:
                opened.pop()
        elif mark == "(" or mark == ":":
            if opened and landmark.end() - start > 1:
                faults.append(_unclosed(opened[-1]))
                opened.clear()
            if mark == "(":
                opened.append(start)
            if len(opened) > MAX_NESTING:
                faults.append(("GDL103", f"parentheses nested more than {MAX_NESTING} deep", start))
                opened.clear()
                break
        elif mark == "'":
            if landmark.end() - start == 1:
                faults.append(("GDL114", 'quoted name is not closed on its line: add a "\'"', start))
        elif mark not in ";%":
            faults.append(("GDL104", f"control character U+{ord(mark):04X} is not allowed: remove it", start))
        if len(faults) >= MAX_DIAGNOSTICS:
            opened.clear()
            break
    if opened:
        faults.append(_unclosed(opened[-1]))
    if faults:
        lines = Lines(text)
        for code, message, start in sorted(faults, key=lambda fault: fault[2]):
            scan.diagnostics.append(Diagnostic(code, Severity.ERROR, message, lines.span(start, start + 1)))
    return scan


def _quote_fault(quoted: str, is_variable: bool) -> str:
    """Why `quoted` is no name that both syntaxes can write; empty where it is one."""
    if quoted == "'":
        return 'quoted name is not closed on its line: add a "\'"'
    name = quoted[1:-1].replace("\\", "")
    if not name or not _KIF_NAME.fullmatch(name) or (name.startswith("?") and not is_variable):
        return "a name holds no blank, parenthesis or semicolon, begins with no '?' and is not empty"
    return ""


def _unclosed(start: int) -> tuple[str, str, int]:
    return ("GDL101", "unclosed '(': add the ')' that belongs to it", start)
