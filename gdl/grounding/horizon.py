"""Bounds from the length of a match: facts that could only hold after its end are not ground.

Relaxed reachability ignores that a match ends. A deck that grows by at most one card a step, and is declared
to hold ninety, makes ninety sizes although the match ends after seven steps; what is drawn from it explodes.

The *clock* is what no move influences: its fluents take one course, which the reasoner follows until rules
for `terminal` that read nothing else hold. That number of steps bounds how far the constants of every other
fluent can spread, column by column, through `next`. If a column can hold much fewer constants than it could
without the bound, a list of them is added to its rules. The list consists of facts,
so it leaves no trace in the ground program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gdl.dependencies import reachable
from gdl.errors import ReasoningError
from gdl.grounding.estimation import Domain, Estimates, Relation, values_of
from gdl.grounding.simplification import is_binder, prune
from gdl.grounding.splitting import cost
from gdl.program import Literal, Program, Rule
from gdl.reasoning.reasoner import Reasoner
from gdl.terms import Compound, Term, Variable, is_ground

COSTLY = 1e7
"""Programs whose rules have a lower estimated cost in all are left unchanged: most of the time to ground them
would go into this analysis."""

CLEAR_GAIN = 0.8
"""A list must have at most this share of the constants that a rule admits by itself."""

MAX_LISTED = 300
"""Maximum number of constants in a list."""

MAX_STEPS = 500
"""Longest course of a clock that is followed."""

MAX_ROWS = 5000
"""Rows up to which a static relation is joined; of larger ones only the columns count."""

Lists = dict[tuple[Term, ...], str]
"""Constants → the name of the predicate that lists them."""

_Rows = Mapping[Relation, list[tuple[Term, ...]]]


def bound_by_horizon(rules: Sequence[Rule], estimates: Estimates) -> list[Rule]:
    """`rules` with lists of the constants that fluents can hold before a match must end.

    Returns the same rules if nothing is gained.
    """
    heads = [rule for rule in rules if rule.head.name in ("next", "init")]
    if sum(cost(estimates, rule.literals) for rule in rules) < COSTLY or any(
        estimates.row_of(rule.head)[0].name == "" for rule in heads
    ):
        return list(rules)
    steps = _longest_match(rules, estimates)
    if steps is None:
        return list(rules)
    reached = _spread(heads, _static_rows(rules, estimates), estimates, steps)
    lists: Lists = {}
    bounded = [_bounded(rule, reached, estimates, lists) if rule in heads else rule for rule in rules]
    facts = (Rule(Compound(name, (term,))) for terms, name in lists.items() for term in terms)
    return [*facts, *(rule for rule in bounded if rule is not None)]


def _longest_match(rules: Sequence[Rule], estimates: Estimates) -> int | None:
    """Upper bound on the number of joint moves of a match; None if none is known."""
    if not any(rule.head.name == "terminal" for rule in rules):
        return None
    clock = prune(_independent_rules(rules, estimates))
    try:
        reasoner = Reasoner(Program(tuple(clock)))
    except ReasoningError:
        return None
    facts, seen = reasoner.initial_facts, set()
    for step in range(MAX_STEPS):
        if reasoner.is_terminal(reasoner.context(facts)):
            return step
        if facts in seen:
            return None
        seen.add(facts)
        facts = reasoner.next_facts(reasoner.context(facts, {}))
    return None


def _independent_rules(rules: Sequence[Rule], estimates: Estimates) -> list[Rule]:
    """Rules that take the same course in every match: nothing that they read depends on a move.

    Of `terminal` and what it asks for only these rules are kept: a match may end earlier, not later.
    """
    dependent = _dependent(rules, estimates)
    kept: list[Rule] = []
    sure: set[Relation] = set()
    grows = True
    while grows:
        before = len(kept)
        kept = [
            rule
            for rule in rules
            if all(
                estimates.row_of(one.atom)[0] not in dependent
                or (one.is_positive and estimates.row_of(one.atom)[0] in sure)
                for one in rule.literals
            )
            and (rule.head.name not in ("next", "init") or estimates.row_of(rule.head)[0] not in dependent)
        ]
        sure = {estimates.row_of(rule.head)[0] for rule in kept if rule.head.name not in ("next", "init")}
        grows = len(kept) > before
    needless = ("legal", "goal", "sees")
    return [rule for rule in kept if rule.head.name not in needless]


def _dependent(rules: Sequence[Rule], estimates: Estimates) -> set[Relation]:
    """The relations that some move may influence."""
    readers: dict[Relation, set[Relation]] = {}
    for rule in rules:
        for literal in rule.literals:
            read = estimates.row_of(literal.atom)[0]
            readers.setdefault(read, set()).add(estimates.row_of(rule.head)[0])
    unknown = Relation("state", "", 1)
    # `does` has the relations of moves, also where no rule for `legal` defines them
    moves = {relation for relation in (*estimates.domains, *readers) if relation.kind == "move"}
    return reachable({unknown, *moves}, lambda relation: readers.get(relation, ())) - {unknown}


def _static_rows(rules: Sequence[Rule], estimates: Estimates) -> _Rows:
    """The rows of static relations that facts alone define."""
    found: dict[Relation, list[tuple[Term, ...]]] = {}
    derived = {estimates.row_of(rule.head)[0] for rule in rules if rule.body}
    for rule in rules:
        relation, columns = estimates.row_of(rule.head)
        if relation.kind == "predicate" and relation not in derived:
            found.setdefault(relation, []).append(columns)
    return {relation: rows for relation, rows in found.items() if len(rows) <= MAX_ROWS}


def _spread(
    heads: Sequence[Rule], rows: _Rows, estimates: Estimates, steps: int
) -> dict[Relation, list[Domain]]:
    """The constants that each column of a fluent can hold within `steps` joint moves."""
    reached: dict[Relation, list[Domain]] = {}
    for rule in heads:
        relation, columns = estimates.row_of(rule.head)
        reached.setdefault(relation, [set() for _ in columns])
    other = {name: domain for name, domain in estimates.domains.items() if name.kind != "state"}
    for step in range(steps + 1):
        # What the bodies read is the state before the step, so nothing spreads twice within one.
        before = {relation: list(columns) for relation, columns in reached.items()}
        view = replace(estimates, domains={**other, **before})
        for rule in heads:
            if (rule.head.name == "init") == (step == 0):
                _add_image(rule, reached, rows, view)
        if step and before == reached:
            break
    return reached


def _add_image(rule: Rule, reached: dict[Relation, list[Domain]], rows: _Rows, view: Estimates) -> None:
    """Add what the head of `rule` can hold if its body reads the domains of `view`."""
    found = view.variable_domains(rule.literals)
    read = [view.row_of(literal.atom) for literal in rule.literals if is_binder(literal)]
    joined = [one for one in read if one[0] in rows]
    for _ in range(2):  # once for each relation, and once more for chains of them
        for relation, columns in joined:
            _join(found, columns, rows[relation])
    if any(domain is not None and not domain for domain in found.values()):
        return
    relation, columns = view.row_of(rule.head)
    places = reached[relation]
    for place, term in enumerate(columns):
        domain, values = places[place], values_of(term, found)
        places[place] = None if domain is None or values is None else domain | values


def _join(found: dict[str, Domain], columns: tuple[Term, ...], rows: list[tuple[Term, ...]]) -> None:
    """Narrow the domains of variables to the rows that all of them admit."""
    places = [(place, term) for place, term in enumerate(columns) if isinstance(term, Variable)]
    fixed = [(place, term) for place, term in enumerate(columns) if is_ground(term)]
    left = [
        row
        for row in rows
        if all(row[place] == term for place, term in fixed)
        and all((domain := found.get(term.name)) is None or row[place] in domain for place, term in places)
    ]
    for place, term in places:
        found[term.name] = {row[place] for row in left}


def _bounded(
    rule: Rule, reached: Mapping[Relation, list[Domain]], estimates: Estimates, lists: Lists
) -> Rule | None:
    """`rule` for `next` restricted to what is reached; None if its head is not.

    Only columns in which much fewer constants are reached than estimated are restricted.
    """
    relation, columns = estimates.row_of(rule.head)
    guards: list[Literal] = []
    for term, domain, known in zip(columns, reached[relation], estimates.domains[relation], strict=True):
        if domain is None or len(domain) > MAX_LISTED:
            continue
        if known is not None and len(domain) > CLEAR_GAIN * len(known):
            continue
        if isinstance(term, Variable):
            terms = tuple(sorted(domain, key=str))
            # with a number after a blank the name differs from all names of a rule sheet
            guards.append(Literal(Compound(lists.setdefault(terms, f"reached {len(lists)}"), (term,))))
        elif is_ground(term) and term not in domain:
            return None
    return Rule(rule.head, (*rule.body, *guards), rule.span) if guards else rule
