"""Texts that hold a rule sheet, or its characters, in a form for something else.

Chat answers, START messages and web pages around the rules; HTML entities, full-width and
invisible characters in them; comments as other languages write them. Each is one finding for the whole text:
what an ordinary reader would find afterwards only follows from it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from gdl.errors import Diagnostic, Severity
from gdl.keywords import KEYWORDS
from gdl.syntax.brackets import Lines

MAX_PLACES = 1_000
"""Number of places after which a text is not searched for more."""


class Foreign(NamedTuple):
    """One place: offsets, and the sentence. Places of one `kind` are reported once, as the first of them."""

    start: int
    end: int
    code: str
    message: str
    kind: str = ""


_AROUND = (
    (
        re.compile(r"^[ \t]*(`{3,}|~{3,}(?=[\w-]*[ \t]*$))", re.MULTILINE),
        "is a fence of Markdown, probably from a chat answer: keep only the lines between the fences",
    ),
    (
        re.compile(r"(\(\s*start)\s+[^\s()]+\s+(?:[^\s()]+|\([^()]*\))\s*\(\s*[()]", re.IGNORECASE),
        "begins a START message: keep only the rules, the list after the role, without its parentheses",
    ),
    (
        re.compile(r"\A\s*((?:\(\s*preview\s+|')?\()\s*\(\s*(?:role|init|base|<=)[\s(]", re.IGNORECASE),
        "begins a list around the rules: keep only the rules",
    ),
    (
        re.compile(
            r"^[ \t]*(<(?:!doctype\b|!\[CDATA\[|\?xml\b|/?(?:html|head|body|pre|code|div|p|br|span|a|table"
            r"|t[rdh]|[uo]l|li|script|h\d|b|em|strong)\b))",
            re.MULTILINE | re.IGNORECASE,
        ),
        "is HTML: keep only the text of the rules",
    ),
    (
        re.compile(r"^\s*(\((?:define\s*\(\s*(?:domain|problem)|:action))\s", re.MULTILINE | re.IGNORECASE),
        "begins PDDL, another language, which is not supported",
    ),
)
"""Patterns of text around rules."""

_ENTITY = re.compile(
    r"&(?:(lt|gt|amp|quot|apos|nbsp|le|ge|ne|and|or|not)|#(\d{1,6})|#x([0-9a-f]{1,5}));", re.IGNORECASE
)
_ENTITIES = {
    "lt": "<",
    "gt": ">",
    "amp": "&",
    "quot": '"',
    "apos": "'",
    "nbsp": "a blank",
    "le": "<=",
    "ge": ">=",
}

_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe00-\ufe0f\U000e0000-\U000e007f"
INVISIBLE = "\u00ad\u061c\u180e\u200b\u200e\u200f\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff" + _JOINERS
"""Characters that no editor shows; joiners are part of words in some scripts, selectors of emoji."""

_SELECTOR = re.compile(f"[{_SELECTORS}]")

REPLACEMENTS: Mapping[str, str] = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys("“”„‟«»‘’‚‛`´", "'"),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    **dict.fromkeys("、﹐", ","),
    **dict.fromkeys("﹔", ";"),
    **dict.fromkeys("∼˜", "~"),
    "﹙": "(",
    "﹚": ")",
    "∶": ":",
    "∣": "|",
}
"""Look-alikes of ASCII characters."""

_ODD = re.compile(f"[{INVISIBLE}{_SELECTORS}]|[{re.escape(''.join(REPLACEMENTS))}]")
_IN_KIF = re.compile(
    f"[{INVISIBLE}{_SELECTORS}]|[（）﹙﹚]|(?<![^\\s()?])[０-９Ａ-Ｚａ-ｚ]+(?![^\\s()])|(?<![^\\s()])[；？“”„«‘‚﹔]|(?<=[:<])[‒–—−](?![^\\s()])|[＜<]＝|＜=|(?<![^\\s()])[−–](?=\\d)|[，、]"
)
"""In KIF most characters may be part of a name: these stand where only the one of ASCII makes sense."""


def around_rules(text: str) -> Iterator[Foreign]:
    """Text of another kind around the rules.

    >>> [found.message for found in around_rules("Here it is:\\n```\\n(role x)")]
    ["'```' is a fence of Markdown, probably from a chat answer: keep only the lines between the fences"]
    """
    for pattern, sentence in _AROUND:
        for found in pattern.finditer(text):
            shown = " ".join(found.group(1).split())
            yield Foreign(found.start(1), found.end(1), "GDL117", f"'{shown}' {sentence}", sentence)


def odd_characters(text: str, *, is_infix: bool) -> Iterator[Foreign]:
    """HTML entities, and characters that only look like those of the language, outside comments."""
    for found in islice(_ENTITY.finditer(text), MAX_PLACES):
        line = _ENTITY.sub("", text[text.rfind("\n", 0, found.start()) + 1 : found.start()])
        name, decimal, hexadecimal = found.groups()
        meant = chr(int(decimal or hexadecimal, 10 if decimal else 16)) if not name else name.lower()
        meant = _ENTITIES.get(meant, meant if meant.isprintable() else "another character")
        if ";" not in line and not (is_infix and "%" in line):
            message = f"'{found.group()}' is HTML for {meant}: write the character itself"
            yield Foreign(found.start(), found.end(), "GDL118", message, "HTML")
    if text.isascii():
        return
    pattern = _ODD if is_infix else _IN_KIF
    for start, end in pieces_to_read(text, is_infix=is_infix):
        for found in pattern.finditer(text, start, end):
            odd = found.group()
            before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
            if not before.isascii() and (_SELECTOR.match(odd) or (odd in _JOINERS and not after.isascii())):
                continue
            if not is_infix and odd.isalnum() and not _is_written(unicodedata.normalize("NFKC", odd), text):
                continue  # a name of its own
            odd = next((letter for letter in odd if not letter.isascii()), odd)
            name = f"U+{ord(odd):04X} ({unicodedata.name(odd, 'unnamed').lower()})"
            if odd in REPLACEMENTS:
                message = f"{odd}, {name}, is not {REPLACEMENTS[odd]}: write the character of ASCII"
            else:
                message = f"{name} is invisible and would be part of a name: remove it"
            kind = "look-alike" if odd in REPLACEMENTS else "invisible"
            yield Foreign(found.start(), found.end(), "GDL118", message, kind)


def _is_written(word: str, text: str) -> bool:
    """Whether a KIF text has `word`, in any case, or every text has it."""
    return word.lower() in KEYWORDS or bool(re.search(rf"(?i)(?<![^\s()?]){word}(?![^\s()])", text))


def pieces_to_read(text: str, *, is_infix: bool) -> Iterator[tuple[int, int]]:
    """The parts of `text` that are neither comments nor, in infix form, quoted names."""
    skipped = re.compile(r"'(?:\\.|[^'\\\n])*'|[%;][^\n]*" if is_infix else r";[^\n]*")
    start = 0
    for found in skipped.finditer(text):
        yield start, found.start()
        start = found.end()
    yield start, len(text)


def diagnostics_of(text: str, places: list[Foreign]) -> list[Diagnostic]:
    """The findings in reading order; those of one kind as the first of them, with their number."""
    lines = Lines(text)
    kinds: dict[str, list[Foreign]] = {}
    for place in sorted(places):
        kinds.setdefault(place.kind or str(place.start), []).append(place)
    result = []
    for first, *others in kinds.values():
        more = f" (and {len(others)} more place{'s' * (len(others) > 1)})" if others else ""
        result.append(
            Diagnostic(first.code, Severity.ERROR, first.message + more, lines.span(first.start, first.end))
        )
    return result
