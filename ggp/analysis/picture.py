"""The picture of a state as lines of text: a board, figures, and the facts that neither shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from gdl.program import Program
from gdl.terms import Term
from ggp.analysis.board import Board, Cell, layout, legend
from ggp.analysis.board_finder import find_board
from ggp.analysis.board_style import find_style, owner_of
from ggp.analysis.board_svg import piece_glyph
from ggp.analysis.figure_finder import find_figures, find_map
from ggp.analysis.figures import Figure, Line, Lines, Piece, Turn, line_text
from ggp.analysis.notation import Notation, find_notation
from ggp.analysis.sheet_comment import read_comment

MARKED_SHARE = 0.4
"""Maximum share of cells marked as changed: a board that is rotated as a whole gets no marks."""
LONG_CHAIN = 5
"""Number of cells that are marked as deciding on the smallest board too: the longest chain of hex on 3x3."""


@dataclass(frozen=True)
class Picture:
    """How to draw the states of one game.

    >>> import ggp
    >>> game = ggp.load("nim", engine="reasoner")
    >>> picture = find_picture(game.program, game.facts(game.initial_state()))
    >>> print("\\n".join(picture.text(game.facts(game.initial_state()))))
    a  1  o
    b  3  o o o
    c  5  o o o o o
    d  7  o o o o o o o
    first to move

    board     None if there is none
    figures   for facts that are not on the board
    notation  how moves are written
    """

    board: Board | None
    figures: tuple[Figure, ...]
    notation: Notation = field(default_factory=Notation)

    def board_lines(self, facts: Sequence[Term], before: Sequence[Term] | None = None) -> list[Line]:
        """The board with coordinates; cells that differ from the state `before` are in brackets."""
        if self.board is None:
            return []
        stacks = self.board.contents(facts)
        labels = {cell: self.board.label(stack[0]) for cell, stack in stacks.items()}
        marked = frozenset() if before is None else self.changed_cells(before, facts)
        lines = []
        for pieces in layout(self.board, labels, self.board.standing_walls(facts)):
            line: Line = []
            for text, cell in pieces:
                if cell in stacks:
                    line.append(Piece(text, stacks[cell][0][-1]))
                else:
                    line.append(Piece(text, is_dim=cell is None or not text.strip(".# ")))
            lines.append(_bracketed(line, [cell for _, cell in pieces], marked))
        return lines

    @property
    def lattice(self) -> Lines | None:
        """The figure of lines between dots, if there is one."""
        return next((figure for figure in self.figures if isinstance(figure, Lines)), None)

    def figure_lines(
        self, facts: Iterable[Term], *, is_over: bool = False, is_beside: bool = False
    ) -> list[Line]:
        """The figures, without the turn when the match is over.

        is_beside   lines between dots and the tally are drawn elsewhere
        """
        lines: list[Line] = []
        facts = tuple(facts)
        for figure, own in self._split(facts)[0]:
            if isinstance(figure, Lines) and is_beside:
                continue
            is_shown = not is_over if isinstance(figure, Turn) else own or isinstance(figure, Lines)
            lines += figure.lines(own) if is_shown else []
        label, rows = self.tally(facts)
        pieces = [(Piece("  "), Piece(role, role), Piece(f" {text}")) for role, text in rows if text]
        tally = [Piece(label, is_dim=True), *chain.from_iterable(pieces)]
        return [*lines, tally] if pieces and not is_beside else lines

    def tally(self, facts: Sequence[Term]) -> tuple[str, list[tuple[str, str]]]:
        """What it counts, and a text for each role.

        The discs of each role, if they may change sides; the pieces that each has lost, if pieces move.
        """
        if self.board is None or self.board.style.kind not in ("discs", "checkered"):
            return "", []
        style = self.board.style
        found = Counter(stack[0][-1] for stack in self.board.contents(facts).values())
        rows = []
        roles = frozenset(style.roles)
        for role in dict.fromkeys(role for _, role, _ in style.pieces):
            own = {content: count for content, owner, count in style.pieces if owner == role}
            total = sum(count for each, count in found.items() if owner_of(each, roles) == role)
            if style.kind == "discs":
                rows.append((role, str(total)))
                continue
            # Of the missing pieces, as many as are gone: the others, of the most common kind, were promoted.
            rare_first = sorted(own, key=lambda each: own[each])
            missing = "".join(piece_glyph(each) * max(0, own[each] - found[each]) for each in rare_first)
            rows.append((role, missing[: max(0, sum(own.values()) - total)]))
        return "discs" if style.kind == "discs" else "pieces lost", rows

    def key(self, facts: Sequence[Term]) -> list[tuple[str, str]]:
        """(label, full name) of everything on the board that is drawn abbreviated."""
        return [] if self.board is None else legend(self.board, facts)

    def rest(self, facts: Iterable[Term]) -> list[Term]:
        """The facts that neither board nor figures show."""
        return self._split(facts)[1]

    def text(self, facts: Sequence[Term], *, is_over: bool = False) -> list[str]:
        """The whole picture as lines of text."""
        return [
            *map(line_text, self.board_lines(facts)),
            *(f"{label} = {name}" for label, name in self.key(facts)),
            *map(line_text, self.figure_lines(facts, is_over=is_over)),
            *map(str, self.rest(facts)),
        ]

    def kept(self, before: Sequence[Term], facts: Sequence[Term]) -> tuple[Term, ...]:
        """The facts of a final state, with pieces of the state `before` of which the end says nothing more.

        Rules need not say where the cyclists of tron are after a crash, of both or of one.
        """
        kept: list[Term] = []
        for layer in () if self.board is None else self.board.layers[1:]:
            now = [placed for fact in facts if (placed := layer.place(fact)) is not None]
            taken, standing = {cell for cell, _ in now}, {content for _, content in now}
            for fact in before:
                cell, content = layer.place(fact) or (None, ())
                is_head = self.board is not None and content[-1:] and content[-1] in self.board.style.roles
                if cell is not None and (not now or (is_head and not (content in standing or cell in taken))):
                    kept.append(fact)
        return (*facts, *kept)

    def few_cells(self, facts: Collection[Term], state: Collection[Term]) -> frozenset[Cell]:
        """The cells with pieces that `facts` name, and all cells of those that are not facts of `state`.

        None if they are most of the board.
        """
        if self.board is None:
            return frozenset()
        ended = (self.board.place(fact) for fact in set(facts).difference(state))
        cells = frozenset(
            (*self.board.contents(facts), *(placed[1] for placed in ended if placed is not None))
        )
        count = len(self.board.across.values) * len(self.board.down.values)
        return cells if len(cells) <= max(LONG_CHAIN, MARKED_SHARE * count) else frozenset()

    def is_turn(self, fact: Term) -> bool:
        """Whether a fact says whose turn it is."""
        return any(isinstance(figure, Turn) and figure.takes(fact) for figure in self.figures)

    def changed_cells(self, before: Sequence[Term], after: Sequence[Term]) -> frozenset[Cell]:
        """The cells whose contents differ; none if that is most of the board."""
        if self.board is None:
            return frozenset()
        old, new = self.board.contents(before), self.board.contents(after)
        cells = frozenset(cell for cell in old.keys() | new.keys() if old.get(cell) != new.get(cell))
        count = len(self.board.across.values) * len(self.board.down.values)
        return cells if len(cells) <= max(2, MARKED_SHARE * count) else frozenset()

    def _split(self, facts: Iterable[Term]) -> tuple[list[tuple[Figure, list[Term]]], list[Term]]:
        """The facts of each figure, and those that neither board nor figures show."""
        taken: list[tuple[Figure, list[Term]]] = [(figure, []) for figure in self.figures]
        rest: list[Term] = []
        for fact in facts:
            if self.board is None or not self.board.shows(fact):
                next((own for figure, own in taken if figure.takes(fact)), rest).append(fact)
        return taken, rest


def _bracketed(line: Line, cells: Sequence[Cell | None], marked: frozenset[Cell]) -> Line:
    """The line with brackets in the gaps around marked cells, `|` between two of them.

    >>> line_text(_bracketed([Piece("1"), Piece(" "), Piece("x"), Piece(" "), Piece("o")],
    ...     [None, None, (0, 0), None, (1, 0)], frozenset([(0, 0)])))
    '1[x]o'
    """
    shown: Line = []
    if not any(cell in marked for cell in cells):
        return line
    for index, piece in enumerate(line):
        is_gap = cells[index] is None and not piece.text.strip()
        is_left = index + 1 < len(cells) and cells[index + 1] in marked
        is_right = index > 0 and cells[index - 1] in marked
        if is_gap and (is_left or is_right):
            sign = "|" if is_left and is_right else "[" if is_left else "]"
            width = len(piece.text) - 1
            blanks = " " * width
            text = f"{sign}{blanks}" if is_right else f"{blanks}{sign}"
            piece = Piece("]" + blanks[1:] + "[" if is_left and is_right and width else text)
        shown.append(piece)
    return [*shown, Piece("]")] if cells[-1] in marked else shown


def find_picture(program: Program, facts: Sequence[Term], notation: str = "short") -> Picture:
    """The picture that the rules and the facts of the initial state suggest.

    notation   how moves are written: "short", as `d5–e4`, or "kif"; then columns have the names of the rules

    The line `board: none` in the opening comment of a sheet says that there is none.
    """
    fields = read_comment(program.source.text).fields
    board = None if fields.get("board") == "none" else find_board(program, facts) or find_map(program, facts)
    figures = find_figures(program, facts, board)
    found = find_notation(program, board, figures)
    if found.reading is not None:
        board = replace(found.reading.board, style=find_style(program, found.reading, facts))
    if notation == "kif":
        board = None if board is None else replace(board, has_letters=False)
        plain = (replace(each, has_letters=False) if isinstance(each, Lines) else each for each in figures)
        figures, found = tuple(plain), replace(found, is_kif=True)
    return Picture(board, figures, found)
