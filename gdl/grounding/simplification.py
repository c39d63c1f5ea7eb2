"""Rewriting that costs nothing: what can be decided by looking at the rules alone.

All functions take and return normalized rules (bodies of `Literal`). They keep the atoms of `NEEDED`
predicates as they are in every reachable state; other predicates may disappear.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gdl.dependencies import DISTINCT, DOES, TRUE, may_unify
from gdl.errors import GroundingError
from gdl.program import Literal, Predicate, Rule, Source, arguments_of
from gdl.terms import Compound, Substitution, Symbol, Term, Variable, substitute, variables

INIT = Predicate("init", 1)
NEXT = Predicate("next", 1)
LEGAL = Predicate("legal", 2)

NEEDED = frozenset(
    {
        Predicate("role", 1),
        INIT,
        NEXT,
        LEGAL,
        Predicate("goal", 2),
        Predicate("sees", 2),
        Predicate("terminal", 0),
    }
)
"""What a ground program is read for."""

GIVEN = frozenset({TRUE, DOES})
"""What no rule may define: the state and the joint move."""


def simplify(rules: Sequence[Rule], source: Source) -> list[Rule]:
    """Everything below, in the order that serves best.

    Raises GroundingError where a variable is bound by no positive literal of its rule.
    """
    decided = [simpler for rule in rules if (simpler := decide(rule)) is not None]
    for rule in decided:
        require_bound(rule, source)
    return prune(without_duplicates(freeze(decided)))


def decide(rule: Rule) -> Rule | None:
    """`rule` with `distinct` decided where its terms show it and equalities applied; None: never fires."""
    body: list[Literal] = []
    pending = list(dict.fromkeys(rule.literals))
    head: Term = rule.head
    while pending:
        literal = pending.pop(0)
        if literal.predicate != DISTINCT:
            body.append(literal)
            continue
        left, right = arguments_of(literal.atom)
        if literal.is_positive:
            if left == right:
                return None
            if may_unify(left, right):
                body.append(literal)
            continue
        equal = unify(left, right)
        if equal is None:
            return None
        if equal:
            head = substitute(head, equal)
            pending = [replace(other, equal) for other in (*body, *pending)]
            body = []
    assert not isinstance(head, Variable)
    return Rule(head, tuple(dict.fromkeys(body)), rule.span)


def replace(literal: Literal, substitution: Substitution) -> Literal:
    """`literal` with variables replaced."""
    atom = substitute(literal.atom, substitution)
    assert not isinstance(atom, Variable)
    return Literal(atom, literal.is_positive, literal.span)


def unify(left: Term, right: Term) -> dict[str, Term] | None:
    """The most general substitution that makes two terms equal, idempotent; None if there is none."""
    found: dict[str, Term] = {}
    stack = [(left, right)]
    while stack:
        one, other = (substitute(term, found) for term in stack.pop())
        if one == other:
            continue
        if not isinstance(one, Variable):
            one, other = other, one
        if isinstance(one, Variable):
            if one in variables(other):
                return None
            binding = {one.name: other}
            found = {name: substitute(term, binding) for name, term in found.items()} | binding
        elif (
            isinstance(one, Compound)
            and isinstance(other, Compound)
            and one.name == other.name
            and len(one.arguments) == len(other.arguments)
        ):
            stack += zip(one.arguments, other.arguments, strict=True)
        else:
            return None
    return found


def names_in(terms: Iterable[Term]) -> set[str]:
    """Names of the variables in `terms`."""
    return {variable.name for term in terms for variable in variables(term)}


def is_binder(literal: Literal) -> bool:
    """Whether a literal gives values to its variables."""
    return literal.is_positive and literal.predicate != DISTINCT


def require_bound(rule: Rule, source: Source) -> None:
    """Raise GroundingError unless positive literals bind every variable of `rule`."""
    bound = names_in(literal.atom for literal in rule.literals if is_binder(literal))
    free = names_in([rule.head, *(literal.atom for literal in rule.literals)]) - bound
    if free:
        line = f"{source.name}:{rule.span.line}" if rule.span else source.name
        name = min(free)
        raise GroundingError(
            f"{line}: ?{name} of a rule for {rule.predicate} is bound by no positive literal"
        )


def without_duplicates(rules: Iterable[Rule]) -> list[Rule]:
    """The rules, each once; rules that differ only in the names of their variables are the same."""
    return list({canonical(rule): rule for rule in reversed(list(rules))}.values())[::-1]


def canonical(rule: Rule) -> tuple[Term | Literal, ...]:
    """A key that is equal for rules that differ only in the names of their variables."""
    naming: dict[str, Term] = {}
    for term in (rule.head, *(literal.atom for literal in rule.literals)):
        for variable in variables(term):
            naming.setdefault(variable.name, Variable(str(len(naming))))
    return (substitute(rule.head, naming), *(replace(literal, naming) for literal in rule.literals))


def freeze(rules: Sequence[Rule]) -> list[Rule]:
    """Read facts that no move can change from `init` instead of `true`, which makes them constants.

    A fluent `f` is frozen when the only rule for it is `next(f(X,…)) :- true(f(X,…))`: walls, a
    board's cells, the givens of a puzzle.
    """
    frozen = _frozen_fluents(rules)
    if not frozen:
        return list(rules)

    def thaw(literal: Literal) -> Literal:
        if literal.predicate == TRUE and _shape(arguments_of(literal.atom)[0]) in frozen:
            return Literal(Compound("init", arguments_of(literal.atom)), literal.is_positive, literal.span)
        return literal

    return [Rule(rule.head, tuple(map(thaw, rule.literals)), rule.span) for rule in rules]


def _frozen_fluents(rules: Sequence[Rule]) -> set[tuple[str, int]]:
    frozen: dict[tuple[str, int], bool] = {}
    for rule in rules:
        if rule.predicate != NEXT:
            continue
        fact = arguments_of(rule.head)[0]
        shape = _shape(fact)
        if shape is None:
            return set()
        arguments = arguments_of(fact)
        is_frame = (
            [literal.atom for literal in rule.literals] == [Compound("true", (fact,))]
            and rule.literals[0].is_positive
            and len(set(arguments)) == len(arguments)
            and all(isinstance(argument, Variable) for argument in arguments)
        )
        frozen[shape] = frozen.get(shape, True) and is_frame
    return {shape for shape, is_frozen in frozen.items() if is_frozen}


def _shape(fact: Term) -> tuple[str, int] | None:
    """What tells fluents apart; None for a variable. The symbol `f` and `(f)` differ."""
    if isinstance(fact, Variable):
        return None
    return (fact.name, -1 if isinstance(fact, Symbol) else len(arguments_of(fact)))


def prune(rules: Sequence[Rule]) -> list[Rule]:
    """Rules that matter: without undefined atoms, and only for predicates that NEEDED ones depend on."""
    kept = [rule for rule in rules if rule.predicate not in GIVEN]
    while True:
        defined = {rule.predicate for rule in kept} | GIVEN | {DISTINCT}
        decided = [
            Rule(rule.head, tuple(one for one in rule.literals if one.predicate in defined), rule.span)
            for rule in kept
            if all(one.predicate in defined or not one.is_positive for one in rule.literals)
        ]
        if len(decided) == len(kept):
            break
        kept = decided
    return _reachable(decided)


def _reachable(rules: Sequence[Rule]) -> list[Rule]:
    needed = set(NEEDED)
    by_predicate: dict[Predicate, list[Rule]] = {}
    for rule in rules:
        by_predicate.setdefault(rule.predicate, []).append(rule)
    stack = list(needed)
    while stack:
        for rule in by_predicate.get(stack.pop(), ()):
            for literal in rule.literals:
                if literal.predicate not in needed:
                    needed.add(literal.predicate)
                    stack.append(literal.predicate)
    return [rule for rule in rules if rule.predicate in needed]
