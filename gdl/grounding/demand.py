"""Demand: a predicate is grounded only for the arguments that its callers can ask for.

A rule such as `threatened_with_capture(…)` over seven arguments has tens of millions of instances, of
which the callers, who know the king's cell and the move, ask for a hundredth. This is the magic-set
transformation (Bancilhon, Maier, Sagiv & Ullman 1986), made free of charge by relaxation: what callers
can ask for is derived from a *relaxed copy* of the rules, in which every fact and move that can ever
come about is taken for true at once and negation is dropped. The copy is plain Datalog; the grounder
evaluates it to facts, and the guards it gives leave no trace in the ground program.

Names of new predicates contain a blank, which no name of a rule sheet can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gdl.dependencies import DISTINCT, DOES, TRUE, strong_components
from gdl.grounding.estimation import Estimates
from gdl.grounding.simplification import GIVEN, LEGAL, NEEDED, NEXT, is_binder, names_in
from gdl.grounding.splitting import cost
from gdl.program import Literal, Predicate, Rule, arguments_of
from gdl.terms import Compound, Symbol, Variable

COSTLY = 3_000_000.0
"""Only predicates with a rule estimated above this are guarded."""

MIN_ARITY = 3

_FACT, _MOVE, _PLAYER = Variable("f"), Variable("m"), Variable("r")


def guard(rules: Sequence[Rule], estimates: Estimates) -> list[Rule]:
    """`rules` with guards on costly predicates, the rules for the guards, and the relaxed copy."""
    analysis = _Analysis(rules, estimates)
    if not analysis.guarded:
        return list(rules)
    return [*analysis.guarded_rules(), *analysis.demand_rules(), *analysis.relaxed_rules()]


@dataclass
class _Analysis:
    """Which predicates are guarded, and by which of their arguments.

    guarded   predicate → argument places that every caller binds; callers before what they call
    """

    rules: Sequence[Rule]
    estimates: Estimates
    by_predicate: dict[Predicate, list[Rule]] = field(default_factory=dict)
    dynamic: set[Predicate] = field(default_factory=set)
    guarded: dict[Predicate, tuple[int, ...]] = field(default_factory=dict)
    _relaxed: dict[Predicate, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for rule in self.rules:
            self.by_predicate.setdefault(rule.predicate, []).append(rule)
        self.dynamic = self._dynamic()
        self.guarded = {predicate: tuple(range(predicate.arity)) for predicate in self._candidates()}
        self._drop_unbound_places()

    def _drop_unbound_places(self) -> None:
        """Places fall away until every caller binds what remains; each loss can cost a callee its own."""
        while True:
            places = {predicate: self._bound_places(predicate) for predicate in self.guarded}
            if places == self.guarded:
                return
            self.guarded = {predicate: bound for predicate, bound in places.items() if bound}

    def _dynamic(self) -> set[Predicate]:
        found = {TRUE, DOES}
        grows = True
        while grows:
            new = {
                predicate
                for predicate, own in self.by_predicate.items()
                if predicate not in found
                and any(literal.predicate in found for rule in own for literal in rule.literals)
            }
            found |= new
            grows = bool(new)
        return found

    def _candidates(self) -> Iterator[Predicate]:
        calls = {
            predicate: dict.fromkeys(literal.predicate for rule in own for literal in rule.literals)
            for predicate, own in self.by_predicate.items()
        }
        components = strong_components(calls, lambda predicate: calls.get(predicate, ()))
        for component in reversed(components):
            predicate = component[0]
            if (
                len(component) == 1
                and predicate not in calls.get(predicate, ())
                and predicate in self.dynamic - NEEDED - GIVEN
                and predicate.arity >= MIN_ARITY
                and self._is_costly(predicate)
            ):
                yield predicate

    def _is_costly(self, predicate: Predicate) -> bool:
        own = self.by_predicate[predicate]
        return max(cost(self.estimates, rule.literals) for rule in own) > COSTLY

    def _calls(self, predicate: Predicate) -> Iterator[tuple[Rule, Literal]]:
        for rule in self.rules:
            for literal in rule.literals:
                if literal.predicate == predicate:
                    yield rule, literal

    def _bound_places(self, predicate: Predicate) -> tuple[int, ...]:
        """The places whose variables every caller binds without the call itself."""
        places = set(self.guarded[predicate])
        for rule, call in self._calls(predicate):
            bound = names_in(literal.atom for literal in self._binders(rule, call))
            places = {place for place in places if names_in([arguments_of(call.atom)[place]]) <= bound}
        return tuple(sorted(places))

    def _binders(self, rule: Rule, call: Literal) -> list[Literal]:
        """What a call can rely on: the rule's own guard and the positive literals that are not guarded."""
        found = [
            literal
            for literal in rule.literals
            if is_binder(literal) and literal is not call and literal.predicate not in self.guarded
        ]
        own = self._guard_of(rule.head, rule.predicate)
        return found if own is None else [own, *found]

    def _guard_of(self, atom: Symbol | Compound, predicate: Predicate) -> Literal | None:
        places = self.guarded.get(predicate)
        if places is None:
            return None
        arguments = arguments_of(atom)
        return Literal(Compound(f"ask {predicate}", tuple(arguments[place] for place in places)))

    def guarded_rules(self) -> Iterator[Rule]:
        """The rules as given, with their guards."""
        for rule in self.rules:
            own = self._guard_of(rule.head, rule.predicate)
            yield rule if own is None else Rule(rule.head, (own, *rule.literals), rule.span)

    def demand_rules(self) -> Iterator[Rule]:
        """What is asked: a rule for every call."""
        for predicate in self.guarded:
            for rule, call in self._calls(predicate):
                head = self._guard_of(call.atom, predicate)
                assert head is not None
                body = [self._relax(literal) for literal in self._binders(rule, call) + _inequalities(rule)]
                bound = names_in(literal.atom for literal in body if is_binder(literal))
                kept = [literal for literal in body if names_in([literal.atom]) <= bound]
                yield Rule(head.atom, tuple(kept), rule.span)

    def _relax(self, literal: Literal) -> Literal:
        """`literal` over the relaxed copy; static literals and guards stay."""
        predicate = literal.predicate
        if predicate not in self.dynamic:
            return literal
        self._relaxed[predicate] = None
        return Literal(_relaxed(literal.atom))

    def relaxed_rules(self) -> Iterator[Rule]:
        """The relaxed copy of every predicate that the demand rules and the copy itself refer to."""
        true, following = Compound("any true", (_FACT,)), Compound("any next", (_FACT,))
        does = Compound("any does", (_PLAYER, _MOVE))
        legal = Compound("any legal", (_PLAYER, _MOVE))
        yield Rule(true, (Literal(Compound("init", (_FACT,))),))
        yield Rule(true, (Literal(following),))
        yield Rule(does, (Literal(legal), Literal(Compound("role", (_PLAYER,)))))
        self._relaxed |= {NEXT: None, LEGAL: None}
        done = {TRUE, DOES}
        while todo := [predicate for predicate in self._relaxed if predicate not in done]:
            for predicate in todo:
                done.add(predicate)
                for rule in self.by_predicate.get(predicate, ()):
                    yield self._relaxed_rule(rule)

    def _relaxed_rule(self, rule: Rule) -> Rule:
        """Without dynamic negation, and without guarded literals that bind nothing by themselves."""
        kept = [
            literal
            for literal in rule.literals
            if literal.is_positive or literal.predicate not in self.dynamic
        ]
        for literal in [one for one in kept if one.predicate in self.guarded]:
            rest = [other for other in kept if other is not literal]
            bound = names_in(other.atom for other in rest if is_binder(other))
            if names_in([literal.atom]) <= bound:
                kept = rest
        return Rule(_relaxed(rule.head), tuple(map(self._relax, kept)), rule.span)


def _relaxed(atom: Symbol | Compound) -> Symbol | Compound:
    arguments = arguments_of(atom)
    name = f"any {atom.name}"
    return Compound(name, arguments) if arguments else Symbol(name)


def _inequalities(rule: Rule) -> list[Literal]:
    return [literal for literal in rule.literals if literal.predicate == DISTINCT and literal.is_positive]
