"""Moves in the notation of players, `d5–e4` for `(move 4 5 5 4)`, and what a person types back to moves.

A move is written by what its arguments mean: `d3` for a cell, `d5–e4` for two, `d5×e4` if that captures, `4`
for a column, `edge a3–b3` for a line between dots. A sheet can say its own, in its opening comment:

    notation: {1}{2}-{3}{4}/{5}{6}      all moves with six arguments
    notation: bid {1}x{2}               moves named `bid`, if that is the first word

Among the moves of one position no two have the same text: those that would get a longer form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from gdl.errors import GdlError
from gdl.program import Program, arguments_of
from gdl.syntax.parser import parse_term
from gdl.terms import Compound, Term
from ggp.analysis.board import Board, Cell
from ggp.analysis.figures import Lines, words_of
from ggp.analysis.fluent_domains import move_domains
from ggp.analysis.move_reading import Family, MoveReading, find_reading
from ggp.analysis.sheet_comment import read_comment

WAITS = "waits"
"""Text of a move that does nothing while another role moves."""
IDLE = "noop"
KINDS = ("short", "kif")
"""Notations to choose from."""
TEXT_LIMIT = 200
"""Longest text, in characters, of a term that is read back from a report."""
KNOWN_LIMIT = 20_000
"""Texts of moves of which the terms are kept."""

_Shape: TypeAlias = tuple[int, bool, int]
"""Cells, whether a column, and further words of a family of moves."""
_PLACEHOLDER = re.compile(r"\{(\d{1,2})\}")


@dataclass(frozen=True)
class Notation:
    """The notation of one game.

    reading    what arguments mean on its board; None without a board
    lattice    lines between dots, if the game has them
    named      families that need their name, since another one has the same shape
    templates  of the sheet: name of a move or "", number of arguments → text
    is_kif     write terms in KIF instead
    """

    reading: MoveReading | None = None
    lattice: Lines | None = None
    named: frozenset[Family] = frozenset()
    templates: Mapping[tuple[str, int], str] = field(default_factory=dict)
    is_kif: bool = False

    def text(self, move: Term, facts: Sequence[Term] | None = None) -> str:
        """The text of one move; `facts` of the state in which it is made show what it captures.

        >>> import ggp
        >>> game = ggp.load("connectfour", engine="reasoner")
        >>> notation = ggp.show(game).picture.notation
        >>> [notation.text(move) for move in game.legal_moves(game.initial_state(), game.roles[0])]
        ['1', '2', '3', '4', '5', '6', '7']
        """
        if self.is_kif:
            return str(move)
        return self._short(move, self._occupied(facts))

    def texts(self, moves: Sequence[Term], facts: Sequence[Term] | None = None) -> list[str]:
        """The texts of the legal moves of one role, no two of them alike, also as they are read back."""
        occupied = self._occupied(facts)
        forms: tuple[Callable[[Term], str], ...] = (
            lambda move: self._short(move, occupied),
            lambda move: self._long(move, occupied),
            words_of,
            str,
        )
        if self.is_kif:
            return list(map(str, moves))
        found = [forms[0](move) for move in moves]
        for form in forms[1:]:
            counts = Counter(map(typed_key, found))
            if counts.total() == len(counts):
                break
            found = [
                form(move) if counts[typed_key(text)] > 1 else text
                for move, text in zip(moves, found, strict=True)
            ]
        return found

    def find(self, typed: str, moves: Sequence[Term], facts: Sequence[Term] | None = None) -> Term | None:
        """The move among the legal `moves` that `typed` stands for: its text, or its term in KIF.

        >>> import ggp
        >>> game = ggp.load("tictactoe", engine="reasoner")
        >>> notation = ggp.show(game).picture.notation
        >>> legal = game.legal_moves(game.initial_state(), game.roles[0])
        >>> [str(notation.find(typed, legal)) for typed in ("B3", "mark 2 3", "(mark 2 3)", "b4")]
        ['(mark 2 3)', '(mark 2 3)', '(mark 2 3)', 'None']
        """
        wanted = typed_key(typed)
        for texts in (self.texts(moves, facts), map(words_of, moves)):
            for move, text in zip(moves, texts, strict=True):
                if typed_key(text) == wanted:
                    return move
        return None

    def of_kif(self, text: str, facts: Sequence[Term] | None = None) -> str:
        """The text of a move that a record or a report has as KIF; `text` itself if it cannot be read."""
        term = self.term_of(text)
        return text if term is None else self.text(term, facts)

    def joint(self, joint_move: Sequence[Term], facts: Sequence[Term] | None = None) -> list[str]:
        """The texts of a joint move in role order."""
        occupied = self._occupied(facts)
        return [str(move) if self.is_kif else self._short(move, occupied) for move in joint_move]

    def line(self, moves: Sequence[Sequence[str]], facts: Sequence[Term]) -> list[list[str]]:
        """The texts of joint moves in a row, each move given in KIF, from the state `facts` on.

        What stands where after a move is judged from the cells that it names.
        """
        occupied, texts = set(self._occupied(facts)), []
        for joint_move in moves:
            terms = [self.term_of(text) for text in joint_move]
            now = frozenset(occupied)
            pairs = zip(terms, joint_move, strict=True)
            texts.append([text if term is None else self._short(term, now) for term, text in pairs])
            for term in terms:
                if term is not None:
                    self._step(term, occupied)
        return texts

    def _step(self, move: Term, occupied: set[Cell]) -> None:
        """Move what the cells named by `move` suggest: from the first one to the others."""
        reading = self.reading
        cells = [] if reading is None else list(reading.cells(move).values())
        if len(cells) > 1 and cells[0] in occupied:
            occupied.remove(cells[0])
        occupied |= set(cells[1:] or cells)

    def term_of(self, text: str) -> Term | None:
        """The move that a report has as `text`; None if it is to be shown as it is."""
        if self.is_kif or len(text) > TEXT_LIMIT:
            return None
        if text not in self._known:
            if len(self._known) >= KNOWN_LIMIT:
                self._known.clear()
            try:
                self._known[text] = parse_term(text)
            except GdlError:
                return None
        return self._known[text]

    @cached_property
    def _known(self) -> dict[str, Term]:
        return {}

    def _occupied(self, facts: Sequence[Term] | None) -> frozenset[Cell]:
        if facts is None or self.reading is None or self.is_kif:
            return frozenset()
        left, contents = self.reading.left, self.reading.board.contents(facts)
        return frozenset(cell for cell, stack in contents.items() if stack[0][-1] not in left)

    def _short(self, move: Term, occupied: frozenset[Cell]) -> str:
        return self._written(move, occupied, is_named=False)

    def _long(self, move: Term, occupied: frozenset[Cell]) -> str:
        return self._written(move, occupied, is_named=True)

    def _written(self, move: Term, occupied: frozenset[Cell], *, is_named: bool) -> str:
        if not isinstance(move, Compound):
            return WAITS if move.name == IDLE else str(move)
        edge = None if self.lattice is None else self.lattice.edge_text(move)
        if edge is not None:
            return f"{move.name} {edge}" if is_named else edge
        reading = self.reading
        words = tuple(map(str, arguments_of(move))) if reading is None else reading.words(move)
        family = move.name, len(words)
        template = self.templates.get(family, self.templates.get(("", len(words))))
        if template is not None and not is_named:
            return self._filled(template, move, words, occupied)
        cells = {} if reading is None else reading.cells(move)
        is_column = reading is not None and family in reading.lines
        if not cells and not is_column:
            return words_of(move)
        text = words[0] if is_column else self._listed(move, words, cells, occupied)
        return f"{move.name} {text}" if is_named or family in self.named else text

    def _listed(
        self, move: Term, words: Sequence[str], cells: Mapping[int, Cell], occupied: frozenset[Cell]
    ) -> str:
        """The arguments of a move, with the names of cells in the place of coordinates."""
        assert self.reading is not None
        text, at, sign = "", 0, _sign(tuple(cells.values()), occupied)
        is_after_cell = False
        while at < len(words):
            cell = cells.get(at)
            part = words[at] if cell is None else self.reading.board.cell_text(cell)
            if text:
                text += sign if is_after_cell and cell is not None else " "
                sign = sign if " " in text else "–"
            text += part
            is_after_cell = cell is not None
            at += 1 if cell is None else self.reading.width
        return text

    def _filled(self, template: str, move: Term, words: Sequence[str], occupied: frozenset[Cell]) -> str:
        """A template of the sheet with the arguments of a move; columns are letters as on the board."""
        shown, reading = list(words), self.reading
        cells = {} if reading is None else reading.cells(move)
        if reading is not None and reading.width == 2:
            for at, (column, _) in cells.items():
                shown[at + reading.across_offset] = reading.board.column_names[column]
        text = template.replace("–", _sign(tuple(cells.values()), occupied), 1)
        return _PLACEHOLDER.sub(lambda found: shown[int(found[1]) - 1], text)


def _sign(cells: Sequence[Cell], occupied: frozenset[Cell]) -> str:
    """Between the first two cells: `×` if a piece goes to that of another one."""
    return "×" if len(cells) > 1 and cells[0] != cells[1] and set(cells[:2]) <= occupied else "–"


def typed_key(text: str) -> str:
    """What distinguishes a text that is typed: no letter case, blanks, parentheses or kind of dash.

    >>> typed_key("D5 – E4"), typed_key("d5xe4"), typed_key("(Mark 1 1)"), typed_key("bid 2×3")
    ('d5-e4', 'd5-e4', 'mark 1 1', 'bid 2-3')
    """
    words = " ".join(text.lower().replace("(", " ").replace(")", " ").split())
    words = re.sub(r" ?[–—×-] ?", "-", words)
    return re.sub(r"(?<=\d)x(?=[a-z]?\d)", "-", words)


def find_notation(program: Program, board: Board | None, figures: Iterable[object]) -> Notation:
    """The notation that rules and opening comment suggest."""
    lattice = next((figure for figure in figures if isinstance(figure, Lines)), None)
    reading = None if board is None else find_reading(program, board)
    if reading is not None and _has_numbered_cells(reading):
        reading = replace(reading, board=replace(reading.board, has_letters=True))
    named = frozenset[Family]() if reading is None else _named(reading)
    return Notation(reading, lattice, named, _read_templates(program))


def _has_numbered_cells(reading: MoveReading) -> bool:
    """Whether moves name cells by two numbers: then columns are shown as letters."""
    board = reading.board
    values = (*board.across.values, *board.down.values)
    return bool(reading.windows) and reading.width == 2 and all(value[-1].isdigit() for value in values)


def _named(reading: MoveReading) -> frozenset[Family]:
    """The families whose text shows their name: others have the same shape, or say more than one cell."""
    shapes: dict[Family, _Shape] = {}
    for family in reading.known:
        count = len(reading.windows.get(family, ()))
        if count or family in reading.lines:
            shapes[family] = count, family in reading.lines, family[1] - count * reading.width
    counts = Counter(shapes.values())
    return frozenset(
        family for family, shape in shapes.items() if counts[shape] > 1 or (shape[0] == 1 and shape[2] > 0)
    )


def _read_templates(program: Program) -> Mapping[tuple[str, int], str]:
    """The templates of a sheet by name, or "", and number of arguments."""
    names = {name for name, _ in move_domains(program)}
    found: dict[tuple[str, int], str] = {}
    for line in read_comment(program.source.text).notations:
        numbers = [int(each) for each in _PLACEHOLDER.findall(line)]
        first = line.split()[0]
        if numbers and min(numbers) > 0:
            template = re.sub(r"(?<=\})-(?=\{)", "–", re.sub(r"(?<=\})x(?=\{)", "×", line))
            found[first if first in names else "", max(numbers)] = template
    return found
