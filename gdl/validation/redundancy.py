"""Rules written twice, and rules that a more general one makes superfluous.

A rule subsumes another when some values for its variables turn its head into the other's head and each
of its literals into one of the other's (Plotkin 1970). Deciding that is hard in general, so candidates
are told apart by the relations of their bodies first and the search stops after MAX_STEPS.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from gdl.errors import Related
from gdl.program import Literal, Predicate, Rule
from gdl.terms import Compound, Term, Variable, match
from gdl.validation.codes import Findings, warning
from gdl.validation.sheet import Sheet

MAX_STEPS = 50_000
"""Literals compared, over the whole sheet."""

MAX_BODY = 50
"""Literals of the longest body that takes part in the search for subsumed rules."""

Kind = tuple[Predicate, bool]
"""A literal's predicate and whether it is positive."""


class OutOfStepsError(Exception):
    """MAX_STEPS literals have been compared."""


class Candidate(NamedTuple):
    """A plain rule, the rule as written that it comes from, and the kinds of its literals."""

    plain: Rule
    written: Rule
    kinds: frozenset[Kind]


def repeated_rules(sheet: Sheet) -> Findings:
    """GDL309 and GDL310; of two that say the same, the later one is reported."""
    if sheet.is_intricate:
        return
    groups: dict[Predicate, list[Candidate]] = {}
    duplicates: set[int] = set()
    first: dict[object, Rule] = {}
    for written, alternatives in sheet.alternatives:
        for plain in alternatives:
            earlier = first.setdefault(_canonical(plain), written)
            if earlier is not written:
                if id(written) not in duplicates:
                    duplicates.add(id(written))
                    kind = "rule" if plain.body else "fact"
                    message = f"this {kind} stands here twice: remove one"
                    yield warning("GDL309", message, written.span, Related("the first", earlier.span))
                continue
            kinds = frozenset((literal.predicate, literal.is_positive) for literal in plain.literals)
            groups.setdefault(plain.predicate, []).append(Candidate(plain, written, kinds))
    yield from _subsumed(sheet, groups)


def _canonical(rule: Rule) -> object:
    """Equal for rules that differ only in the names of variables and the order and number of literals.

    Literals are ordered by what they are without variables, so that now and then a duplicate is missed.
    """
    literals = sorted(dict.fromkeys(rule.literals), key=lambda literal: _masked(literal.atom))
    numbers = count()
    names: dict[str, int] = {}

    def numbered(term: Term) -> object:
        if isinstance(term, Variable):
            if term.name not in names:
                names[term.name] = next(numbers)
            return names[term.name]
        if isinstance(term, Compound):
            return (term.name, *map(numbered, term.arguments))
        return term.name

    head = numbered(rule.head)
    return head, tuple((literal.is_positive, numbered(literal.atom)) for literal in literals)


def _masked(term: Term) -> str:
    if isinstance(term, Variable):
        return "?"
    if isinstance(term, Compound):
        return "(" + " ".join([term.name, *map(_masked, term.arguments)]) + ")"
    return term.name


def _subsumed(sheet: Sheet, groups: Mapping[Predicate, Sequence[Candidate]]) -> Findings:
    steps = count()
    reported: set[int] = set()
    try:
        for candidates in groups.values():
            with_body = [c for c in candidates if 0 < len(c.plain.body) <= MAX_BODY]
            for candidate in with_body:
                if candidate.plain.head in sheet.facts and id(candidate.written) not in reported:
                    reported.add(id(candidate.written))
                    message = f"superfluous rule: {candidate.plain.head} is a fact"
                    yield warning("GDL310", message, candidate.written.span)
            for general, special in _pairs(with_body):
                _spend(steps)
                if (
                    general.written is not special.written
                    and id(special.written) not in reported
                    and general.kinds <= special.kinds
                    and _subsumes(general.plain, special.plain, steps)
                ):
                    reported.add(id(special.written))
                    message = "superfluous rule: a more general one already concludes this"
                    note = Related("the more general rule", general.written.span)
                    yield warning("GDL310", message, special.written.span, note)
    except OutOfStepsError:
        return


def _pairs(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, Candidate]]:
    for special in candidates:
        for general in candidates:
            if general is not special:
                yield general, special


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
    """Whether `literals` become literals of the other rule under some extension of `bindings`.

    The literal with the fewest possibilities is tried first.
    """
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
