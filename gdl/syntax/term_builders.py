"""Parser callbacks that build terms during parsing, without an intermediate syntax tree.

One class per grammar; a method has the name of the grammar's rule or terminal whose value it builds.
They have no state, so one parser serves all texts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gdl.terms import Compound, Span, Symbol, Term, Variable

if TYPE_CHECKING:
    from lark import Token


def fold(text: str) -> str:
    """Lower case without a change of length, so that places stay correct.

    >>> fold("XPlayer İ")
    'xplayer İ'
    """
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    return "".join([low if len(low := letter.lower()) == 1 else letter for letter in text])


class KifForms:
    """Callbacks of kif.lark: tokens and lists become terms."""

    def SYMBOL(self, token: Token) -> Symbol:  # noqa: N802 - terminals are upper case
        return Symbol(str(token), _span(token))

    def VARIABLE(self, token: Token) -> Variable:  # noqa: N802
        return Variable(token[1:], _span(token))

    def compound(self, children: list[Any]) -> Compound:
        opening, closing = children[0], children[-1]
        span = Span(opening.line, opening.column, closing.end_line, closing.end_column)
        return Compound(children[1].name, tuple(children[2:-1]), span)

    def start(self, children: list[Any]) -> list[Term]:
        return children


class InfixForms:
    """Callbacks of infix.lark: the same terms as for KIF. `a :- b & ~c` becomes `(<= a b (not c))`."""

    def NAME(self, token: Token) -> Symbol:  # noqa: N802
        return Symbol(_unquote(str(token)), _span(token))

    def VARIABLE(self, token: Token) -> Variable:  # noqa: N802
        if token == "_":
            return Variable(f"_{token.line}_{token.column}", _span(token))
        return Variable(_unquote(token.removeprefix("?")), _span(token))

    def compound(self, children: list[Symbol | Token | Term]) -> Compound:
        name, closing = children[0], children[-1]
        assert isinstance(name, Symbol)
        return Compound(name.name, tuple(children[2:-1]), _hull(name, closing))  # type: ignore[arg-type]

    def conjunction(self, children: list[Term]) -> Term:
        return _combine("and", children)

    def disjunction(self, children: list[Term]) -> Term:
        return _combine("or", children)

    def negation(self, children: list[Token | Term]) -> Compound:
        return Compound("not", (children[1],), _hull(children[0], children[1]))  # type: ignore[arg-type]

    def group(self, children: list[Token | Term]) -> Term:
        return children[1]  # type: ignore[return-value]

    def connective(self, children: list[Token | Term]) -> Compound:
        name = "and" if children[0] == "&" else "or"
        return Compound(name, tuple(children[2:-1]), _hull(children[0], children[-1]))  # type: ignore[arg-type]

    def body(self, children: list[Term]) -> list[Term]:
        return children

    def rule(self, children: list[Term | list[Term]]) -> Compound:
        head, body = children
        formulas = body if isinstance(body, list) else [body]
        assert not isinstance(head, list)
        return Compound("<=", (head, *formulas), _hull(head, formulas[-1]))

    def start(self, children: list[Term]) -> list[Term]:
        return children


def _combine(name: str, operands: list[Term]) -> Term:
    if len(operands) == 1:
        return operands[0]
    return Compound(name, tuple(operands), _hull(operands[0], operands[-1]))


def _span(token: Token) -> Span:
    return Span(token.line, token.column, token.end_line, token.end_column)  # type: ignore[arg-type]


def _hull(first: Token | Term | object, last: Token | Term | object) -> Span:
    """The span from `first` to `last`, terms or tokens."""
    start = getattr(first, "span", None) or _span(first)  # type: ignore[arg-type]
    end = getattr(last, "span", None) or _span(last)  # type: ignore[arg-type]
    return Span(start.line, start.column, end.end_line, end.end_column)


def unescape(quoted: str) -> str:
    """The name inside quotes: `'a\\'b'` → `a'b`."""
    return re.sub(r"\\(.)", r"\1", quoted[1:-1])


def _unquote(name: str) -> str:
    return fold(unescape(name) if name.startswith("'") else name)
