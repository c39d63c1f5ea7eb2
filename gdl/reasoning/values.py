"""Ground terms as plain Python values, as the reasoner uses them.

A constant is a `str`, a compound a tuple `(name, *arguments)`: both hash and compare in C. `(f)` is
`("f",)` and differs from the constant `"f"`. Outside the reasoner, ground terms are `gdl.terms`.
"""

from __future__ import annotations

from typing import TypeAlias

from gdl.terms import Compound, Symbol, Term

Value: TypeAlias = "str | tuple[Value, ...]"
"""A constant, or `(name, *arguments)` whose first item is always a str."""


def value_of(term: Term) -> Value:
    """The value of a ground term. Raises ValueError for a term with a variable.

    >>> from gdl.syntax.parser import parse_term
    >>> value_of(parse_term("(cell 1 (f))"))
    ('cell', '1', ('f',))
    """
    if isinstance(term, Symbol):
        return term.name
    if isinstance(term, Compound):
        return (term.name, *map(value_of, term.arguments))
    raise ValueError(f"{term} is not ground")


def term_of(value: Value) -> Term:
    """The term of a value, without a place in the text.

    >>> print(term_of(("cell", "1", ("f",))))
    (cell 1 (f))
    """
    if isinstance(value, str):
        return Symbol(value)
    return Compound(str(value[0]), tuple(map(term_of, value[1:])))
