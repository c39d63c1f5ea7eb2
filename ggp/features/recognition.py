"""recognize_features: the features of a game (`ggp.features.board_features`), from its rules.

The board is that of `ggp.analysis.board_finder`. On it:

* *pieces* are what lies in its cells: `white`, `whiteRook`, `wk`.
* The *owner* of a piece is the role in whose moves it appears on cells, in random playouts; if it never
  does, the role whose name is part of its name. Blanks appear in all roles' moves and have no owner.
* The *source* cell of a move is the one without an own piece on which the move is never legal; the *target*
  cell the one where an own piece can appear by the move. They are searched among the arguments of the
  move (two numbers, or one `a1`) and proven from the circuit by `ggp.features.possibilities`.
* A move that names only a file, as a drop does, has all cells of the file as targets, in the order in which
  they fill up.

Nothing here knows the name of a game. Cells are numbered row by row, F fluents, M moves of all roles.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gdl.program import arguments_of
from ggp.analysis.board import Board, Layer
from ggp.analysis.board_finder import find_board
from ggp.circuit.tables import FALSE_LITERAL
from ggp.engines.compiled import CompiledGame
from ggp.features.board_features import NOTHING, Features, MoveFamily, Piece
from ggp.features.possibilities import Question, possible
from ggp.features.recorded_playouts import RecordedPlayouts, record_playouts

TESTED_FACTS = 512
"""Facts off the board that are tested for showing whose turn it is."""

TESTED_MOVES = 96
"""Moves of a family on which a guess about its arguments is tested."""


def recognize_features(game: CompiledGame, deadline: float = math.inf) -> Features | None:
    """The board of `game`, its pieces and moves; None if no board or no owned pieces are recognized.

    deadline   time.monotonic() seconds for the playouts that are watched; the same with every seed
    """
    initial = game.initial_state()
    board = find_board(game.program, game.facts(initial))
    if board is None:
        return None
    names, piece_of, cell_of = _contents(game, board)
    on_board = np.flatnonzero(piece_of != NOTHING)
    if not len(on_board):
        return None
    watched = record_playouts(game, np.arange(len(piece_of)), deadline=deadline)
    owners = _owners(game, names, piece_of, watched)
    pieces = tuple(Piece(name, owner) for name, owner in zip(names, owners, strict=True))
    if all(piece.owner == NOTHING for piece in pieces):
        return None
    finder = _MoveCells(game, board, pieces, piece_of, cell_of, watched)
    families = tuple(finder.families())
    single = _single_cells(board, cell_of, watched)
    targets, ways = tuple(finder.targets_of), tuple(finder.way_of)
    return Features(board, pieces, piece_of, cell_of, single, families, finder.source_of, targets, ways)


def _contents(game: CompiledGame, board: Board) -> tuple[list[str], NDArray[np.int32], NDArray[np.int32]]:
    """Names of all contents; piece and cell of every fluent."""
    fluents = game.terms.fluents
    piece_of = np.full(len(fluents), NOTHING, np.int32)
    cell_of = np.full(len(fluents), NOTHING, np.int32)
    number: dict[tuple[int, tuple[str, ...]], int] = {}
    placed = [board.place(fluent) for fluent in fluents]
    contents = [{place[2] for place in placed if place and place[0] == i} for i in range(len(board.layers))]
    for f, place in enumerate(placed):
        if place is not None:
            index, (column, row), content = place
            # Families with the same meaning, such as one for even and one for odd cells, share pieces.
            first = next(i for i, known in enumerate(contents) if known == contents[index])
            piece_of[f] = number.setdefault((first, content), len(number))
            cell_of[f] = row * len(board.across.values) + column
    is_unique = len({content for _, content in number}) == len(number)
    names = [
        " ".join(content if is_unique else (board.layers[index].name, *content)) for index, content in number
    ]
    return names, piece_of, cell_of


def _steps(source: tuple[int, ...], target: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The arguments of all cells from source to target, if these follow one another."""
    size = len(source)
    count, rest = divmod(target[0] - source[0], size)
    if rest == 0 and count > 0 and tuple(i - count * size for i in target) == source:
        yield from (tuple(i + k * size for i in source) for k in range(count + 1))
    else:
        yield from (source, target)


def _single_cells(board: Board, cell_of: NDArray[np.int32], watched: RecordedPlayouts) -> NDArray[np.bool_]:
    single = np.ones(len(board.across.values) * len(board.down.values), np.bool_)
    for cell in range(len(single)):
        one = np.zeros_like(watched.words[:, 0])
        for fluent in np.flatnonzero(cell_of == cell):
            x = watched.words[:, fluent]
            single[cell] &= not (one & x).any()
            one |= x
    return single


def _owners(
    game: CompiledGame, names: Sequence[str], piece_of: NDArray[np.int32], watched: RecordedPlayouts
) -> list[int]:
    """The role whose moves make each piece appear; by name if none do."""
    roles = len(game.roles)
    appeared = np.zeros((roles, len(piece_of)), np.int64)
    words = watched.words
    for t in range(len(words) - 1):
        new = words[t + 1] & ~words[t]
        is_live = t < watched.length
        for role in range(roles):
            lanes = np.packbits(is_live & (watched.mover[t] == role), bitorder="little").view(np.uint64)
            if lanes.any():
                appeared[role] += ((new & lanes) != 0).any(axis=1)
    owners = []
    for piece, name in enumerate(names):
        counts = appeared[:, piece_of == piece].sum(axis=1)
        makers = np.flatnonzero(counts)
        if len(makers):
            owners.append(int(makers[0]) if len(makers) == 1 else NOTHING)
        else:
            named = [r for r, role in enumerate(game.roles) if str(role).lower() in name.lower()]
            owners.append(named[0] if len(named) == 1 else NOTHING)
    return owners


class _MoveCells:
    """Finds which arguments of moves are cells; fills source_of and targets_of."""

    def __init__(
        self,
        game: CompiledGame,
        board: Board,
        pieces: Sequence[Piece],
        piece_of: NDArray[np.int32],
        cell_of: NDArray[np.int32],
        watched: RecordedPlayouts,
    ) -> None:
        self.game = game
        self.watched = watched
        self.tables = game.tables
        self.layer: Layer = board.layers[0]
        self.columns = len(board.across.values)
        self.owner_of = np.array(
            [NOTHING if piece == NOTHING else pieces[piece].owner for piece in piece_of], np.int32
        )
        self.cell_of = cell_of
        self.turn = Question()
        moves = int(self.tables.first_move[-1])
        self.source_of = np.full(moves, NOTHING, np.int32)
        self.targets_of: list[tuple[int, ...]] = [()] * moves
        self.way_of: list[tuple[int, ...]] = [()] * moves
        self.arguments = [
            tuple(str(argument) for argument in arguments_of(move))
            for of_role in game.moves
            for move in of_role
        ]

    def families(self) -> Iterator[MoveFamily]:
        """All families with arguments, source_of and targets_of filled in."""
        for role, of_role in enumerate(self.game.moves):
            first = int(self.tables.first_move[role])
            groups: dict[tuple[str, int], list[int]] = {}
            for m, move in enumerate(of_role):
                groups.setdefault((move.name, len(arguments_of(move))), []).append(first + m)
            for (name, arity), moves in groups.items():
                if arity and (self.owner_of == role).any():
                    yield self._family(role, name, arity, moves)

    def _family(self, role: int, name: str, arity: int, moves: list[int]) -> MoveFamily:
        windows = [w for w in self._windows(arity) if all(self._cell(m, w) is not None for m in moves)]
        possible_moves = [m for m in moves if int(self.tables.legal[m]) != FALSE_LITERAL]
        tested = possible_moves[:: max(1, len(moves) // TESTED_MOVES)]
        self.turn = self._turn(role, tested)
        source = next((w for w in windows if self._is_source(role, w, tested)), None)
        windows = [w for w in windows if w != source]
        kinds = itertools.product((True, False), windows)
        target = next((w for sure, w in kinds if self._is_target(role, w, tested, is_certain=sure)), None)
        file = None
        for m in moves:
            if source is not None:
                self.source_of[m] = self._named(m, source)
            if target is not None:
                self.targets_of[m] = (self._named(m, target),)
        if source is not None and target is not None:
            way = [w for w in _steps(source, target) if w in windows or w == source]
            for m in moves:
                self.way_of[m] = tuple(self._named(m, w) for w in way)
        if source is None and target is None:
            file = self._find_file(role, arity, moves)
        return MoveFamily(role, name, arity, tuple(moves), source, target, file, self.turn)

    def _windows(self, arity: int) -> Iterator[tuple[int, ...]]:
        """Arguments that may name a cell, in the order of the coordinates in the board's fluents."""
        keys = len(self.layer.across.positions) + len(self.layer.down.positions)
        if self.layer.joint is not None:
            yield from ((i,) for i in range(arity))
        elif keys == 2:
            pairs = itertools.permutations(range(arity), 2)
            yield from sorted(pairs, key=lambda pair: (pair[0] > pair[1], abs(pair[0] - pair[1]), pair))
        else:
            yield from (tuple(range(i, i + keys)) for i in range(arity - keys + 1))

    def _cell(self, move: int, window: tuple[int, ...]) -> int | None:
        texts = [self.arguments[move][i] for i in window]
        if self.layer.joint is not None:
            texts = [texts[0][:1], texts[0][1:]]
        positions = sorted((*self.layer.across.positions, *self.layer.down.positions))
        named = dict(zip(positions, texts, strict=True))
        column = self.layer.across.index.get(tuple(named[p] for p in self.layer.across.positions))
        row = self.layer.down.index.get(tuple(named[p] for p in self.layer.down.positions))
        return None if column is None or row is None else row * self.columns + column

    def _own(self, role: int, cell: int) -> NDArray[np.int64]:
        return np.flatnonzero((self.owner_of == role) & (self.cell_of == cell))

    def _turn(self, role: int, moves: Sequence[int]) -> Question:
        """The facts off the board without which none of `moves` is legal, and what others cannot do then."""
        off_board = [int(f) for f in np.flatnonzero(self.cell_of == NOTHING)[:TESTED_FACTS]]
        if not moves or not off_board:
            return Question()
        few = moves[:: max(1, len(moves) // 8)]
        questions = [Question(None, (), (f,)) for f in off_board]
        legal = np.tile(self.tables.legal[list(few)], (len(off_board), 1))
        is_possible = possible(self.tables, questions, legal)
        needed = {f for f, without in zip(off_board, is_possible, strict=True) if not without.any()}
        excluded = {f for n in needed for f in self._rivals(n)} - needed
        known = Question(None, tuple(sorted(needed)), tuple(sorted(excluded)))
        first = self.tables.first_move
        others = np.delete(np.arange(len(self.arguments)), np.s_[first[role] : first[role + 1]])
        is_legal = possible(self.tables, [known], self.tables.legal[others][None, :])[0]
        return Question(None, known.true, known.false, tuple(int(m) for m in others[~is_legal]))

    def _rivals(self, fluent: int) -> Iterator[int]:
        """Facts of the same kind that were never seen together with this one."""
        words, fluents = self.watched.words, self.game.terms.fluents
        kind = fluents[fluent].name, len(arguments_of(fluents[fluent]))
        for f in np.flatnonzero(self.cell_of == NOTHING).tolist():
            is_like = (fluents[f].name, len(arguments_of(fluents[f]))) == kind
            if is_like and not (words[:, fluent] & words[:, f]).any():
                yield f

    def _is_source(self, role: int, window: tuple[int, ...], moves: Sequence[int]) -> bool:
        """Whether none of `moves` can be legal without an own piece on the cell named."""
        questions = [self.turn.knowing(false=self._own(role, self._named(m, window))) for m in moves]
        asked = self.tables.legal[list(moves)][:, None]
        return bool(moves) and not possible(self.tables, questions, asked).any()

    def _is_target(
        self, role: int, window: tuple[int, ...], moves: Sequence[int], *, is_certain: bool
    ) -> bool:
        """Whether an own piece can (or must) appear by each of `moves` on the cell named."""
        cells = [self._named(m, window) for m in moves]
        return bool(moves) and bool(self._appears(role, moves, cells, is_certain=is_certain).all())

    def _named(self, move: int, window: tuple[int, ...]) -> int:
        cell = self._cell(move, window)
        assert cell is not None
        return cell

    def _appears(
        self, role: int, moves: Sequence[int], cells: Sequence[int], *, is_certain: bool = False
    ) -> NDArray[np.bool_]:
        """bool[Q]: whether a piece of `role` can (or must) appear by moves[q] on cells[q], where none is."""
        own = [self._own(role, cell) for cell in cells]
        asked = self._following(own)
        questions = [self.turn.knowing(m, false=fluents) for m, fluents in zip(moves, own, strict=True)]
        can_appear = possible(self.tables, questions, asked)
        if is_certain:
            can_appear &= ~possible(self.tables, questions, asked ^ 1)
        return np.asarray(can_appear.any(axis=1))

    def _following(self, fluents: Sequence[NDArray[np.int64]]) -> NDArray[np.int32]:
        """int32[Q, A]: the next values of the fluents asked about, padded with FALSE."""
        asked = np.full((len(fluents), max(map(len, fluents), default=0)), FALSE_LITERAL, np.int32)
        for row, each in zip(asked, fluents, strict=True):
            row[: len(each)] = self.tables.next[each]
        return asked

    def _find_file(self, role: int, arity: int, moves: Sequence[int]) -> int | None:
        """The argument that names a file whose cells fill up one by one."""
        axes = (self.layer.across, self.layer.down)
        if self.layer.joint is not None or any(len(axis.positions) > 1 for axis in axes):
            return None
        rows = len(self.layer.down.values)
        for i, is_column in itertools.product(range(arity), (True, False)):
            index = axes[0].index if is_column else axes[1].index
            found: list[tuple[int, ...] | None] = []
            for m in moves:
                place = index.get((self.arguments[m][i],))
                if place is None:
                    break
                cells = [
                    row * self.columns + column
                    for row in (range(rows) if is_column else (place,))
                    for column in ((place,) if is_column else range(self.columns))
                ]
                found.append(self._filling_order(role, m, cells))
            if len(found) == len(moves) and all(found):
                for m, order in zip(moves, found, strict=True):
                    self.targets_of[m] = order or ()
                return i
        return None

    def _filling_order(self, role: int, move: int, cells: Sequence[int]) -> tuple[int, ...] | None:
        """Those of `cells` where the move can put a piece; each is used once those before it are not free.
        None if there is no such order."""
        can_appear = self._appears(role, [move] * len(cells), cells)
        cells = [cell for cell, can in zip(cells, can_appear, strict=True) if can]
        pairs = [(cell, other) for cell in cells for other in cells if cell != other]
        if not pairs:
            return None
        questions = [self._both_free(move, cell, other) for cell, other in pairs]
        can_appear = possible(self.tables, questions, self._following([self._own(role, c) for c, _ in pairs]))
        earlier: dict[int, set[int]] = {cell: set() for cell in cells}
        for (cell, other), can in zip(pairs, can_appear, strict=True):
            if not can.any():
                earlier[cell].add(other)
        for middle in cells:
            for cell in cells:
                if middle in earlier[cell]:
                    earlier[cell] |= earlier[middle]
        order = sorted(cells, key=lambda cell: len(earlier[cell]))
        is_chain = all(earlier[cell] == set(order[:k]) for k, cell in enumerate(order))
        return tuple(order) if is_chain else None

    def _both_free(self, move: int, *cells: int) -> Question:
        owned = np.flatnonzero(np.isin(self.cell_of, cells) & (self.owner_of != NOTHING))
        blanks = (np.flatnonzero((self.cell_of == cell) & (self.owner_of == NOTHING)) for cell in cells)
        return self.turn.knowing(move, (int(blank[0]) for blank in blanks if len(blank) == 1), owned)
