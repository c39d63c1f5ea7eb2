"""Rule sheets as data: rules over terms, indexed by predicate.

The parser builds a `Program` whose bodies may nest `and`, `or` and `not`; `gdl.normalize` turns it
into one whose bodies are plain tuples of `Literal`.
"""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

from gdl.terms import Compound, Span, Symbol, Term, Variable, variables


class Predicate(NamedTuple):
    """A relation symbol with its arity. `p` and `(p)` are the same predicate p/0.

    >>> str(Predicate("legal", 2))
    'legal/2'
    """

    name: str
    arity: int

    def __str__(self) -> str:
        return f"{self.name}/{self.arity}"


@dataclass(frozen=True, slots=True)
class Source:
    """Origin of a rule sheet: a name for messages, and the text."""

    name: str
    text: str

    def line(self, number: int) -> str:
        """Line `number` (1-based) without its newline; empty past the end. Only \\n ends a line."""
        lines = self.text.split("\n")
        return lines[number - 1] if 0 < number <= len(lines) else ""


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom or its negation. `(distinct a b)` is an atom of the predicate distinct/2."""

    atom: Symbol | Compound
    is_positive: bool = True
    span: Span | None = field(default=None, compare=False)

    @property
    def predicate(self) -> Predicate:
        return predicate_of(self.atom)


@dataclass(frozen=True, slots=True)
class Conjunction:
    """`(and f …)`: a formula that holds if all its operands do."""

    operands: tuple[Formula, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Disjunction:
    """`(or f …)`: holds if any operand does, never without operands."""

    operands: tuple[Formula, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Negation:
    """`(not f)` around a formula that is not an atom. The negation of an atom is a `Literal`."""

    operand: Formula
    span: Span | None = field(default=None, compare=False)


Formula: TypeAlias = Literal | Conjunction | Disjunction | Negation


@dataclass(frozen=True, slots=True)
class Rule:
    """`head` holds whenever all formulas of `body` do. A fact is a rule with an empty body."""

    head: Symbol | Compound
    body: tuple[Formula, ...] = ()
    span: Span | None = field(default=None, compare=False)

    @property
    def predicate(self) -> Predicate:
        return predicate_of(self.head)

    @property
    def is_plain(self) -> bool:
        """Whether the body is a plain tuple of literals."""
        return all(isinstance(formula, Literal) for formula in self.body)

    @property
    def literals(self) -> tuple[Literal, ...]:
        """The body of a normalized rule. Raises TypeError if the body still nests formulas."""
        for formula in self.body:
            if not isinstance(formula, Literal):
                raise TypeError(f"rule is not normalized: {type(formula).__name__} in its body")
        return self.body  # type: ignore[return-value]


@dataclass(frozen=True)
class Program:
    """The rules of one sheet, in the order written.

    spellings   canonical lower-case name → its first spelling, if that differs

    >>> from gdl.syntax.parser import parse
    >>> program = parse("(role robot) (succ 1 2) (succ 2 3)")
    >>> [str(predicate) for predicate in program.by_predicate]
    ['role/1', 'succ/2']
    >>> [str(rule.head) for rule in program.rules_for("succ", 2)]
    ['(succ 1 2)', '(succ 2 3)']
    """

    rules: tuple[Rule, ...]
    source: Source = field(default=Source("<rules>", ""), compare=False)
    spellings: Mapping[str, str] = field(default_factory=dict, compare=False)

    @cached_property
    def by_predicate(self) -> Mapping[Predicate, tuple[Rule, ...]]:
        """Rules by the predicate of their head, in order of appearance."""
        groups: dict[Predicate, list[Rule]] = {}
        for rule in self.rules:
            groups.setdefault(rule.predicate, []).append(rule)
        return {predicate: tuple(rules) for predicate, rules in groups.items()}

    def rules_for(self, name: str, arity: int) -> tuple[Rule, ...]:
        """The rules whose head is `name`/`arity`, possibly none."""
        return self.by_predicate.get(Predicate(name, arity), ())


def pack(program: Program) -> str:
    """A program for another process of this package, which reads it 20 times as fast as the rule sheet.

    >>> from gdl.syntax.parser import parse
    >>> program = parse("(role robot)")
    >>> unpack(pack(program)) == program
    True
    """
    parts = (program.rules, program.source, dict(program.spellings))
    return base64.b64encode(pickle.dumps(parts, protocol=5)).decode()


def unpack(text: str) -> Program:
    """The inverse of `pack`, for text from a parent process only: it could run any code."""
    return Program(*pickle.loads(base64.b64decode(text)))


def predicate_of(atom: Symbol | Compound) -> Predicate:
    """The predicate of an atom."""
    return Predicate(atom.name, len(atom.arguments) if isinstance(atom, Compound) else 0)


def atom_with(name: str, arguments: tuple[Term, ...]) -> Symbol | Compound:
    """The atom of relation `name`: the bare name if there are no arguments."""
    return Compound(name, arguments) if arguments else Symbol(name)


def arguments_of(atom: Term) -> tuple[Term, ...]:
    """The arguments of an atom or term; none for a symbol."""
    return atom.arguments if isinstance(atom, Compound) else ()


def literals_in(formula: Formula, is_positive: bool = True) -> Iterator[tuple[Literal, bool]]:
    """Every literal inside `formula`, with its polarity under the enclosing negations."""
    if isinstance(formula, Literal):
        yield formula, is_positive == formula.is_positive
    elif isinstance(formula, Negation):
        yield from literals_in(formula.operand, not is_positive)
    else:
        for operand in formula.operands:
            yield from literals_in(operand, is_positive)


def body_literals(rule: Rule) -> Iterator[tuple[Literal, bool]]:
    """Every literal of a body as written, with its polarity."""
    for formula in rule.body:
        yield from literals_in(formula)


def atoms_of(rule: Rule) -> Iterator[Symbol | Compound]:
    """The head and every atom of the body, as written."""
    yield rule.head
    for literal, _ in body_literals(rule):
        yield literal.atom


def variables_of(rule: Rule) -> Iterator[Variable]:
    """Every occurrence of a variable in a rule, as written."""
    return (variable for atom in atoms_of(rule) for variable in variables(atom))
