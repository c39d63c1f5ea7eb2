"""Habits of other languages in a KIF text: calls, commas, arrows, operators, comments, prose.

KIF lets names consist of nearly anything, and each of these may be part of a sheet. So a word counts as
foreign only where nothing else in the text uses it as a name; a text with a meaning has no finding.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gdl.keywords import FORMS, KEYWORDS
from gdl.syntax.brackets import Lines
from gdl.syntax.foreign_text import MAX_PLACES, Foreign
from gdl.syntax.forms import CONNECTIVES

_TOKEN = re.compile(r";[^\n]*|\(|\)|[^\s();]+")
_COMMENT = re.compile(r"#\||#|//|/\*|%|--(?![\w-])|<!--")
COMMENT_ENDS = {"#|": "|#", "/*": "*/", "<!--": "-->"}

ARROWS = frozenset({":-", "<-", "<--", "<==", "<=>", "<<=", "=<", "=>", "->", "-->", "==>", ":=", "::="}) | {
    *("≤", "≦", "⩽", "⇐", "⟸", "←", "⟵", "→", "⇒", "⟹", "⇔", "<—", "<–", ":—", ":–", "if", "iff", "when"),
    "implies",
}
"""What other notations write where KIF has `<=` before the head."""
JOINS = {"&": "and", "&&": "and", "∧": "and", "/\\": "and", "|": "or", "||": "or", "∨": "or", "\\/": "or"}
_FORWARD = frozenset({"=>", "->", "-->", "==>", "→", "⇒", "⟹", "if", "when", "implies"})
"""Arrows from the body to the head; `if` is one only before both."""
NEGATIONS = frozenset({"~", "!", "¬", "\\+", "-", "~~", "naf"})
UNEQUAL = frozenset({"!=", "\\=", "\\==", "/=", "<>", "≠", "=\\=", "~=", "!=="})
EQUAL = frozenset({"=", "==", "===", "=:="})
COMPARISONS = frozenset({"<", ">", ">=", "=<", "≤", "≥", "is"})
ARITHMETIC = frozenset({"+", "-", "*", "/", "mod", "**", "^", "%"})

NO_EQUALITY = "GDL has no '=': use one variable for both, or (not (distinct {0} {1}))"
NO_ORDER = "GDL has no arithmetic: state the values as facts, for instance (less 1 2), and ask for {0}"
NO_NUMBERS = (
    "GDL has no arithmetic: state the values as facts, for instance (succ 1 2), and ask for (succ {0} {1})"
)

NO_QUANTIFIER = (
    "GDL has no '{0}': a body asks for some values of its variables; for all, let a relation conclude the"
    " exception, and negate it"
)


def order_asked(
    comparison: str, left: str, right: str, less: str = "(less {0} {1})", no: str = "(not {0})"
) -> str:
    """The atom equivalent to `left comparison right`, of a relation that lists smaller values first.

    >>> order_asked("<", "?x", "3"), order_asked(">", "?x", "3"), order_asked(">=", "?x", "3")
    ('(less ?x 3)', '(less 3 ?x)', '(not (less ?x 3))')
    """
    if comparison in (">=", "≥", "=>"):
        return no.format(less.format(left, right))
    if comparison in ("=<", "≤", "<="):
        return no.format(less.format(right, left))
    return less.format(right, left) if comparison == ">" else less.format(left, right)


_CALL = "in KIF the name stands inside the parentheses"

_LONGEST = 60
"""Characters of the text that a sentence repeats."""
_LONGEST_READ = 500


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
        self.heads = {self._head(node) for node in self.top if not node.is_glued}
        self.openers: set[str] = set()
        self.apart: set[str] = set()
        self.inside: set[str] = set()
        self.root = Node(0, len(text), parts=[Node(0, 0, "and"), *self.top])
        for node in (self.root, *(node for node, _, _ in self._all())):
            self._note(node)

    def found(self) -> list[Foreign]:
        """The places, without those inside calls."""
        self._look_at_list(self.root, True)
        for number, node in enumerate(self.top):
            self._look_at_top(number, node)
        for node, parent, is_atom in self._all():
            if node.is_list:
                self._look_at_list(node, is_atom and self._has_formulas(node, is_outermost=parent is None))
            self._look_at_word(node, parent, is_atom)
            if len(self.places) > MAX_PLACES:
                break
        self._look_for_prose()
        result, end = [], 0
        for place in sorted(self.places):
            if place.start >= end:
                result.append(place)
                end = place.end if _CALL in place.message else 0
        return result

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
        """Whether `word` is an atom that no rule concludes."""
        inner = opened[-1] if opened else None
        is_atom = inner is None or inner.name in CONNECTIVES - {""}
        if not is_atom or (mark == "%" and word != "%" and not word.startswith("%%") and inner is not None):
            return False
        return word not in self.opening_words

    @cached_property
    def opening_words(self) -> set[str]:
        """Words that open a list, or are the head of a rule."""
        return set(re.findall(r"\(\s*(?:<=\s*)?\(?\s*([^\s();]+)", self.text))

    def _skip(self, start: int, mark: str) -> int:
        closing = COMMENT_ENDS.get(mark, "\n")
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
            are_atoms = is_atom and self._has_formulas(node, is_outermost=parent is None)
            stack += [(part, node, are_atoms) for part in reversed(node.parts)]

    def _has_formulas(self, node: Node, *, is_outermost: bool) -> bool:
        """Whether the parts of an atom or formula are atoms or formulas themselves."""
        if node is self.root or node.name in CONNECTIVES:
            return True
        if is_outermost:
            return node.name in ARROWS and self._is_rule(node)
        return node.name in (*NEGATIONS, *JOINS) and node.name not in self.heads

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
        if node.end - node.start > _LONGEST_READ:
            return f"({node.name} ...)"
        written = " ".join(re.sub(r";[^\n]*", "", self.text[node.start : node.end]).split())
        written = re.sub(r"\s*,\s*", " ", written).strip() if node.is_list else written.strip(",")
        return written if len(written) <= _LONGEST else f"({node.name} ...)"

    def _add(self, node: Node, message: str, kind: str = "", end: int = 0) -> None:
        self.places.append(Foreign(node.start, end or node.end, "GDL120", message, kind))

    def _look_at_top(self, number: int, node: Node) -> None:
        """Arrows before, or between, head and body."""
        before = self.top[number - 1] if number else None
        after = self.top[number + 1] if number + 1 < len(self.top) else None
        if node.is_list and node.name in ARROWS and self._is_rule(node):
            swap = "; the head comes first" if node.name in _FORWARD else ""
            message = f"rules begin with <=, not with {node.parts[0].word}{swap}"
            self._add(node.parts[0], message, f"arrow {node.name}")
        elif node.name[:2] == "<=" and node.name[2:3].isalpha() and node.is_list:
            self._add(node.parts[0], f"'{node.name}': a blank is missing after <=")
        elif node.parts and not node.parts[0].is_list and node.name != "<=":
            self._look_for_arrow(node)
        elif not node.is_list and node.name in ARROWS | {"<=", ":", "<"} and before and after:
            self._look_between(before, node, after, self.top[number + 2 : number + 3])

    def _look_for_arrow(self, node: Node) -> None:
        """An arrow after the words of a head without parentheses of its own."""
        arity = KEYWORDS[node.name].arity if node.name in KEYWORDS else None
        for place, part in enumerate(node.parts[1:-1], 1):
            if part.word == "<=" or (part.word in ARROWS and arity == place - 1):
                head, *body = " ".join(map(self.shown, node.parts[:place])), *node.parts[place + 1 :]
                rule = " ".join(["(<=", f"({head})" if place > 1 else head, *map(self.shown, body)])
                self._add(part, f"'{part.word}' between head and body: write {rule})")
                return

    def _look_between(self, head: Node, arrow: Node, body: Node, rest: Sequence[Node]) -> None:
        if arrow.word == "<=" and rest and "\n" in self.text[head.end : arrow.start]:
            return  # rather a rule without its parenthesis
        if body.is_list and not body.is_glued and (head.is_list or head.name == "terminal"):
            if arrow.name in _FORWARD - {"if", "when"}:
                head, body = body, head
            has_more = any(part.word in (*JOINS, "and", "or", ",") for part in rest)
            rule = " ".join(["(<=", self.shown(head), self.shown(body), *["..."] * has_more])
            self._add(arrow, f"'{arrow.word}' between head and body: write {rule})")

    def _is_rule(self, node: Node) -> bool:
        """Whether a list with another arrow has a part that only a rule has, so that it cannot be a fact."""
        return len(node.parts) > 1 and any(
            part.name in KEYWORDS.keys() | CONNECTIVES or "?" in self.text[part.start : part.end]
            for part in node.parts[1:]
        )

    def _look_at_list(self, node: Node, are_formulas: bool) -> None:
        """Calls, quantifiers with a list of variables, and operators between their operands."""
        parts = node.parts
        if node.name in {"exists", "forall"} and any(p.is_list and p.name[:1] == "?" for p in parts[1:2]):
            self._add(node, NO_QUANTIFIER.format(node.name))
        for before, part in zip([None, *parts], parts, strict=False):
            if before and part.is_list and part.is_glued and before is not parts[0]:
                self._look_at_call(before, part, are_formulas)
        if len(parts) > 2 and (parts[0].is_list or parts[0].word[0] == "?"):
            self._look_at_operator(node, *parts[:3], has_more=len(parts) > 3)
        elif are_formulas and node is not self.root:
            for left, operator, right in zip(parts[1:], parts[2:], parts[3:], strict=False):
                if operator.word in (UNEQUAL | EQUAL | COMPARISONS) - self.heads:
                    self._look_at_operator(operator, left, operator, right, has_more=False)

    def _look_at_operator(
        self, place: Node, one: Node, operator: Node, other: Node, *, has_more: bool
    ) -> None:
        left, right, name = self.shown(one), self.shown(other), operator.word.lower()
        if name in ARROWS | {"<=", ":"} and one.is_list:
            more = " ..." if has_more else ""
            self._add(place, f"'{operator.word}' between head and body: write (<= {left} {right}{more})")
        elif name in UNEQUAL:
            self._add(place, f"GDL writes '{operator.word}' as (distinct {left} {right})")
        elif name in EQUAL:
            self._add(place, NO_EQUALITY.format(left, right))
        elif name in COMPARISONS | {"<=", "=>"}:
            self._add(place, NO_ORDER.format(order_asked(name, left, right)))
        elif name in ARITHMETIC:
            self._add(place, NO_NUMBERS.format(left, "?next"))
        elif name in (*JOINS, "and", "or"):
            self._add(place, f"connectives come first: ({JOINS.get(name, name)} {left} {right})")

    def _look_at_call(self, name: Node, arguments: Node, is_formula: bool) -> None:
        """`name(arguments)`, unless both are names of their own."""
        first = arguments.parts[0] if arguments.parts else None
        word, inner = name.name, arguments.name
        if name.word[0] == "?" or (name.word in NEGATIONS and is_formula):
            return
        is_call = first is None or first.is_list or first.word[0] == "?" or word in CONNECTIVES
        is_call |= is_formula and word in FORMS and word != "terminal"
        has_commas = any("," in part.word for part in arguments.parts)
        is_call |= has_commas and inner not in self.openers and word not in self.apart
        if not is_call:
            known = {*KEYWORDS, *CONNECTIVES, *self.openers, *self.heads}
            is_call = inner not in known and word not in self.apart and word != "terminal"
        if is_call:
            written = " ".join(self.text[name.start : min(arguments.end, name.start + _LONGEST_READ)].split())
            if len(written) <= _LONGEST:
                message = f"{written}: {_CALL}: {self._called(name.word, arguments)}"
            else:
                message = f"{name.word}(...): {_CALL}: ({name.word} ...)"
            self._add(name, message, end=arguments.end)

    def _called(self, name: str, arguments: Node) -> str:
        """A call in KIF; several arguments of a keyword or connective that takes one become one atom."""
        parts: list[str] = []
        for part in arguments.parts:
            if part.is_list and part.is_glued and parts:
                parts[-1] = self._called(parts[-1], part)
            else:
                parts += [self.shown(part)] if part.is_list else filter(None, part.word.split(","))
        takes_one = name in CONNECTIVES or (name in KEYWORDS and KEYWORDS[name].arity == 1)
        if takes_one and len(parts) > 1 and not parts[0].startswith("("):
            parts = [f"({' '.join(parts)})"]
        return f"({' '.join([name, *parts])})"

    def _look_at_word(self, node: Node, parent: Node | None, is_atom: bool) -> None:
        word = node.word
        if parent is None and word[:1] in ("[", "{"):
            self._add(node, f"'{word}': KIF has no brackets but parentheses", "bracket")
        elif parent and parent.name in KEYWORDS and word[:1] == '"' and word[1:-1].lower() in self.inside:
            self._add(node, f"{word} is another name than {word[1:-1]}: KIF needs no quotes", "quote")
        elif word[-1:] == "," and parent is not None and word[:-1].lower() in KEYWORDS.keys() | CONNECTIVES:
            self._add(node, f"'{word}': KIF has no commas: blanks separate", "comma")
        if node.is_list or (parent is not None and node.name in self.heads):
            return
        if word[-1] == "," or word[0] == "," or (word[0] == "?" and "," in word):
            self._add(node, f"'{word}': KIF has no commas: blanks separate", "comma")
        if parent is None or not is_atom or node is parent.parts[0]:
            return
        if word in NEGATIONS:
            after = bisect_left(parent.parts, node.end, key=lambda part: part.start)
            for following in parent.parts[after : after + 1]:
                self._add(node, f"KIF writes '{word}' as (not {self.shown(following)})")
        elif word in JOINS:
            here = bisect_left(parent.parts, node.start, key=lambda part: part.start)
            joined = " ".join(map(self.shown, parent.parts[here - 1 : here + 2 : 2]))
            how = (
                "the parts of a body all hold without it" if JOINS[word] == "and" else f"write (or {joined})"
            )
            self._add(node, f"'{word}' joins nothing in KIF: {how}", f"join {word}")
        elif word in ARROWS - {"if", "when", "iff"} or (word == "<=" and parent.name != "<="):
            self._add(node, f"'{word}' inside a form: a rule is (<= head body ...)", f"inner {word}")

    def _look_for_prose(self) -> None:
        """Sentences outside all forms: words of one line that no form mentions."""
        found = {place.start for place in self.places}
        lines = Lines(self.text)
        by_line: dict[int, list[Node]] = {}
        for node in self.top:
            if not node.is_list and node.start not in found:
                by_line.setdefault(lines.span(node.start, node.end).line, []).append(node)
        for words in by_line.values():
            first, last = words[0].word, words[-1].word
            if not any(word.name in self.inside or word.name in KEYWORDS for word in words[:2]) and (
                re.search(r"[:,!?.*`]$", last)
                or re.search(r"[:,!.]$", first)
                or re.fullmatch(r"[-*>+|•]+|</?\w+/?>", first)
                or (first[0].isupper() and not first.isupper() and len(words) > 1)
                or len(words) > 4
            ):
                message = f"'{first}' is text outside the rules: a comment begins with ';'"
                self.places.append(Foreign(words[0].start, words[-1].end, "GDL117", message, "prose"))
