"""Limits on what rules may derive: terms that grow and relations that fill the machine."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from gdl.errors import ReasoningError
from gdl.join_order import names_in
from gdl.program import Program, arguments_of
from gdl.terms import Compound, Variable
from gdl.values import Value

MAX_ROWS = 5_000_000
"""Rows that one recursive component may derive before ReasoningError."""

MAX_DEPTH = 200
"""Nesting of derived terms before ReasoningError: hashing much deeper ones could overflow the C stack."""

MAX_PARTS = 10_000
"""Names in a derived term, counted as often as they are written, before ReasoningError.

Hashing walks through all of them in C and lets no other thread run meanwhile; `(f ?x ?x)` doubles them.
"""

WRAPPERS = frozenset({"true", "next", "init", "base", "does", "legal", "input", "sees"})
"""Predicates whose last argument is a whole fact, move or percept."""


def is_flat(program: Program) -> bool:
    """Whether derived terms certainly never grow: facts and moves are compounds of constants.

    True where compounds stand only as facts and moves, without compounds inside, and a variable that
    stands for a whole fact or move stands nowhere else in its rule.
    """
    for rule in program.rules:
        whole: set[str] = set()
        parts: set[str] = set()
        for atom in (rule.head, *(literal.atom for literal in rule.literals)):
            arguments = list(arguments_of(atom))
            if atom.name in WRAPPERS and arguments:
                wrapped = arguments.pop()
                if isinstance(wrapped, Variable):
                    whole.add(wrapped.name)
                else:
                    arguments.extend(arguments_of(wrapped))
            if any(isinstance(argument, Compound) for argument in arguments):
                return False
            parts |= names_in(*arguments)
        if whole & parts:
            return False
    return True


def check_growth(value: Value, rule: str) -> Value:
    """`value` itself. Raises ReasoningError, naming `rule`, beyond MAX_DEPTH or MAX_PARTS."""
    depth = parts = 0
    level: Iterable[Value] = (value,)
    while compounds := [item for item in level if isinstance(item, tuple)]:
        depth += 1
        parts += sum(map(len, compounds))
        if depth > MAX_DEPTH:
            raise ReasoningError(f"{rule} derives terms nested deeper than {MAX_DEPTH}")
        if parts > MAX_PARTS:
            raise ReasoningError(f"{rule} derives terms of more than {MAX_PARTS} parts")
        level = chain.from_iterable(compounds)
    return value


def check_rows(rows: set[Any]) -> None:
    """Raise ReasoningError where a recursive predicate has more than MAX_ROWS rows."""
    if len(rows) > MAX_ROWS:
        raise ReasoningError(f"a recursive predicate has more than {MAX_ROWS} rows")
