"""Stratified, semi-naive forward chaining: the reference semantics of the project.

Predicates that depend on neither `true` nor `does` are evaluated once. The others become Python
functions that derive what a query needs, callees before callers, so that a state costs only the
rules that its facts can reach (`gdl.reasoning.derivation`, `gdl.reasoning.rule_compiler`). Mutually
recursive predicates are derived together to their least fixpoint, and each new row is joined once with
what is known. Negation inside a cycle of predicates is evaluated layer by layer of rules
(`gdl.dependencies.rule_layers`), which is exact whenever the rules, distinguished by the constants in
their heads, form no negative cycle.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from gdl.dependencies import TRUE, Dependencies
from gdl.errors import ReasoningError
from gdl.program import Predicate, Program, Rule, arguments_of
from gdl.reasoning.derivation import Derivation
from gdl.reasoning.derivation_limits import builds_terms
from gdl.reasoning.evaluation_modes import (
    Adornment,
    EvaluationModes,
    adornment_of,
    bound_names,
    estimate_size,
)
from gdl.reasoning.join_order import Relation, Size, Statistics, names_in, plan_body
from gdl.reasoning.relation_access import Context, Row
from gdl.reasoning.rule_compiler import BY_FUNCTOR, FACTS, MOVES
from gdl.reasoning.values import Value, value_of
from gdl.terms import Compound, Symbol, Variable

ROLE = Predicate("role", 1)
INIT = Predicate("init", 1)
LEGAL = Predicate("legal", 2)
NEXT = Predicate("next", 1)
GOAL = Predicate("goal", 2)
TERMINAL = Predicate("terminal", 0)
SEES = Predicate("sees", 2)

ROOTS: Mapping[Predicate, tuple[Adornment, ...]] = {
    ROLE: ("f",),
    INIT: ("f",),
    LEGAL: ("bf",),
    NEXT: ("f",),
    GOAL: ("bf",),
    TERMINAL: ("",),
    SEES: ("bf",),
}
"""The queries of a game, with the arguments that are known."""

MAX_STATIC_ROWS = 300_000
"""Expected rows beyond which a static predicate is answered per call instead of derived completely."""

HUGE_SIZE = 1e9
"""Assumed rows of a static predicate that has too many to count."""

Facts = frozenset[Value]
"""A state: its facts as values."""


class Reasoner:
    """Answers to questions about states, for a normalized, valid program.

    roles          in rule-sheet order
    initial_facts  the facts true in the initial state
    has_percepts   whether the rules define `sees`

    Raises ReasoningError if static rules derive without bound, and some call of them gives no argument.

    >>> from gdl.normalize import normalize
    >>> from gdl.syntax.parser import parse
    >>> rules = "(role r) (init (at 1)) (succ 1 2) (legal r go) (<= terminal (true (at 2)))"
    >>> rules += "(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y) (does r go))"
    >>> reasoner = Reasoner(normalize(parse(rules)))
    >>> state = reasoner.context(reasoner.initial_facts)
    >>> reasoner.is_terminal(state), reasoner.legal_moves(state, "r")
    (False, ['go'])
    >>> reasoner.next_facts(reasoner.with_moves(state, {"r": "go"}))
    frozenset({('at', '2')})
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.dependencies = Dependencies(program)
        self._static_rows: dict[Predicate, set[Row]] = {}
        self._on_demand: frozenset[Predicate] = frozenset()
        self._statistics = Statistics()
        self._evaluate_static()
        self.roles = self._roles_in_order()
        self.initial_facts: Facts = frozenset(self._static_rows.get(INIT, ()))
        self.has_percepts = bool(program.rules_for("sees", 2))
        self._statistics.role_count = max(1, len(self.roles))
        self._measure_facts()
        self._compile()

    # Questions about a state

    def context(self, facts: Facts, moves: Mapping[Value, Value] | None = None) -> Context:
        """A context for queries about a state and joint move."""
        context: Context = self._derivation.new_context()
        by_functor: dict[tuple[Value, int], list[Value]] = {}
        for fact in facts:
            if fact.__class__ is tuple:
                key = (fact[0], len(fact))
                if key in by_functor:
                    by_functor[key].append(fact)
                else:
                    by_functor[key] = [fact]
        context[FACTS], context[BY_FUNCTOR], context[MOVES] = facts, by_functor, moves
        return context

    def with_moves(self, context: Context, moves: Mapping[Value, Value]) -> Context:
        """A copy of `context` in which the roles make `moves`. What is already derived is shared."""
        following = context.copy()
        following[MOVES] = moves
        return following

    def is_terminal(self, context: Context) -> bool:
        return bool(self._ask_terminal(context))

    def legal_moves(self, context: Context, role: Value) -> list[Value]:
        """The moves that are `legal` for `role`, in no particular order."""
        return self._ask_legal(context, role)

    def goals(self, context: Context, role: Value) -> list[Value]:
        """The values for which `goal` holds for `role`: one in well-formed games."""
        return self._ask_goal(context, role)

    def next_facts(self, context: Context) -> Facts:
        """The facts of the next state. `context` must have moves."""
        return frozenset(self._ask_next(context))

    def percepts(self, context: Context, role: Value) -> list[Value]:
        """What `role` `sees`. `context` must have moves."""
        return self._ask_sees(context, role)

    def static_rows(self, name: str, arity: int) -> Collection[Row]:
        """The rows of a predicate that depends on neither state nor moves. Empty if undefined."""
        return self._static_rows.get(Predicate(name, arity), frozenset())

    # Preparation

    def _evaluate_static(self) -> None:
        needed = self.dependencies.reachable(ROOTS)
        derivation = self._derivation_with_current_rows()
        for component in self.dependencies.components:
            if component[0] not in needed or component[0] in self.dependencies.dynamic:
                continue
            if not self._is_evaluated(component, derivation):
                self._on_demand |= set(component)
                derivation = self._derivation_with_current_rows()

    def _is_evaluated(self, component: tuple[Predicate, ...], derivation: Derivation) -> bool:
        """Derive a static component completely.

        Returns False if it is too large, or if deriving does not end soon, though every call from outside
        gives it an argument.
        """
        predicate, sizes = component[0], self._statistics.sizes
        rules = [rule for each in component for rule in self.program.by_predicate.get(each, ())]
        is_recursive = self.dependencies.is_recursive(component)
        if predicate not in ROOTS and not is_recursive:
            size = estimate_size(predicate, rules, self._statistics, overlap=True)
            if size.rows > MAX_STATIC_ROWS:
                sizes[Relation(predicate)] = size
                return False
        if not (is_recursive and any(map(builds_terms, rules))):
            derivation.evaluate_static(component)
            return True
        try:
            derivation.evaluate_static(component, MAX_STATIC_ROWS)
        except ReasoningError:
            sizes |= {Relation(each): Size(HUGE_SIZE, (HUGE_SIZE,) * each.arity) for each in component}
            if not all(self._binds_calls(rule, component) for rule in self.program.rules):
                raise
            return False
        return True

    def _binds_calls(self, rule: Rule, component: tuple[Predicate, ...]) -> bool:
        """Whether a rule outside `component` gives an argument to each of its calls of it."""
        if rule.predicate in component or not any(one.predicate in component for one in rule.literals):
            return True
        # Rules of a game are asked for all moves or facts; others perhaps with all arguments bound.
        adornments = ROOTS.get(rule.predicate, ("b" * rule.predicate.arity,))
        bound = bound_names(rule, adornments[0])
        steps = plan_body(rule.literals, bound, names_in(rule.head), self._statistics).steps
        return all(
            "b" in adornment_of(step.literal.atom, step.bound, step.needed)
            for step in steps
            if step.literal.predicate in component
        )

    def _derivation_with_current_rows(self) -> Derivation:
        return Derivation(
            self.program, self.dependencies, self._statistics, self._static_rows, self._on_demand
        )

    def _roles_in_order(self) -> tuple[Value, ...]:
        """Roles stated as facts in order, then derived ones by text."""
        derived = cast(set[Value], self._static_rows.get(ROLE, set()))
        facts = [rule.head for rule in self.program.rules_for("role", 1) if not rule.body]
        written = [value_of(arguments_of(fact)[0]) for fact in facts]
        return tuple(role for role in dict.fromkeys([*written, *sorted(derived, key=str)]) if role in derived)

    def _measure_facts(self) -> None:
        by_relation: dict[Relation, list[Sequence[Value]]] = {}
        for fact in self.initial_facts:
            if isinstance(fact, tuple):
                relation = Relation(TRUE, cast(str, fact[0]), len(fact) - 1)
                by_relation.setdefault(relation, []).append(fact[1:])
        for relation, rows in by_relation.items():
            self._statistics.measure(relation, rows, relation.arity)
            size = self._statistics.sizes[relation]
            # A column with one value now (every cell is blank) will hardly keep it.
            size.distinct = tuple(max(1.5, values) for values in size.distinct)
        total = max(1.0, float(len(self.initial_facts)))
        self._statistics.sizes[Relation(TRUE)] = Size(total, (total,))

    def _compile(self) -> None:
        derivation = self._derivation_with_current_rows()
        derivation.modes = EvaluationModes(self.dependencies, self._statistics, ROOTS, self._on_demand)
        role, wanted = Variable("role"), Variable("wanted")
        self._ask_terminal = derivation.query(Symbol("terminal"), [])
        self._ask_legal = derivation.query(Compound("legal", (role, wanted)), ["role"])
        self._ask_goal = derivation.query(Compound("goal", (role, wanted)), ["role"])
        self._ask_next = derivation.query(Compound("next", (wanted,)), [])
        self._ask_sees = derivation.query(Compound("sees", (role, wanted)), ["role"])
        self._derivation = derivation
