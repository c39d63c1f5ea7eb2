"""Choose bottom-up or on-demand (memoized) evaluation per predicate.

Forward chaining derives every row of a predicate. If callers bind arguments that the predicate's own
rules leave open (chess: is *this* square attacked?), it is cheaper to answer each call by itself
and memoize the answer: the effect of a demand ("magic set") transformation. The choice is made by
expected cost, callers first, because it depends on how often and with which arguments bound a predicate
is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import add
from typing import TypeAlias

from gdl.dependencies import DOES, TRUE, Dependencies
from gdl.program import Predicate, Rule, arguments_of
from gdl.reasoning.derivation_limits import builds_terms
from gdl.reasoning.join_order import (
    Plan,
    Relation,
    Size,
    Statistics,
    estimate_rule,
    names_in,
    plan_body,
)
from gdl.terms import Compound, Symbol, Variable, variables

Adornment: TypeAlias = str
"""One letter per argument of a call: b bound, f free and wanted, _ free and not wanted."""

CALL_COST = 3.0
"""Overhead of a call, in steps of a plan."""

RECURSION_FACTOR = 3.0
"""Expected number of rounds through the rules of a recursive predicate."""

MAX_CHAIN = 120
"""Maximum length of a chain of predicates that call each other; more could overflow Python's stack."""


def adornment_of(atom: Symbol | Compound, bound: frozenset[str], needed: frozenset[str]) -> Adornment:
    """The adornment of a call of `atom` with `bound` and `needed` variables.

    >>> from gdl.syntax.parser import parse_term
    >>> adornment_of(parse_term("(p ?x ?y ?z)"), frozenset("x"), frozenset("y"))
    'bf_'
    """
    occurrences = [variable.name for variable in variables(atom)]
    letters = []
    for argument in arguments_of(atom):
        if names_in(argument) <= bound:
            letters.append("b")
        elif (
            isinstance(argument, Variable)
            and argument.name not in needed
            and occurrences.count(argument.name) == 1
        ):
            letters.append("_")
        else:
            letters.append("f")
    return "".join(letters)


def bound_names(rule: Rule, adornment: Adornment, kind: str = "b") -> frozenset[str]:
    """The variables of the rule's head that a call with `adornment` binds, or wants with kind "f"."""
    arguments = arguments_of(rule.head)
    return names_in(*(a for a, letter in zip(arguments, adornment, strict=True) if letter == kind))


def plan_rule(rule: Rule, adornment: Adornment | None, statistics: Statistics) -> Plan:
    """The plan of `rule` for `adornment`; None derives all rows."""
    if adornment is None:
        return plan_body(rule.literals, frozenset(), names_in(*arguments_of(rule.head)), statistics)
    bound, wanted = (bound_names(rule, adornment, kind) for kind in "bf")
    return plan_body(rule.literals, bound, wanted, statistics)


def estimate_size(
    predicate: Predicate, rules: Iterable[Rule], statistics: Statistics, *, overlap: bool = False
) -> Size:
    """Expected size of a predicate, from the sizes that its rules read.

    overlap   whether the rules derive the same values: then a column has no more than one rule gives it
    """
    rows = 0.0
    distinct = [0.0] * predicate.arity
    for rule in rules:
        rule_rows, rule_distinct = estimate_rule(rule, statistics)
        rows += rule_rows
        combine = max if overlap else add
        distinct = [combine(a, b) for a, b in zip(distinct, rule_distinct, strict=True)]
    return Size(max(rows, 0.05), tuple(max(1.0, min(values, rows)) for values in distinct))


class EvaluationModes:
    """The evaluation mode of every dynamic predicate that `roots` need.

    is_asked[p]  True: answered per call; False: derived completely
    is_deep      whether predicates form chains too long for Python's stack. Then callees are derived first
    """

    def __init__(
        self,
        dependencies: Dependencies,
        statistics: Statistics,
        roots: Mapping[Predicate, Iterable[Adornment]],
        on_demand: frozenset[Predicate] = frozenset(),
    ) -> None:
        self._dependencies = dependencies
        self._statistics = statistics
        self._rules = dependencies.program.by_predicate
        reachable = dependencies.reachable(roots)
        self._on_demand = on_demand
        self._evaluated = (dependencies.dynamic | on_demand) - {TRUE, DOES}
        self.components = [
            component
            for component in dependencies.components
            if component[0] in reachable and component[0] in self._evaluated
        ]
        self.is_asked: dict[Predicate, bool] = {}
        self._calls: dict[Predicate, dict[Adornment, float]] = {}
        for predicate, adornments in roots.items():
            for adornment in adornments:
                self._count_call(predicate, adornment, 1.0)
        self._estimate_sizes()
        self.is_deep = self._longest_chain() > MAX_CHAIN
        for component in reversed(self.components):
            self._decide(component)

    def _longest_chain(self) -> int:
        length: dict[Predicate, int] = {}
        for component in self.components:
            below = (length.get(c, 0) for p in component for c in self._dependencies.callees(p))
            longest = 1 + max(below, default=0)
            length.update(dict.fromkeys(component, longest))
        return max(length.values(), default=0)

    def _estimate_sizes(self) -> None:
        for component in self.components:
            for predicate in component:
                if predicate in self._on_demand:
                    continue
                size = estimate_size(predicate, self._rules.get(predicate, ()), self._statistics)
                if self._dependencies.is_recursive(component):
                    size.rows *= RECURSION_FACTOR
                self._statistics.sizes[Relation(predicate)] = size

    def _decide(self, component: tuple[Predicate, ...]) -> None:
        is_recursive = self._dependencies.is_recursive(component)
        calls = {predicate: self._calls.get(predicate, {}) for predicate in component}
        rules = [rule for predicate in component for rule in self._rules.get(predicate, ())]
        is_open = any(predicate.arity and "b" not in one for predicate, own in calls.items() for one in own)
        negates_itself = any(
            literal.predicate in component and not literal.is_positive
            for rule in rules
            for literal in rule.literals
        )
        is_asked = component[0] in self._on_demand or (
            not self.is_deep
            and not is_open
            and not (is_recursive and negates_itself)
            and (
                # Rules that wrap functions around variables may never end bottom-up.
                (is_recursive and any(map(builds_terms, rules)))
                or self._asking_cost(calls, is_recursive) < self._whole_cost(calls, is_recursive)
            )
        )
        for predicate in component:
            self.is_asked[predicate] = is_asked
            for adornment, times in calls[predicate].items() if is_asked else [(None, 1.0)]:
                self._plan_rules(predicate, adornment, times, register=component)

    def _whole_cost(self, calls: Mapping[Predicate, Mapping[Adornment, float]], is_recursive: bool) -> float:
        deriving = sum(self._plan_rules(predicate, None, 1.0) for predicate in calls)
        lookups = sum(sum(adornments.values()) for adornments in calls.values())
        return deriving * (RECURSION_FACTOR if is_recursive else 1.0) + 0.3 * lookups

    def _asking_cost(self, calls: Mapping[Predicate, Mapping[Adornment, float]], is_recursive: bool) -> float:
        return sum(
            times
            * (CALL_COST + self._plan_rules(predicate, adornment, 1.0))
            * (2 * RECURSION_FACTOR if is_recursive else 1.0)
            for predicate, adornments in calls.items()
            for adornment, times in adornments.items()
        )

    def _plan_rules(
        self,
        predicate: Predicate,
        adornment: Adornment | None,
        times: float,
        *,
        register: tuple[Predicate, ...] | None = None,
    ) -> float:
        """Expected cost of the rules. With `register` (their component), their calls are counted too."""
        cost = 0.0
        for rule in self._rules.get(predicate, ()):
            plan = plan_rule(rule, adornment, self._statistics)
            cost += plan.cost
            for step in plan.steps:
                called = step.literal.predicate
                if register is not None and called not in register and called in self._evaluated:
                    inner = adornment_of(step.literal.atom, step.bound, step.needed)
                    self._count_call(called, inner, times * step.rows)
        return cost

    def _count_call(self, predicate: Predicate, adornment: Adornment, times: float) -> None:
        calls = self._calls.setdefault(predicate, {})
        calls[adornment] = calls.get(adornment, 0.0) + times
