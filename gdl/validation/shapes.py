"""Which constants and functions may ever stand where: types of arguments, inferred from the rules.

Every argument of a relation is a *position*, and so is every argument of a function that stands at a
position: `(true (cell ?x ?y b))` has the positions true/1·0, true/1·0·cell/3·0 and so on. The shape of a
position is the set of constants and functions that rules can bring there, told apart neither by time
nor by what stands beside: a superset of what can be. So what does not fit certainly never happens.

`init` and `next` bring facts to `true`, `legal` brings moves to `does`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeAlias

from gdl.program import Literal, Predicate, Rule, arguments_of
from gdl.terms import Compound, Symbol, Term, Variable, variables

Functor: TypeAlias = tuple[str, int]
Token: TypeAlias = str | Functor
"""A constant's name, or a function's name and number of arguments."""

Position: TypeAlias = tuple[object, ...]
"""(predicate, argument, functor, argument, ...); below DEEPEST, only the last functor and argument."""

DEEPEST = 8
SHARED = "shared"
MAX_STEPS = 500_000
"""Tokens and terms looked at before the inference gives up; real sheets need up to a fifth."""

BROUGHT_ABOUT_BY = {
    Predicate("init", 1): Predicate("true", 1),
    Predicate("next", 1): Predicate("true", 1),
    Predicate("legal", 2): Predicate("does", 2),
}
"""Relation → what of the match its rules bring about."""

Sources: TypeAlias = Mapping[str, Sequence[Position]]
"""Variable → where it stands in the positive literals of a body."""

_NOTHING: frozenset[Token] = frozenset()


class OutOfStepsError(Exception):
    """The sheet is too intricate to infer the shapes of its arguments within MAX_STEPS."""


@dataclass
class Shapes:
    """The result of the inference.

    tokens         shape of each position
    alive          predicates of which an atom may hold
    is_limited     whether MAX_STEPS applies: it does until the inference is complete
    shared_growth  whether a position that relations share, far inside of terms, has grown of late
    """

    tokens: dict[Position, set[Token]] = field(default_factory=dict)
    alive: set[Predicate] = field(default_factory=set)
    shared_growth: bool = False
    is_limited: bool = True
    steps: int = 0

    def at(self, position: Position) -> Set[Token]:
        return self.tokens.get(position, _NOTHING)

    def spend(self, steps: int) -> None:
        self.steps += steps
        if self.is_limited and self.steps > MAX_STEPS:
            raise OutOfStepsError

    def add(self, position: Position, tokens: Set[Token]) -> bool:
        """Let `tokens` stand at `position` too; whether one of them is new there."""
        known = self.tokens.setdefault(position, set())
        if tokens <= known:
            return False
        known |= tokens
        self.shared_growth |= position[0] == SHARED
        return True


def below(position: Position, functor: Functor, index: int) -> Position:
    """The position of argument `index` of a function that stands at `position`."""
    if len(position) >= DEEPEST:
        return (SHARED, functor, index)
    return (*position, functor, index)


def infer(rules: Sequence[Rule]) -> Shapes:
    """The shapes of all positions under plain `rules`. Raises OutOfStepsError."""
    shapes = Shapes()
    sources = [positions_of_variables(rule) for rule in rules]
    waiting: dict[Predicate, list[int]] = {}
    for number, rule in enumerate(rules):
        for literal in rule.literals:
            if literal.is_positive:
                waiting.setdefault(literal.predicate, []).append(number)
    work = deque(range(len(rules)))
    queued = set(work)
    while work:
        number = work.popleft()
        queued.discard(number)
        readers = [
            reader
            for grown in _apply(rules[number], shapes, sources[number])
            for reader in waiting.get(grown, ())
        ]
        if shapes.shared_growth:
            shapes.shared_growth = False
            readers = list(range(len(rules)))
        shapes.spend(len(readers))
        for reader in readers:
            if reader not in queued:
                queued.add(reader)
                work.append(reader)
    return shapes


def _apply(rule: Rule, shapes: Shapes, sources: Sources) -> list[Predicate]:
    """Let `rule` bring its head about, if its body can hold; the predicates that gained by it."""
    if misfit(rule, shapes, sources) is not None:
        return []
    changed = []
    brought_about = BROUGHT_ABOUT_BY.get(rule.predicate)
    for predicate in (rule.predicate, brought_about) if brought_about else (rule.predicate,):
        has_grown = predicate not in shapes.alive
        shapes.alive.add(predicate)
        for index, argument in enumerate(arguments_of(rule.head)):
            has_grown |= _bring(argument, (predicate, index), sources, shapes)
        if has_grown:
            changed.append(predicate)
    return changed


def _bring(term: Term, target: Position, sources: Sources, shapes: Shapes) -> bool:
    """Add what `term` may be to the shape of `target`; whether that was new."""
    shapes.spend(1)
    if isinstance(term, Variable):
        return _copy(sources.get(term.name, []), target, shapes, set())
    token: Token = term.name if isinstance(term, Symbol) else (term.name, len(term.arguments))
    is_new = shapes.add(target, {token})
    if isinstance(term, Compound):
        functor = (term.name, len(term.arguments))
        for index, argument in enumerate(term.arguments):
            is_new |= _bring(argument, below(target, functor, index), sources, shapes)
    return is_new


def _copy(sources: Sequence[Position], target: Position, shapes: Shapes, seen: set[object]) -> bool:
    """Add what all `sources` have in common to `target`, functions with their arguments."""
    key = (tuple(sources), target)
    if key in seen or not sources:
        return False
    seen.add(key)
    shapes.spend(4)
    common = common_tokens(sources, shapes)
    is_new = shapes.add(target, common)
    for token in common:
        if isinstance(token, tuple):
            for index in range(token[1]):
                inner = [below(source, token, index) for source in sources]
                is_new |= _copy(inner, below(target, token, index), shapes, seen)
    return is_new


def common_tokens(sources: Sequence[Position], shapes: Shapes) -> Set[Token]:
    """What may stand at all of `sources` at once."""
    sets = sorted((shapes.at(source) for source in set(sources)), key=len)
    if not sets:
        return _NOTHING
    shapes.spend(len(sets[0]) * len(sets) + 1)
    common = sets[0]
    for other in sets[1:]:
        common = common & other
    return common


def positions_of_variables(rule: Rule) -> dict[str, list[Position]]:
    """Where each variable stands in the positive literals of a plain body."""
    found: dict[str, list[Position]] = {}
    for literal in rule.literals:
        if literal.is_positive and literal.atom.name != "distinct":
            stack: list[tuple[Term, Position]] = [
                (argument, (literal.predicate, index))
                for index, argument in enumerate(arguments_of(literal.atom))
            ]
            while stack:
                term, position = stack.pop()
                if isinstance(term, Variable):
                    places = found.setdefault(term.name, [])
                    if position not in places[-1:]:
                        places.append(position)
                elif isinstance(term, Compound):
                    functor = (term.name, len(term.arguments))
                    stack += [
                        (argument, below(position, functor, index))
                        for index, argument in enumerate(term.arguments)
                    ]
    return found


@dataclass(frozen=True)
class Misfit:
    """Why a body can never hold.

    literal    the literal that nothing matches, or the last one with the variable
    variable   name of the variable whose places have nothing in common; None where the literal alone fails
    is_absent  no atom of the literal's predicate may hold at all
    """

    literal: Literal
    variable: str | None = None
    is_absent: bool = False


def misfit(rule: Rule, shapes: Shapes, sources: Sources) -> Misfit | None:
    """Why the body of a plain rule cannot hold, as far as shapes tell; None where it may.

    Raises OutOfStepsError.
    """
    shapes.spend(1)
    for literal in rule.literals:
        if not literal.is_positive or literal.atom.name == "distinct":
            continue
        if literal.predicate not in shapes.alive:
            return Misfit(literal, is_absent=True)
        for index, argument in enumerate(arguments_of(literal.atom)):
            if not fits(argument, (literal.predicate, index), shapes):
                return Misfit(literal)
    for name, places in sources.items():
        if not common_tokens(places, shapes):
            literals = [
                literal
                for literal in rule.literals
                if literal.is_positive and any(variable.name == name for variable in variables(literal.atom))
            ]
            return Misfit(literals[-1], name)
    return None


def fits(term: Term, position: Position, shapes: Shapes) -> bool:
    """Whether `term` may stand at `position`, each of its variables taken by itself."""
    shapes.spend(1)
    if isinstance(term, Variable):
        return True
    if isinstance(term, Symbol):
        return term.name in shapes.at(position)
    functor = (term.name, len(term.arguments))
    return functor in shapes.at(position) and all(
        fits(argument, below(position, functor, index), shapes)
        for index, argument in enumerate(term.arguments)
    )
