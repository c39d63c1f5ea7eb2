"""Why a match ended as it did: the facts from which the rules derive a goal.

The rules that the goal depends on are evaluated bottom-up, stratum by stratum, and every row remembers from
which rows it was derived first: the support of a goal are the facts at the leaves of its derivation. What a
rule denies has no facts. (Provenance of Datalog, here one minimal-depth derivation.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from gdl.dependencies import DISTINCT, TRUE, Dependencies
from gdl.normalize import normalize
from gdl.program import Literal, Predicate, Program, Rule, arguments_of
from gdl.terms import Compound, Symbol, Term, Variable

WORK_LIMIT = 100_000
"""Maximum number of rows looked at, about half a second; beyond it nothing is explained."""

ROUND_LIMIT = 1000
"""Maximum number of rounds through recursive rules: some build ever larger terms."""
LAST = 1_000_000
"""Rank of a test that has to wait until its arguments are bound."""

_Row: TypeAlias = tuple[Term, ...]
_Binding: TypeAlias = dict[str, Term]
_Table: TypeAlias = tuple[str, int, bool]
"""Name and number of arguments of a relation, or, if the last is true, of facts of the state."""
_Atom: TypeAlias = tuple[_Table, _Row]
_Rows: TypeAlias = dict[_Row, tuple[_Atom, ...]]
"""Rows, each with the rows that it was derived from."""


class _TooMuchWorkError(Exception):
    """The rules of the goal are too large to be explained."""


def goal_support(program: Program, facts: Sequence[Term], role: Term, goal: int) -> frozenset[Term]:
    """The facts of a state from which the rules derive that `role` gets `goal`; empty if that is not known.

    >>> from gdl.syntax.parser import parse, parse_term
    >>> program = parse("(role p) (<= (goal p 100) (line ?x)) (<= (line ?x) (true (a ?x)) (true (b ?x)))")
    >>> facts = [parse_term(text) for text in ("(a 1)", "(a 2)", "(b 2)")]
    >>> sorted(map(str, goal_support(program, facts, parse_term("p"), 100)))
    ['(a 2)', '(b 2)']
    """
    try:
        derivation = _Derivation(normalize(program), facts, Predicate("goal", 2))
    except (_TooMuchWorkError, RecursionError, KeyError):  # KeyError: a variable that nothing binds
        return frozenset()
    of_fact = {(_table(fact, is_fact=True), arguments_of(fact)): fact for fact in facts}
    sources = derivation.sources((("goal", 2, False), (role, Symbol(str(goal)))))
    return frozenset(of_fact[atom] for atom in sources if atom in of_fact)


def deciding_facts(
    program: Program, facts: Sequence[Term], goals: Mapping[Term, int | None]
) -> frozenset[Term]:
    """The support of the best goal. goals: by role, of the final state `facts`; nothing decides a draw.

    >>> from gdl.syntax.parser import parse, parse_term
    >>> program = parse("(role p) (role q) (<= (goal p 100) (true a)) (<= (goal q 0) (true a))")
    >>> p, q, a = map(parse_term, ("p", "q", "a"))
    >>> deciding_facts(program, [a], {p: 100, q: 0}), deciding_facts(program, [a], {p: 50, q: 50})
    (frozenset({Symbol('a')}), frozenset())
    """
    best = max((goal for goal in goals.values() if goal is not None), default=0)
    winners = [role for role, goal in goals.items() if goal == best]
    return goal_support(program, facts, winners[0], best) if best and len(winners) == 1 else frozenset()


class _Derivation:
    """The rows of all predicates that `root` depends on, each with the rows that it was derived from."""

    def __init__(self, program: Program, facts: Sequence[Term], root: Predicate) -> None:
        self._work = 0
        self._rows: dict[_Table, _Rows] = {}
        self._indexes: dict[_Table, dict[tuple[int, ...], dict[_Row, list[_Row]]]] = {}
        for fact in facts:
            self._rows.setdefault(_table(fact, is_fact=True), {})[arguments_of(fact)] = ()
        dependencies = Dependencies(program)
        needed = dependencies.reachable([root])
        for component in dependencies.components:
            rules = [
                rule for each in component if each in needed for rule in program.by_predicate.get(each, ())
            ]
            new, rounds = self._round(rules, None), 0
            while new and dependencies.is_recursive(component):
                new, rounds = self._round(rules, new), rounds + 1
                if rounds > ROUND_LIMIT:
                    raise _TooMuchWorkError

    def sources(self, atom: _Atom) -> set[_Atom]:
        """The atom, what it was derived from, and so on; empty if it does not hold."""
        found: set[_Atom] = set()
        pending = [atom] if atom[1] in self._rows.get(atom[0], ()) else []
        while pending:
            table, row = each = pending.pop()
            if each not in found:
                found.add(each)
                pending += self._rows[table][row]
        return found

    def _round(self, rules: Sequence[Rule], before: dict[_Table, _Rows] | None) -> dict[_Table, _Rows]:
        """Apply every rule once, from the second round on to rows that were new in the round `before`."""
        new: dict[_Table, _Rows] = {}
        for rule in rules:
            table = _table(rule.head)
            known, own = self._rows.get(table, {}), new.setdefault(table, {})
            for binding, reason in self._applied(list(rule.literals), before):
                row = tuple(_filled(argument, binding) for argument in arguments_of(rule.head))
                if row not in known:
                    own.setdefault(row, reason)
        new = {table: rows for table, rows in new.items() if rows}
        for table, rows in new.items():
            self._rows.setdefault(table, {}).update(rows)
            self._indexes.pop(table, None)
        return new

    def _applied(
        self, literals: list[Literal], before: dict[_Table, _Rows] | None
    ) -> Iterator[tuple[_Binding, tuple[_Atom, ...]]]:
        if before is None:
            yield from self._solve(literals, {}, ())
            return
        for literal in literals:
            table, patterns = _split(literal)
            if literal.is_positive and table in before:
                rest = [each for each in literals if each is not literal]
                for row in before[table]:
                    binding = _matched(patterns, row, {})
                    if binding is not None:
                        yield from self._solve(rest, binding, ((table, row),))

    def _solve(
        self, literals: list[Literal], binding: _Binding, reason: tuple[_Atom, ...]
    ) -> Iterator[tuple[_Binding, tuple[_Atom, ...]]]:
        """All ways to satisfy `literals`, with the rows used."""
        if not literals:
            yield binding, reason
            return
        literal = min(literals, key=lambda each: self._rank(each, binding))
        rest = [each for each in literals if each is not literal]
        table, patterns = _split(literal)
        if literal.predicate == DISTINCT:
            one, other = (_filled(each, binding) for each in patterns)
            if (one != other) is literal.is_positive:
                yield from self._solve(rest, binding, reason)
        elif not literal.is_positive:
            if tuple(_filled(each, binding) for each in patterns) not in self._rows.get(table, ()):
                yield from self._solve(rest, binding, reason)
        else:
            for row in self._candidates(table, patterns, binding):
                extended = _matched(patterns, row, binding)
                if extended is not None:
                    yield from self._solve(rest, extended, (*reason, (table, row)))

    def _rank(self, literal: Literal, binding: _Binding) -> tuple[int, int]:
        """Tests of bound arguments come first, then literals with few free arguments and few rows."""
        table, patterns = _split(literal)
        free = sum(_has_free(each, binding) for each in patterns)
        if literal.predicate == DISTINCT or not literal.is_positive:
            return (LAST if free else -1), 0
        return free, len(self._rows.get(table, ()))

    def _candidates(self, table: _Table, patterns: _Row, binding: _Binding) -> Sequence[_Row]:
        """The rows that agree with the bound ones of `patterns`."""
        bound = tuple(at for at, each in enumerate(patterns) if not _has_free(each, binding))
        indexes = self._indexes.setdefault(table, {})
        if bound not in indexes:
            index = indexes[bound] = {}
            for row in self._rows.get(table, {}):
                index.setdefault(tuple(row[at] for at in bound), []).append(row)
        found = indexes[bound].get(tuple(_filled(patterns[at], binding) for at in bound), ())
        self._work += 1 + len(found)
        if self._work > WORK_LIMIT:
            raise _TooMuchWorkError
        return found


def _table(atom: Term, *, is_fact: bool = False) -> _Table:
    return atom.name, len(arguments_of(atom)), is_fact


def _split(literal: Literal) -> tuple[_Table, _Row]:
    """The table of a literal, and its arguments: those of the fact, if it is one of the state."""
    arguments = arguments_of(literal.atom)
    if literal.predicate == TRUE and not isinstance(arguments[0], Variable):
        return _table(arguments[0], is_fact=True), arguments_of(arguments[0])
    return _table(literal.atom), arguments


def _filled(term: Term, binding: _Binding) -> Term:
    """A term with the values of its variables."""
    if isinstance(term, Variable):
        return binding[term.name]
    if isinstance(term, Compound):
        return Compound(term.name, tuple(_filled(each, binding) for each in term.arguments))
    return term


def _has_free(term: Term, binding: _Binding) -> bool:
    if isinstance(term, Variable):
        return term.name not in binding
    return any(_has_free(each, binding) for each in arguments_of(term))


def _matched(patterns: Sequence[Term], values: Sequence[Term], binding: _Binding) -> _Binding | None:
    """The binding extended so that `patterns` become `values`; None if they cannot."""
    extended = dict(binding)
    pending = list(zip(patterns, values, strict=True))
    while pending:
        pattern, value = pending.pop()
        if isinstance(pattern, Variable):
            if extended.setdefault(pattern.name, value) != value:
                return None
        elif isinstance(pattern, Compound):
            if not isinstance(value, Compound) or value.name != pattern.name:
                return None
            if len(value.arguments) != len(pattern.arguments):
                return None
            pending += zip(pattern.arguments, value.arguments, strict=True)
        elif pattern != value:
            return None
    return extended
