"""Checks before parsing: parentheses, nesting and control characters.

An LALR parser meets an unclosed parenthesis only at the end of the text, so opening ones are
tracked here. `(<=` in KIF and `:-` in the infix form are allowed only at the outermost level: if one
appears while parentheses are open, the rule before it was not closed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from gdl.errors import Diagnostic, Severity
from gdl.syntax.term_builders import unescape
from gdl.terms import Span

MAX_NESTING = 200
"""Maximum nesting of parentheses: real sheets need about ten, and terms are walked recursively."""

MAX_DIAGNOSTICS = 20
"""Parsing stops after this many errors."""

_CONTROL = r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]"
_KIF_LANDMARK = re.compile(r";[^\n]*|\(\s*<=(?=[\s();])|[()]|" + _CONTROL)
_INFIX_LANDMARK = re.compile(r"[%;][^\n]*|'(?:\\.|[^'\\\n])*'|'|:-|[()~&|,]|" + _CONTROL)

_KIF_COMMENT = re.compile(r";[^\n]*")
_KIF_NAME = re.compile(r"[^\s();\x00-\x1f\x7f-\x9f]+")


class Lines:
    """Conversion of text offsets to lines and columns.

    >>> Lines("ab\\ncd").span(3, 5)
    Span(line=2, column=1, end_line=2, end_column=3)
    """

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def span(self, start: int, end: int) -> Span:
        """The 1-based span of `text[start:end]`."""
        return Span(*self._place(start), *self._place(end))

    def start(self, line: int) -> int:
        """The offset at which 1-based `line` begins. The end of the text if there are fewer lines."""
        return self._starts[line - 1] if line <= len(self._starts) else self._length

    def offsets(self, span: Span) -> tuple[int, int]:
        """The offsets at which a span begins and ends."""
        return self.start(span.line) + span.column - 1, self.start(span.end_line) + span.end_column - 1

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


@dataclass(slots=True)
class BracketScan:
    """Result of the check.

    diagnostics   unbalanced or too deep parentheses, faulty quoted names, stray control characters
    lists         (start, end) offsets of the outermost parenthesized lists, in order
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    lists: list[tuple[int, int]] = field(default_factory=list)


def scan_brackets(text: str, *, is_infix: bool = False) -> BracketScan:
    """Check the parentheses of `text`; never raises. Cost: linear, one visit per landmark."""
    scanner = _Scanner(text, is_infix=is_infix)
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
    """Left-to-right scan over the landmarks of a text that tracks open parentheses.

    opened   offsets of open parentheses; a `~` (infix) is also open, as ~offset, until its operand
             ends, because a chain of them nests just as deep
    checked  how many of `lists` precede the last unmatched `)`
    """

    def __init__(self, text: str, *, is_infix: bool) -> None:
        self.text = text
        self.is_infix = is_infix
        self.checked = 0
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
        """Report the innermost parenthesis that is open where none may be."""
        self._end_negations()
        if self.opened:
            self.faults.append((self.opened[-1], "GDL101", "unclosed '(': add the ')' that belongs to it"))
            self.opened.clear()

    def _open(self, start: int, entry: int) -> None:
        self.opened.append(entry)
        if len(self.opened) > MAX_NESTING:
            self.is_too_deep = True
            self.faults.append((start, "GDL103", f"nested more than {MAX_NESTING} levels deep"))

    def _close(self, start: int) -> None:
        self._end_negations()
        if not self.opened:
            self.faults.append((start, "GDL102", f"unmatched ')': {self._remedy(start)}"))
        elif len(self.opened) == 1:
            self.lists.append((self.opened.pop(), start + 1))
        else:
            self.opened.pop()

    def _remedy(self, end: int) -> str:
        """How to mend an unmatched `)` at `end`: a name outside all lists lacks the `(` before it."""
        self.lists, since = [*self.lists, (end, end + 1)], self.checked
        self.checked = len(self.lists)
        if not self.is_infix:
            edges = [self.lists[since - 1][1] if since else 0]
            edges += [edge for pair in self.lists[since:] for edge in pair]
            for start, stop in reversed(list(zip(edges[::2], edges[1::2], strict=False))):
                word = _KIF_NAME.search(_KIF_COMMENT.sub("", self.text[start:stop]))
                if word:
                    return f"is the '(' before '{word.group()}' missing?"
        return "remove it, or add the '(' that belongs to it"

    def _end_negations(self) -> None:
        while self.opened and self.opened[-1] < 0:
            self.opened.pop()


def _quote_fault(quoted: str, is_variable: bool) -> str:
    """Why not both syntaxes can write the name `quoted`. Empty if they can."""
    if quoted == "'":
        return 'quoted name is not closed on its line: add a "\'"'
    name = unescape(quoted)
    if not _KIF_NAME.fullmatch(name) or (name.startswith("?") and not is_variable):
        return "a quoted name must not be empty, contain blanks, parentheses or semicolons, or begin with '?'"
    return ""
