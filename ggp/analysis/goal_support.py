"""Why a match ended as it did: the facts from which the rules derive a goal.

The rules that the goal depends on are evaluated bottom-up, stratum by stratum, and every row remembers from
which rows it was derived first: the support of a goal are the facts at the leaves of its derivation.
(Provenance of Datalog, here one minimal-depth derivation.) What the derivation denies, such as "the opponent
has a piece", is supported by what has changed: by facts whose return, or else whose end, would make it true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_Reason: TypeAlias = tuple[tuple[_Atom, bool], ...]
"""Atoms, each with whether it holds; the others are denied."""
_Rows: TypeAlias = dict[_Row, _Reason]
"""Rows, each with what it was derived from."""


class _TooMuchWorkError(Exception):
    """The rules of the goal are too large to be explained."""


def goal_support(
    program: Program, facts: Sequence[Term], role: Term, goal: int, before: Iterable[Sequence[Term]] = ()
) -> frozenset[Term]:
    """The facts from which the rules derive that `role` gets `goal` in a state; empty if that is not known.

    facts    of the state
    before   those of the states before it, the last one first: then what the rules deny is explained too,
             also by facts that have ended; what was never true, by a term `(not …)`

    >>> from gdl.syntax.parser import parse, parse_term
    >>> program = parse("(role p) (<= (goal p 100) (line ?x)) (<= (line ?x) (true (a ?x)) (true (b ?x)))")
    >>> facts = [parse_term(text) for text in ("(a 1)", "(a 2)", "(b 2)")]
    >>> sorted(map(str, goal_support(program, facts, parse_term("p"), 100)))
    ['(a 2)', '(b 2)']
    >>> program = parse("(role p) (<= (goal p 100) (not alive)) (<= alive (true (king ?x)))")
    >>> goal_support(program, (), parse_term("p"), 100, before=[[parse_term("(king 3)")]])
    frozenset({Compound('king', (Symbol('3'),))})
    """
    rules, found = _Rules(program), set[Term]()
    try:
        derivation = _Derivation(rules, facts, Predicate("goal", 2))
        held, denied = derivation.sources((("goal", 2, False), (role, Symbol(str(goal)))))
        found |= held.intersection(facts)
        _add_changes(found, rules, facts, denied, before)
    except (_TooMuchWorkError, RecursionError, KeyError):  # KeyError: a variable that nothing binds
        pass
    return frozenset(found)


def goal_conditions(program: Program, facts: Sequence[Term], role: Term, goal: int) -> dict[Term, bool]:
    """The relations that a derived goal rests on, such as "black can move", each with whether it holds.

    Empty if they are not known.

    >>> from gdl.syntax.parser import parse, parse_term
    >>> program = parse("(role p) (<= (goal p 100) (not movable)) (<= movable (true (king ?x)))")
    >>> goal_conditions(program, (), parse_term("p"), 100)
    {Symbol('movable'): False}
    """
    root = (("goal", 2, False), (role, Symbol(str(goal))))
    try:
        held, denied = _Derivation(_Rules(program), facts, Predicate("goal", 2)).grounds(root)
    except (_TooMuchWorkError, RecursionError, KeyError):
        return {}
    found = dict.fromkeys((each for each in held if each != root and not each[0][2]), True)
    found |= dict.fromkeys(denied, False)
    return {_term(atom): holds for atom, holds in found.items()}


def _add_changes(
    found: set[Term],
    rules: _Rules,
    facts: Sequence[Term],
    denied: Sequence[_Atom],
    before: Iterable[Sequence[Term]],
) -> None:
    """Add to `found`, for each atom of `denied`, the changes without which it would be true.

    They are facts that ended in one step, the last one with such facts; or else facts that began in it. Facts
    of relations that always have one, as the turn, can neither return nor end.
    """
    after, now, rules.work = facts, frozenset(facts), 0
    for state in before if denied else ():
        pending, single = [], _single(state) & _single(after)
        ended = [fact for fact in state if fact not in now.union(after) and _fact_table(fact) not in single]
        begun = [fact for fact in after if fact in now.difference(state) and _fact_table(fact) not in single]
        for atom in denied:
            undoing = _undoing(rules, facts, ended, atom) or {
                each for each in begun if _held(rules, [*now.difference([each])], atom) is not None
            }
            found |= undoing
            pending += [] if undoing else [atom]
        denied, after = pending, state
        if not denied:
            return
    found |= {Compound("not", (_term(atom),)) for atom in denied if after is not facts}


def _single(facts: Sequence[Term]) -> set[_Table]:
    """The relations with one fact."""
    return {table for table, count in Counter(map(_fact_table, facts)).items() if count == 1}


def _undoing(rules: _Rules, facts: Sequence[Term], ended: Sequence[Term], atom: _Atom) -> set[Term]:
    """The facts of `ended` in independent derivations of `atom` from them and `facts`."""
    undoing = set[Term]()
    while rest := [fact for fact in ended if fact not in undoing]:
        held = _held(rules, [*facts, *rest], atom) or set()
        if held.isdisjoint(rest):
            break
        undoing |= held.intersection(rest)
    return undoing


def _held(rules: _Rules, facts: Sequence[Term], atom: _Atom) -> set[Term] | None:
    """The facts from which an atom is derived; None if it does not hold."""
    name, arity, is_fact = atom[0]
    derivation = _Derivation(rules, facts, None if is_fact else Predicate(name, arity))
    return derivation.sources(atom)[0] if derivation.holds(atom) else None


def deciding_facts(
    program: Program,
    facts: Sequence[Term],
    goals: Mapping[Term, int | None],
    before: Iterable[Sequence[Term]] = (),
) -> frozenset[Term]:
    """The support of the best goal. goals: by role, of the final state `facts`; nothing decides a draw.

    before   as in `goal_support`

    >>> from gdl.syntax.parser import parse, parse_term
    >>> program = parse("(role p) (role q) (<= (goal p 100) (true a)) (<= (goal q 0) (true a))")
    >>> p, q, a = map(parse_term, ("p", "q", "a"))
    >>> deciding_facts(program, [a], {p: 100, q: 0}), deciding_facts(program, [a], {p: 50, q: 50})
    (frozenset({Symbol('a')}), frozenset())
    """
    best = max((goal for goal in goals.values() if goal is not None), default=0)
    winners = [role for role, goal in goals.items() if goal == best]
    is_known = best and len(winners) == 1
    return goal_support(program, facts, winners[0], best, before) if is_known else frozenset()


class _Rules:
    """A program with its dependencies, and the work that may still be done with it.

    work   rows looked at so far
    """

    def __init__(self, program: Program) -> None:
        self.program, self.work = normalize(program), 0
        self.dependencies = Dependencies(self.program)

    def spend(self, rows: int) -> None:
        self.work += rows
        if self.work > WORK_LIMIT:
            raise _TooMuchWorkError


class _Derivation:
    """The rows of all predicates that `root` depends on, each with what it was derived from.

    root   None: facts alone
    """

    def __init__(self, rules: _Rules, facts: Sequence[Term], root: Predicate | None) -> None:
        self._all_rules = rules
        self._rows: dict[_Table, _Rows] = {}
        self._fact = {(_fact_table(fact), arguments_of(fact)): fact for fact in facts}
        self._indexes: dict[_Table, dict[tuple[int, ...], dict[_Row, list[_Row]]]] = {}
        rules.spend(len(facts))
        for table, row in self._fact:
            self._rows.setdefault(table, {})[row] = ()
        self._derive([] if root is None else [root])

    def _derive(self, roots: Sequence[Predicate]) -> None:
        program, dependencies = self._all_rules.program, self._all_rules.dependencies
        needed = dependencies.reachable(roots)
        for component in dependencies.components:
            rules = [
                rule for each in component if each in needed for rule in program.by_predicate.get(each, ())
            ]
            new, rounds = self._round(rules, None), 0
            while new and dependencies.is_recursive(component):
                new, rounds = self._round(rules, new), rounds + 1
                if rounds > ROUND_LIMIT:
                    raise _TooMuchWorkError

    def holds(self, atom: _Atom) -> bool:
        return atom[1] in self._rows.get(atom[0], ())

    def sources(self, atom: _Atom) -> tuple[set[Term], list[_Atom]]:
        """The facts from which the atom was derived, and the atoms denied; empty if it does not hold."""
        found, denied = self.grounds(atom)
        return {self._fact[each] for each in found if each in self._fact}, denied

    def grounds(self, atom: _Atom) -> tuple[list[_Atom], list[_Atom]]:
        """All atoms from which the atom was derived, itself first, and the atoms denied."""
        found: dict[_Atom, None] = {}
        denied: dict[_Atom, None] = {}
        pending = [atom] if self.holds(atom) else []
        while pending:
            table, row = each = pending.pop()
            if each not in found:
                found[each] = None
                for source, holds in self._rows[table][row]:
                    if holds:
                        pending.append(source)
                    else:
                        denied[source] = None
        return list(found), list(denied)

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
    ) -> Iterator[tuple[_Binding, _Reason]]:
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
                        yield from self._solve(rest, binding, (((table, row), True),))

    def _solve(
        self, literals: list[Literal], binding: _Binding, reason: _Reason
    ) -> Iterator[tuple[_Binding, _Reason]]:
        """All ways to satisfy `literals`, with the rows used and those that must not hold."""
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
            row = tuple(_filled(each, binding) for each in patterns)
            if row not in self._rows.get(table, ()):
                yield from self._solve(rest, binding, (*reason, ((table, row), False)))
        else:
            for row in self._candidates(table, patterns, binding):
                extended = _matched(patterns, row, binding)
                if extended is not None:
                    yield from self._solve(rest, extended, (*reason, ((table, row), True)))

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
        self._all_rules.spend(1 + len(found))
        return found


def _table(atom: Term) -> _Table:
    return atom.name, len(arguments_of(atom)), False


def _term(atom: _Atom) -> Term:
    (name, _, _), row = atom
    return Compound(name, row) if row else Symbol(name)


def _fact_table(fact: Term) -> _Table:
    return fact.name, len(arguments_of(fact)), True


def _split(literal: Literal) -> tuple[_Table, _Row]:
    """The table of a literal, and its arguments: those of the fact, if it is one of the state."""
    arguments = arguments_of(literal.atom)
    if literal.predicate == TRUE and not isinstance(arguments[0], Variable):
        return _fact_table(arguments[0]), arguments_of(arguments[0])
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
