"""Text to `Program`: KIF prefix form and infix form, with the place of everything kept.

Steps: decode, check parentheses (`gdl.brackets`), parse to terms (lark, LALR), understand terms as
rules (`gdl.forms`). Names are folded to lower case, since GDL does not distinguish case.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from gdl.brackets import MAX_DIAGNOSTICS, Lines, scan_brackets
from gdl.errors import Diagnostic, GdlSyntaxError, Severity
from gdl.forms import MisplacedFormError, check_term, rules_of
from gdl.program import Program, Source
from gdl.syntax_errors import infix_error, kif_error, moved
from gdl.term_builders import InfixForms, KifForms, fold, unescape
from gdl.terms import Term

if TYPE_CHECKING:
    from lark import Lark

Syntax = OneOf["auto", "kif", "infix"]

MAX_CHARACTERS = 2_000_000
"""Longest text that is read: fifty times chess, some ten seconds of parsing."""

MAX_RESTARTS = 5
"""How often reading of an infix sheet starts again after an error, to find further ones."""

_SYMBOL_IN_KIF = re.compile(r";[^\n]*|[^\s();?][^\s();]*|\?[^\s();]*")
_SYMBOL_IN_INFIX = re.compile(r"[%;][^\n]*|\??'(?:\\.|[^'\\\n])*'|[A-Za-z0-9_]+")
_COMMENTS = re.compile(r"(?:\s|[;%][^\n]*)*")
_INFIX_START = re.compile(r"(?:'(?:\\.|[^'\\\n])*'|[a-z0-9]\w*|-[0-9]+)(?:\(|\s*:-|\.(?=\s|$))")
_NEW_RULE = re.compile(r"^[a-z0-9'-]", re.MULTILINE)


def parse(text: str, *, name: str = "<rules>", syntax: Syntax = "auto") -> Program:
    """Read a rule sheet. Bodies keep their nesting of and/or/not.

    name     what messages call the text, usually the file's name
    syntax   "kif", "infix", or "auto" to tell by the first form
    Raises GdlSyntaxError with every error found.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    source = Source(name, text)
    if len(text) > MAX_CHARACTERS:
        message = f"rule sheet has {len(text)} characters, more than the limit of {MAX_CHARACTERS}"
        raise GdlSyntaxError([Diagnostic("GDL105", Severity.ERROR, message)], Source(name, ""))
    is_infix = syntax == "infix" or (syntax == "auto" and looks_infix(text))
    forms = _read_forms(source, is_infix)
    diagnostics: list[Diagnostic] = []
    rules = rules_of(forms, diagnostics)
    if diagnostics:
        raise GdlSyntaxError(diagnostics[:MAX_DIAGNOSTICS], source)
    return Program(tuple(rules), source, _spellings(text, is_infix))


def parse_file(path: str | Path, *, syntax: Syntax = "auto") -> Program:
    """Read the rule sheet at `path`, in any encoding that `decode` reads.

    Raises GdlSyntaxError, and OSError where the file cannot be read.
    """
    with open(path, "rb") as file:
        data = file.read(4 * MAX_CHARACTERS + 1)
    return parse(decode(data), name=str(path), syntax=syntax)


def decode(data: bytes) -> str:
    """The text of a file or a message: UTF-8, UTF-16 by its mark, else Latin-1, which never fails.

    Replacement characters instead would make one name of two that differ in an accent.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def parse_term(text: str, *, name: str = "<term>") -> Term:
    """Read exactly one KIF term, ground or not. Raises GdlSyntaxError."""
    source = Source(name, text)
    if len(text) > MAX_CHARACTERS:
        raise GdlSyntaxError([Diagnostic("GDL105", Severity.ERROR, "term is too long")], Source(name, ""))
    terms = _read_forms(source, is_infix=False)
    if len(terms) != 1:
        message = "a term is expected here" if not terms else "only one term is expected here"
        span = terms[1].span if terms else None
        raise GdlSyntaxError([Diagnostic("GDL115", Severity.ERROR, message, span)], source)
    try:
        check_term(terms[0])
    except MisplacedFormError as error:
        raise GdlSyntaxError([error.diagnostic], source) from None
    return terms[0]


def looks_infix(text: str) -> bool:
    """Whether a rule sheet is in infix form: it opens with `name(…`, `name :-` or `name.`."""
    start = _COMMENTS.match(text)
    return bool(start and _INFIX_START.match(text, start.end()))


def _read_forms(source: Source, is_infix: bool) -> list[Term]:
    scan = scan_brackets(source.text, is_infix=is_infix)
    if scan.diagnostics:
        raise GdlSyntaxError(scan.diagnostics, source)
    from lark.exceptions import UnexpectedInput

    try:
        return _parse_forms(source.text, is_infix)
    except UnexpectedInput:
        pass
    diagnostics = _infix_errors(source.text) if is_infix else _kif_errors(source.text, scan.lists)
    raise GdlSyntaxError(diagnostics[:MAX_DIAGNOSTICS], source)


def _kif_errors(text: str, lists: list[tuple[int, int]]) -> list[Diagnostic]:
    """What is wrong with the outermost forms, found by halving until a piece reads or is one form."""
    from lark.exceptions import UnexpectedInput

    diagnostics: list[Diagnostic] = []
    lines = Lines(text)
    edges = [0, *(edge for pair in lists for edge in pair), len(text)]
    pieces = [(0, len(edges) - 1)]
    while pieces and len(diagnostics) < MAX_DIAGNOSTICS:
        first, last = pieces.pop()
        start, end = edges[first], edges[last]
        found: list[Diagnostic] = []
        try:
            rules_of(_parse_forms(text[start:end], is_infix=False), found)
        except UnexpectedInput as error:
            if last - first > 1:
                middle = (first + last) // 2
                pieces += [(middle, last), (first, middle)]
                continue
            found.append(kif_error(error))
        diagnostics += [moved(diagnostic, lines.span(start, end)) for diagnostic in found]
    return diagnostics


def _infix_errors(text: str) -> list[Diagnostic]:
    """The first error, and those found by starting again at the next line that looks like a new rule."""
    from lark.exceptions import UnexpectedInput

    diagnostics: list[Diagnostic] = []
    lines = Lines(text)
    end = len(text.rstrip())
    start = 0
    for _ in range(MAX_RESTARTS):
        try:
            _parse_forms(text[start:], is_infix=True)
            break
        except UnexpectedInput as error:
            # the place of the text's end is known for the whole text, all others for the piece
            found = moved(infix_error(error), lines.span(start, start))
        if found.span is None:
            diagnostics.append(replace(found, span=lines.span(max(end - 1, 0), end)))
            break
        diagnostics.append(found)
        new_rule = _NEW_RULE.search(text, lines.start(found.span.line + 1))
        if new_rule is None:
            break
        start = new_rule.start()
    return diagnostics


def _parse_forms(text: str, is_infix: bool) -> list[Term]:
    return _lark(is_infix).parse(text if is_infix else fold(text))  # type: ignore[return-value]


@cache
def _lark(is_infix: bool) -> Lark:
    """The parser, built on first use: importing lark and building tables takes a tenth of a second."""
    from lark import Lark

    return Lark.open(
        "infix.lark" if is_infix else "kif.lark",
        rel_to=__file__,
        parser="lalr",
        transformer=InfixForms() if is_infix else KifForms(),
        propagate_positions=False,
        maybe_placeholders=False,
    )


def constants_as_written(text: str, is_infix: bool) -> Iterator[tuple[int, str]]:
    """(offset, spelling) of every name in a rule sheet that is no variable, quotes removed."""
    for found in (_SYMBOL_IN_INFIX if is_infix else _SYMBOL_IN_KIF).finditer(text):
        word = found.group()
        if is_infix:
            if word[0] in "%;?_" or word[0].isupper():
                continue
            if word[0] == "'":
                word = unescape(word)
        elif word[0] in ";?":
            continue
        yield found.start(), word


def _spellings(text: str, is_infix: bool) -> dict[str, str]:
    """Canonical name → its first spelling, for constants first written with capitals."""
    if text == text.lower():
        return {}
    first: dict[str, str] = {}
    for _, word in constants_as_written(text, is_infix):
        first.setdefault(fold(word), word)
    return {name: word for name, word in first.items() if name != word}
