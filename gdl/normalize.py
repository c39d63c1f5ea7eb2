"""Normal form: every rule body becomes a plain tuple of literals.

Negation is moved inward to the atoms and `or` outward, so that a rule becomes one rule per
alternative. The number of alternatives is computed before any is built, because it can be exponential
in the length of the rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, product
from typing import NamedTuple

from gdl.errors import Diagnostic, GdlValidationError, Severity
from gdl.program import Conjunction, Formula, Literal, Negation, Program, Rule

MAX_ALTERNATIVES = 10_000
"""Maximum number of bodies into which one rule may expand."""

MAX_LITERALS = 400_000
"""Maximum number of literals in all expanded bodies of a sheet."""


class _Size(NamedTuple):
    """Size of a normal form: bodies, and literals in all of them."""

    bodies: int
    literals: int


def normalize(program: Program) -> Program:
    """`program` with bodies that are tuples of `Literal` only. Rules keep their order and places.

    Raises GdlValidationError if that takes more than MAX_ALTERNATIVES bodies for a rule or more than
    MAX_LITERALS literals for the sheet.

    >>> from gdl.syntax.parser import parse
    >>> from gdl.syntax.printer import to_kif
    >>> print(to_kif(normalize(parse("(<= p (or a b) (not (and c d)))"))), end="")
    (<= p
        a
        (not c))
    (<= p
        a
        (not d))
    (<= p
        b
        (not c))
    (<= p
        b
        (not d))
    """
    diagnostics = oversized_rules(program)
    if diagnostics:
        raise GdlValidationError(diagnostics, program.source)
    rules: list[Rule] = []
    for rule in program.rules:
        if rule.is_plain:
            rules.append(rule)
        else:
            rules += [Rule(rule.head, body, rule.span) for body in _bodies(Conjunction(rule.body))]
    return Program(tuple(rules), program.source, program.spellings)


def oversized_rules(program: Program) -> list[Diagnostic]:
    """GDL210 and GDL211: the diagnostics that prevent normalization within the limits."""
    found: list[Diagnostic] = []
    total = 0
    for rule in program.rules:
        size = _size(Conjunction(rule.body), True)
        if size.bodies > MAX_ALTERNATIVES:
            message = (
                f"and/or/not in this rule expand to more than {MAX_ALTERNATIVES} alternatives:"
                " move parts of its body to relations of their own"
            )
            found.append(Diagnostic("GDL210", Severity.ERROR, message, rule.span))
            continue
        total += size.literals
        if total > MAX_LITERALS:
            message = f"and/or/not in the rules up to this one expand to more than {MAX_LITERALS} literals"
            found.append(Diagnostic("GDL211", Severity.ERROR, message, rule.span))
            break
    return found


def _size(formula: Formula, is_positive: bool) -> _Size:
    if isinstance(formula, Literal):
        return _Size(1, 1)
    if isinstance(formula, Negation):
        return _size(formula.operand, not is_positive)
    sizes = [_size(operand, is_positive) for operand in formula.operands]
    if isinstance(formula, Conjunction) != is_positive:
        return _Size(sum(size.bodies for size in sizes), sum(size.literals for size in sizes))
    return _product_size(sizes)


def _product_size(sizes: list[_Size]) -> _Size:
    """The size of a conjunction. As soon as it exceeds the limits, a size above them.

    Operands are expanded even if another one has no bodies, so theirs always count.
    """
    if any(size.bodies > MAX_ALTERNATIVES for size in sizes):
        return _Size(MAX_ALTERNATIVES + 1, MAX_LITERALS)
    if any(size.bodies == 0 for size in sizes):
        return _Size(0, sum(size.literals for size in sizes))
    bodies, literals = 1, 0
    for size in sizes:
        literals = literals * size.bodies + size.literals * bodies
        bodies *= size.bodies
        if bodies > MAX_ALTERNATIVES:
            return _Size(MAX_ALTERNATIVES + 1, MAX_LITERALS)
    return _Size(bodies, literals)


def _bodies(formula: Formula, is_positive: bool = True) -> Iterable[tuple[Literal, ...]]:
    """The alternatives under which `formula` holds (if not positive: its negation)."""
    if isinstance(formula, Literal):
        return [(formula if is_positive else replace(formula, is_positive=not formula.is_positive),)]
    if isinstance(formula, Negation):
        return _bodies(formula.operand, not is_positive)
    alternatives = [_bodies(operand, is_positive) for operand in formula.operands]
    if isinstance(formula, Conjunction) != is_positive:
        return [body for bodies in alternatives for body in bodies]
    return [tuple(dict.fromkeys(chain(*parts))) for parts in product(*alternatives)]
