"""Recognition of what neighboring languages, web pages and chat answers put into rule sheets.

It stands in front of the parser: a text with such places is refused with a sentence about them in the sheet's
own notation, instead of the many findings that would follow. Texts with a meaning pass.
"""

from __future__ import annotations

import re
from itertools import islice

from gdl.errors import Diagnostic
from gdl.syntax.foreign_in_infix import foreign_in_infix
from gdl.syntax.foreign_in_kif import foreign_in_kif
from gdl.syntax.foreign_text import MAX_PLACES, Foreign, around_rules, diagnostics_of, odd_characters

_REMARKS = re.compile(r"^[ \t]*(?:#|//|--\s|%|;)[^\n]*|/\*.*?\*/|^[ \t]*:-[^\n]*", re.MULTILINE | re.DOTALL)
_LIST_LINE = re.compile(r"^[ \t]*\(|\(\s*<=", re.MULTILINE)
_INFIX_LINE = re.compile(r"^[ \t]*[A-Za-z]\w*(?:\(.*\)\s*(?:\.|:-|<=|<-|[,&]|if\b|$)|\s*:-)", re.MULTILINE)


def foreign_notation(text: str, *, is_infix: bool | None) -> list[Diagnostic]:
    """The findings, in reading order; none if nothing foreign is recognized.

    text       with lines that end in \\n
    is_infix   None if nothing says whether the text is KIF or infix

    >>> foreign_notation("(role robot) (init (at 1))", is_infix=False)
    []
    >>> print(foreign_notation("# up\\nrole(p)", is_infix=None)[0].message)
    '#' does not begin a comment in infix form: write '%'
    """
    around = list(islice(around_rules(text), MAX_PLACES))
    if around:
        return diagnostics_of(text, around)[:1]
    if is_infix is None:
        is_infix = has_infix_lines(text)
    odd = list(islice(odd_characters(text, is_infix=is_infix), MAX_PLACES))
    if odd:
        return diagnostics_of(text, odd)
    places: list[Foreign] = (
        list(islice(foreign_in_infix(text), MAX_PLACES)) if is_infix else foreign_in_kif(text)
    )
    return diagnostics_of(text, places)


def has_infix_lines(text: str) -> bool:
    """Whether lines of `text` are in infix form, and none in KIF, however the text begins."""
    plain = _REMARKS.sub("", text)
    return not _LIST_LINE.search(plain) and bool(_INFIX_LINE.search(plain))
