"""Demand: ground predicates only for arguments that callers can ask for.

A rule such as `threatened_with_capture(…)` over seven arguments has tens of millions of instances, of
which the callers, who know the king's cell and the move, ask for one in a hundred; a predicate over lists
has infinitely many, of which a sheet asks for a dozen. This is the magic-set transformation (Bancilhon,
Maier, Sagiv & Ullman 1986), made free by relaxation: what callers can ask for is derived from a *relaxed
copy* of the rules, in which all facts and moves that can ever occur are true at once and negation is dropped.
The copy is plain Datalog; the grounder evaluates it to facts, and the guards made from it leave no trace in
the ground program.

The copy is needed of every *relaxed* predicate: those that depend on the state or the moves, and those that
depend on a guarded predicate, since negation of these would make the demand depend on itself.

Names of new predicates contain a blank, so they differ from all names of a rule sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from gdl.dependencies import DISTINCT, DOES, TRUE, reachable
from gdl.grounding.estimation import Estimates, domain_size
from gdl.grounding.simplification import (
    GIVEN,
    LEGAL,
    NEEDED,
    NEXT,
    callees_of,
    callers_first,
    grouped,
    is_binder,
    names_in,
)
from gdl.grounding.splitting import cost
from gdl.program import Literal, Predicate, Rule, arguments_of, atom_with
from gdl.reasoning.derivation_limits import builds_terms
from gdl.terms import Compound, Symbol, Term, Variable

COSTLY = 3_000_000.0
"""Only predicates with a rule of a higher estimated cost are guarded, and recursive ones that build terms."""

CLEAR_GAIN = 0.2
"""Callers of a recursive predicate must ask for at most this share of its arguments."""

MIN_ARITY = 3
"""Minimum number of arguments of a guarded predicate, unless it is recursive."""

_FACT, _MOVE, _PLAYER = Variable("f"), Variable("m"), Variable("r")


def guard(rules: Sequence[Rule], estimates: Estimates) -> list[Rule]:
    """`rules` with guards on costly predicates. The rules for the guards and the relaxed copy follow."""
    analysis = _Analysis(rules, estimates)
    if not analysis.guarded:
        return list(rules)
    return [*analysis.guarded_rules(), *analysis.demand_rules(), *analysis.relaxed_rules()]


@dataclass
class _Analysis:
    """Which predicates are guarded, and by which of their arguments.

    by_predicate   the rules of each predicate
    dynamic        predicates that depend on the state or the moves
    guarded        predicate → argument places that every caller binds; callers before callees
    growing        the guarded predicates that are recursive or build terms
    relaxed        predicates that the demand reads through their relaxed copy
    """

    rules: Sequence[Rule]
    estimates: Estimates
    by_predicate: dict[Predicate, list[Rule]] = field(default_factory=dict)
    dynamic: set[Predicate] = field(default_factory=set)
    guarded: dict[Predicate, tuple[int, ...]] = field(default_factory=dict)
    growing: set[Predicate] = field(default_factory=set)
    relaxed: set[Predicate] = field(default_factory=set)
    _copied: dict[Predicate, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_predicate = grouped(self.rules)
        self.dynamic = self._dependent({TRUE, DOES})
        self._choose()
        self.relaxed = self._dependent(self.dynamic | set(self.guarded))

    def _choose(self) -> None:
        """Guard the costly predicates, and those callers whose guards bind arguments of them."""
        costly, callers = self._candidates()
        self.guarded = self._bound_by_all(costly | callers)
        wide = {one for one in self.growing if one in self.guarded and not self._is_narrowed(one)}
        if wide:
            costly = {one: None for one in costly if one not in wide}
            self.guarded = self._bound_by_all(costly | callers)
        for predicate in list(self.guarded):
            if predicate in callers:
                before = self.guarded
                fewer = self._bound_by_all([one for one in before if one != predicate])
                self.guarded = fewer if all(fewer.get(one) == before.get(one) for one in costly) else before
        self.growing &= set(self.guarded)

    def _is_narrowed(self, predicate: Predicate) -> bool:
        places = self.guarded[predicate]
        asked = space = 0.0
        for rule, call in self._calls(predicate):
            if rule.predicate not in self.growing:
                columns = [arguments_of(call.atom)[place] for place in places]
                asked += self._count(columns, self._binders(rule, call))
        for rule in self.by_predicate[predicate]:
            columns = [arguments_of(rule.head)[place] for place in places]
            space += self._count(columns, rule.literals)
        return asked < CLEAR_GAIN * space

    def _count(self, columns: Sequence[Term], body: Sequence[Literal]) -> float:
        domains = self.estimates.variable_domains(body)
        space = prod(domain_size(domains.get(name)) for name in names_in(columns))
        return min(space, self.estimates.instances(body, domains))

    def _bound_by_all(self, predicates: Iterable[Predicate]) -> dict[Predicate, tuple[int, ...]]:
        """The places that every caller binds; dropping one can unbind places of callees."""
        self.guarded = {predicate: tuple(range(predicate.arity)) for predicate in predicates}
        while True:
            places = {predicate: self._bound_places(predicate) for predicate in self.guarded}
            if places == self.guarded:
                return places
            self.guarded = {predicate: bound for predicate, bound in places.items() if bound}

    def _dependent(self, roots: set[Predicate]) -> set[Predicate]:
        callers: dict[Predicate, set[Predicate]] = {}
        for rule in self.rules:
            for literal in rule.literals:
                callers.setdefault(literal.predicate, set()).add(rule.predicate)
        return reachable(roots, lambda predicate: callers.get(predicate, ()))

    def _candidates(self) -> tuple[dict[Predicate, None], dict[Predicate, None]]:
        """Costly predicates, and all callers of those that are recursive or build terms."""
        calls = callees_of(self.rules)
        costly: dict[Predicate, None] = {}
        for component in callers_first(calls):
            is_recursive = len(component) > 1 or component[0] in calls.get(component[0], ())
            for predicate in component:
                if predicate in NEEDED | GIVEN or predicate not in self.by_predicate:
                    continue
                if " " in predicate.name:  # made by `gdl.grounding.accumulation`, from calls already
                    continue
                own = self.by_predicate[predicate]
                wraps = any(map(builds_terms, own))
                is_costly = max(cost(self.estimates, rule.literals) for rule in own) > COSTLY
                if (is_recursive and (wraps or is_costly)) or (wraps and is_costly):
                    self.growing.add(predicate)
                    costly[predicate] = None
                elif is_costly and predicate in self.dynamic and predicate.arity >= MIN_ARITY:
                    costly[predicate] = None
        above = self._dependent(self.growing) if self.growing else set()
        return costly, dict.fromkeys(one for one in calls if one in above - NEEDED - GIVEN - set(costly))

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
        """Literals that bind variables before a call: the rule's guard, and unguarded positive literals."""
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
        """The given rules with their guards."""
        for rule in self.rules:
            own = self._guard_of(rule.head, rule.predicate)
            yield rule if own is None else Rule(rule.head, (own, *rule.literals), rule.span)

    def demand_rules(self) -> Iterator[Rule]:
        """The rules that derive the demand, one for every call."""
        for predicate in self.guarded:
            for rule, call in self._calls(predicate):
                head = self._guard_of(call.atom, predicate)
                assert head is not None
                unequal = [one for one in rule.literals if one.predicate == DISTINCT and one.is_positive]
                body = [self._relax(literal) for literal in self._binders(rule, call) + unequal]
                bound = names_in(literal.atom for literal in body if is_binder(literal))
                kept = [literal for literal in body if names_in([literal.atom]) <= bound]
                yield Rule(head.atom, tuple(kept), rule.span)

    def _relax(self, literal: Literal) -> Literal:
        """`literal` over the relaxed copy, if it has one; guards stay unchanged."""
        predicate = literal.predicate
        if predicate not in self.relaxed:
            return literal
        self._copied[predicate] = None
        return Literal(_relaxed(literal.atom))

    def relaxed_rules(self) -> Iterator[Rule]:
        """The relaxed copy of all predicates that the demand rules, or the copy itself, need."""
        true, following = Compound("any true", (_FACT,)), Compound("any next", (_FACT,))
        does = Compound("any does", (_PLAYER, _MOVE))
        legal = Compound("any legal", (_PLAYER, _MOVE))
        yield Rule(true, (self._relax(Literal(Compound("init", (_FACT,)))),))
        yield Rule(true, (Literal(following),))
        yield Rule(does, (Literal(legal), self._relax(Literal(Compound("role", (_PLAYER,))))))
        self._copied |= {NEXT: None, LEGAL: None}
        done = {TRUE, DOES}
        while todo := [predicate for predicate in self._copied if predicate not in done]:
            for predicate in todo:
                done.add(predicate)
                for rule in self.by_predicate.get(predicate, ()):
                    yield self._relaxed_rule(rule)

    def _relaxed_rule(self, rule: Rule) -> Rule:
        """The relaxed copy of a rule.

        Without relaxed negation, and without guarded literals whose variables others bind. Copies of costly
        predicates stay unguarded if they end without: as one recursion with the demand they cost gringo more.
        """
        own = self._guard_of(rule.head, rule.predicate) if rule.predicate in self.growing else None
        kept = [one for one in rule.literals if one.is_positive or one.predicate not in self.relaxed]
        for literal in [one for one in kept if one.predicate in self.guarded]:
            rest = [other for other in kept if other is not literal]
            bound = names_in(other.atom for other in (*rest, *([own] if own else [])) if is_binder(other))
            if names_in([literal.atom]) <= bound:
                kept = rest
        body = tuple(map(self._relax, kept))
        return Rule(_relaxed(rule.head), body if own is None else (own, *body), rule.span)


def _relaxed(atom: Symbol | Compound) -> Symbol | Compound:
    return atom_with(f"any {atom.name}", arguments_of(atom))
