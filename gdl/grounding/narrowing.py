"""Demand per argument: ground predicates only for constants that callers need.

Rules often bind their arguments with a relation that is too wide ("any coordinate", files as well as
ranks), while every caller has a file in one place and a rank in the other. The constants that
callers can have at a place are known from the estimates; if they are fewer, a literal that
lists them is added to the rules. The list consists of facts, so it leaves no trace in the ground program.

This is the magic-set transformation (Bancilhon et al. 1986) with calls approximated by the product of
their columns. Recursive predicates are left unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from gdl.dependencies import DISTINCT
from gdl.grounding.estimation import Domain, Estimates
from gdl.grounding.simplification import GIVEN, NEEDED, callees_of, callers_first, grouped
from gdl.grounding.splitting import cost
from gdl.program import Literal, Predicate, Rule, arguments_of
from gdl.terms import Compound, Term, Variable, is_ground

COSTLY = 20_000.0
"""Predicates whose rules all have a lower estimated cost are left unchanged."""

CLEAR_GAIN = 0.8
"""A list must have at most this share of the constants that a rule admits by itself."""

MAX_LISTED = 300
"""Maximum number of constants in a list."""

Lists = dict[tuple[Term, ...], str]
"""Constants → the name of the predicate that lists them."""


def narrow(rules: Sequence[Rule], estimates: Estimates) -> list[Rule]:
    """`rules` with lists of the constants that callers ask for. Returns the same rules if nothing is gained.

    The lists are added to `estimates`; the sizes of other relations are not reduced.
    """
    found, calls = grouped(rules), callees_of(rules)
    lists: Lists = {}
    for predicate, *others in callers_first(calls):
        own = found.get(predicate, [])
        is_fixed = predicate in NEEDED | GIVEN | {DISTINCT} or not own
        if others or is_fixed or predicate in calls[predicate]:
            continue
        if max(cost(estimates, rule.literals) for rule in own) < COSTLY:
            continue
        asked = _asked(predicate, found, estimates)
        if asked is not None:
            found[predicate] = [
                narrowed for rule in own if (narrowed := _narrowed(rule, asked, estimates, lists)) is not None
            ]
    return [*rules_of(lists), *(rule for own in found.values() for rule in own)]


def _asked(
    predicate: Predicate, rules: Mapping[Predicate, Sequence[Rule]], estimates: Estimates
) -> list[Domain] | None:
    """Per argument the constants that calls can have. Returns None if there are no calls."""
    calls: list[list[Domain]] = []
    for rule in chain(*rules.values()):
        for call in (one for one in rule.literals if one.predicate == predicate):
            # The call itself restricts nothing: its rows are being narrowed.
            domains = estimates.variable_domains([other for other in rule.literals if other is not call])
            calls.append([_column(term, domains) for term in arguments_of(call.atom)])
    columns = zip(*calls, strict=True)
    joined = [None if None in column else {*chain(*filter(None, column))} for column in columns]
    return joined if calls else None


def _column(term: Term, domains: Mapping[str, Domain]) -> Domain:
    if isinstance(term, Variable):
        return domains.get(term.name)
    return {term} if is_ground(term) else None


def _narrowed(rule: Rule, asked: Sequence[Domain], estimates: Estimates, lists: Lists) -> Rule | None:
    """`rule` restricted to the constants asked for. Returns None if none of them fits."""
    admitted = estimates.variable_domains(rule.literals)
    guards: list[Literal] = []
    for term, domain in zip(arguments_of(rule.head), asked, strict=True):
        if domain is None or len(domain) > MAX_LISTED:
            continue
        if is_ground(term):
            if term not in domain:
                return None
        elif isinstance(term, Variable):
            known = admitted.get(term.name)
            if known is None or len(known & domain) <= CLEAR_GAIN * len(known):
                wanted = domain if known is None else known & domain
                guard = listed(term, wanted, "asked", lists)
                relation, _ = estimates.row_of(guard.atom)
                estimates.domains[relation] = [set(wanted)]
                estimates.sizes[relation] = float(len(wanted))
                estimates.static.add(relation)
                guards.append(guard)
    return Rule(rule.head, (*rule.literals, *dict.fromkeys(guards)), rule.span) if guards else rule


def listed(variable: Variable, wanted: Collection[Term], name: str, lists: Lists) -> Literal:
    """A literal that restricts a variable to a list, which is new in `lists` unless it is known.

    name   of lists; with a number after a blank it differs from all names of a rule sheet
    """
    terms = tuple(sorted(wanted, key=str))
    return Literal(Compound(lists.setdefault(terms, f"{name} {len(lists)}"), (variable,)))


def rules_of(lists: Lists) -> list[Rule]:
    """The facts of lists."""
    return [Rule(Compound(name, (term,))) for terms, name in lists.items() for term in terms]
