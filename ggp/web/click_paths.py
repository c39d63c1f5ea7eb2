"""Cells to click for a move: source then target, one cell, or anywhere in a column.

Only the arguments of a move are interpreted: those that are coordinates of the board, in the order in
which the board's fluents have them. A move without such arguments has no path and is chosen from the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gdl.program import arguments_of
from gdl.terms import Term
from ggp.analysis.board import Axis, Board, Cell, argument_texts

Path = tuple[frozenset[Cell], ...]
"""Clicks in order; each may go to any of these cells."""


def click_paths(board: Board, moves: Sequence[Term]) -> list[Path]:
    """The path of each of `moves`, in their order; empty for moves that name no cell.

    >>> from ggp.analysis.board import Layer
    >>> from gdl.syntax.parser import parse_term
    >>> axis = (("1",), ("2",))
    >>> board = Board((Layer("cell", 3, Axis((0,), axis), Axis((1,), axis)),), True, (None,))
    >>> moves = [parse_term(text) for text in ("(move 1 1 2 1)", "(mark 2 2)", "noop")]
    >>> [[sorted(cells) for cells in path] for path in click_paths(board, moves)]
    [[[(0, 0)], [(1, 0)]], [[(1, 1)]], []]
    """
    keys = _cell_keys(board)
    places = {words: frozenset([cell]) for words, cell in keys.items()}
    lines = _line_keys(board)
    groups: dict[tuple[str, int], list[int]] = {}
    texts = [_argument_words(move, board.layers[0].joint is not None) for move in moves]
    for index, move in enumerate(moves):
        groups.setdefault((move.name, len(texts[index])), []).append(index)
    paths: list[Path] = [()] * len(moves)
    width = len(next(iter(keys)))
    for (_, length), members in groups.items():
        group = [texts[index] for index in members]
        clicks = [[places[words[at : at + width]] for words in group] for at in _offsets(group, keys, length)]
        found: Iterable[Path] = zip(*clicks, strict=True)
        if not clicks and length == 1:
            found = ((lines[word],) if word in lines else () for (word,) in group)
        for index, path in zip(members, found, strict=False):
            paths[index] = path
    return paths


def _argument_words(move: Term, is_joint: bool) -> tuple[str, ...]:
    """The arguments of a move, those of nested terms included; cells such as `a1` split if `is_joint`."""
    if not is_joint and "(" not in (text := str(move))[1:]:
        return tuple(text.strip("()").split()[1:])  # amazons has 2,000 moves: most are as plain as this
    words: list[str] = []
    pending = list(arguments_of(move))
    while pending:
        term = pending.pop(0)
        inner = arguments_of(term)
        if inner:
            pending[:0] = inner
            continue
        text = str(term)
        is_cell = is_joint and len(text) > 1 and text[0].isalpha() and text[1:].isdigit()
        words += argument_texts([term], 0) if is_cell else [text]
    return tuple(words)


def _cell_keys(board: Board) -> Mapping[tuple[str, ...], Cell]:
    """Coordinates, in the order of the first layer's arguments → cell."""
    across, down = board.across, board.down
    order = sorted((*across.positions, *down.positions))
    keys = {}
    for column, column_values in enumerate(across.values):
        for row, row_values in enumerate(down.values):
            at = {**_placed(across, column_values), **_placed(down, row_values)}
            keys[tuple(at[position] for position in order)] = (column, row)
    return keys


def _placed(axis: Axis, values: tuple[str, ...]) -> dict[int, str]:
    return dict(zip(axis.positions, values, strict=True))


def _line_keys(board: Board) -> Mapping[str, frozenset[Cell]]:
    """Name of a column → its cells, for moves such as `(drop 3)`; rows if no column has the name."""
    columns, rows = board.across.values, board.down.values
    lines = {
        values[-1]: frozenset((column, row) for column in range(len(columns)))
        for row, values in enumerate(rows)
    }
    for column, values in enumerate(columns):
        lines[values[-1]] = frozenset((column, row) for row in range(len(rows)))
    return lines


def _offsets(
    group: Sequence[tuple[str, ...]], keys: Mapping[tuple[str, ...], Cell], length: int
) -> tuple[int, ...]:
    """Indices at which coordinates begin in every move of a group.

    If several readings cover equally many cells, the last one counts: a piece is named before its place.
    """
    width = len(next(iter(keys)))
    fits = [
        at for at in range(length - width + 1) if {words[at : at + width] for words in group} <= keys.keys()
    ]
    chosen: list[int] = []
    for at in reversed(fits):
        if not chosen or at + width <= chosen[-1]:
            chosen.append(at)
    return tuple(reversed(chosen))
