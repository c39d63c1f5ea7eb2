"""Messages in the notation of the sheet: checks write the terms in them as KIF."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain

from gdl.errors import Diagnostic, GdlSyntaxError
from gdl.keywords import KEYWORDS
from gdl.syntax.forms import CONNECTIVES
from gdl.syntax.parser import parse, parse_term
from gdl.syntax.printer import to_infix
from gdl.validation.sheet import Sheet

_OPENING = re.compile(r"\(([^\s()?]+)(?=[\s()])|(?<![\w'])\?\w+")
_DOTS = "..."


def in_infix(diagnostic: Diagnostic, sheet: Sheet) -> Diagnostic:
    """`diagnostic` with the terms in its message and notes as infix form writes them.

    >>> from gdl.validation.codes import error
    >>> finding = error("GDL202", "for instance (legal robot (mark 1))", None)
    >>> in_infix(finding, Sheet(parse("legal(m)."))).message
    'for instance legal(robot,mark(1))'
    """
    names = {*KEYWORDS, *CONNECTIVES, "head"}
    names.update(form.name for form in chain(sheet.atoms(), sheet.terms()))
    notes = tuple(replace(note, message=_translated(note.message, names)) for note in diagnostic.related)
    return replace(diagnostic, message=_translated(diagnostic.message, names), related=notes)


def _translated(message: str, names: set[str]) -> str:
    parts, place = [], 0
    while found := _OPENING.search(message, place):
        end = found.end()
        if found.group(1):
            end = _closing(message, found.start())
        written = message[found.start() : end]
        is_term = found.group(1) is None or found.group(1) in names
        parts += [message[place : found.start()], _infix(written) if is_term and end else written or "("]
        place = max(end, found.start() + 1)
    return "".join([*parts, message[place:]])


def _closing(message: str, start: int) -> int:
    """The end of the list that begins at `start`; 0 if it is not closed."""
    depth = 0
    for place in range(start, len(message)):
        depth += {"(": 1, ")": -1}.get(message[place], 0)
        if depth == 0:
            return place + 1
    return 0


def _infix(written: str) -> str:
    try:
        if written.startswith("(<="):
            text = to_infix(parse(written, syntax="kif").rules[0])
        elif re.match(r"\((?:and|or|not)\s", written):
            text = to_infix(parse(f"(<= p {written})", syntax="kif").rules[0].body[0])
        else:
            text = to_infix(parse_term(written))
    except GdlSyntaxError:
        return written
    return " ".join(text.split()).replace(f"'{_DOTS}'", _DOTS).removesuffix(".").rstrip()
