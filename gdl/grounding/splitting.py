"""Splitting of long bodies: a part becomes an auxiliary predicate.

A frame axiom such as `next(cell(X,Y,P)) :- true(cell(X,Y,P)), does(R,move(U,V,S,T)), …` has an
instance for every cell *and* every move. Literals that share only a few variables with the rest
are moved to an auxiliary predicate over those variables: variable elimination on the rule's
graph of variables, as in `lpopt` (Bichler, Morak & Woltran 2016). A split is kept only if the
estimated cost of both rules is clearly below that of the original.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gdl.grounding.estimation import Estimates
from gdl.grounding.simplification import canonical, is_binder, names_in
from gdl.program import Literal, Rule, atom_with
from gdl.terms import Compound, Symbol, Variable, variables

WORTHWHILE_COST = 300.0
"""Rules of a lower estimated cost are left unchanged."""

CLEAR_GAIN = 0.7
"""A split must cost at most this share of the unsplit rule."""


def split(rules: Sequence[Rule], estimates: Estimates) -> list[Rule]:
    """`rules` with costly bodies split. The rules of new predicates precede their first use."""
    splitter = _Splitter(estimates)
    return [part for rule in rules for part in splitter.split(rule)]


def split_cost(rules: Sequence[Rule], estimates: Estimates) -> float:
    """The estimated cost of `rules` after splitting; `estimates` stay unchanged."""
    splitter = _Splitter(estimates, "trial {}")
    parts = [part for rule in rules for part in splitter.split(rule)]
    total = sum(cost(estimates, part.literals) for part in parts)
    splitter.forget()
    return total


def cost(estimates: Estimates, literals: Sequence[Literal]) -> float:
    """The estimated cost of a rule with this body: instances times length. Static rules are cheap."""
    instances = estimates.instances(literals)
    dynamic = sum(not estimates.is_static(literal) for literal in literals)
    return instances * (2.0 + dynamic if dynamic else 0.5)


@dataclass(frozen=True, slots=True)
class _Part:
    """One possible split. `inside` moves to a new predicate over `kept`, `rest` stays."""

    inside: tuple[Literal, ...]
    rest: tuple[Literal, ...]
    kept: tuple[str, ...]


@dataclass
class _Splitter:
    """Splits rules; equal parts of several rules share one new predicate.

    name   template for names of new predicates; its blank makes them differ from all names of a sheet
    """

    estimates: Estimates
    name: str = "split {}"
    _known: dict[object, Symbol | Compound] = field(default_factory=dict)

    def split(self, rule: Rule) -> Iterator[Rule]:
        """The rules that replace `rule`."""
        pending = [rule]
        while pending:
            rule = pending.pop()
            part = self._best(rule)
            if part is None:
                yield rule
                continue
            auxiliary, literal = self._auxiliary(part, rule)
            pending.append(Rule(rule.head, (*part.rest, literal), rule.span))
            if auxiliary is not None:
                pending.append(auxiliary)

    def forget(self) -> None:
        """Remove the new predicates from the estimates."""
        for head in self._known.values():
            self.estimates.forget(head)

    def _best(self, rule: Rule) -> _Part | None:
        if len(rule.literals) < 2:
            return None
        now = cost(self.estimates, rule.literals)
        if now < WORTHWHILE_COST:
            return None
        best, lowest = None, CLEAR_GAIN * now
        for part in _parts(rule):
            trial = _atom("trial split", part.kept)
            self.estimates.add(trial, part.inside)
            price = cost(self.estimates, part.inside) + cost(self.estimates, (*part.rest, Literal(trial)))
            self.estimates.forget(trial)
            if price < lowest:
                best, lowest = part, price
        return best

    def _auxiliary(self, part: _Part, rule: Rule) -> tuple[Rule | None, Literal]:
        """The rule for the new predicate, None if it exists already, and a call of it."""
        unnamed = Rule(_atom("split", part.kept), part.inside, rule.span)
        key = canonical(unnamed)
        known = self._known.get(key)
        if known is not None:
            return None, Literal(_atom(known.name, part.kept))
        head = self._known[key] = _atom(self.name.format(len(self._known)), part.kept)
        self.estimates.add(head, part.inside)
        return Rule(head, part.inside, rule.span), Literal(head)


def _atom(name: str, names: Sequence[str]) -> Symbol | Compound:
    return atom_with(name, tuple(map(Variable, names)))


def _parts(rule: Rule) -> Iterator[_Part]:
    """Possible splits: around each variable that is not in the head, and each connected group of them."""
    head = names_in([rule.head])
    of_literal = [names_in([literal.atom]) for literal in rule.literals]
    free = list(dict.fromkeys(v.name for literal in rule.literals for v in variables(literal.atom)))
    groups = [{name} for name in free if name not in head]
    groups += [group for group in _connected(groups, of_literal) if len(group) > 1]
    seen: set[tuple[int, ...]] = set()
    for group in groups:
        inside = [index for index, names in enumerate(of_literal) if names & group]
        supported = _with_binders(rule, inside, of_literal)
        if supported is None or len(supported) == len(of_literal) or tuple(supported) in seen:
            continue
        seen.add(tuple(supported))
        rest = [index for index in range(len(of_literal)) if index not in inside]
        wanted = head.union(*(of_literal[index] for index in rest))
        bag = set().union(*(of_literal[index] for index in supported))
        literals = rule.literals
        yield _Part(
            tuple(literals[index] for index in supported),
            tuple(literals[index] for index in rest),
            tuple(name for name in free if name in bag & wanted),
        )


def _with_binders(rule: Rule, inside: list[int], of_literal: Sequence[set[str]]) -> list[int] | None:
    """`inside` plus positive literals, chosen greedily, that bind all its variables; None if none do."""
    bag = set().union(*(of_literal[index] for index in inside))
    binders = [index for index, literal in enumerate(rule.literals) if is_binder(literal)]
    bound = set().union(*(of_literal[index] for index in binders if index in inside))
    chosen = set(inside)
    while not bag <= bound:
        useful = [index for index in binders if index not in chosen and of_literal[index] & (bag - bound)]
        if not useful:
            return None
        index = min(useful, key=lambda index: (len(of_literal[index] - bag), index))
        chosen.add(index)
        bag |= of_literal[index]
        bound |= of_literal[index]
    return sorted(chosen)


def _connected(groups: Sequence[set[str]], of_literal: Sequence[set[str]]) -> list[set[str]]:
    """The variables of `groups`, grouped by connection through literals."""
    pending = [name for group in groups for name in group]
    found: list[set[str]] = []
    while pending:
        group = {pending[0]}
        grows = True
        while grows:
            linked = set().union(*(names for names in of_literal if names & group)) & set(pending)
            grows = not linked <= group
            group |= linked
        pending = [name for name in pending if name not in group]
        found.append(group)
    return found
