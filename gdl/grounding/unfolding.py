"""Unfolding: calls replaced by rule bodies, if that makes splitting cheaper.

Two cases benefit. A predicate that defines "these two cells differ" by two rules (`distinct` columns, or
`distinct` rows) hides from the splitter that each alternative concerns only one coordinate. And a
predicate with many arguments and few callers is instantiated for all values, although its callers
bind only a few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count

from gdl.grounding.estimation import Estimates
from gdl.grounding.simplification import (
    NEEDED,
    callees_of,
    callers_first,
    decide,
    names_in,
    replace,
    unify,
    without_duplicates,
)
from gdl.grounding.splitting import split_cost
from gdl.program import Predicate, Rule, atoms_of
from gdl.terms import Compound, Symbol, Variable, substitute

COSTLY = 20000.0
"""Rules of a lower estimated cost are not worth the search."""

CLEAR_GAIN = 0.6
"""Unfolding must cost at most this share of what it replaces."""

MAX_RULES = 3
"""Maximum number of rules of a predicate that is unfolded."""

MAX_CALLERS = 6
"""Maximum number of calling rules if all calls are unfolded at once."""

HOPELESS = 1e8
"""Estimated cost beyond which a predicate cannot be grounded itself."""

MAX_HOPELESS_RULES = 100
"""Maximum number of rules in which unfolding of hopeless predicates may result."""


def unfold(rules: Sequence[Rule], estimates: Estimates) -> list[Rule]:
    """`rules` with calls unfolded if the estimates promise a clear gain."""
    original, fresh = list(rules), count()
    found = _unfold_hopeless(original, estimates, fresh)
    if found is original:
        fresh = count()
    for predicate in _candidates(found):
        found = _unfold_everywhere(found, predicate, estimates, fresh)
    return without_duplicates(found)


def _unfold_hopeless(rules: list[Rule], estimates: Estimates, fresh: Iterator[int]) -> list[Rule]:
    """Unfold all predicates together that cannot be grounded themselves, if that pays.

    A relation of ten columns, defined in terms of another one: neither step pays without the other.
    """
    hopeless = [one for one in _candidates(rules, MAX_HOPELESS_RULES) if _is_hopeless(one, rules, estimates)]
    changed = rules
    for predicate in hopeless:
        own = [rule for rule in changed if rule.predicate == predicate]
        others = [rule for rule in changed if rule.predicate != predicate]
        calls = [sum(literal.predicate == predicate for literal in rule.literals) for rule in others]
        if sum(len(own) ** number for number in calls if number) <= MAX_HOPELESS_RULES:
            changed = [part for rule in others for part in _unfolded(rule, predicate, own, fresh)]
    kept = {id(rule) for rule in changed} & {id(rule) for rule in rules}
    before = split_cost([rule for rule in rules if id(rule) not in kept], estimates)
    after = split_cost([rule for rule in changed if id(rule) not in kept], estimates)
    return changed if after < CLEAR_GAIN * before else rules


def _is_hopeless(predicate: Predicate, rules: Sequence[Rule], estimates: Estimates) -> bool:
    """Whether a predicate is too large to ground, and all of its calls can be unfolded."""
    own = [rule for rule in rules if rule.predicate == predicate]
    calls = [literal for rule in rules for literal in rule.literals if literal.predicate == predicate]
    return (
        all(rule.body for rule in own)
        and all(call.is_positive for call in calls)
        and split_cost(own, estimates) > HOPELESS
    )


def _candidates(rules: Sequence[Rule], most: int = MAX_RULES) -> list[Predicate]:
    """Non-recursive predicates with at most `most` rules, callers before callees."""
    calls, count_of = callees_of(rules), Counter(rule.predicate for rule in rules)
    return [
        predicate
        for predicate, *others in callers_first(calls)
        if not others
        and predicate not in NEEDED
        and predicate not in calls.get(predicate, ())
        and 0 < count_of[predicate] <= most
    ]


def _unfold_everywhere(
    rules: list[Rule], predicate: Predicate, estimates: Estimates, fresh: Iterator[int]
) -> list[Rule]:
    """Unfold the calls of a predicate if that pays.

    All at once if they are few and positive, which also saves the cost of the predicate's own rules;
    otherwise caller by caller.
    """
    own = [rule for rule in rules if rule.predicate == predicate]
    callers = [rule for rule in rules if any(literal.predicate == predicate for literal in rule.literals)]
    if not own or not callers or not all(rule.body for rule in own):
        return rules
    own_cost = split_cost(own, estimates)
    is_positive = all(
        literal.is_positive for rule in callers for literal in rule.literals if literal.predicate == predicate
    )
    before = {id(rule): split_cost([rule], estimates) for rule in callers}
    if own_cost < COSTLY and max(before.values()) < COSTLY:
        return rules
    replaced = {id(rule): _unfolded(rule, predicate, own, fresh) for rule in callers}
    after = {id(rule): split_cost(replaced[id(rule)], estimates) for rule in callers}
    if (
        is_positive
        and len(callers) <= MAX_CALLERS
        and sum(after.values()) < CLEAR_GAIN * (own_cost + sum(before.values()))
    ):
        rules = [rule for rule in rules if rule.predicate != predicate]
    else:
        replaced = {key: parts for key, parts in replaced.items() if after[key] < CLEAR_GAIN * before[key]}
    return [part for rule in rules for part in replaced.get(id(rule), [rule])]


def _unfolded(
    rule: Rule, predicate: Predicate, definition: Sequence[Rule], fresh: Iterator[int]
) -> list[Rule]:
    """`rule` with every positive call of `predicate` replaced. One rule results per choice of definitions.

    fresh   numbers for renamed variables, unique within a program so that no variables clash
    """
    pending, done = [rule], []
    while pending:
        current = pending.pop()
        calls = (one.is_positive and one.predicate == predicate for one in current.literals)
        place = next((index for index, is_call in enumerate(calls) if is_call), None)
        if place is None:
            done.append(current)
        else:
            pending += _resolve(current, place, definition, fresh)
    return done


def _resolve(rule: Rule, place: int, definition: Sequence[Rule], fresh: Iterator[int]) -> Iterator[Rule]:
    call = rule.literals[place]
    for own in definition:
        number = next(fresh)
        renaming = {name: Variable(f"{name} {number}") for name in names_in(atoms_of(own))}
        binding = unify(substitute(own.head, renaming), call.atom)
        if binding is None:
            continue
        body = [replace(replace(literal, renaming), binding) for literal in own.literals]
        rest = [replace(literal, binding) for literal in rule.literals[:place] + rule.literals[place + 1 :]]
        head = substitute(rule.head, binding)
        assert isinstance(head, Symbol | Compound)
        decided = decide(Rule(head, (*rest[:place], *body, *rest[place:]), rule.span))
        if decided is not None:
            yield decided
