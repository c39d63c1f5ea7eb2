"""Habits of other languages in a KIF text: calls, commas, arrows, operators between operands, comments, prose.

KIF lets names consist of nearly anything, and each of these may be part of a sheet. So a word counts as
foreign only where nothing else in the text uses it as a name of its own; a text with a meaning has no finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gdl.keywords import FORMS, KEYWORDS
from gdl.syntax.foreign_text import Foreign
from gdl.syntax.forms import CONNECTIVES

_TOKEN = re.compile(r";[^\n]*|\(|\)|[^\s();]+")
_COMMENT = re.compile(r"#\||#|//|/\*|%|--(?![\w-])|<!--")
_COMMENT_ENDS = {"#|": "|#", "/*": "*/", "<!--": "-->"}

ARROWS = frozenset(
    ":- <- <-- <== <=> <<= =< => -> --> ==> := ::= ≤ ≦ ⩽ ⇐ ⟸ ← ⟵ → ⇒ ⟹ ⇔ <— <– :— :– if iff when".split()
)
"""What other notations write where KIF has `<=` before the head."""
_JOINS = {"&": "and", "&&": "and", "∧": "and", "/\\": "and", "|": "or", "||": "or", "∨": "or", "\\/": "or"}
NEGATIONS = frozenset({"~", "!", "¬", "\\+", "-", "~~"})
UNEQUAL = frozenset({"!=", "\\=", "\\==", "/=", "<>", "≠", "=\\=", "~=", "!=="})
EQUAL = frozenset({"=", "==", "===", "=:="})
COMPARISONS = frozenset({"<", ">", ">=", "=<", "≤", "≥", "is"})
ARITHMETIC = frozenset({"+", "-", "*", "/", "mod", "**", "^", "%"})

NO_EQUALITY = "GDL has no '=': use one variable for both, or (not (distinct {0} {1}))"
NO_ORDER = (
    "GDL has no arithmetic: state the values as facts, for instance (less 1 2), and ask for (less {0} {1})"
)
NO_NUMBERS = (
    "GDL has no arithmetic: state the values as facts, for instance (succ 1 2), and ask for (succ {0} ?next)"
)

_LONGEST = 60
"""Characters of the text that a sentence repeats."""


@dataclass(slots=True, eq=False)
class Node:
    """A word, or a list with its parts.

    is_glued   whether a word precedes without a blank
    """

    start: int
    end: int
    word: str = ""
    parts: list[Node] = field(default_factory=list)
    is_glued: bool = False

    @property
    def is_list(self) -> bool:
        return not self.word

    @property
    def name(self) -> str:
        """The word, or the word that opens the list; empty if a list does."""
        return self.word.lower() or (self.parts[0].word.lower() if self.parts else "")


def foreign_in_kif(text: str) -> list[Foreign]:
    """The places of `text` in another notation.

    >>> [found.message for found in foreign_in_kif("(<= (p ?n) succ(?m ?n))")]
    ['succ(?m ?n): in KIF the name stands inside the parentheses: (succ ?m ?n)']
    """
    return _Reader(text).found()


class _Reader:
    """One pass over the words builds the lists; a second one looks at each in its place.

    top       the outermost nodes
    heads     names that a rule or fact of the text concludes
    openers   names of lists that no word precedes without a blank
    apart     words that open no list and that no list follows without a blank
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.places: list[Foreign] = []
        self.top: list[Node] = []
        self._read()
        self.heads = {self._head(node) for node in self.top}
        self.openers: set[str] = set()
        self.apart: set[str] = set()
        self.inside: set[str] = set()
        self.root = Node(0, len(text), parts=[Node(0, 0, "and"), *self.top])
        for node in (self.root, *(node for node, _, _ in self._all())):
            self._note(node)

    def found(self) -> list[Foreign]:
        """The places, in no particular order."""
        self._look_at_list(self.root, True)
        for number, node in enumerate(self.top):
            self._look_at_top(number, node)
        for node, parent, is_atom in self._all():
            if node.is_list:
                self._look_at_list(node, is_atom)
            self._look_at_word(node, parent, is_atom)
        self._look_for_prose()
        return self.places

    def _read(self) -> None:
        opened: list[Node] = []
        place = 0
        while token := _TOKEN.search(self.text, place):
            start, place = token.span()
            word = token.group()
            parts = opened[-1].parts if opened else self.top
            if word[0] == ";":
                continue
            if word == "(":
                is_glued = bool(parts and not parts[-1].is_list and parts[-1].end == start)
                opened.append(Node(start, place, is_glued=is_glued))
                parts.append(opened[-1])
            elif word == ")":
                if opened:
                    opened.pop().end = place
            else:
                comment = _COMMENT.match(word)
                if comment and self._may_be_comment(comment.group(), word, opened):
                    place = self._skip(start, comment.group())
                else:
                    parts.append(Node(start, place, word))
        for node in opened:
            node.end = len(self.text.rstrip())

    def _may_be_comment(self, mark: str, word: str, opened: Sequence[Node]) -> bool:
        """Whether `word` stands for an atom that nothing concludes."""
        inner = opened[-1] if opened else None
        is_atom = inner is None or inner.name in CONNECTIVES - {""}
        if not is_atom or (mark == "%" and word != "%" and not word.startswith("%%") and inner is not None):
            return False
        return not re.search(r"\(\s*(?:<=\s*\(?\s*)?" + re.escape(word) + r"(?=[\s()])", self.text)

    def _skip(self, start: int, mark: str) -> int:
        closing = _COMMENT_ENDS.get(mark, "\n")
        end = self.text.find(closing, start + len(mark))
        message = f"'{mark}' does not begin a comment in KIF: write ';'"
        self.places.append(Foreign(start, start + len(mark), "GDL119", message, "comment"))
        return len(self.text) if end < 0 else end + len(closing)

    def _head(self, node: Node) -> str:
        if node.is_list and node.name == "<=":
            return node.parts[1].name if len(node.parts) > 1 else ""
        return node.name

    def _all(self) -> Iterator[tuple[Node, Node | None, bool]]:
        """Each node with its parent, and whether it stands for an atom or formula."""
        stack: list[tuple[Node, Node | None, bool]] = [(node, None, True) for node in reversed(self.top)]
        while stack:
            node, parent, is_atom = stack.pop()
            yield node, parent, is_atom
            are_atoms = is_atom and node.name in (*CONNECTIVES, *NEGATIONS, *_JOINS, *ARROWS)
            stack += [(part, node, are_atoms) for part in reversed(node.parts)]

    def _note(self, node: Node) -> None:
        for number, part in enumerate(node.parts):
            if part.is_list:
                if not part.is_glued and part.parts:
                    self.openers.add(part.name)
            elif node is not self.root:
                self.inside.add(part.name)
                if number and not any(
                    following.is_glued for following in node.parts[number + 1 : number + 2]
                ):
                    self.apart.add(part.name)

    def shown(self, node: Node) -> str:
        """The text of a node on one line, cut if long, without commas."""
        written = " ".join(re.sub(r";[^\n]*", "", self.text[node.start : node.end]).split())
        written = re.sub(r"\s*,\s*", " ", written).strip() if node.is_list else written.strip(",")
        return written if len(written) <= _LONGEST else f"({node.name} ...)"

    def _add(self, node: Node, message: str, kind: str = "", end: int = 0) -> None:
        self.places.append(Foreign(node.start, end or node.end, "GDL120", message, kind))

    def _look_at_top(self, number: int, node: Node) -> None:
        """Arrows before, or between, head and body."""
        before = self.top[number - 1] if number else None
        after = self.top[number + 1] if number + 1 < len(self.top) else None
        arrows = ARROWS | {"<=", ":", "<"}
        if not node.is_list:
            if (
                before
                and after
                and node.name in arrows
                and after.is_list
                and (before.is_list or "terminal" == before.name)
            ):
                rest = self.top[number + 2 : number + 3]
                more = (
                    " ..."
                    if rest and not rest[0].is_list and rest[0].name in (*_JOINS, *CONNECTIVES, ",")
                    else ""
                )
                if node.name in ("=>", "->", "-->", "==>", "→", "⇒", "⟹"):
                    before, after = after, before
                self._add(
                    node,
                    f"'{node.word}' between head and body: write (<= {self.shown(before)} {self.shown(after)}{more})",
                )
        elif node.name in ARROWS and self._is_rule(node):
            swap = "; the head comes first" if node.name in ("=>", "->", "→", "⇒", "⟹", "if", "when") else ""
            self._add(
                node.parts[0],
                f"rules begin with <=, not with {node.parts[0].word}{swap}",
                f"arrow {node.name}",
            )

    def _is_rule(self, node: Node) -> bool:
        """Whether a list with another arrow has a part that only a rule has, so that it cannot be a fact."""
        if node.name in self.heads - {node.name} or len(node.parts) < 2:
            return False
        return any(part.name in KEYWORDS.keys() | CONNECTIVES for part in node.parts[1:]) or any(
            part.word.startswith("?") or "?" in self.text[part.start : part.end] for part in node.parts[1:]
        )

    def _look_at_list(self, node: Node, is_atom: bool) -> None:
        """Calls, and operators between their operands."""
        parts = node.parts
        for before, part in zip([None, *parts], parts, strict=False):
            if before and part.is_list and part.is_glued and before is not parts[0]:
                self._look_at_call(before, part, is_atom and node.name in (*CONNECTIVES, *NEGATIONS, *_JOINS))
        if len(parts) < 3 or not (parts[0].is_list or parts[0].word[0] == "?"):
            return
        left, operator, right = (self.shown(part) for part in parts[:3])
        name = parts[1].name
        if name in ARROWS | {"<=", ":"} and parts[0].is_list:
            self._add(
                node,
                f"'{operator}' between head and body: write (<= {left} {right}{' ...' if len(parts) > 3 else ''})",
            )
        elif name in UNEQUAL:
            self._add(node, f"GDL writes '{operator}' as (distinct {left} {right})")
        elif name in EQUAL:
            self._add(node, NO_EQUALITY.format(left, right))
        elif name in COMPARISONS | {"<=", "=>"}:
            self._add(node, NO_ORDER.format(left, right))
        elif name in ARITHMETIC:
            self._add(node, NO_NUMBERS.format(left))
        elif name in _JOINS or name in ("and", "or"):
            self._add(node, f"connectives come first: ({_JOINS.get(name, name)} {left} {right})")

    def _look_at_call(self, name: Node, arguments: Node, is_formula: bool) -> None:
        """`name(arguments)`, unless both are names of their own."""
        first = arguments.parts[0] if arguments.parts else None
        word, inner = name.name, arguments.name
        if name.word in NEGATIONS and is_formula:
            return
        is_keyword = word in FORMS and word != "terminal"
        if first is None or first.is_list or first.word[0] == "?" or first.word.endswith(","):
            is_call = True
        elif word in CONNECTIVES or (is_keyword and is_formula):
            is_call = True
        elif inner in KEYWORDS or inner in CONNECTIVES or inner in self.openers or inner in self.heads:
            is_call = False
        else:
            is_call = is_formula or word not in self.apart
        if is_call:
            inside = self.shown(arguments)
            meant = f"({word})" if first is None else f"({name.word} {inside[1:]}"
            self._add(
                name,
                f"{name.word}{inside}: in KIF the name stands inside the parentheses: {meant}",
                end=arguments.end,
            )

    def _look_at_word(self, node: Node, parent: Node | None, is_atom: bool) -> None:
        word = node.word
        if node.is_list or node.name in self.heads - {word if parent is None else ""}:
            return
        if word[-1] == "," or word[0] == "," or (word[0] == "?" and "," in word):
            self._add(node, f"'{word}': KIF has no commas: blanks separate", "comma")
        if parent is None or not is_atom or node is parent.parts[0]:
            return
        following = next((part for part in parent.parts if part.start >= node.end), None)
        if word in NEGATIONS and following:
            self._add(node, f"'{word}' negates nothing in KIF: write (not {self.shown(following)})")
        elif word in _JOINS:
            parts = [part for part in parent.parts[1:] if part.is_list][:2]
            joined = "".join(" " + self.shown(part) for part in parts)
            how = (
                "the parts of a body hold together without it"
                if _JOINS[word] == "and"
                else f"write (or{joined})"
            )
            self._add(node, f"'{word}' joins nothing in KIF: {how}", f"join {word}")
        elif word in ARROWS - {"if", "when", "iff"} or (word == "<=" and parent.name != "<="):
            self._add(node, f"'{word}' inside a form: a rule is (<= head body ...)", f"inner {word}")

    def _look_for_prose(self) -> None:
        """Sentences outside all forms: words of one line that no form mentions."""
        by_line: dict[int, list[Node]] = {}
        for node in self.top:
            if not node.is_list and not any(place.start == node.start for place in self.places):
                by_line.setdefault(self.text.rfind("\n", 0, node.start), []).append(node)
        for words in by_line.values():
            if any(word.name in self.inside or word.name in KEYWORDS for word in words[:2]):
                continue
            has_mark = re.search(r"[:,!?.*`]$", words[-1].word) or re.search(r"[:,!.]$", words[0].word)
            is_sentence = words[0].word[0].isupper() and not words[0].word.isupper() and len(words) > 1
            if (
                has_mark
                or is_sentence
                or len(words) > 4
                or (words[0].word in ("-", "*", ">") and len(words) > 2)
            ):
                message = f"'{words[0].word}' is text outside the rules: a comment begins with ';'"
                self.places.append(Foreign(words[0].start, words[-1].end, "GDL117", message, "prose"))
