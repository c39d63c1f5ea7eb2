"""Stratified, semi-naive forward chaining over GDL rules: the reference semantics of the project.

Predicates that depend on neither `true` nor `does` are evaluated once. The others become Python
functions that derive what a query needs, callees before callers, so that a state costs only the
rules its facts can reach (`gdl.derivation`, `gdl.rule_compiler`). Mutually recursive predicates are
derived together to their least fixpoint, each new row joined once with what is known. Negation inside
a cycle of predicates is evaluated rule layer by rule layer (`gdl.dependencies.rule_layers`), which is
exact wherever rules, told apart by the constants in their heads, form no negative cycle.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from gdl.dependencies import TRUE, Dependencies
from gdl.derivation import Derivation
from gdl.evaluation_modes import Adornment, EvaluationModes, estimate_size
from gdl.join_order import Relation, Size, Statistics
from gdl.program import Predicate, Program
from gdl.relation_access import Context, Row
from gdl.rule_compiler import BY_FUNCTOR, FACTS, MOVES
from gdl.terms import Compound, Symbol, Variable
from gdl.values import Value, value_of

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
"""What a game asks of its rules, and which arguments it knows when it asks."""

MAX_STATIC_ROWS = 300_000
"""Expected rows beyond which a static predicate is answered per call instead of derived whole."""

Facts = frozenset[Value]


class Reasoner:
    """The rules of a normalized, valid program, ready to be asked about states.

    roles          in rule-sheet order
    initial_facts  the facts true in the initial state
    has_percepts   whether the rules define `sees`

    Raises ReasoningError where static rules derive without bound.
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
        """What is known of a state at first: its facts, and the move of each role if given."""
        context: Context = self._derivation.new_context()
        by_functor: dict[tuple[Value, int], list[Value]] = {}
        for fact in facts:
            if fact.__class__ is tuple:
                key = (fact[0], len(fact))
                if key in by_functor:
                    by_functor[key].append(fact)
                else:
                    by_functor[key] = [fact]
        context[FACTS] = facts
        context[BY_FUNCTOR] = by_functor
        context[MOVES] = moves
        return context

    def with_moves(self, context: Context, moves: Mapping[Value, Value]) -> Context:
        """A copy of `context` in which the roles make `moves`; what is known of the state is shared."""
        following = context.copy()
        following[MOVES] = moves
        return following

    def is_terminal(self, context: Context) -> bool:
        """Whether `terminal` holds."""
        return bool(self._ask_terminal(context))

    def legal_moves(self, context: Context, role: Value) -> list[Value]:
        """The moves that are `legal` for `role`, in no particular order."""
        return self._ask_legal(context, role)

    def goals(self, context: Context, role: Value) -> list[Value]:
        """The values for which `goal` holds for `role`: one in well-formed games."""
        return self._ask_goal(context, role)

    def next_facts(self, context: Context) -> Facts:
        """The facts of the following state. `context` must have moves."""
        return frozenset(self._ask_next(context))

    def percepts(self, context: Context, role: Value) -> list[Value]:
        """What `role` `sees`. `context` must have moves."""
        return self._ask_sees(context, role)

    def static_rows(self, name: str, arity: int) -> Collection[Row]:
        """The rows of a predicate that depends on neither state nor moves; empty if undefined."""
        return self._static_rows.get(Predicate(name, arity), frozenset())

    # Preparation

    def _evaluate_static(self) -> None:
        needed = self.dependencies.reachable(ROOTS)
        derivation = self._derivation_with_current_rows()
        for component in self.dependencies.components:
            if component[0] not in needed or component[0] in self.dependencies.dynamic:
                continue
            if self._is_too_large(component):
                self._on_demand |= {component[0]}
                derivation = self._derivation_with_current_rows()
            else:
                derivation.evaluate_static(component)

    def _is_too_large(self, component: tuple[Predicate, ...]) -> bool:
        """Whether a static predicate is expected to be so large that only answering calls makes sense."""
        predicate = component[0]
        if predicate in ROOTS or self.dependencies.is_recursive(component):
            return False
        size = estimate_size(predicate, self.program.by_predicate.get(predicate, ()), self._statistics)
        if size.rows > MAX_STATIC_ROWS:
            self._statistics.sizes[Relation(predicate)] = size
            return True
        return False

    def _derivation_with_current_rows(self) -> Derivation:
        return Derivation(
            self.program, self.dependencies, self._statistics, self._static_rows, self._on_demand
        )

    def _roles_in_order(self) -> tuple[Value, ...]:
        """Roles given as facts in the order written, derived ones after them by text."""
        derived = cast(set[Value], self._static_rows.get(ROLE, set()))
        written = [
            value_of(rule.head.arguments[0])
            for rule in self.program.rules_for("role", 1)
            if not rule.body and isinstance(rule.head, Compound)
        ]
        ordered = dict.fromkeys(written)
        ordered.update(dict.fromkeys(sorted(derived, key=str)))
        return tuple(role for role in ordered if role in derived)

    def _measure_facts(self) -> None:
        """Take the sizes of the fact relations from the initial state."""
        by_relation: dict[Relation, list[Sequence[Value]]] = {}
        for fact in self.initial_facts:
            if isinstance(fact, tuple):
                relation = Relation(TRUE, cast(str, fact[0]), len(fact) - 1)
                by_relation.setdefault(relation, []).append(fact[1:])
        for relation, rows in by_relation.items():
            self._statistics.measure(relation, rows, relation.arity)
            size = self._statistics.sizes[relation]
            # A column with one value now (every cell is blank) will hardly stay so.
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
