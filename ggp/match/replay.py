"""A recorded match, ours or another manager's, to step through."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from gdl.errors import GdlError
from gdl.program import Program, Source, arguments_of
from gdl.syntax.parser import parse, parse_term
from gdl.terms import Term
from ggp.analysis.figures import words_of
from ggp.analysis.picture import Picture, find_picture
from ggp.match.record import MatchRecord, RecordError


@dataclass(frozen=True)
class Replay:
    """A recorded match and the rules of its game. Its names and texts are untrusted.

    notation   how moves are written, see `find_picture`
    """

    record: MatchRecord
    program: Program
    notation: str = "short"

    @cached_property
    def states(self) -> tuple[tuple[Term, ...], ...]:
        """The facts of every state. Raises RecordError."""
        if not self.record.steps:
            raise RecordError("the record has no steps")
        return tuple(read_state(step.state, number) for number, step in enumerate(self.record.steps))

    @cached_property
    def picture(self) -> Picture:
        return find_picture(self.program, self.states[0], self.notation)

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """The roles of the record; if it names none, those of the rules."""
        roles = tuple(map(str, self.record.roles))
        stated = tuple(str(arguments_of(rule.head)[0]) for rule in self.program.rules_for("role", 1))
        return roles if any(roles) else stated if len(stated) == len(roles) else roles

    @cached_property
    def goals(self) -> list[int | None] | None:
        """The goals of the end in role order; None unless the record has one for each role."""
        goals = [goal if isinstance(goal, int) else None for goal in self.record.goals or ()]
        return goals if len(goals) == len(self.roles) else None


def rules_of(record: MatchRecord) -> Program:
    """The rules in a record, possibly empty. Raises RecordError."""
    if not isinstance(record.rules, str):
        return Program((), Source("", ""))
    try:
        return parse(record.rules, name=record.match_id)
    except GdlError as error:
        raise RecordError(f"its rules cannot be read: {str(error).partition(chr(10))[0]}") from None


def read_state(text: object, number: int) -> tuple[Term, ...]:
    """The facts of a state as records write it, with or without `true`. Raises RecordError.

    >>> [str(fact) for fact in read_state("( (control x) (true (cell 1 1 b)) )", 0)]
    ['(cell 1 1 b)', '(control x)']
    """
    words = str(text).strip()
    inner = words[1:-1] if words.startswith("(") and words.endswith(")") else words
    try:
        term = parse_term(f"(state {inner})")
    except GdlError as error:
        raise RecordError(f"state {number}: {str(error).partition(chr(10))[0]}") from None
    facts = [
        arguments_of(fact)[0] if fact.name == "true" and len(arguments_of(fact)) == 1 else fact
        for fact in arguments_of(term)
    ]
    return tuple(sorted(facts, key=words_of))
