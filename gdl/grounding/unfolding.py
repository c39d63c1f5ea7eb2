"""Unfolding: a call is replaced by the bodies of the rules for it, where that makes splitting cheaper.

Two cases pay. A predicate that says "these two cells differ" by two rules (`distinct` columns, or
`distinct` rows) hides from the splitter that each alternative concerns one coordinate only. And a predicate
over many arguments that is called in few places is instantiated for all values, where its callers
bind a few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from gdl.dependencies import strong_components
from gdl.grounding.estimation import Estimates
from gdl.grounding.simplification import NEEDED, decide, replace, unify, without_duplicates
from gdl.grounding.splitting import split_cost
from gdl.program import Predicate, Rule
from gdl.terms import Compound, Symbol, Term, Variable, substitute, variables

COSTLY = 20000.0
"""Rules estimated below this are not worth the search."""

CLEAR_GAIN = 0.6
"""Unfolding must cost at most this share of what it replaces."""

MAX_RULES = 3
MAX_CALLERS = 6


def unfold(rules: Sequence[Rule], estimates: Estimates) -> list[Rule]:
    """`rules` with calls unfolded where the estimates promise a clear gain."""
    found = list(rules)
    fresh = count()
    for predicate in _candidates(rules):
        found = _unfold_everywhere(found, predicate, estimates, fresh)
    return without_duplicates(found)


def _candidates(rules: Sequence[Rule]) -> list[Predicate]:
    """Predicates with few rules that do not depend on themselves; callers before what they call."""
    calls: dict[Predicate, dict[Predicate, None]] = {}
    count_of: dict[Predicate, int] = {}
    for rule in rules:
        count_of[rule.predicate] = count_of.get(rule.predicate, 0) + 1
        own = calls.setdefault(rule.predicate, {})
        own.update(dict.fromkeys(literal.predicate for literal in rule.literals))
    components = strong_components(calls, lambda predicate: calls.get(predicate, ()))
    single = [component[0] for component in components if len(component) == 1]
    return [
        predicate
        for predicate in reversed(single)
        if predicate not in NEEDED
        and predicate not in calls.get(predicate, ())
        and 0 < count_of.get(predicate, 0) <= MAX_RULES
    ]


def _unfold_everywhere(
    rules: list[Rule], predicate: Predicate, estimates: Estimates, fresh: Iterator[int]
) -> list[Rule]:
    """First rule by rule; then, if few rules call it only positively, all at once with its own cost saved."""
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
        return [
            part for rule in rules if rule.predicate != predicate for part in replaced.get(id(rule), [rule])
        ]
    return [
        part
        for rule in rules
        for part in (
            replaced[id(rule)]
            if id(rule) in replaced and after[id(rule)] < CLEAR_GAIN * before[id(rule)]
            else [rule]
        )
    ]


def _unfolded(
    rule: Rule, predicate: Predicate, definition: Sequence[Rule], fresh: Iterator[int]
) -> list[Rule]:
    """`rule` with every positive call of `predicate` replaced, one rule per choice of definitions.

    fresh   numbers for variables; never the same twice in one program, or variables would be confused
    """
    pending, done = [rule], []
    while pending:
        current = pending.pop()
        place = next(
            (
                index
                for index, literal in enumerate(current.literals)
                if literal.is_positive and literal.predicate == predicate
            ),
            None,
        )
        if place is None:
            done.append(current)
        else:
            pending += _resolve(current, place, definition, fresh)
    return done


def _resolve(rule: Rule, place: int, definition: Sequence[Rule], fresh: Iterator[int]) -> Iterator[Rule]:
    call = rule.literals[place]
    for own in definition:
        renaming = _renaming(own, next(fresh))
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


def _renaming(rule: Rule, number: int) -> Mapping[str, Term]:
    terms = [rule.head, *(literal.atom for literal in rule.literals)]
    names = {variable.name for term in terms for variable in variables(term)}
    return {name: Variable(f"{name} {number}") for name in names}
