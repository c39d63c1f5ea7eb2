"""What the arguments of moves mean on a board: cells, columns and lines, judged from the rules.

Two neighboring arguments are a cell if a rule uses them as the coordinates of one, or if the values that they
can have are coordinates. What else a move says is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from typing import TypeAlias

from gdl.program import Literal, Program, Rule, arguments_of
from gdl.terms import Term, Variable
from ggp.analysis.board import Board, Cell, argument_texts
from ggp.analysis.fluent_domains import move_domains

Path: TypeAlias = tuple[frozenset[Cell], ...]
"""Places in order; each may be any of these cells."""
Family: TypeAlias = tuple[str, int]
"""Name of a move and number of its arguments, those of terms inside it included, `a1` counted twice."""


@dataclass(frozen=True)
class MoveReading:
    """How the moves of one game name places of its board.

    windows   family → where in its arguments the coordinates of a cell begin, in order
    lines     families whose only argument names a column, or a row
    known     all families of which the rules show the values
    left      contents that a rule gives to the cell that a piece leaves: nothing stands there
    """

    board: Board
    windows: Mapping[Family, tuple[int, ...]] = field(default_factory=dict)
    lines: frozenset[Family] = frozenset()
    known: frozenset[Family] = frozenset()
    left: frozenset[str] = frozenset()

    def words(self, move: Term) -> tuple[str, ...]:
        """The arguments of a move, those of nested terms included; cells such as `a1` are two words."""
        is_joint = self.board.layers[0].joint is not None
        if not is_joint and "(" not in (text := str(move))[1:]:
            return tuple(text.strip("()").split()[1:])  # amazons has 2,000 moves: most are as plain as this
        words: list[str] = []
        for term in leaves(move):
            text = str(term)
            is_cell = is_joint and len(text) > 1 and text[0].isalpha() and text[1:].isdigit()
            words += argument_texts([term], 0) if is_cell else [text]
        return tuple(words)

    def paths(self, moves: Sequence[Term]) -> list[Path]:
        """The path of each of `moves`; families that the rules leave open are read by the moves given.

        >>> from gdl.syntax.parser import parse_term
        >>> from ggp.analysis.board import Axis, Layer
        >>> axis = (("1",), ("2",))
        >>> board = Board((Layer("cell", 3, Axis((0,), axis), Axis((1,), axis)),), True, (None,))
        >>> moves = [parse_term(text) for text in ("(move 1 1 2 1)", "(mark 2 2)", "noop")]
        >>> [[sorted(cells) for cells in path] for path in MoveReading(board).paths(moves)]
        [[[(0, 0)], [(1, 0)]], [[(1, 1)]], []]
        """
        groups: dict[Family, list[tuple[str, ...]]] = {}
        for move in moves:
            words = self.words(move)
            if (family := (move.name, len(words))) not in self.known:
                groups.setdefault(family, []).append(words)
        if not groups:
            return list(map(self.path, moves))
        places, width = self._cells_by_coordinates, self.width
        windows = dict(self.windows)
        for family, group in groups.items():
            starts = range(family[1] - width + 1)
            fits = {at for at in starts if {words[at : at + width] for words in group} <= places.keys()}
            windows[family] = tuple(sorted(_choose(fits, set(), width)))
        lines = {family for family in groups if family[1] == 1 and not windows[family]}
        reading = replace(self, windows=windows, lines=self.lines | lines)
        return list(map(reading.path, moves))

    def path(self, move: Term) -> Path:
        """The cells of a move: source then target, one cell, or any cell of a column; empty if it has none.

        >>> import ggp
        >>> game = ggp.load("checkers", engine="reasoner")
        >>> reading = ggp.show(game).picture.notation.reading
        >>> [sorted(cells) for cells in reading.path(ggp.parse_term("(move 2 6 1 5)"))]
        [[(1, 5)], [(0, 4)]]
        """
        words = self.words(move)
        if (move.name, len(words)) in self.lines:
            cells = self._cells_by_line.get(words[0])
            return () if cells is None else (cells,)
        return tuple(frozenset([cell]) for cell in self.cells(move).values())

    def cells(self, move: Term) -> dict[int, Cell]:
        """The cells that a move names, by the place of their first coordinate in `words`."""
        words, width = self.words(move), self.width
        starts = self.windows.get((move.name, len(words)), ())
        found = {at: self._cells_by_coordinates.get(words[at : at + width]) for at in starts}
        return {at: cell for at, cell in found.items() if cell is not None}

    @cached_property
    def width(self) -> int:
        """Arguments that name a cell."""
        return len(self.board.across.positions) + len(self.board.down.positions)

    @cached_property
    def across_offset(self) -> int:
        """Which of the arguments of a cell is the column, if there are two: 0 or 1."""
        return int(self.board.across.positions > self.board.down.positions)

    @cached_property
    def _cells_by_coordinates(self) -> Mapping[tuple[str, ...], Cell]:
        """Coordinates, in the order of the first layer's arguments → cell."""
        across, down = self.board.across, self.board.down
        positions = (*across.positions, *down.positions)
        found = {}
        for (column, first), (row, second) in product(enumerate(across.values), enumerate(down.values)):
            words = tuple(word for _, word in sorted(zip(positions, first + second, strict=True)))
            found[words] = column, row
        return found

    @cached_property
    def _cells_by_line(self) -> Mapping[str, frozenset[Cell]]:
        """Name of a column → its cells, for moves such as `(drop 3)`; rows if no column has the name."""
        across, down = self.board.across.values, self.board.down.values
        of_rows = {down[row][-1]: frozenset(product(range(len(across)), (row,))) for row in range(len(down))}
        columns = range(len(across))
        return of_rows | {across[each][-1]: frozenset(product((each,), range(len(down)))) for each in columns}


def leaves(term: Term) -> Iterator[Term]:
    """The arguments of a term, those of compound arguments in their place.

    >>> from gdl.syntax.parser import parse_term
    >>> list(map(str, leaves(parse_term("(move (at 1 2) north)"))))
    ['1', '2', 'north']
    """
    for argument in arguments_of(term):
        yield from leaves(argument) if arguments_of(argument) else (argument,)


def find_reading(program: Program, board: Board) -> MoveReading:
    """The reading that the rules suggest."""
    plain = MoveReading(board)
    found: dict[Family, list[frozenset[str]]] = {}
    for name, values in move_domains(program):
        split = list(values)
        if board.layers[0].joint is not None:
            split = [*chain(*map(_split_cells, values))]
        known = found.setdefault((name, len(split)), [frozenset()] * len(split))
        found[name, len(split)] = [one | other for one, other in zip(known, split, strict=True)]
    stated = _stated_cells(program, board, plain.width)
    windows = {
        family: tuple(sorted(_choose(_fits(plain, values), stated.get(family, set()), plain.width)))
        for family, values in found.items()
    }
    lines = frozenset(
        family
        for family, values in found.items()
        if not windows[family] and family[1] == 1 and values[0] and values[0] <= plain._cells_by_line.keys()
    )
    covered = frozenset(family for family, values in found.items() if all(values))
    windows = {family: at for family, at in windows.items() if at}
    left = _find_left(program, board, windows, plain.width)
    return MoveReading(board, windows, lines, covered, left)


def _split_cells(values: frozenset[str]) -> list[frozenset[str]]:
    if values and all(len(value) > 1 and value[0].isalpha() and value[1:].isdigit() for value in values):
        return [frozenset(value[:1] for value in values), frozenset(value[1:] for value in values)]
    return [values]


def _fits(plain: MoveReading, values: Sequence[frozenset[str]]) -> set[int]:
    """Where arguments with these values can be the coordinates of a cell.

    The values are an over-approximation, so they may go beyond the board.
    """
    board = plain.board
    axes = {
        position: frozenset(value[place] for value in axis.values)
        for axis in (board.across, board.down)
        for place, position in enumerate(axis.positions)
    }
    order = [axes[position] for position in sorted(axes)]
    return {
        at
        for at in range(len(values) - len(order) + 1)
        if all(
            value and (value <= axis or value >= axis)
            for axis, value in zip(order, values[at : at + len(order)], strict=True)
        )
    }


def _choose(fits: set[int], stated: set[int], width: int) -> list[int]:
    """Windows that do not overlap: those that rules state first, then from the end.

    A piece is named before its place, so that of two readings without a rule the last one counts.
    """
    chosen: list[int] = []
    for at in (*sorted(stated & fits, reverse=True), *sorted(fits, reverse=True)):
        if all(abs(at - other) >= width for other in chosen):
            chosen.append(at)
    return chosen


def _moves_of(rule: Rule) -> list[Term]:
    """The moves that a rule speaks of."""
    moves = [arguments_of(rule.head)[1]] if rule.head.name == "legal" else []
    parts = (part for part in rule.body if isinstance(part, Literal) and part.atom.name == "does")
    return [*moves, *(arguments_of(part.atom)[1] for part in parts)]


def _stated_cells(program: Program, board: Board, width: int) -> Mapping[Family, set[int]]:
    """Family → windows that a rule uses as the coordinates of a fact on the board."""
    positions = sorted((*board.across.positions, *board.down.positions))
    layers = {(layer.name, layer.arity) for layer in board.layers}
    stated: dict[Family, set[int]] = {}
    for rule in program.rules:
        moves = _moves_of(rule)
        atoms = [rule.head, *(part.atom for part in rule.body if isinstance(part, Literal))] if moves else []
        facts = [arguments_of(atom)[0] for atom in atoms if atom.name in ("true", "next")]
        cells = [
            [arguments_of(fact)[position] for position in positions]
            for fact in facts
            if (fact.name, len(arguments_of(fact))) in layers and board.layers[0].joint is None
        ]
        for move in moves:
            words = list(leaves(move))
            for at in range(len(words) - width + 1):
                if words[at : at + width] in cells:
                    stated.setdefault((move.name, len(words)), set()).add(at)
    return stated


def _find_left(
    program: Program, board: Board, windows: Mapping[Family, Sequence[int]], width: int
) -> frozenset[str]:
    """The contents of rules such as `(<= (next (cell ?x ?y b)) (does ?p (move ?x ?y ?u ?v)))`."""
    layer, positions = board.layers[0], sorted((*board.across.positions, *board.down.positions))
    found: set[str] = set()
    for rule in program.rules_for("next", 1) if layer.joint is None else ():
        fact = arguments_of(arguments_of(rule.head)[0])
        if arguments_of(rule.head)[0].name != layer.name or len(fact) != layer.arity:
            continue
        for move in _moves_of(rule):
            words = list(leaves(move))
            starts = windows.get((move.name, len(words)), ())
            contents = [fact[position] for position in layer.content_positions]
            cell = [fact[at] for at in positions]
            is_source = len(starts) > 1 and words[starts[0] : starts[0] + width] == cell
            if is_source and len(contents) == 1 and not isinstance(contents[0], Variable):
                found.add(str(contents[0]))
    return frozenset(found)
