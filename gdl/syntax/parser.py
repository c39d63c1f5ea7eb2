"""Parser for rule sheets in KIF prefix form and infix form.

Steps: decode, recognize other notations (`gdl.syntax.foreign_notation`), check parentheses
(`gdl.syntax.brackets`), parse to terms (lark, LALR), interpret terms as rules (`gdl.syntax.forms`). Names are
folded to lower case, because GDL does not distinguish case.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from gdl.errors import Diagnostic, GdlSyntaxError, Severity
from gdl.program import Program, Source
from gdl.syntax.brackets import MAX_DIAGNOSTICS, Lines, scan_brackets
from gdl.syntax.foreign_notation import foreign_notation, has_infix_lines
from gdl.syntax.forms import MisplacedFormError, check_term, rules_of
from gdl.syntax.syntax_errors import infix_error, kif_error, moved
from gdl.syntax.term_builders import InfixForms, KifForms, fold, unescape
from gdl.terms import Term

if TYPE_CHECKING:
    from lark import Lark

Syntax = OneOf["auto", "kif", "infix"]

MAX_CHARACTERS = 2_000_000
"""Maximum length of a text: fifty times chess, about ten seconds of parsing."""

MAX_REMEMBERED = 20_000
"""Maximum length of a text whose program is kept, in case it is parsed again; at 100 bytes a character."""

MAX_RESTARTS = 5
"""Maximum number of times parsing of an infix sheet restarts after an error to find further ones."""

_SYMBOL_IN_KIF = re.compile(r";[^\n]*|[^\s();?][^\s();]*|\?[^\s();]*")
_SYMBOL_IN_INFIX = re.compile(r"[%;][^\n]*|\??'(?:\\.|[^'\\\n])*'|[A-Za-z0-9_]+")
_COMMENTS = re.compile(r"(?:\s|[;%][^\n]*)*")
_INFIX_START = re.compile(r"(?:'(?:\\.|[^'\\\n])*'|[a-z0-9]\w*|-[0-9]+)(?:\(|\s*:-|\.(?=\s|$))")
_KIF_LINE = re.compile(
    r"^\(\s*(?:<=\s*[\w(]|(?:role|init|next|legal|goal|sees|base|input)\s+[\w(?])", re.MULTILINE
)
_NEW_RULE = re.compile(r"^[a-z0-9'-]", re.MULTILINE)


def parse(text: str, *, name: str = "<rules>", syntax: Syntax = "auto") -> Program:
    """Parse a rule sheet. Bodies keep their nesting of and/or/not.

    name     name of the text in messages, usually the file name
    syntax   "kif", "infix", or "auto" to decide by the first form, and to refuse what looks like another
             notation even if it could be read
    Raises GdlSyntaxError with all errors found.

    >>> program = parse("(role robot) (<= (legal robot ?x) (button ?x))")
    >>> str(program.rules[1].head)
    '(legal robot ?x)'
    >>> parse("role(robot). legal(robot, X) :- button(X).") == program
    True
    """
    text = with_plain_lines(text)
    return _remembered(text, name, syntax) if len(text) <= MAX_REMEMBERED else _parse(text, name, syntax)


def with_plain_lines(text: str) -> str:
    """`text` without a byte order mark, and with lines that end in \\n.

    >>> with_plain_lines("\\ufeff; one\\r\\n; two\\r")
    '; one\\n; two\\n'
    """
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _parse(text: str, name: str, syntax: Syntax) -> Program:
    source = Source(name, text)
    if len(text) > MAX_CHARACTERS:
        message = f"rule sheet has {len(text)} characters, more than the limit of {MAX_CHARACTERS}"
        raise GdlSyntaxError([Diagnostic("GDL105", Severity.ERROR, message)], Source(name, ""))
    is_infix = syntax == "infix" or (syntax == "auto" and looks_infix(text))
    if syntax == "auto":
        _require_own_notation(source, is_infix or None)
    try:
        diagnostics: list[Diagnostic] = []
        rules = rules_of(_read_forms(source, is_infix), diagnostics)
        if diagnostics:
            raise GdlSyntaxError(diagnostics[:MAX_DIAGNOSTICS], source)
        return Program(tuple(rules), source, _spellings(source.text, is_infix))
    except GdlSyntaxError:
        if syntax != "auto":
            _require_own_notation(source, is_infix)
        raise


def _require_own_notation(source: Source, is_infix: bool | None) -> None:
    found = foreign_notation(source.text, is_infix=is_infix)
    if found:
        raise GdlSyntaxError(found[:MAX_DIAGNOSTICS], source) from None


# A command reads the same sheet several times: for its roles, for its plan and for the game.
_remembered = lru_cache(maxsize=16)(_parse)


def parse_file(path: str | Path, *, syntax: Syntax = "auto") -> Program:
    """Parse the rule sheet at `path`, in any encoding that `decode` accepts.

    Raises GdlSyntaxError, and OSError if the file cannot be read.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "game.kif")
    ...     _ = path.write_text("(role robot)")
    ...     len(parse_file(path).rules)
    1
    """
    with open(path, "rb") as file:
        data = file.read(4 * MAX_CHARACTERS + 1)
    return parse(decode(data), name=str(path), syntax=syntax)


def decode(data: bytes) -> str:
    """The text of a file or message: UTF-8, UTF-16 or UTF-32, else Latin-1.

    UTF-16 needs no mark if the first character is of ASCII. Latin-1 never fails.
    Replacement characters would merge names that differ only in an accent.
    """
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return data.decode("utf-32", "replace")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if data[:2].count(0) == 1:
        return data.decode("utf-16-be" if data[0] == 0 else "utf-16-le", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def parse_term(text: str) -> Term:
    """Parse exactly one KIF term, ground or not. Raises GdlSyntaxError.

    >>> parse_term("(MARK 1  ?x)")
    Compound('mark', (Symbol('1'), Variable('x')))
    """
    terms = parse_terms(text, name="<term>")
    if len(terms) != 1:
        message = "expected a term" if not terms else "expected a single term"
        span = terms[1].span if terms else None
        raise GdlSyntaxError([Diagnostic("GDL115", Severity.ERROR, message, span)], Source("<term>", text))
    return terms[0]


def parse_terms(text: str, *, name: str = "<terms>") -> list[Term]:
    """Parse any number of KIF terms. Raises GdlSyntaxError.

    >>> parse_terms("(control x) stop")
    [Compound('control', (Symbol('x'),)), Symbol('stop')]
    """
    source = Source(name, text)
    if len(text) > MAX_CHARACTERS:
        raise GdlSyntaxError([Diagnostic("GDL105", Severity.ERROR, "term is too long")], Source(name, ""))
    terms = _read_forms(source, is_infix=False)
    try:
        for term in terms:
            check_term(term)
    except MisplacedFormError as error:
        raise GdlSyntaxError([error.diagnostic], source) from None
    return terms


def looks_infix(text: str) -> bool:
    """Whether a rule sheet is in infix form.

    Such a sheet starts with `name(…`, `name :-` or `name.`. If lines of KIF follow, only the first
    parenthesis is out of place.

    >>> looks_infix("role(robot). init(off)."), looks_infix("role(robot)\\n(init off)")
    (True, False)
    """
    start = _COMMENTS.match(text)
    is_infix = start and _INFIX_START.match(text, start.end())
    return not _KIF_LINE.search(text) if is_infix else has_infix_lines(text)


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
    """Errors in the outermost forms, by bisection until a piece parses or is a single form."""
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
    """The first error, and those found after restarts at the next line that looks like a new rule."""
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
            # an error at the end of the text has no span yet; all other spans are relative to the piece
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
    """The parser, built on first use. Importing lark and building tables takes a tenth of a second."""
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
    """(offset, spelling) of every name except variables, without quotes."""
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
    """Canonical name → its first spelling, for names first written with capitals."""
    if text == text.lower():
        return {}
    first: dict[str, str] = {}
    for _, word in constants_as_written(text, is_infix):
        first.setdefault(fold(word), word)
    return {name: word for name, word in first.items() if name != word}
