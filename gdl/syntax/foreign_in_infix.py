"""Habits of other languages in an infix text: Prolog, C, Stanford's operations, and words of KIF.

Outside comments and quoted names, infix form knows names, variables, parentheses and `~ & | , . :-` only. So
whatever is found here could not be read anyway; the sentences say what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gdl.syntax.foreign_in_kif import COMMENT_ENDS, order_asked
from gdl.syntax.foreign_text import Foreign

_WORD = r"[A-Za-z_?'][\w?']*|\d+"
_TOKEN = re.compile(
    r"""(?P<comment>[%;][^\n]*) | '(?:\\.|[^'\\\n])*'
    | (?P<directive>(?:^|(?<=\.)\s*):-\s*
        (?:dynamic|use_module|discontiguous|module|initialization|table|consult)\b[^\n]*)
    | (?P<neck>:-)
    | (?P<operation>==>|::)
    | (?P<remark>//|\#|/\*|--(?=\s)|<!--)
    | (?P<not>\b(?i:not)\s+(?=[a-z~']))
    | (?P<naf>\\\+|¬|!(?=[ \t]*[a-z(])(?!=)|-(?=[a-z(])|\bnaf(?=\s*\())
    | (?P<unequal>\\==?|!==?|<>|=\\=|≠|/=|~=)
    | (?P<arrow><=>|<==?|<--?|←|⇐|⟸|≤|:=|-->|=>|->|→|⇒|⟹|(?<=[)\w])\s*:(?=\s)
        |(?<=\))\s+(?i:if|when)\b(?=\s+[a-z~(]))
    | (?P<compare>>=|=<|<|>|≥|(?<=[)\w])\s+is\s+(?=[\w(])[^&,|\n]*|=\s*(?=\w+\s*[-+*/])[^&,|\n]*)
    | (?P<equal>=:=|={1,3})
    | (?P<both>&&|∧|/\\|(?<=\))\s+(?i:and)\b(?=\s+[a-z~(]))
    | (?P<either>\|\||∨|\\/|(?<=\))\s+(?i:or)\b(?=\s+[a-z~(]))
    | (?P<variable>\?[A-Za-z_]\w*)
    | (?P<arithmetic>(?<=[\w)])\s*(?:[+*/^]|-(?!\d)|-(?=\d)(?<=[\w)]\ -|\w\w-))\s*(?=[\w(]))
    | (?P<list>[\[\]{}]) | (?P<cut>!) | (?P<string>"[^"\n]*"?)
    | (?P<capital>\b[A-Z]\w*(?=\())
    | (?P<open>\() | (?P<close>\)) | (?P<comma>,)
    | (?P<role>\brole\(\s*[A-Z]\w*\s*\)(?!\s*(?::-|<=|<-|[&,|]|if\b)))""",
    re.VERBOSE | re.MULTILINE,
)
_LEFT = re.compile(rf"({_WORD})\s*$")
_RIGHT = re.compile(rf"\s*({_WORD})")
_ATOM = re.compile(r"\s*\(?\s*([\w']+(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))?)")
_IN_A_FACT = re.compile(r"(?:\A|[.)\w'])\s*\Z")

_OPERATIONS = (
    "operations of Stanford's Gamemaster (2018 and later) are another language, which is not supported"
)
_ORDER = "GDL has no arithmetic: state the values as facts, for instance less(1,2), and ask for {0}"
_NUMBERS = (
    "GDL has no arithmetic: state the values as facts, for instance succ(1,2), and ask for succ({0},{1})"
)


_SENTENCES: Mapping[str, tuple[str, str]] = {
    "comment": ("';' begins a comment in infix form: write '|' for 'or'", "semicolon"),
    "comma": ("',' only separates arguments: '&' joins the atoms of a body", "comma"),
    "arrow": ("rules are written with ':-', not with '{written}': head :- body", "arrow"),
    "implication": ("'{written}' is not part of the language: write rules as head :- body", "implication"),
    "role": (
        "{role} is a variable, because it begins with a capital letter: write role({small}), and likewise all"
        " other names",
        "capitals",
    ),
    "operation": ("'{written}': " + _OPERATIONS, "operation"),
    "directive": ("'{written}' is a directive of Prolog: leave it out", "directive"),
    "remark": ("'{written}' does not begin a comment in infix form: write '%'", "remark"),
    "not": ("'{written}' is written '~' in infix form: ~{following}", ""),
    "naf": ("'{written}' is written '~' in infix form: ~{following}", ""),
    "unequal": ("'{written}' is written distinct({0},{1})", ""),
    "equal": ("GDL has no '{written}': use one variable for both, or ~distinct({0},{1})", ""),
    "both": ("'{written}' is written '&' in infix form", "join {written}"),
    "either": ("'{written}' is written '|' in infix form", "join {written}"),
    "variable": (
        "{written} is a variable of KIF: in infix form variables begin with a capital letter: {variable}",
        "variable",
    ),
    "arithmetic": (_NUMBERS.replace("{1}", "Next"), ""),
    "capital": (
        "{written}(...): names of relations and functions begin with a lower-case letter: {lower}(...)",
        "capital",
    ),
    "list": ("GDL has no lists: write a function for each element, or separate facts", "list"),
    "cut": ("GDL has no cut: write what must not hold as ~atom", "cut"),
    "string": ("{written} is not a name: write a name in single quotes, or without quotes", "string"),
}
"""Kind of token → what to write instead, and the kind of places that are reported once."""


def foreign_in_infix(text: str) -> Iterator[Foreign]:
    """The places of `text` in another notation.

    >>> [found.message for found in foreign_in_infix("p(M) :- q(M,N) & M != N")]
    ["'!=' is written distinct(M,N)"]
    """
    depth = skipped = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if token.start() < skipped:
            continue
        if kind == "remark":
            end = text.find(COMMENT_ENDS.get(token.group(), "\n"), token.end())
            skipped = len(text) if end < 0 else end
        if kind in ("open", "close"):
            depth = max(0, depth + (1 if kind == "open" else -1))
        elif kind == "neck":
            depth = 0
        elif kind == "role" and not _IN_A_FACT.search(_before(text, token.start())):
            continue
        elif kind is not None and (found := _sentence(kind, text, token, depth)):
            start = token.start() + len(token.group()) - len(token.group().lstrip())
            end = token.start() + len(token.group().rstrip())
            code = {"remark": "GDL119", "role": "GDL121"}.get(kind, "GDL120")
            yield Foreign(start, end, code, *found)


def _before(text: str, start: int) -> str:
    return re.sub(r"[%;][^\n]*", "", text[max(0, start - 500) : start])


def _order(comparison: str, operands: list[str]) -> str:
    left, right = operands
    return _ORDER.format(order_asked(comparison, left, right, less="less({0},{1})", no="~{0}"))


def _sentence(kind: str, text: str, token: re.Match[str], depth: int) -> tuple[str, str] | None:
    """What to write instead, and the kind of places that are reported once."""
    written = " ".join(token.group().split())
    left = _LEFT.search(text, max(0, token.start() - 100), token.start())
    right = _RIGHT.match(text, token.end())
    operands = [_variable(found.group(1)) if found else word for found, word in ((left, "X"), (right, "Y"))]
    if kind == "comma" and depth > 0:
        return None
    if kind == "comment":
        is_cut_off = depth > 0 and written[0] == ";" and written.count(")") > written.count("(")
        return _SENTENCES[kind] if is_cut_off else None
    computed = re.match(r"is\b|=(?!<)", written)
    if kind == "compare" and not computed:
        return _order(written, operands), ""
    if kind == "compare" and computed:
        value = _RIGHT.match(written, computed.end())
        return _NUMBERS.format(value.group(1) if value else "X", operands[0]), ""
    if kind == "arrow":
        are_values = all(word[:1].isupper() or word.isdigit() for word in operands)
        if left and right and are_values and written in ("<=", "≤", "=>"):
            return _order(written, operands), ""
        kind = "implication" if written in ("=>", "->", "-->", "→", "⇒", "⟹") else kind
    name = written.removeprefix("role(").rstrip(")").strip()
    atom = _ATOM.match(text, token.end())
    sentence, once = _SENTENCES[kind]
    return sentence.format(
        *operands,
        written=written,
        following=atom.group(1) if atom else "p",
        variable=_variable(written),
        lower=written.lower() if written.isupper() else written[0].lower() + written[1:],
        role=name,
        small=name.lower(),
    ), once.format(written=written)


def _variable(word: str) -> str:
    return word[1:2].upper() + word[2:] if word.startswith("?") else word
