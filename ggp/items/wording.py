"""Terms and rules in KIF, infix or sentences, under their own or scrambled names."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal as OneOf

from gdl.program import Conjunction, Disjunction, Formula, Literal, Negation, Program, Rule, arguments_of
from gdl.syntax.parser import parse
from gdl.syntax.printer import to_infix, to_kif
from gdl.terms import Compound, Term
from ggp.analysis.figures import words_of
from ggp.game import Move, Role
from ggp.match.terms import derived_seed
from ggp.protocol.scrambling import Scrambler

Notation = OneOf["kif", "infix", "sentences"]
NOTATIONS: tuple[Notation, ...] = ("kif", "infix", "sentences")

_SEPARATORS: Mapping[Notation, str] = {"kif": " ", "infix": ", ", "sentences": "; "}
_CLAUSES = {
    "role": "{} is a role",
    "init": "{} holds at first",
    "true": "{} holds",
    "next": "{} holds next",
    "does": "{} plays {}",
    "legal": "{} may play {}",
    "goal": "{} gets {}",
    "sees": "{} sees {}",
    "base": "{} can hold",
    "input": "{} can play {}",
    "terminal": "the game is over",
    "distinct": "{} differs from {}",
}
"""Relation of GDL → its clause, with a place for each argument."""


class Wording:
    """Notation of the terms of one sheet in its items.

    notation   "kif", "infix" or "sentences"
    seed       of the scrambled names; None: the names of the sheet

    >>> from gdl.syntax.parser import parse, parse_term
    >>> program = parse("(role x) (<= terminal (true (cell 1 1 x)))")
    >>> cell = parse_term("(cell 1 1 x)")
    >>> Wording(program, "infix").text(cell), Wording(program, "sentences").text(cell)
    ('cell(1,1,x)', 'cell 1 1 x')
    >>> print(Wording(program, "sentences").rules())
    x is a role.
    the game is over if cell 1 1 x holds.
    """

    def __init__(self, program: Program, notation: Notation = "kif", seed: int | None = None) -> None:
        self.program = program
        self.notation = notation
        self._scrambler = None
        if seed is not None:
            rng = random.Random(derived_seed(seed, "scrambling"))
            self._scrambler = Scrambler(to_kif(program), rng)
        self.text = cache(self._write)
        """The text of a term."""
        self._play = cache(lambda role, move: self._clause(Compound("does", (role, move))))
        self._separator = _SEPARATORS[notation]

    def texts(self, terms: Iterable[Term]) -> list[str]:
        return list(map(self.text, terms))

    def listed(self, texts: Iterable[str]) -> str:
        """Several texts as one."""
        return self._separator.join(texts) or "nothing"

    def joint_move(self, roles: Iterable[Role], moves: Iterable[Move]) -> str:
        """Which role plays which move.

        >>> from gdl.syntax.parser import parse
        >>> x, wait = (parse(f"({name})").rules[0].head for name in ("x", "wait"))
        >>> Wording(parse("(role x)")).joint_move([x], [wait])
        '(does (x) (wait))'
        """
        return self._separator.join(map(self._play, roles, moves))

    def rules(self) -> str:
        """The whole sheet, without comments."""
        program = self.program
        if self._scrambler is not None:
            program = parse(self._scrambler.scramble_text(to_kif(program)), syntax="kif")
        if self.notation == "sentences":
            return "\n".join(map(_sentence, program.rules))
        return (to_kif(program) if self.notation == "kif" else to_infix(program)).rstrip()

    def _write(self, term: Term) -> str:
        if self._scrambler is not None:
            term = self._scrambler.scramble(term)
        if self.notation == "infix":
            return to_infix(term)
        return str(term) if self.notation == "kif" else words_of(term)

    def _clause(self, atom: Compound) -> str:
        if self._scrambler is not None:
            atom = Compound(atom.name, tuple(map(self._scrambler.scramble, atom.arguments)))
        if self.notation == "sentences":
            return _clause(atom)
        return to_infix(atom) if self.notation == "infix" else str(atom)


def _sentence(rule: Rule) -> str:
    conditions = " and ".join(map(_condition, rule.body))
    return _clause(rule.head) + (f" if {conditions}" if conditions else "") + "."


def _condition(formula: Formula) -> str:
    if isinstance(formula, Literal):
        clause = _clause(formula.atom)
        return clause if formula.is_positive else f"it is false that {clause}"
    if isinstance(formula, Negation):
        return f"it is false that {_condition(formula.operand)}"
    assert isinstance(formula, Conjunction | Disjunction)
    word = " and " if isinstance(formula, Conjunction) else " or "
    return f"({word.join(map(_condition, formula.operands))})"


def _clause(atom: Term) -> str:
    arguments = list(map(words_of, arguments_of(atom)))
    pattern = _CLAUSES.get(atom.name, "")
    if pattern.count("{}") == len(arguments) and pattern:
        return pattern.format(*arguments)
    return words_of(atom)
