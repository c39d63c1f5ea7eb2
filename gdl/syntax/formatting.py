"""Canonical layout of rule sheets in KIF; meaning, spelling and comments unchanged.

* One fact per line. A rule has its head on the line of its arrow and each formula of its body on its own
  line, indented by four. `or` and `and` have their formulas below each other.
* A form longer than LINE_LENGTH characters is broken after its first part, with its parts aligned.
* Comments stay where they are: at the end of a line, after two blanks, or on a line of their own.
* Several empty lines become one; inside rules all are removed.

The layout works on the words of the text, not on a `Program`, so that nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from gdl.syntax.parser import parse, with_plain_lines

LINE_LENGTH = 100
DEEPEST_INDENT = 60
"""Maximum indentation; deeper parts are aligned at this column."""

_TOKEN = re.compile(r"(?P<space>\s+)|(?P<comment>;[^\n]*)|(?P<mark>[()])|(?P<word>[^\s();]+)")
_LINE_END = re.compile(r"\r\n?|\n")
_STACKED = frozenset({"or", "and"})


@dataclass(slots=True)
class Word:
    """A name or variable as spelled."""

    text: str
    has_gap_before: bool = False


@dataclass(slots=True)
class Comment:
    """A comment with its semicolon. `is_trailing` if something precedes it on its line."""

    text: str
    is_trailing: bool
    has_gap_before: bool = False


@dataclass(slots=True)
class Form:
    """A list with the comments inside it.

    flat_length   characters on a single line
    is_broken     whether it takes several lines even if it fits on one
    """

    items: list[Item] = field(default_factory=list)
    has_gap_before: bool = False
    flat_length: int = 0
    is_broken: bool = False


Item: TypeAlias = Word | Comment | Form


class FormattingError(AssertionError):
    """The new layout would change the meaning: a bug of this module."""


def format_kif(text: str, *, name: str = "<rules>") -> str:
    """`text` in canonical layout, with its first line end throughout and its byte order mark.

    Formatting the result again changes nothing.

    Raises GdlSyntaxError if `text` is not KIF. The result is parsed and compared with the original;
    FormattingError if they differ.

    >>> print(format_kif("(<= (next ?f) (true ?f) ; frame\\n (not (gone ?f)))"), end="")
    (<= (next ?f)
        (true ?f)  ; frame
        (not (gone ?f)))
    """
    mark = text[: text.startswith("\ufeff")]
    line_end = _LINE_END.search(text)
    text = with_plain_lines(text)
    program = parse(text, name=name, syntax="kif")
    formatted = _layout(_items(text))
    if parse(formatted, name=name, syntax="kif") != program or _comments(formatted) != _comments(text):
        raise FormattingError(f"{name}: the canonical layout would change the rules")
    return mark + (formatted.replace("\n", line_end.group()) if line_end else formatted)


def _comments(text: str) -> list[str]:
    return sorted(found.group().rstrip() for found in _TOKEN.finditer(text) if found.lastgroup == "comment")


def _items(text: str) -> list[Item]:
    """The outermost items of a text whose parentheses are balanced."""
    outermost: list[Item] = []
    opened: list[Form] = []
    gap, is_line_start = False, True
    for found in _TOKEN.finditer(text):
        token = found.group()
        if found.lastgroup == "space":
            newlines = token.count("\n")
            gap, is_line_start = newlines > 1, is_line_start or newlines > 0
            continue
        items = opened[-1].items if opened else outermost
        if found.lastgroup == "comment":
            items.append(Comment(token.rstrip(), not is_line_start, gap))
        elif token == "(":
            opened.append(Form(has_gap_before=gap))
        elif token == ")":
            form = opened.pop()
            _place(form, opened[-1].items if opened else outermost)
        else:
            items.append(Word(token, gap))
        gap, is_line_start = False, False
    return _with_single_trailers(outermost)


def _place(form: Form, parent: list[Item]) -> None:
    """Append a complete form to its parent. Comments that cannot stay inside it are moved out.

    Comments before the second part move before the form; a comment at the end of the last part's line
    moves after the form, so that the closing parenthesis precedes it.
    """
    parts = [place for place, item in enumerate(form.items) if not isinstance(item, Comment)]
    second = parts[1] if len(parts) > 1 else parts[0] + 1
    early = [item for item in form.items[:second] if isinstance(item, Comment)]
    items: list[Item] = [item for item in form.items[:second] if not isinstance(item, Comment)]
    items = _with_single_trailers(items + form.items[second:])
    late: list[Item] = []
    if isinstance(items[-1], Comment) and items[-1].is_trailing:
        late.append(items.pop())
    for comment in early:
        parent.append(Comment(comment.text, False, form.has_gap_before))
        form.has_gap_before = False
    form.items = items
    _measure(form)
    parent.append(form)
    parent += late


def _with_single_trailers(items: Sequence[Item]) -> list[Item]:
    """`items` with at most one trailing comment per line. Further ones stand alone."""
    result: list[Item] = []
    for item in items:
        is_second = bool(result) and isinstance(result[-1], Comment)
        if isinstance(item, Comment) and item.is_trailing and (is_second or not result):
            item = Comment(item.text, False)
        result.append(item)
    return result


def _measure(form: Form) -> None:
    """Set `flat_length` and `is_broken` from the final items."""
    name = form.items[0]
    assert isinstance(name, Word)
    kind = name.text.lower()
    parts = form.items[1:]
    form.flat_length = len(name.text) + 2
    form.is_broken = kind == "<=" and len(parts) > 1
    for part in parts:
        if isinstance(part, Comment):
            form.is_broken = True
            continue
        form.flat_length += 1 + (len(part.text) if isinstance(part, Word) else part.flat_length)
        if isinstance(part, Form):
            form.is_broken |= part.is_broken or (kind in _STACKED and len(parts) > 1)


def _layout(items: Sequence[Item]) -> str:
    lines: list[str] = []
    for item in items:
        if isinstance(item, Comment) and item.is_trailing:
            lines[-1] += "  " + item.text
            continue
        if item.has_gap_before and lines:
            lines.append("")
        lines += _lines(item, 0, 0)
    return "".join([line + "\n" for line in lines])


def _lines(item: Item, column: int, closing: int) -> list[str]:
    """The lines of `item`, indented except for the first.

    column    where the first line begins
    closing   number of parentheses that follow directly
    """
    if not isinstance(item, Form):
        return [item.text]
    if not item.is_broken and column + item.flat_length + closing <= LINE_LENGTH:
        return [_flat(item)]
    name = item.items[0]
    assert isinstance(name, Word)
    inner = min(column + len(name.text) + 2, DEEPEST_INDENT)
    indent = " " * inner
    lines = ["(" + name.text]
    for place, part in enumerate(item.items[1:], start=1):
        if isinstance(part, Comment) and part.is_trailing:
            lines[-1] += "  " + part.text
            continue
        is_last = place == len(item.items) - 1
        found = _lines(part, inner, closing + 1 if is_last else 0)
        if place == 1:
            lines[-1] += " " + found[0]
        else:
            lines.append(indent + found[0])
        lines += found[1:]
    if isinstance(item.items[-1], Comment):
        lines.append(" " * min(column, DEEPEST_INDENT) + ")")
    else:
        lines[-1] += ")"
    return lines


def _flat(item: Item) -> str:
    if isinstance(item, Form):
        return "(" + " ".join([_flat(part) for part in item.items]) + ")"
    return item.text
