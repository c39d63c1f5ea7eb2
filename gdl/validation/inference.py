"""Argument shapes: what may occur where, and which rules cannot apply.

Every argument of a relation is a *position*, and so is every argument of a function at a position:
`(true (cell ?x ?y b))` has the positions true/1·0, true/1·0·cell/3·0 and so on. The *shape* of a position is
the set of constants and functions that rules can put there, regardless of time and of the other arguments:
a superset of what occurs. Hence what does not fit certainly never happens.

`init` and `next` bring facts to `true`, `legal` brings moves to `does`. `infer` computes the shapes,
`infer_all` also what follows for each rule: can it apply, and if not, is it the cause or only affected?
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import and_
from typing import TypeAlias

from gdl.dependencies import may_unify
from gdl.program import Literal, Predicate, Rule, arguments_of, predicate_of
from gdl.terms import Compound, Symbol, Term, Variable, variables

Atom: TypeAlias = Symbol | Compound

Functor: TypeAlias = tuple[str, int]
Token: TypeAlias = str | Functor
"""A constant's name, or a function's name and number of arguments."""

Position: TypeAlias = tuple[object, ...]
"""(predicate, argument, functor, argument, ...); beyond DEEPEST, only the last functor and argument."""

DEEPEST = 8
"""Length of a position whose inner positions all predicates share."""

SHARED = "shared"
"""First part of a shared position, in place of a predicate."""

MAX_STEPS = 500_000
"""Tokens and terms examined before the inference gives up; real sheets need at most a fifth."""

MAX_DEAD_RULES = 300
"""Number of dead rules beyond which causes are not distinguished from consequences."""

FED_BY = {
    Predicate("init", 1): Predicate("true", 1),
    Predicate("next", 1): Predicate("true", 1),
    Predicate("legal", 2): Predicate("does", 2),
}
"""Relation → the predicate of the match that its rules feed."""

Sources: TypeAlias = Mapping[str, Sequence[Position]]
"""Variable → its positions in the positive literals of a body."""

_NOTHING: frozenset[Token] = frozenset()


class OutOfStepsError(Exception):
    """Inferring the shapes of a sheet took more than MAX_STEPS."""


@dataclass
class Shapes:
    """The shapes inferred so far.

    tokens         shape of each position
    alive          predicates of which an atom may hold
    shared_growth  whether a position shared by relations, deep inside terms, has grown since last checked
    is_limited     whether MAX_STEPS applies: it does until the inference is complete
    steps          tokens and terms examined so far
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
        """Add `tokens` to the shape of `position`. Return whether any of them is new there."""
        known = self.tokens.setdefault(position, set())
        if tokens <= known:
            return False
        known |= tokens
        self.shared_growth |= position[0] == SHARED
        return True


def token_of(term: Symbol | Compound) -> Token:
    return term.name if isinstance(term, Symbol) else (term.name, len(term.arguments))


def parts_of(term: Symbol | Compound, position: Position) -> Iterator[tuple[Term, Position]]:
    """The arguments of a term at `position`, each with its own position."""
    arguments = arguments_of(term)
    functor = (term.name, len(arguments))
    return ((argument, below(position, functor, index)) for index, argument in enumerate(arguments))


def below(position: Position, functor: Functor, index: int) -> Position:
    """The position of argument `index` of a function at `position`."""
    if len(position) >= DEEPEST:
        return (SHARED, functor, index)
    return (*position, functor, index)


def infer(rules: Sequence[Rule]) -> Shapes:
    """The shapes of all positions under plain `rules`: a fixpoint. Raises OutOfStepsError."""
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
        grown = _apply(rules[number], shapes, sources[number])
        readers = [reader for predicate in grown for reader in waiting.get(predicate, ())]
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
    """Add the head of `rule` to the shapes, unless its body cannot hold; return the predicates that grew."""
    if misfit(rule, shapes, sources) is not None:
        return []
    changed = []
    fed = FED_BY.get(rule.predicate)
    for predicate in (rule.predicate, fed) if fed else (rule.predicate,):
        has_grown = predicate not in shapes.alive
        shapes.alive.add(predicate)
        for index, argument in enumerate(arguments_of(rule.head)):
            has_grown |= _bring(argument, (predicate, index), sources, shapes)
        if has_grown:
            changed.append(predicate)
    return changed


def _bring(term: Term, target: Position, sources: Sources, shapes: Shapes) -> bool:
    """Add what `term` may be to the shape of `target`. Return whether that was new."""
    shapes.spend(1)
    if isinstance(term, Variable):
        return _copy(sources.get(term.name, []), target, shapes, set())
    is_new = shapes.add(target, {token_of(term)})
    for part, place in parts_of(term, target):
        is_new |= _bring(part, place, sources, shapes)
    return is_new


def _copy(sources: Sequence[Position], target: Position, shapes: Shapes, seen: set[object]) -> bool:
    """Add what all `sources` have in common to `target`. Functions include their arguments."""
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
    """The tokens that may occur at all of `sources` at once."""
    sets = sorted((shapes.at(source) for source in set(sources)), key=len)
    if not sets:
        return _NOTHING
    shapes.spend(len(sets[0]) * len(sets) + 1)
    return reduce(and_, sets)


def positions_of_variables(rule: Rule) -> dict[str, list[Position]]:
    """The positions of each variable in positive literals of a body."""
    found: dict[str, list[Position]] = {}
    for literal in rule.literals:
        if literal.is_positive and literal.atom.name != "distinct":
            for variable, position in _variables_with_positions(literal):
                places = found.setdefault(variable.name, [])
                if position not in places[-1:]:
                    places.append(position)
    return found


def _variables_with_positions(literal: Literal) -> Iterator[tuple[Variable, Position]]:
    stack: list[tuple[Term, Position]] = [
        (argument, (literal.predicate, index)) for index, argument in enumerate(arguments_of(literal.atom))
    ]
    while stack:
        term, position = stack.pop()
        if isinstance(term, Variable):
            yield term, position
        else:
            stack += parts_of(term, position)


@dataclass(frozen=True)
class Misfit:
    """Why a body can never hold.

    literal    the literal that nothing matches, or the last one with the variable
    variable   name of the variable whose positions have nothing in common; None if the literal alone fails
    is_absent  no atom of the literal's predicate can hold
    """

    literal: Literal
    variable: str | None = None
    is_absent: bool = False


def misfit(rule: Rule, shapes: Shapes, sources: Sources) -> Misfit | None:
    """Why shapes rule out a plain body; None if they do not. Raises OutOfStepsError."""
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
            return Misfit(_literals_with(name, rule)[-1], name)
    return None


def _literals_with(name: str, rule: Rule) -> list[Literal]:
    return [
        literal
        for literal in rule.literals
        if literal.is_positive and any(variable.name == name for variable in variables(literal.atom))
    ]


def fits(term: Term, position: Position, shapes: Shapes) -> bool:
    """Whether `term` may occur at `position`. Each of its variables is considered by itself."""
    shapes.spend(1)
    if isinstance(term, Variable):
        return True
    return token_of(term) in shapes.at(position) and all(
        fits(part, place, shapes) for part, place in parts_of(term, position)
    )


@dataclass(frozen=True)
class Inference:
    """The shapes of all arguments, and their consequences per rule. Plain rules are identified by their id.

    sources     the positions of the rule's variables
    misfits     why the rule cannot apply; rules that can apply are absent
    dead_heads  heads of the rules that cannot apply for a reason of their own, or because of other rules
                that have one; facts and moves under `true` and `does`
    """

    shapes: Shapes
    sources: Mapping[int, Sources]
    misfits: Mapping[int, Misfit]
    dead_heads: Mapping[Predicate, Sequence[Atom]]

    def is_awaited(self, atom: Atom) -> bool:
        """Whether `atom` fails only because its rule cannot apply."""
        return len(self.misfits) > MAX_DEAD_RULES or _answers(self.dead_heads, atom)

    def names_what_is_awaited(self, rule: Rule, atom: Atom) -> bool:
        """Whether `atom` has a constant that only other, dead rules produce."""
        own = set(constants(rule.head))
        return any(self._dead_names[name] > (name in own) for name in constants(atom))

    @cached_property
    def _dead_names(self) -> Counter[str]:
        """Number of `dead_heads` with each constant that occurs nowhere else."""
        alive: set[Token] = set().union(*self.shapes.tokens.values())
        heads = (head for heads in self.dead_heads.values() for head in heads)
        return Counter(name for head in heads for name in set(constants(head)) - alive)


def constants(term: Term) -> Iterator[str]:
    stack = list(arguments_of(term))
    while stack:
        inner = stack.pop()
        if isinstance(inner, Symbol):
            yield inner.name
        stack += arguments_of(inner)


def infer_all(rules: Sequence[Rule]) -> Inference | None:
    """The inference for plain rules; None if it takes more than MAX_STEPS.

    >>> from gdl.syntax.parser import parse
    >>> inference = infer_all(parse("(p 1) (p 2) (<= (q ?x) (p ?x))").rules)
    >>> sorted(inference.shapes.at((Predicate("q", 1), 0)))
    ['1', '2']
    """
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
    if found.variable is None:
        return [found.literal.atom]
    return [literal.atom for literal in _literals_with(found.variable, rule)]


def _explained(dead: Sequence[Rule], misfits: Mapping[int, Misfit]) -> dict[Predicate, list[Atom]]:
    """The heads of dead rules that have a cause. They are grouped by the predicate that they would feed.

    A cause is a literal that no dead rule would conclude, perhaps because there is no rule for it. The
    remaining rules only wait for each other; they explain nothing.
    """
    if len(dead) > MAX_DEAD_RULES:
        return {}
    every: dict[Predicate, list[Atom]] = {}
    for rule in dead:
        every.setdefault(_brings(rule), []).append(rule.head)
    causes: dict[Predicate, list[Atom]] = {}
    waiting = {id(rule): (rule, failing_atoms(rule, misfits[id(rule)])) for rule in dead}
    caused = [rule for rule, atoms in waiting.values() if not any(_answers(every, atom) for atom in atoms)]
    while caused:
        for rule in caused:
            causes.setdefault(_brings(rule), []).append(rule.head)
            del waiting[id(rule)]
        caused = [rule for rule, atoms in waiting.values() if any(_answers(causes, atom) for atom in atoms)]
    return causes


def _brings(rule: Rule) -> Predicate:
    return FED_BY.get(rule.predicate, rule.predicate)


def _answers(heads: Mapping[Predicate, Sequence[Atom]], atom: Atom) -> bool:
    candidates = heads.get(predicate_of(atom), ())
    pattern = Compound("", arguments_of(atom))
    return any(may_unify(pattern, Compound("", arguments_of(head))) for head in candidates)
