"""Accumulators: recursion that only passes its result on, derived from the call instead of from the end.

A count such as

    count(P, N, Result) :- true(cell(P, x)), succ(P, Q), succ(N, M), count(Q, M, Result)

has an instance for every result that the rest of the board could still give. Its callers start at one cell
with one number, so it suffices to derive which calls are *reached*: `reach(Q, M) :- reach(P, N), true(…), …`;
a result holds if the call that ends with it is reached. Each accumulator then costs a factor once, not
twice (right-linear recursion: Naughton, Ramakrishnan, Sagiv & Ullman, "Efficient evaluation of right-, left-,
and multi-linear rules", 1989).

Names of new predicates contain a blank, so they differ from all names of a rule sheet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gdl.grounding.estimation import Estimates, estimate
from gdl.grounding.simplification import NEEDED, is_binder, names_in
from gdl.grounding.splitting import cost
from gdl.program import Literal, Predicate, Rule, arguments_of, variables_of
from gdl.terms import Compound, Symbol, Term, Variable, variables

COSTLY = 20_000.0
"""Predicates whose rules all have a lower estimated cost are left unchanged."""

CLEAR_GAIN = 0.5
"""The new rules must cost at most this share of the old ones."""


def derive_from_calls(rules: Sequence[Rule], estimates: Estimates) -> list[Rule]:
    """`rules` with right-linear recursion derived from its calls, if the estimates promise a clear gain."""
    found = list(rules)
    for predicate in dict.fromkeys(rule.predicate for rule in rules):
        own = [rule for rule in found if rule.predicate == predicate]
        if predicate in NEEDED or max(cost(estimates, rule.literals) for rule in own) < COSTLY:
            continue
        recursion = _right_linear(predicate, own)
        rewritten = _rewritten(found, recursion, estimates) if recursion else None
        if rewritten is None:
            continue
        after = estimate(rewritten)
        if _total(rewritten, after) < CLEAR_GAIN * _total(found, estimates):
            found, estimates = rewritten, after
    return found


def _total(rules: Sequence[Rule], estimates: Estimates) -> float:
    return sum(cost(estimates, rule.literals) for rule in rules)


@dataclass(frozen=True, slots=True)
class _Recursion:
    """A predicate all of whose recursive rules end with a call of itself that returns their result.

    steps     (rule, its call of the predicate) for each recursive rule
    ends      the other rules
    results   argument places that every recursive rule only passes on
    """

    predicate: Predicate
    steps: tuple[tuple[Rule, Literal], ...]
    ends: tuple[Rule, ...]
    results: tuple[int, ...]

    def given(self, atom: Symbol | Compound) -> tuple[Term, ...]:
        """The arguments of a call that are not results."""
        return tuple(one for place, one in enumerate(arguments_of(atom)) if place not in self.results)

    def returned(self, atom: Symbol | Compound) -> tuple[Term, ...]:
        """The arguments at the places of results."""
        return tuple(arguments_of(atom)[place] for place in self.results)


def _right_linear(predicate: Predicate, own: Sequence[Rule]) -> _Recursion | None:
    """The recursion of a predicate, or None if it is not right-linear or passes nothing on."""
    steps: list[tuple[Rule, Literal]] = []
    ends: list[Rule] = []
    results = set(range(predicate.arity))
    for rule in own:
        calls = [literal for literal in rule.literals if literal.predicate == predicate]
        if not calls:
            ends.append(rule)
            continue
        if len(calls) > 1 or not calls[0].is_positive:
            return None
        steps.append((rule, calls[0]))
        results = {place for place in results if _is_passed_on(rule, calls[0], place)}
    if not steps or not results or len(results) == predicate.arity:
        return None
    recursion = _Recursion(predicate, tuple(steps), tuple(ends), tuple(sorted(results)))
    return recursion if all(_is_bound_by_call(rule, call, recursion) for rule, call in steps) else None


def _is_passed_on(rule: Rule, call: Literal, place: int) -> bool:
    """Whether an argument is the same variable in head and call, and occurs nowhere else."""
    one = arguments_of(rule.head)[place]
    if not isinstance(one, Variable) or arguments_of(call.atom)[place] != one:
        return False
    return sum(variable.name == one.name for variable in variables_of(rule)) == 2


def _is_bound_by_call(rule: Rule, call: Literal, recursion: _Recursion) -> bool:
    """Whether the rest of the body and the given arguments bind all other variables."""
    rest = [literal for literal in rule.literals if literal is not call]
    bound = names_in(recursion.given(rule.head))
    bound |= names_in(literal.atom for literal in rest if is_binder(literal))
    return names_in([*recursion.given(call.atom), *(literal.atom for literal in rest)]) <= bound


def _rewritten(rules: Sequence[Rule], recursion: _Recursion, estimates: Estimates) -> list[Rule] | None:
    """All rules, with the recursion replaced per call; None if static literals do not bind a call."""
    found: list[Rule] = []
    starts: dict[tuple[Term, ...], str] = {}
    for rule in rules:
        if rule.predicate == recursion.predicate:
            continue
        body: list[Literal] = []
        for literal in rule.literals:
            if literal.predicate != recursion.predicate:
                body.append(literal)
                continue
            given = recursion.given(literal.atom)
            binding = _static_binders(rule, given, recursion.predicate, estimates)
            if binding is None:
                return None
            key = tuple(dict.fromkeys(variable for term in given for variable in variables(term)))
            shape = (*key, *given, *(one.atom for one in binding))
            name = starts.get(shape)
            if name is None:
                name = starts[shape] = f"{recursion.predicate.name}/{recursion.predicate.arity} {len(starts)}"
                found += _rules_from(name, recursion, key, given, binding, rule)
            returned = recursion.returned(literal.atom)
            body.append(
                Literal(Compound(f"result {name}", (*key, *returned)), literal.is_positive, literal.span)
            )
        found.append(Rule(rule.head, tuple(body), rule.span))
    return found if starts else None


def _static_binders(
    rule: Rule, given: Sequence[Term], replaced: Predicate, estimates: Estimates
) -> list[Literal] | None:
    """Static literals of a rule that bind the variables of `given`, or None.

    replaced   the predicate whose rules disappear
    """
    wanted, bound = names_in(given), set[str]()
    chosen: list[Literal] = []
    for literal in rule.literals:
        names = names_in([literal.atom])
        if literal.predicate == replaced:
            continue
        if names & (wanted - bound) and is_binder(literal) and estimates.is_static(literal):
            chosen.append(literal)
            bound |= names
    return chosen if wanted <= bound else None


def _rules_from(
    name: str,
    recursion: _Recursion,
    key: tuple[Variable, ...],
    given: tuple[Term, ...],
    binding: Sequence[Literal],
    caller: Rule,
) -> Iterator[Rule]:
    """The rules for what is reached from the calls `given`, and for their results.

    key   the variables of the call; they tell its instances apart
    """
    tags = tuple(Variable(f"key {place}") for place in range(len(key)))
    reach, result = f"reach {name}", f"result {name}"
    yield Rule(Compound(reach, (*key, *given)), tuple(binding), caller.span)
    for rule, call in recursion.steps:
        reached = Literal(Compound(reach, (*tags, *recursion.given(rule.head))))
        rest = tuple(literal for literal in rule.literals if literal is not call)
        yield Rule(Compound(reach, (*tags, *recursion.given(call.atom))), (reached, *rest), rule.span)
    for rule in recursion.ends:
        reached = Literal(Compound(reach, (*tags, *recursion.given(rule.head))))
        head = Compound(result, (*tags, *recursion.returned(rule.head)))
        yield Rule(head, (reached, *rule.literals), rule.span)
