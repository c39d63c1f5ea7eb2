"""Figures: what a state shows besides a board, as lines of text.

    Turn       whose turn it is
    Holdings   what each role holds: cards, points, a choice
    Counters   numbers such as a step or the roll of a die
    Piles      heaps as rows of pieces
    Lines      lines between dots

Each figure takes some facts of a state; `figure_finder` recognizes them from the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol

from gdl.program import arguments_of
from gdl.terms import Compound, Term
from ggp.analysis.board import Axis, is_of, shown_columns

ROW_CHARACTERS = 76
"""Maximum width of a row that shows all roles next to each other."""


class Piece(NamedTuple):
    """A piece of a line. `name` chooses its color; pieces without one are plain or dim.

    drawn   what a page may draw instead of the text: a card, die, chip or pile; or ""
    """

    text: str
    name: str = ""
    is_dim: bool = False
    drawn: str = ""


Line = list[Piece]


class Figure(Protocol):
    """A part of the picture of a state."""

    def takes(self, fact: Term) -> bool:
        """Whether this figure shows `fact`."""
        ...

    def lines(self, facts: Sequence[Term]) -> list[Line]:
        """The drawing of `facts`, all of which this figure takes."""
        ...


_CARDS = frozenset({"card", "cards", "hand", "holds", "held", "public", "dealt", "upcard"})
_DICE = frozenset({"die", "dice", "roll", "rolled"})
_CHIPS = frozenset({"score", "stake", "pot", "points", "coins", "chips"})


def drawing_of(name: str, value: str) -> str:
    """What is drawn for a value of a fluent or percept with this name: a card, die or chip; or "".

    >>> [drawing_of(name, "3") for name in ("hand", "rolled", "score", "car")]
    ['card', 'die', 'chip', '']
    """
    if name in _DICE and value in ("1", "2", "3", "4", "5", "6"):
        return "die"
    if name in _CHIPS and value.isdigit():
        return "chip"
    return "card" if name in _CARDS else ""


def is_card(name: str) -> bool:
    """Whether the values of a fluent or percept with this name are cards."""
    return name in _CARDS


def line_text(line: Line) -> str:
    """A line without its colors.

    >>> line_text([Piece("red", "red"), Piece(" to move")])
    'red to move'
    """
    return "".join(piece.text for piece in line).rstrip()


def words_of(term: Term) -> str:
    """A move or fact without its outer parentheses.

    >>> from gdl.syntax.parser import parse_term
    >>> words_of(parse_term("(draw (across 1 2))")), words_of(parse_term("noop"))
    ('draw (across 1 2)', 'noop')
    """
    text = str(term)
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


@dataclass(frozen=True)
class _OfFluent:
    """A figure for all facts of one fluent."""

    name: str
    _arity: ClassVar[int] = 2

    def takes(self, fact: Term) -> bool:
        return is_of(fact, self.name, self._arity)


@dataclass(frozen=True)
class Turn(_OfFluent):
    """The role that is to move: facts such as `(control red)`."""

    _arity = 1

    def lines(self, facts: Sequence[Term]) -> list[Line]:
        roles = [str(arguments_of(fact)[0]) for fact in facts]
        return [[Piece(role, role), Piece(" to move")] for role in roles]


@dataclass(frozen=True)
class Holdings(_OfFluent):
    """What each role holds: facts such as `(hand left 3)` or `(score red 20)`.

    position   of the argument that is the role
    roles      in rule-sheet order
    """

    position: int
    roles: tuple[str, ...]

    def lines(self, facts: Sequence[Term]) -> list[Line]:
        held: dict[str, list[str]] = {}
        for fact in facts:
            arguments = arguments_of(fact)
            held.setdefault(str(arguments[self.position]), []).append(str(arguments[1 - self.position]))
        roles = [*self.roles, *(role for role in held if role not in self.roles)]
        rows: list[Line] = [
            [
                Piece(role, role),
                *(
                    Piece(f" {value}", drawn=drawing_of(self.name, value))
                    for value in sorted(held[role], key=natural_key)
                ),
            ]
            for role in roles
            if role in held
        ]
        label, gap = Piece(self.name, is_dim=True), Piece("  ")
        joined = [label, *(piece for row in rows for piece in (gap, *row))]
        if len(line_text(joined)) <= ROW_CHARACTERS:
            return [joined]
        return [[label], *([gap, *row] for row in rows)]


@dataclass(frozen=True)
class Counters:
    """Numbers about the whole game, all in one line: facts such as `(step 4)` or `(rolled 2)`.

    labels   of the sheet: name → the words to show instead
    limits   name → the number at which the match ends
    """

    names: frozenset[str]
    labels: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)

    def takes(self, fact: Term) -> bool:
        return fact.name in self.names and len(arguments_of(fact)) == 1

    def label(self, name: str) -> str:
        """The words for a counter."""
        return self.labels.get(name, name.replace("_", " "))

    def lines(self, facts: Sequence[Term]) -> list[Line]:
        pieces: Line = []
        for fact in facts:
            pieces += [Piece("  ") if pieces else Piece(""), Piece(f"{self.label(fact.name)} ", is_dim=True)]
            value = str(arguments_of(fact)[0])
            pieces.append(Piece(value, drawn=drawing_of(fact.name, value)))
            pieces += (
                [Piece(f" of {self.limits[fact.name]}", is_dim=True)] if fact.name in self.limits else []
            )
        return [pieces] if pieces else []


@dataclass(frozen=True)
class Piles(_OfFluent):
    """Heaps by their size: facts such as `(heap c 5)`."""

    def lines(self, facts: Sequence[Term]) -> list[Line]:
        rows = [tuple(map(str, arguments_of(fact))) for fact in facts]
        width = max((len(name) for name, _ in rows), default=0)
        digits = max((len(count) for _, count in rows), default=0)
        lines = []
        for name, count in sorted(rows, key=lambda row: natural_key(row[0])):
            pieces = " ".join("o" * int(count)) if count.isdigit() else ""
            lines.append([Piece(f"{name:<{width}}  {count:>{digits}}  "), Piece(pieces, name, drawn="pile")])
        return lines


@dataclass(frozen=True)
class LineFamily:
    """The lines of one direction between dots: facts such as `(drawn (across 1 2))` or `(across 1 2)`.

    fluent    name of the fluent; functor: of the term inside it, or "" if the coordinates are its arguments
    """

    fluent: str
    functor: str
    across: Axis
    down: Axis

    def find(self, fact: Term) -> tuple[int, int] | None:
        """Column and row of the line that `fact` draws; None if it draws none of these."""
        arguments = arguments_of(fact)
        if fact.name != self.fluent:
            return None
        if self.functor:
            if len(arguments) != 1 or arguments[0].name != self.functor:
                return None
            arguments = arguments_of(arguments[0])
        if len(arguments) != 2:
            return None
        texts = list(map(str, arguments))
        column, row = self.across.find(texts), self.down.find(texts)
        return None if column is None or row is None else (column, row)


@dataclass(frozen=True)
class Lines:
    """Lines between dots, as in dots and boxes.

    level        lines to the right of a dot
    upright      lines above a dot
    has_letters  whether columns are shown as letters if moves name lines, although the rules number them
    """

    level: LineFamily
    upright: LineFamily
    has_letters: bool = True

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns of dots as they are shown."""
        values = self.upright.across.values
        is_named_by_moves = self.has_letters and self.level.functor
        return shown_columns(values) if is_named_by_moves else tuple(value[-1] for value in values)

    def find_move(self, move: Term) -> tuple[bool, tuple[int, int]] | None:
        """Whether the line that a move such as `(draw (across 1 2))` names is upright, and its first dot."""
        for is_upright, family in ((False, self.level), (True, self.upright)):
            for argument in arguments_of(move):
                place = family.find(Compound(family.fluent, (argument,))) if family.functor else None
                if place is not None:
                    return is_upright, place
        return None

    def edge_text(self, move: Term) -> str | None:
        """The line that a move names, by its ends: `edge a3–b3`; None if it names none."""
        found = self.find_move(move)
        if found is None:
            return None
        is_upright, (column, row) = found
        ends = ((column, row), (column + (not is_upright), row + is_upright))
        rows = [value[-1] for value in self.level.down.values]
        return "edge " + "–".join(f"{self.column_names[x]}{rows[y]}" for x, y in ends)

    def boxes(self, facts: Iterable[Term]) -> frozenset[tuple[int, int]]:
        """Column and row of the boxes that have all four sides."""
        facts = tuple(facts)
        families = (self.level, self.upright)
        level, upright = ({place for fact in facts if (place := own.find(fact))} for own in families)
        return frozenset(
            (column, row)
            for column, row in level
            if (column, row + 1) in level and {(column, row), (column + 1, row)} <= upright
        )

    def takes(self, fact: Term) -> bool:
        return self.level.find(fact) is not None or self.upright.find(fact) is not None

    def lines(self, facts: Sequence[Term]) -> list[Line]:
        level, upright = ({own.find(fact) for fact in facts} for own in (self.level, self.upright))
        columns = self.column_names
        rows = [value[-1] for value in self.level.down.values]
        margin = max(map(len, rows))
        lines: list[Line] = []
        for row in range(len(rows) - 1, -1, -1):
            line = [Piece(f"{rows[row]:>{margin}} ")]
            for column in range(len(columns)):
                line.append(Piece("+", is_dim=True))
                if column + 1 < len(columns):
                    line.append(Piece("---" if (column, row) in level else "   "))
            lines.append(line)
            if row:
                sides = ("|" if (column, row - 1) in upright else " " for column in range(len(columns)))
                lines.append([Piece(" " * (margin + 1) + "   ".join(sides))])
        return [*lines, [Piece(" " * (margin + 1) + "".join(f"{name:<4}" for name in columns))]]


def natural_key(text: str) -> tuple[bool, int, str]:
    """Sort key: numbers by value, then words.

    >>> sorted(["10", "9", "king"], key=natural_key)
    ['9', '10', 'king']
    """
    is_number = text.removeprefix("-").isdigit()
    return (not is_number, int(text) if is_number else 0, text)


def natural_order(values: Iterable[str]) -> tuple[str, ...]:
    """Values in the order of `natural_key`."""
    return tuple(sorted(values, key=natural_key))


def axis_of(position: int, order: Sequence[str]) -> Axis:
    """One argument as an axis."""
    return Axis((position,), tuple((value,) for value in order))
