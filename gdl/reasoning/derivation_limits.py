"""Limits on the terms and rows that rules may derive."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from gdl.errors import ReasoningError
from gdl.program import Program, Rule, arguments_of, atoms_of
from gdl.reasoning.join_order import names_in
from gdl.reasoning.values import Value
from gdl.terms import Compound, Variable

MAX_DERIVED_ROWS = 5_000_000
"""Maximum number of rows of one recursive predicate."""

MAX_TERM_DEPTH = 200
"""Maximum nesting of a derived term: hashing much deeper ones could overflow the C stack."""

MAX_TERM_PARTS = 10_000
"""Maximum number of names in a derived term, counted with repetitions.

Hashing visits all of them in C and blocks all other threads meanwhile; `(f ?x ?x)` doubles them.
"""

WRAPPERS = frozenset({"true", "next", "init", "base", "does", "legal", "input", "sees"})
"""Predicates whose last argument is a whole fact, move or percept."""


def is_flat(program: Program) -> bool:
    """Whether derived terms certainly never grow. Facts and moves are then compounds of constants.

    True if compounds occur only as facts and moves, without compounds inside, and a variable that
    stands for a whole fact or move occurs nowhere else in its rule.
    """
    for rule in program.rules:
        whole: set[str] = set()
        parts: set[str] = set()
        for atom in atoms_of(rule):
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
    """Return `value`. Raises ReasoningError, naming `rule`, beyond MAX_TERM_DEPTH or MAX_TERM_PARTS."""
    depth = parts = 0
    level: Iterable[Value] = (value,)
    while compounds := [item for item in level if isinstance(item, tuple)]:
        depth += 1
        parts += sum(map(len, compounds))
        if depth > MAX_TERM_DEPTH:
            raise ReasoningError(f"{rule} derives terms nested deeper than {MAX_TERM_DEPTH}")
        if parts > MAX_TERM_PARTS:
            raise ReasoningError(f"{rule} derives terms of more than {MAX_TERM_PARTS} parts")
        level = chain.from_iterable(compounds)
    return value


def check_rows(rows: set[Any], most: int = MAX_DERIVED_ROWS) -> None:
    """Raise ReasoningError if a recursive predicate has more than `most` rows."""
    if len(rows) > most:
        raise ReasoningError(f"a recursive predicate has more than {most} rows")


def builds_terms(rule: Rule) -> bool:
    """Whether the head wraps a function around a variable.

    >>> from gdl.syntax.parser import parse
    >>> [builds_terms(rule) for rule in parse("(<= (p (s ?x)) (p ?x)) (<= (q ?x) (p (s ?x)))").rules]
    [True, False]
    """
    return any(
        isinstance(argument, Compound) and bool(names_in(argument)) for argument in arguments_of(rule.head)
    )
