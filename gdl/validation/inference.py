"""What follows from the shapes of arguments for each rule: can it apply, and if not, is it to blame?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gdl.dependencies import may_unify
from gdl.program import Predicate, Rule, arguments_of, predicate_of
from gdl.terms import Compound, Symbol, Term, variables
from gdl.validation.shapes import (
    BROUGHT_ABOUT_BY,
    Misfit,
    OutOfStepsError,
    Shapes,
    Sources,
    Token,
    infer,
    misfit,
    positions_of_variables,
)

MAX_DEAD_RULES = 300
"""Rules that cannot apply, beyond which it is not asked which of them are to blame for others."""

Atom = Symbol | Compound


@dataclass(frozen=True)
class Inference:
    """The shapes of all arguments and what follows for each plain rule, by its id.

    sources     where the variables of the rule stand
    misfits     why the rule cannot apply; rules that can are absent
    dead_heads  what rules would conclude that cannot apply for a reason of their own, or because of
                others that have one; facts and moves under `true` and `does`
    """

    shapes: Shapes
    sources: Mapping[int, Sources]
    misfits: Mapping[int, Misfit]
    dead_heads: Mapping[Predicate, Sequence[Atom]]

    def is_awaited(self, atom: Atom) -> bool:
        """Whether `atom` only fails because a rule that would conclude it cannot apply."""
        return len(self.misfits) > MAX_DEAD_RULES or _answers(self.dead_heads, atom)

    def names_what_is_awaited(self, rule: Rule, atom: Atom) -> bool:
        """Whether `atom` of a body has a constant that only other rules would make, which cannot apply."""
        own = set(constants(rule.head))
        return any(self._dead_names[name] > (name in own) for name in constants(atom))

    @cached_property
    def _dead_names(self) -> Counter[str]:
        """Constants that stand nowhere but in `dead_heads` → in how many."""
        alive: set[Token] = set().union(*self.shapes.tokens.values())
        heads = (head for heads in self.dead_heads.values() for head in heads)
        return Counter(name for head in heads for name in set(constants(head)) - alive)


def constants(term: Term) -> Iterator[str]:
    """The constants inside of a term or atom."""
    stack = list(arguments_of(term))
    while stack:
        inner = stack.pop()
        if isinstance(inner, Symbol):
            yield inner.name
        stack += arguments_of(inner)


def infer_all(rules: Sequence[Rule]) -> Inference | None:
    """The inference for plain rules; None where it takes too long."""
    try:
        shapes = infer(rules)
        shapes.steps = 0
        sources = {id(rule): positions_of_variables(rule) for rule in rules}
        misfits = {
            id(rule): found
            for rule in rules
            if (found := misfit(rule, shapes, sources[id(rule)])) is not None
        }
    except OutOfStepsError:
        return None
    shapes.is_limited = False
    dead = [rule for rule in rules if id(rule) in misfits]
    heads = _explained(dead, misfits)
    return Inference(shapes, sources, misfits, heads)


def failing_atoms(rule: Rule, found: Misfit) -> list[Atom]:
    """The atoms because of which the body cannot hold."""
    if found.variable is None:
        return [found.literal.atom]
    return [
        literal.atom
        for literal in rule.literals
        if literal.is_positive
        and any(variable.name == found.variable for variable in variables(literal.atom))
    ]


def _explained(dead: Sequence[Rule], misfits: Mapping[int, Misfit]) -> dict[Predicate, list[Atom]]:
    """The heads of dead rules that have a cause, by what they would bring about.

    A cause is a literal that no dead rule would conclude, perhaps for lack of any rule. What is left are
    rules that only wait for each other; they explain nothing.
    """
    if len(dead) > MAX_DEAD_RULES:
        return {}
    every: dict[Predicate, list[Atom]] = {}
    for rule in dead:
        every.setdefault(_brings(rule), []).append(rule.head)
    causes: dict[Predicate, list[Atom]] = {}
    waiting = []
    for rule in dead:
        atoms = failing_atoms(rule, misfits[id(rule)])
        if any(_answers(every, atom) for atom in atoms):
            waiting.append((rule, atoms))
        else:
            causes.setdefault(_brings(rule), []).append(rule.head)
    has_changed = True
    while has_changed:
        has_changed = False
        left = []
        for rule, atoms in waiting:
            if any(_answers(causes, atom) for atom in atoms):
                causes.setdefault(_brings(rule), []).append(rule.head)
                has_changed = True
            else:
                left.append((rule, atoms))
        waiting = left
    return causes


def _brings(rule: Rule) -> Predicate:
    return BROUGHT_ABOUT_BY.get(rule.predicate, rule.predicate)


def _answers(heads: Mapping[Predicate, Sequence[Atom]], atom: Atom) -> bool:
    candidates = heads.get(predicate_of(atom), ())
    pattern = Compound("", arguments_of(atom))
    return any(may_unify(pattern, Compound("", arguments_of(head))) for head in candidates)
