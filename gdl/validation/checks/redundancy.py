"""Checks for redundancy: duplicate rules, subsumed rules, and connectives without effect.

A rule subsumes another if a substitution turns its head into the other's head and each of its literals
into one of the other's (Plotkin 1970). Deciding this is NP-hard, so candidates are first compared by the
relations of their bodies, and the search stops after MAX_STEPS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, permutations
from typing import NamedTuple

from gdl.dependencies import masked
from gdl.errors import Related
from gdl.program import Disjunction, Literal, Predicate, Rule, arguments_of, body_literals
from gdl.terms import Compound, Term, Variable, match
from gdl.validation.codes import Findings, warning
from gdl.validation.sheet import Sheet, disjunctions_in

MAX_STEPS = 50_000
"""Maximum number of literals compared, over the whole sheet."""

MAX_BODY = 50
"""Length of the longest body that takes part in the search for subsumed rules."""

Kind = tuple[Predicate, bool]
"""A literal's predicate and whether it is positive."""


class OutOfStepsError(Exception):
    """MAX_STEPS literals have been compared."""


class Candidate(NamedTuple):
    """A plain rule, its rule as written, and its literals' kinds."""

    plain: Rule
    written: Rule
    kinds: frozenset[Kind]


def repeated_rules(sheet: Sheet) -> Findings:
    """GDL309 and GDL310; of two equivalent rules, the later one is reported."""
    if sheet.is_intricate:
        return
    groups: dict[Predicate, list[Candidate]] = {}
    duplicates: set[int] = set()
    first: dict[object, Rule] = {}
    for written, alternatives in sheet.alternatives:
        for plain in alternatives:
            earlier = first.setdefault(canonical(plain), written)
            if earlier is not written:
                if id(written) not in duplicates:
                    duplicates.add(id(written))
                    kind = "rule" if plain.body else "fact"
                    message = f"duplicate {kind}: remove one of the two"
                    yield warning("GDL309", message, written.span, Related("the first", earlier.span))
                continue
            kinds = frozenset((literal.predicate, literal.is_positive) for literal in plain.literals)
            groups.setdefault(plain.predicate, []).append(Candidate(plain, written, kinds))
    yield from _subsumed(sheet, groups)


def canonical(rule: Rule) -> object:
    """A key equal for rules that are the same up to notation.

    They may differ in variable names and in order and repetition of literals. Literals are sorted with their
    variables masked, so that a duplicate is missed now and then.
    """
    literals = sorted(dict.fromkeys(rule.literals), key=lambda literal: masked(literal.atom))
    names: dict[str, int] = {}

    def numbered(term: Term) -> object:
        if isinstance(term, Variable):
            return names.setdefault(term.name, len(names))
        if isinstance(term, Compound):
            return (term.name, *map(numbered, term.arguments))
        return term.name

    head = numbered(rule.head)
    return head, tuple((literal.is_positive, numbered(literal.atom)) for literal in literals)


def _subsumed(sheet: Sheet, groups: Mapping[Predicate, Sequence[Candidate]]) -> Findings:
    steps = count()
    reported: set[int] = set()
    try:
        for candidates in groups.values():
            with_body = [c for c in candidates if 0 < len(c.plain.body) <= MAX_BODY]
            for candidate in with_body:
                if candidate.plain.head in sheet.facts and id(candidate.written) not in reported:
                    reported.add(id(candidate.written))
                    message = f"redundant rule: {candidate.plain.head} is a fact"
                    yield warning("GDL310", message, candidate.written.span)
            for special, general in permutations(with_body, 2):
                _spend(steps)
                if (
                    general.written is not special.written
                    and id(special.written) not in reported
                    and general.kinds <= special.kinds
                    and _subsumes(general.plain, special.plain, steps)
                ):
                    reported.add(id(special.written))
                    message = "redundant rule: a more general one already concludes this"
                    note = Related("the more general rule", general.written.span)
                    yield warning("GDL310", message, special.written.span, note)
    except OutOfStepsError:
        return


def _spend(steps: count[int]) -> None:
    if next(steps) >= MAX_STEPS:
        raise OutOfStepsError


def _subsumes(general: Rule, special: Rule, steps: count[int]) -> bool:
    bindings = match(general.head, special.head)
    if bindings is None:
        return False
    by_kind: dict[Kind, list[Literal]] = {}
    for literal in special.literals:
        by_kind.setdefault((literal.predicate, literal.is_positive), []).append(literal)
    return _matches(general.literals, by_kind, bindings, steps)


def _matches(
    literals: Sequence[Literal],
    by_kind: Mapping[Kind, Sequence[Literal]],
    bindings: Mapping[str, Term],
    steps: count[int],
) -> bool:
    """Whether extended `bindings` turn `literals` into ones of the other rule; fewest matches first."""
    fewest: list[dict[str, Term]] | None = None
    chosen = 0
    for place, literal in enumerate(literals):
        found = []
        for target in by_kind.get((literal.predicate, literal.is_positive), ()):
            _spend(steps)
            extended = match(literal.atom, target.atom, bindings)
            if extended is not None:
                found.append(extended)
        if fewest is None or len(found) < len(fewest):
            fewest, chosen = found, place
        if len(fewest) < 2:
            break
    if fewest is None:
        return True
    others = [*literals[:chosen], *literals[chosen + 1 :]]
    return any(_matches(others, by_kind, extended, steps) for extended in fewest)


def odd_disjunctions(sheet: Sheet) -> Findings:
    """GDL311."""
    for formula in disjunctions_in(sheet.program):
        if not formula.operands:
            yield warning("GDL311", "empty 'or': it never holds", formula.span)
        elif len(formula.operands) == 1:
            yield warning("GDL311", "'or' with one formula: write the formula alone", formula.span)
        for operand in formula.operands:
            if isinstance(operand, Disjunction):
                message = "'or' directly inside 'or': merge them into one"
                yield warning("GDL311", message, operand.span)


def negated_distinct(sheet: Sheet) -> Findings:
    """GDL328."""
    for rule in sheet.program.rules:
        for literal, is_positive in body_literals(rule):
            if literal.atom.name == "distinct" and not is_positive and literal.predicate.arity == 2:
                left, right = arguments_of(literal.atom)
                message = (
                    f"'not' around 'distinct' says that {left} and {right} are equal: use one term for both"
                )
                yield warning("GDL328", message, literal.span or literal.atom.span)


def empty_bodies(sheet: Sheet) -> Findings:
    """GDL312. The span of a fact is that of its head. The span of a rule includes the arrow."""
    for rule in sheet.program.rules:
        if not rule.body and rule.span is not None and rule.span != rule.head.span:
            yield warning("GDL312", f"rule without a body: write it as a fact, {rule.head}", rule.span)


CHECKS = (repeated_rules, odd_disjunctions, negated_distinct, empty_bodies)
