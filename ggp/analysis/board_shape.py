"""The shape of a board, judged from the rules: hexagons, blocks, and which places are cells.

A board is of hexagons if a relation of four coordinates names six neighbors, the four along the axes and two
along one diagonal; or if its lines of cells, centered, lie in the gaps of each other, as in a star. It
consists of blocks if facts sort the coordinates of an axis into runs of equal length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby, pairwise, permutations, product

from gdl.program import Literal, Predicate, Program, Rule, arguments_of
from gdl.terms import Compound, Term, Variable
from ggp.analysis.board import Axis, Board, Cell, Layer, argument_texts, is_of
from ggp.analysis.fluent_domains import stated_relations

_ROUNDS = 4
"""How far neighbors are followed from one relation into the next."""
_STRAIGHT = frozenset({(1, 0), (-1, 0), (0, 1), (0, -1)})

Offset = tuple[int, int]
_Window = tuple[Predicate, int]
"""A relation, and where in its arguments the coordinates of two cells begin."""


def shaped(board: Board, program: Program, named_cells: Iterable[str] = ()) -> Board:
    """`board` with the places outside it, row shifts and blocks.

    named_cells   names such as `a1`, if one argument names the cells of the board
    """
    if len(board.across.positions) != 1 or len(board.down.positions) != 1:
        return board
    places = set(product(range(len(board.across.values)), range(len(board.down.values))))
    cells = _named(board, named_cells) or _stated(program, board.layers[0]) or places
    if not any((column + 1, row) in cells for column, row in cells):
        cells = places  # the dark cells of a checkered board
    board = replace(board, outside=frozenset(places - cells))
    lines = _centered_shifts(board, cells)
    if lines is None and named_cells:
        turned = _turned(board)
        turned_cells = {(row, column) for column, row in cells}
        lines = _centered_shifts(turned, turned_cells)
        board, cells = (board, cells) if lines is None else (turned, turned_cells)
    if lines is None:
        diagonal = _diagonal(program, board)
        lines = tuple(-diagonal * row for row in range(len(board.down.values))) if diagonal else None
    if lines is not None:
        left = min(2 * column + lines[row] for column, row in cells)
        return replace(board, row_shifts=tuple(shift - left for shift in lines))
    return replace(board, blocks=(_block_length(program, board.across), _block_length(program, board.down)))


def _turned(board: Board) -> Board:
    """Rows as columns; the first row of a star is at the top."""
    layers = tuple(replace(layer, across=layer.down, down=layer.across) for layer in board.layers)
    outside = frozenset((row, column) for column, row in board.outside)
    return replace(board, layers=layers, outside=outside, is_upward=False)


def _named(board: Board, names: Iterable[str]) -> set[Cell]:
    across, down = board.across.positions[0], board.down.positions[0]
    first = min(across, down)
    cells = set()
    for name in names:
        texts = {first: name[:1], first + 1: name[1:]}
        column, row = board.across.index.get((texts[across],)), board.down.index.get((texts[down],))
        if column is not None and row is not None:
            cells.add((column, row))
    return cells


def _stated(program: Program, layer: Layer) -> set[Cell]:
    """The cells that all `(base (cell ?x ?y …))` take from relations of pairs; empty if one does not."""
    if layer.joint is not None:
        return set()
    stated = [
        _stated_by(program, layer, rule)
        for rule in program.rules_for("base", 1)
        if is_of(arguments_of(rule.head)[0], layer.name, layer.arity)
    ]
    return set().union(*stated) if all(stated) else set()


def _stated_by(program: Program, layer: Layer, rule: Rule) -> set[Cell]:
    arguments = arguments_of(arguments_of(rule.head)[0])
    keys = [arguments[axis.positions[0]] for axis in (layer.across, layer.down)]
    for literal in rule.body:
        if isinstance(literal, Literal) and literal.predicate.arity == 2:
            ends = arguments_of(literal.atom)
            if set(ends) == set(keys) and len(set(keys)) == 2:
                left, right = ends.index(keys[0]), ends.index(keys[1])
                pairs = _pairs(program, literal.predicate)
                texts = {(pair[left], pair[right]) for pair in pairs}
                return {
                    (layer.across.index[column,], layer.down.index[row,])
                    for column, row in texts
                    if (column,) in layer.across.index and (row,) in layer.down.index
                }
    return set()


def _pairs(program: Program, predicate: Predicate) -> set[tuple[str, str]]:
    """The pairs of a relation that consists of facts and of products of unary relations."""
    pairs: set[tuple[str, str]] = set()
    for rule in program.rules_for(predicate.name, predicate.arity):
        left, right = arguments_of(rule.head)
        if not rule.body:
            pairs.add((str(left), str(right)))
            continue
        values: dict[Term, set[str]] = {}
        for literal in rule.body:
            if not isinstance(literal, Literal) or literal.predicate.arity != 1:
                return set()
            facts = program.rules_for(literal.predicate.name, 1)
            values[arguments_of(literal.atom)[0]] = {
                str(arguments_of(fact.head)[0]) for fact in facts if not fact.body
            }
        pairs |= set(product(values.get(left, set()), values.get(right, set())))
    return pairs


def _centered_shifts(board: Board, cells: set[Cell]) -> tuple[int, ...] | None:
    """Half cells to the right that center every row, if the rows then lie in the gaps of each other."""
    rows = [sorted(column for column, own in cells if own == row) for row in range(len(board.down.values))]
    lengths = list(map(len, rows))
    if len(set(lengths)) == 1 or any(columns != list(range(len(columns))) for columns in rows):
        return None
    if not all((one - next_one) % 2 for one, next_one in pairwise(lengths)):
        return None
    return tuple(max(lengths) - length for length in lengths)


def _diagonal(program: Program, board: Board) -> int:
    """1 or -1 if a cell's neighbors are six, those across the sides and (1, 1) or (1, -1); else 0."""
    steps = product(_neighbor_offsets(program, board).values(), (1, -1))
    return next((d for offsets, d in steps if offsets == _STRAIGHT | {(1, d), (-1, -d)}), 0)


def _neighbor_offsets(program: Program, board: Board) -> Mapping[_Window, frozenset[Offset]]:
    """Steps (across, down) between the two cells of each relation all of whose rules make a fixed step."""
    layer = board.layers[0]
    is_turned = layer.across.positions > layer.down.positions
    axes = (board.down, board.across) if is_turned else (board.across, board.down)
    width = 2 if layer.joint is not None else 4
    reader = _OffsetReader(program, axes)
    found: dict[_Window, set[Offset]] = {}
    for _ in range(_ROUNDS):
        size = sum(map(len, found.values()))
        for predicate, rules in program.by_predicate.items():
            for start in range(predicate.arity - width + 1):
                offsets = reader.read(rules, start, width, found)
                if offsets:
                    found.setdefault((predicate, start), set()).update(offsets)
        if size == sum(map(len, found.values())):
            break
    return {
        window: frozenset((second, first) if is_turned else (first, second) for first, second in offsets)
        for window, offsets in found.items()
    }


class _OffsetReader:
    """Reads steps between cells from rules; `axes` in the order of the coordinates in a fluent."""

    def __init__(self, program: Program, axes: tuple[Axis, Axis]) -> None:
        self._axes = axes
        self._steps = [_steps(program, axis) for axis in axes]

    def read(
        self, rules: Sequence[Rule], start: int, width: int, known: Mapping[_Window, set[Offset]]
    ) -> set[Offset]:
        """The steps of all rules; empty if one of them makes none that is fixed."""
        offsets: set[Offset] = set()
        for rule in rules:
            own = self._of_rule(rule, arguments_of(rule.head)[start : start + width], known)
            called = {part.predicate for part in rule.body if isinstance(part, Literal)}
            if not own and rule.body and rule.predicate not in called:
                return set()
            offsets |= own
        return offsets

    def _of_rule(
        self, rule: Rule, cells: Sequence[Term], known: Mapping[_Window, set[Offset]]
    ) -> set[Offset]:
        if len(cells) == 2:  # named as `a1`
            texts = [text for cell in cells for text in argument_texts([cell], 0)]
            return self._of_texts(texts) if not any(isinstance(cell, Variable) for cell in cells) else set()
        if not rule.body:
            return self._of_texts([str(cell) for cell in cells])
        body = [part for part in rule.body if isinstance(part, Literal) and part.is_positive]
        for literal in body:
            arguments = arguments_of(literal.atom)
            for start in range(len(arguments) - 3):
                offsets = known.get((literal.predicate, start), ())
                if arguments[start : start + 4] == tuple(cells):
                    return set(offsets)
                if arguments[start : start + 4] == (*cells[2:], *cells[:2]):
                    return {(-across, -down) for across, down in offsets}
        across, down = (self._step(axis, cells[axis], cells[axis + 2], body) for axis in (0, 1))
        return set() if across is None or down is None else {(across, down)}

    def _of_texts(self, texts: Sequence[str]) -> set[Offset]:
        places = (self._axes[index % 2].index.get((text,)) for index, text in enumerate(texts))
        known = [place for place in places if place is not None]
        return {(known[2] - known[0], known[3] - known[1])} if len(known) == 4 else set()

    def _step(self, axis: int, one: Term, other: Term, body: Sequence[Literal]) -> int | None:
        if one == other:
            return 0
        for literal in body:
            step = self._steps[axis].get(literal.predicate)
            if step is not None and isinstance(literal.atom, Compound):
                if literal.atom.arguments == (one, other):
                    return step
                if literal.atom.arguments == (other, one):
                    return -step
        return None


def _steps(program: Program, axis: Axis) -> dict[Predicate, int]:
    """Binary relations of facts that always lead one step along `axis`: 1 or -1."""
    steps: dict[Predicate, int] = {}
    for predicate, rows in stated_relations(program, 2):
        places = ((axis.index.get((left,)), axis.index.get((right,))) for left, right in rows)
        made = {right - left for left, right in places if left is not None and right is not None}
        if len(made) == 1 and made <= {1, -1}:
            steps[predicate] = made.pop()
    return steps


def _block_length(program: Program, axis: Axis) -> int:
    """The length of the runs of equal length into which facts sort `axis`; 0 if they do not."""
    values = [value[0] for value in axis.values]
    roles = {str(arguments_of(rule.head)[0]) for rule in program.rules_for("role", 1)}
    columns = {
        predicate: facts
        for predicate, facts in stated_relations(program, 2, 3)
        if not any(roles & set(fact) for fact in facts)  # what is a role's is not a block
    }
    for facts in columns.values():
        for position, other in permutations(range(len(facts[0])), 2):
            length = _run_length(values, [(fact[position], fact[other]) for fact in facts])
            if length:
                return length
    return _run_length(values, _halves(values, columns))


def _halves(
    values: Sequence[str], columns: Mapping[Predicate, Sequence[tuple[str, ...]]]
) -> list[tuple[str, str]]:
    """(coordinate, relation) of pairs in relations that count up a part of the axis each."""
    first: dict[frozenset[str], list[Predicate]] = {}
    place = {value: index for index, value in enumerate(values)}
    for predicate, facts in columns.items():
        if predicate.arity != 2 or len(facts) >= len(values) or not {*chain(*facts)} <= place.keys():
            continue
        ends = [place[right] for _, right in sorted(facts, key=lambda fact: place[fact[0]])]
        if ends == list(range(ends[0], ends[0] + len(ends))):
            first.setdefault(frozenset(left for left, _ in facts), []).append(predicate)
    for predicates in first.values():
        pairs = [(right, each.name) for each in predicates for _, right in columns[each]]
        if _run_length(values, pairs):
            return pairs
    return []


def _run_length(values: Sequence[str], pairs: Sequence[tuple[str, str]]) -> int:
    """Length of the runs if `pairs` (value, group) sort all values into runs of equal length; else 0."""
    groups = dict(pairs)
    if len(groups) != len(pairs) or set(groups) != set(values):
        return 0
    runs = [len(list(run)) for _, run in groupby(values, key=groups.__getitem__)]
    length = runs[0]
    is_even = runs == [length] * len(set(groups.values()))
    return length if is_even and 1 < length < len(values) else 0
