"""Simplification of rules without grounding: what the rules alone decide.

All functions take and return normalized rules (bodies of `Literal`). They preserve the atoms of `NEEDED`
predicates in every reachable state; other predicates may disappear.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from gdl.dependencies import DISTINCT, DOES, TRUE, may_unify, reachable, strong_components
from gdl.errors import GroundingError
from gdl.program import Literal, Predicate, Rule, Source, arguments_of, atoms_of, variables_of
from gdl.terms import Compound, Substitution, Symbol, Term, Variable, substitute, variables

INIT = Predicate("init", 1)
NEXT = Predicate("next", 1)
LEGAL = Predicate("legal", 2)

NEEDED = frozenset(
    {
        INIT,
        NEXT,
        LEGAL,
        Predicate("role", 1),
        Predicate("goal", 2),
        Predicate("sees", 2),
        Predicate("terminal", 0),
    }
)
"""Predicates whose atoms a ground program must contain."""

GIVEN = frozenset({TRUE, DOES})
"""Predicates that no rule may define: the state and the joint move."""


def simplify(rules: Sequence[Rule], source: Source) -> list[Rule]:
    """Apply all simplifications of this module in order.

    Raises GroundingError if no positive literal of a rule binds one of its variables.
    """
    decided = [simpler for rule in rules if (simpler := decide(rule)) is not None]
    for rule in decided:
        require_bound(rule, source)
    return prune(without_duplicates(freeze(decided)))


def decide(rule: Rule) -> Rule | None:
    """`rule` with `distinct` decided if its terms allow it, and equalities applied.

    Returns None if the rule can never fire.

    >>> from gdl.syntax.parser import parse
    >>> rules = parse("(<= p (q ?x) (distinct a b)) (<= p (q a) (distinct a a))").rules
    >>> [decided and [str(literal.atom) for literal in decided.literals] for decided in map(decide, rules)]
    [['(q ?x)'], None]
    """
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
    """The most general unifier of two terms, idempotent. Returns None if there is none."""
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
    """Raise GroundingError unless positive literals bind all variables of `rule`."""
    bound = names_in(literal.atom for literal in rule.literals if is_binder(literal))
    free = names_in(atoms_of(rule)) - bound
    if free:
        line = f"{source.name}:{rule.span.line}" if rule.span else source.name
        what = f"?{min(free)} of a rule for {rule.predicate}"
        raise GroundingError(f"{line}: {what} is not bound by a positive literal")


def without_duplicates(rules: Iterable[Rule]) -> list[Rule]:
    """The rules without duplicates. Rules that differ only in variable names are duplicates."""
    return list({canonical(rule): rule for rule in reversed(list(rules))}.values())[::-1]


def canonical(rule: Rule) -> tuple[Term | Literal, ...]:
    """A key equal for rules that differ only in variable names."""
    naming: dict[str, Term] = {}
    for variable in variables_of(rule):
        naming.setdefault(variable.name, Variable(str(len(naming))))
    return (substitute(rule.head, naming), *(replace(literal, naming) for literal in rule.literals))


def freeze(rules: Sequence[Rule]) -> list[Rule]:
    """Read facts that no move can change from `init`. Read from `init` instead of `true`, they are constants.

    A fluent `f` is frozen if its only rule is `next(f(X,…)) :- true(f(X,…))`: walls, the cells of a
    board, the givens of a puzzle.
    """
    frozen = _frozen_fluents(rules)

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
    """Name and arity of a fluent; None for a variable. The symbol `f` has arity -1, `(f)` has 0."""
    if isinstance(fact, Variable):
        return None
    return (fact.name, -1 if isinstance(fact, Symbol) else len(arguments_of(fact)))


def prune(rules: Sequence[Rule]) -> list[Rule]:
    """The rules that NEEDED predicates need, without undefined atoms."""
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
    callees = callees_of(decided)
    needed = reachable(NEEDED, lambda predicate: callees.get(predicate, ()))
    return [rule for rule in decided if rule.predicate in needed]


def grouped(rules: Iterable[Rule]) -> dict[Predicate, list[Rule]]:
    """The rules of each predicate."""
    found: dict[Predicate, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.predicate, []).append(rule)
    return found


def callees_of(rules: Iterable[Rule]) -> dict[Predicate, dict[Predicate, None]]:
    """The predicates in the bodies of each predicate, in order."""
    return {
        predicate: dict.fromkeys(literal.predicate for rule in own for literal in rule.literals)
        for predicate, own in grouped(rules).items()
    }


def callers_first(calls: Mapping[Predicate, Collection[Predicate]]) -> list[tuple[Predicate, ...]]:
    """The strong components of what predicates call, callers before callees."""
    return [*reversed(strong_components(calls, lambda predicate: calls.get(predicate, ())))]
