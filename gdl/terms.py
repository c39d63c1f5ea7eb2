"""Terms of GDL: symbols, variables and compounds.

Terms are immutable values: two terms are equal if they are written the same, wherever they occur.
Places in the text (`Span`) are kept for messages and take no part in equality or hashing. Names are
in canonical lower case; `Program.spellings` has their original spelling.

`str(term)` is the canonical KIF form: one space between parts, `(cell 1 1 b)`. A compound
without arguments, `(f)`, differs from the symbol `f`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias


class Span(NamedTuple):
    """A stretch of source text: 1-based line and column, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class _Named:
    """A term that is only a name; each kind defines when two are equal."""

    __slots__ = ("_hash", "name", "span")
    name: str
    span: Span | None
    _hash: int

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.name, self.span))


class Symbol(_Named):
    """A constant such as `xplayer`, `1` or `noop`."""

    __slots__ = ()
    __hash__ = _Named.__hash__

    def __init__(self, name: str, span: Span | None = None) -> None:
        self.name = name
        self.span = span
        self._hash = hash(name)

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Symbol and self.name == other.name)

    def __str__(self) -> str:
        return self.name


class Variable(_Named):
    """A logic variable; `name` is without the leading `?`."""

    __slots__ = ()
    __hash__ = _Named.__hash__

    def __init__(self, name: str, span: Span | None = None) -> None:
        self.name = name
        self.span = span
        self._hash = hash(("?", name))

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Variable and self.name == other.name)

    def __str__(self) -> str:
        return "?" + self.name


class Compound:
    """A function term or an atom: `(cell 1 1 b)`, `(true ?f)`, `(f)`.

    >>> cell = Compound("cell", (Symbol("1"), Variable("p")))
    >>> print(cell)
    (cell 1 ?p)
    >>> cell == Compound("cell", (Symbol("1"), Variable("p")), Span(4, 1, 4, 12))
    True
    """

    __slots__ = ("_hash", "_text", "arguments", "name", "span")
    name: str
    arguments: tuple[Term, ...]
    span: Span | None

    def __init__(self, name: str, arguments: tuple[Term, ...], span: Span | None = None) -> None:
        self.name = name
        self.arguments = arguments
        self.span = span
        self._hash = hash((name, arguments))
        self._text: str | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (
            type(other) is Compound
            and self._hash == other._hash
            and self.name == other.name
            and self.arguments == other.arguments
        )

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        text = self._text
        if text is None:
            text = self._text = "(" + " ".join([self.name, *map(str, self.arguments)]) + ")"
        return text

    def __repr__(self) -> str:
        return f"Compound({self.name!r}, {self.arguments!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return (Compound, (self.name, self.arguments, self.span))


Term: TypeAlias = Symbol | Variable | Compound
Substitution: TypeAlias = Mapping[str, Term]


def variables(term: Term) -> Iterator[Variable]:
    """Every occurrence of a variable in `term`, left to right."""
    if isinstance(term, Variable):
        yield term
    elif isinstance(term, Compound):
        for argument in term.arguments:
            yield from variables(argument)


def is_ground(term: Term) -> bool:
    """Whether `term` contains no variable."""
    return next(variables(term), None) is None


def is_goal(value: Term) -> bool:
    """Whether a ground term is an integer in 0..100.

    >>> is_goal(Symbol("100")), is_goal(Symbol("101")), is_goal(Symbol("high"))
    (True, False, False)
    """
    text = str(value)
    return text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= 100


def substitute(term: Term, substitution: Substitution) -> Term:
    """`term` with every variable that `substitution` maps (by name) replaced, once.

    >>> print(substitute(Compound("f", (Variable("x"), Variable("y"))), {"x": Symbol("a")}))
    (f a ?y)
    """
    if isinstance(term, Variable):
        return substitution.get(term.name, term)
    if isinstance(term, Compound) and term.arguments:
        arguments = tuple(substitute(argument, substitution) for argument in term.arguments)
        if arguments != term.arguments:
            return Compound(term.name, arguments, term.span)
    return term


def match(pattern: Term, ground: Term, bindings: Substitution | None = None) -> dict[str, Term] | None:
    """The bindings, extending `bindings`, under which `pattern` becomes `ground`; None if impossible.

    >>> pattern = Compound("f", (Variable("x"), Variable("x")))
    >>> match(pattern, Compound("f", (Symbol("a"), Symbol("a"))))
    {'x': Symbol('a')}
    >>> match(pattern, Compound("f", (Symbol("a"), Symbol("b")))) is None
    True
    """
    found = dict(bindings or {})
    stack = [(pattern, ground)]
    while stack:
        left, right = stack.pop()
        if isinstance(left, Variable):
            if found.setdefault(left.name, right) != right:
                return None
        elif isinstance(left, Compound):
            if (
                not isinstance(right, Compound)
                or left.name != right.name
                or len(left.arguments) != len(right.arguments)
            ):
                return None
            stack.extend(zip(left.arguments, right.arguments, strict=True))
        elif left != right:
            return None
    return found
