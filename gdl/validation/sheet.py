"""What the checks share about one sheet, computed once on demand."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import cached_property

from gdl.dependencies import Dependencies, NegativeCycle, negative_cycles
from gdl.errors import Diagnostic
from gdl.keywords import KEYWORDS
from gdl.normalize import normalize, oversized_rules
from gdl.program import (
    Disjunction,
    Literal,
    Negation,
    Predicate,
    Program,
    Rule,
    arguments_of,
    atoms_of,
    body_literals,
)
from gdl.syntax.parser import looks_infix
from gdl.terms import Compound, Symbol, Term
from gdl.validation.inference import Inference, infer_all

ABOUT_ROLES = ("legal", "does", "goal", "sees", "input")
"""Keywords whose first argument is a role."""

MAX_PLAIN_LITERALS = 100_000
"""Number of literals without `or` beyond which a sheet counts as `Sheet.is_intricate`."""


class Sheet:
    """A program with cached results that several checks need. The program may be normalized or not."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def is_infix(self) -> bool:
        """Whether the sheet was parsed as infix: its compounds then do not begin with their parenthesis."""
        lines = self.program.source.text.split("\n")
        for rule in self.program.rules:
            span = rule.head.span
            if isinstance(rule.head, Compound) and span is not None and span.line <= len(lines):
                return lines[span.line - 1][span.column - 1 : span.column] != "("
        return looks_infix(self.program.source.text)

    @cached_property
    def oversized(self) -> list[Diagnostic]:
        """GDL210 and GDL211: what prevents normalization; if any, `alternatives` is empty."""
        return oversized_rules(self.program)

    @cached_property
    def alternatives(self) -> tuple[tuple[Rule, tuple[Rule, ...]], ...]:
        """Each rule as written, with the plain rules (bodies of literals) that it expands into."""
        if self.oversized:
            return ()
        return tuple(
            (rule, (rule,) if rule.is_plain else normalize(Program((rule,))).rules)
            for rule in self.program.rules
        )

    @cached_property
    def plain(self) -> Program:
        rules = tuple(plain for _, rules in self.alternatives for plain in rules)
        return Program(rules, self.program.source)

    def literals(self) -> Iterator[tuple[Rule, Literal, bool]]:
        """(rule, literal, polarity) for every literal of a body as written."""
        return ((rule, *found) for rule in self.program.rules for found in body_literals(rule))

    def atoms(self) -> Iterator[Symbol | Compound]:
        """Every head and every atom of a body, in order."""
        return (atom for rule in self.program.rules for atom in atoms_of(rule))

    def terms(self) -> Iterator[Term]:
        """Every term inside `atoms`."""
        return (term for atom in self.atoms() for term in terms_below(atom))

    @cached_property
    def dependencies(self) -> Dependencies:
        return Dependencies(self.program)

    @cached_property
    def only_seen(self) -> Set[Predicate]:
        """`sees`, and the relations that only its rules need; these may refer to the next state."""
        sees = KEYWORDS["sees"].predicate
        others = [predicate for predicate in self.program.by_predicate if predicate.name in KEYWORDS]
        needed = self.dependencies.reachable(predicate for predicate in others if predicate != sees)
        return self.dependencies.reachable([sees]) - needed - set(others) | {sees}

    @cached_property
    def facts(self) -> frozenset[Symbol | Compound]:
        return frozenset(rule.head for rule in self.program.rules if not rule.body)

    @cached_property
    def roles(self) -> tuple[Term, ...]:
        """The roles stated as facts, in order."""
        facts = (rule.head for rule in self.program.rules_for("role", 1) if not rule.body)
        return tuple(dict.fromkeys(arguments_of(head)[0] for head in facts))

    @cached_property
    def has_role_rules(self) -> bool:
        """Whether there may be roles other than `roles`."""
        return any(rule.body for rule in self.program.rules_for("role", 1))

    @cached_property
    def is_intricate(self) -> bool:
        """Whether expanding `or` makes the sheet too large for costly checks."""
        return sum(1 + len(rule.body) for rule in self.plain.rules) > MAX_PLAIN_LITERALS

    @cached_property
    def inference(self) -> Inference | None:
        """What may occur where, inferred from all rules. Returns None if that takes too long."""
        return None if self.is_intricate else infer_all(self.plain.rules)

    @cached_property
    def negative_cycles(self) -> list[NegativeCycle]:
        """Cycles of rules through a negation; see `gdl.dependencies`."""
        return negative_cycles(self.plain) if self._has_negation_in_cycle else []

    @cached_property
    def _has_negation_in_cycle(self) -> bool:
        """Whether some relation may need its own negation. A quick test that is rarely true."""
        home = self.dependencies.recursion_of
        return any(
            not is_positive and home.get(rule.predicate, -1) == home.get(literal.predicate)
            for rule, literal, is_positive in self.literals()
        )

    @cached_property
    def names_defined(self) -> frozenset[str]:
        """Names of relations that have a rule or fact, of any arity."""
        return frozenset(rule.head.name for rule in self.program.rules)


def disjunctions_in(program: Program) -> Iterator[Disjunction]:
    """Every `or` of a program, outermost first."""
    stack = [formula for rule in reversed(program.rules) for formula in reversed(rule.body)]
    while stack:
        formula = stack.pop()
        if isinstance(formula, Disjunction):
            yield formula
        if isinstance(formula, Negation):
            stack.append(formula.operand)
        elif not isinstance(formula, Literal):
            stack.extend(reversed(formula.operands))


def terms_below(atom: Symbol | Compound) -> Iterator[Term]:
    """Every term inside an atom, without the atom itself."""
    stack = list(reversed(arguments_of(atom)))
    while stack:
        term = stack.pop()
        yield term
        stack.extend(reversed(arguments_of(term)))


def is_keyword(predicate: Predicate) -> bool:
    """Whether `predicate` is a keyword with its proper arity."""
    keyword = KEYWORDS.get(predicate.name)
    return keyword is not None and keyword.predicate == predicate


def counted(count: int, noun: str) -> str:
    """`1 argument`, `2 arguments`, `no arguments`."""
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"
