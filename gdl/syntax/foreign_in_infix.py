"""Habits of other languages in an infix text: Prolog, C, Stanford's operations, and words of KIF.

Outside comments and quoted names, infix form knows names, variables, parentheses and `~ & | , . :-` only. So
whatever is found here could not be read anyway; the sentences say what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gdl.syntax.foreign_text import Foreign

_WORD = r"[A-Za-z_?'][\w?']*|\d+"
_TOKEN = re.compile(
    r"""(?P<comment>[%;][^\n]*) | '(?:\\.|[^'\\\n])*'
    | (?P<directive>(?:^|(?<=\.)\s*):-\s*
        (?:dynamic|use_module|discontiguous|module|initialization|table|consult)\b[^\n]*)
    | (?P<neck>:-)
    | (?P<operation>==>|::)
    | (?P<remark>//|\#|/\*|\*/|--(?=\s)|<!--|-->)
    | (?P<not>\bnot\s+(?=[a-z~'])) | (?P<naf>\\\+|¬|!(?=\s*[a-z(])(?!=)|-(?=[a-z(]))
    | (?P<unequal>\\==?|!==?|<>|=\\=|≠|/=|~=)
    | (?P<arrow><=>|<==?|<--?|←|⇐|⟸|≤|:=|-->|=>|->|→|⇒|⟹|(?<=[)\w])\s*:(?=\s)
        |(?<=\))\s+(?:if|when)\b(?=\s+[a-z~(]))
    | (?P<compare>>=|=<|<|>|≥|(?<=[)\w])\s+is\s+(?=[\w(])[^&,|\n]*)
    | (?P<equal>=:=|={1,3})
    | (?P<both>&&|∧|/\\|(?<=\))\s+and\b(?=\s+[a-z~(])) | (?P<either>\|\||∨|\\/|(?<=\))\s+or\b(?=\s+[a-z~(]))
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
_ATOM = re.compile(r"\s*([\w']+(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))?)")
_IN_A_FACT = re.compile(r"(?:\A|[.)\w'])\s*\Z")

_OPERATIONS = (
    "operations of Stanford's Gamemaster (2018 and later) are another language, which is not supported"
)
_ORDER = "GDL has no arithmetic: state the values as facts, for instance less(1,2), and ask for less({0},{1})"
_NUMBERS = (
    "GDL has no arithmetic: state the values as facts, for instance succ(1,2), and ask for succ({0},{1})"
)


def foreign_in_infix(text: str) -> Iterator[Foreign]:
    """The places of `text` in another notation.

    >>> [found.message for found in foreign_in_infix("p(M) :- q(M,N) & M \\\\= N")]
    ["'\\\\\\\\=' is written distinct(M,N)"]
    """
    depth = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
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


def _sentence(kind: str, text: str, token: re.Match[str], depth: int) -> tuple[str, str] | None:
    """What to write instead, and the kind of places that are reported once."""
    written = " ".join(token.group().split())
    left, right = (
        _LEFT.search(text, max(0, token.start() - 100), token.start()),
        _RIGHT.match(text, token.end()),
    )
    left_word, right_word = (found.group(1) if found else word for found, word in ((left, "X"), (right, "Y")))
    operands = _variable(left_word), _variable(right_word)
    atom = _ATOM.match(text, token.end())
    following = atom.group(1) if atom else "p"
    if kind == "comment":
        rest = written[1:].strip()
        is_cut_off = depth > 0 and written[0] == ";" and rest.count(")") > rest.count("(")
        return ("';' begins a comment in infix form: write '|' for 'or'", "semicolon") if is_cut_off else None
    if kind == "compare" and written.startswith("is"):
        value = _RIGHT.match(written, 2)
        return _NUMBERS.format(value.group(1) if value else "X", operands[0]), ""
    if kind == "arrow":
        both = (
            left_word[:1].isupper() or left_word.isdigit(),
            right_word[:1].isupper() or right_word.isdigit(),
        )
        if left and right and all(both) and written in ("<=", "≤", "=>"):
            return _ORDER.format(*operands), ""
        if written in ("=>", "->", "-->", "→", "⇒", "⟹"):
            return f"'{written}' is not part of the language: write rules as head :- body", "implication"
        return f"rules are written with ':-', not with '{written}': head :- body", "arrow"
    if kind == "comma":
        return (
            ("',' only separates arguments: '&' joins the atoms of a body", "comma") if depth == 0 else None
        )
    if kind == "role":
        name = token.group()[5:-1].strip()
        return (
            f"{name} is a variable, because it begins with a capital letter: write role({name.lower()}), and"
            " likewise all other names",
            "capitals",
        )
    sentences = {
        "operation": (f"'{written}': {_OPERATIONS}", "operation"),
        "directive": (f"'{written}' is a directive of Prolog: leave it out", "directive"),
        "remark": (f"'{written}' does not begin a comment in infix form: write '%'", "remark"),
        "not": (f"'not' is written '~' in infix form: ~{following}", ""),
        "naf": (f"'{written}' is written '~' in infix form: ~{following}", ""),
        "unequal": (f"'{written}' is written distinct({operands[0]},{operands[1]})", ""),
        "compare": (_ORDER.format(*operands), ""),
        "equal": (
            f"GDL has no '{written}': use one variable for both, or ~distinct({operands[0]},{operands[1]})",
            "",
        ),
        "both": (f"'{written}' is written '&' in infix form", f"join {written}"),
        "either": (f"'{written}' is written '|' in infix form", f"join {written}"),
        "variable": (
            f"{written} is a variable of KIF: in infix form variables begin with a capital letter: "
            f"{_variable(written)}",
            "variable",
        ),
        "arithmetic": (_NUMBERS.format(operands[0], "Next"), ""),
        "capital": (
            f"{written}(...): names of relations and functions begin with a lower-case letter: "
            f"{written[0].lower()}{written[1:]}(...)",
            "capital",
        ),
        "list": ("GDL has no lists: write a function for each element, or separate facts", "list"),
        "cut": ("GDL has no cut: write what must not hold as ~atom", "cut"),
        "string": (f"{written} is not a name: write a name in single quotes, or without quotes", "string"),
    }
    return sentences[kind]


def _variable(word: str) -> str:
    """A word as it would be written in infix form."""
    return word[1:2].upper() + word[2:] if word.startswith("?") else word
