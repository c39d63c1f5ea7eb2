"""Demand per argument: ground predicates only for constants that callers need.

Rules often bind their arguments with a relation that is too wide ("any coordinate", files as well as
ranks), while every caller has a file in one place and a rank in the other. The constants that
callers can have at a place are known from the estimates; if they are fewer, a literal that
lists them is added to the rules. The list consists of facts, so it leaves no trace in the ground program.

This is the magic-set transformation (Bancilhon et al. 1986) with calls approximated by the product of
their columns. Recursive predicates are left unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gdl.dependencies import DISTINCT, strong_components
from gdl.grounding.estimation import Domain, Estimates
from gdl.grounding.simplification import GIVEN, NEEDED
from gdl.grounding.splitting import cost
from gdl.program import Literal, Predicate, Rule, arguments_of
from gdl.terms import Compound, Term, Variable, is_ground

COSTLY = 20_000.0
"""Predicates whose rules all have a lower estimated cost are left unchanged."""

CLEAR_GAIN = 0.8
"""A list must have at most this share of the constants that a rule admits by itself."""

MAX_LISTED = 300
"""Maximum number of constants in a list."""

_LIST_NAME = "asked {}"
"""Name of a list; the blank makes it differ from all names of a rule sheet."""


def narrow(rules: Sequence[Rule], estimates: Estimates) -> list[Rule]:
    """`rules` with lists of the constants that callers ask for. Returns the same rules if nothing is gained.

    The lists are added to `estimates`; the sizes of other relations are not reduced.
    """
    found: dict[Predicate, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.predicate, []).append(rule)
    lists: dict[tuple[Term, ...], str] = {}
    for predicate in _callers_first(found):
        own = found[predicate]
        if max(cost(estimates, rule.literals) for rule in own) < COSTLY:
            continue
        asked = _asked(predicate, found, estimates)
        if asked is not None:
            found[predicate] = [
                narrowed for rule in own if (narrowed := _narrowed(rule, asked, estimates, lists)) is not None
            ]
    facts = [Rule(Compound(name, (term,))) for terms, name in lists.items() for term in terms]
    return [*facts, *(rule for own in found.values() for rule in own)]


def _callers_first(rules: Mapping[Predicate, Sequence[Rule]]) -> list[Predicate]:
    calls = {
        predicate: dict.fromkeys(literal.predicate for rule in own for literal in rule.literals)
        for predicate, own in rules.items()
    }
    components = strong_components(calls, lambda predicate: calls.get(predicate, ()))
    return [
        component[0]
        for component in reversed(components)
        if len(component) == 1
        and component[0] not in calls.get(component[0], ())
        and component[0] in rules
        and component[0] not in NEEDED | GIVEN | {DISTINCT}
    ]


def _asked(
    predicate: Predicate, rules: Mapping[Predicate, Sequence[Rule]], estimates: Estimates
) -> list[Domain] | None:
    """Per argument the constants that calls can have. Returns None if there are no calls."""
    found: list[Domain] | None = None
    for own in rules.values():
        for rule in own:
            for literal in rule.literals:
                if literal.predicate != predicate:
                    continue
                # The call itself restricts nothing: its rows are being narrowed.
                others = [other for other in rule.literals if other is not literal]
                domains = estimates.variable_domains(others)
                columns = [_column(term, domains) for term in arguments_of(literal.atom)]
                found = columns if found is None else list(map(_union, found, columns))
    return found


def _column(term: Term, domains: Mapping[str, Domain]) -> Domain:
    if isinstance(term, Variable):
        return domains.get(term.name)
    return {term} if is_ground(term) else None


def _union(one: Domain, other: Domain) -> Domain:
    return None if one is None or other is None else one | other


def _narrowed(
    rule: Rule, asked: Sequence[Domain], estimates: Estimates, lists: dict[tuple[Term, ...], str]
) -> Rule | None:
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
                guards.append(_guard(term, wanted, estimates, lists))
    return Rule(rule.head, (*rule.literals, *dict.fromkeys(guards)), rule.span) if guards else rule


def _guard(
    variable: Variable, wanted: set[Term], estimates: Estimates, lists: dict[tuple[Term, ...], str]
) -> Literal:
    terms = tuple(sorted(wanted, key=str))
    name = lists.setdefault(terms, _LIST_NAME.format(len(lists)))
    atom = Compound(name, (variable,))
    relation, _ = estimates.row_of(atom)
    estimates.domains[relation] = [set(terms)]
    estimates.sizes[relation] = float(len(terms))
    estimates.static.add(relation)
    return Literal(atom)
