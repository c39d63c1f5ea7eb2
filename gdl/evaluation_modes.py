"""Which predicates to derive whole, and which only where they are asked about.

Forward chaining derives every row of a predicate. Where callers bind arguments that the predicate's own
rules leave open (chess: is *this* square attacked?), it is cheaper to answer each call by itself
and remember the answer: the effect of a demand ("magic set") transformation. The choice is made by
expected cost, callers first, because it depends on how often and how bound a predicate is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from gdl.dependencies import DISTINCT, DOES, TRUE, Dependencies
from gdl.join_order import Plan, Relation, Size, Statistics, Step, estimate_rule, names_in, plan_body
from gdl.program import Predicate, Rule, arguments_of
from gdl.terms import Compound, Symbol, Variable, variables

Adornment: TypeAlias = str
"""One letter per argument of a call: b bound, f free and wanted, _ free and not wanted."""

CALL_COST = 3.0
"""What answering a call costs before its rules are tried, in steps of a plan."""

MAX_CHAIN = 120
"""Longest chain of predicates that may call each other; beyond it Python's stack could overflow."""


def adornment_of(atom: Symbol | Compound, bound: frozenset[str], needed: frozenset[str]) -> Adornment:
    """How `atom` is called when `bound` variables have values and `needed` ones are wanted."""
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


def bound_names(rule: Rule, adornment: Adornment) -> frozenset[str]:
    """The variables of the rule's head that a call with `adornment` binds."""
    arguments = arguments_of(rule.head)
    return names_in(*(a for a, letter in zip(arguments, adornment, strict=True) if letter == "b"))


def free_names(rule: Rule, adornment: Adornment) -> frozenset[str]:
    """The variables of the rule's head that a call with `adornment` wants."""
    arguments = arguments_of(rule.head)
    return names_in(*(a for a, letter in zip(arguments, adornment, strict=True) if letter == "f"))


class EvaluationModes:
    """The choice for every dynamic predicate that `roots` need.

    is_asked[p]  True: answered per call; False: derived whole
    """

    def __init__(
        self,
        dependencies: Dependencies,
        statistics: Statistics,
        roots: Mapping[Predicate, Iterable[Adornment]],
    ) -> None:
        self._dependencies = dependencies
        self._statistics = statistics
        self._rules = dependencies.program.by_predicate
        reachable = dependencies.reachable(roots)
        self.components = [
            component
            for component in dependencies.components
            if component[0] in reachable and component[0] in dependencies.dynamic - {TRUE, DOES}
        ]
        self.is_asked: dict[Predicate, bool] = {}
        self._calls: dict[Predicate, dict[Adornment, float]] = {}
        for predicate, adornments in roots.items():
            for adornment in adornments:
                self._count_call(predicate, adornment, 1.0)
        self._estimate_sizes()
        may_ask = self._longest_chain() <= MAX_CHAIN
        for component in reversed(self.components):
            self._decide(component, may_ask)

    @property
    def is_deep(self) -> bool:
        """Whether predicates form chains too long for Python's stack: derive callees first then."""
        return self._longest_chain() > MAX_CHAIN

    def _longest_chain(self) -> int:
        length: dict[Predicate, int] = {}
        for component in self.components:
            below = (length.get(c, 0) for p in component for c in self._dependencies.callees(p))
            longest = 1 + max(below, default=0)
            length.update(dict.fromkeys(component, longest))
        return max(length.values(), default=0)

    def _estimate_sizes(self) -> None:
        for component in self.components:
            factor = 3.0 if self._dependencies.is_recursive(component) else 1.0
            for predicate in component:
                rows = 0.0
                distinct = [0.0] * predicate.arity
                for rule in self._rules.get(predicate, ()):
                    rule_rows, rule_distinct = estimate_rule(rule, self._statistics)
                    rows += rule_rows * factor
                    distinct = [a + b for a, b in zip(distinct, rule_distinct, strict=True)]
                limits = tuple(max(1.0, min(d, rows)) for d in distinct)
                self._statistics.sizes[Relation(predicate)] = Size(max(rows, 0.05), limits)

    def _decide(self, component: tuple[Predicate, ...], may_ask: bool) -> None:
        if self._dependencies.is_recursive(component):
            for predicate in component:
                self.is_asked[predicate] = False
                self._plan_rules(predicate, None, 1.0, register=True)
            return
        (predicate,) = component
        calls = self._calls.get(predicate, {})
        has_open_call = any("b" not in adornment for adornment in calls) and predicate.arity > 0
        if has_open_call or not may_ask:
            is_asked = False
        elif predicate.arity == 0:
            is_asked = True
        else:
            whole = self._plan_rules(predicate, None, 1.0) + 0.3 * sum(calls.values())
            asked = sum(
                times * (CALL_COST + self._plan_rules(predicate, adornment, 1.0))
                for adornment, times in calls.items()
            )
            is_asked = asked < whole
        self.is_asked[predicate] = is_asked
        for adornment, times in calls.items() if is_asked else [(None, 1.0)]:
            self._plan_rules(predicate, adornment, times, register=True)

    def plan(self, rule: Rule, adornment: Adornment | None) -> Plan:
        """The order in which `rule` is solved for calls with `adornment` (None: derived whole)."""
        if adornment is None:
            bound, wanted = frozenset[str](), names_in(*arguments_of(rule.head))
        else:
            bound, wanted = bound_names(rule, adornment), free_names(rule, adornment)
        return plan_body(rule.literals, bound, wanted, self._statistics)

    def _plan_rules(
        self, predicate: Predicate, adornment: Adornment | None, times: float, *, register: bool = False
    ) -> float:
        cost = 0.0
        for rule in self._rules.get(predicate, ()):
            plan = self.plan(rule, adornment)
            cost += plan.cost
            if register:
                for step in plan.steps:
                    self._register(step, times)
        return cost

    def _register(self, step: Step, times: float) -> None:
        predicate = step.literal.predicate
        if predicate in self._dependencies.dynamic and predicate not in (TRUE, DOES, DISTINCT):
            adornment = adornment_of(step.literal.atom, step.bound, step.needed)
            self._count_call(predicate, adornment, times * step.rows)

    def _count_call(self, predicate: Predicate, adornment: Adornment, times: float) -> None:
        calls = self._calls.setdefault(predicate, {})
        calls[adornment] = calls.get(adornment, 0.0) + times
