"""Features of a game on a board: pieces, cells and families of moves.

`ggp.features.recognition` finds them.

The board is that of `ggp.analysis.board_finder`. Cells are numbered row by row; F fluents, M moves of all
roles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp.analysis.board import Board
from ggp.features.possibilities import Question

NOTHING = -1
"""No cell, no piece, no owner."""


@dataclass(frozen=True)
class Piece:
    """Something that lies in cells; owner is a role's index, or NOTHING."""

    name: str
    owner: int


@dataclass(frozen=True)
class MoveFamily:
    """The moves of one role with the same name and number of arguments.

    source, target    the arguments (from 0) that name the cell, or None
    file              the argument that names a file of cells, of which one is the target; or None
    turn              what is known whenever these moves are legal: whose turn it is, and what others
                      cannot do then
    """

    role: int
    name: str
    arity: int
    moves: tuple[int, ...]
    source: tuple[int, ...] | None
    target: tuple[int, ...] | None
    file: int | None
    turn: Question


@dataclass(frozen=True)
class Features:
    """All recognized features.

    piece_of, cell_of    int32[F]: piece and cell of a fluent, NOTHING if it is not of the board
    single               bool[cells]: never seen with two things at once
    source_of            int32[M]: cell
    targets_of           by move: cells; several where only the file is named, in the order in which they
                         fill up
    way_of               by move: the cells that it names from source to target, both included
    """

    board: Board
    pieces: tuple[Piece, ...]
    piece_of: NDArray[np.int32]
    cell_of: NDArray[np.int32]
    single: NDArray[np.bool_]
    families: tuple[MoveFamily, ...]
    source_of: NDArray[np.int32]
    targets_of: tuple[tuple[int, ...], ...]
    way_of: tuple[tuple[int, ...], ...]

    def fluents_at(self, cell: int) -> NDArray[np.int64]:
        """The fluents of a cell."""
        return np.flatnonzero(self.cell_of == cell)

    def owner_of(self, fluent: int) -> int:
        """The owner of the piece that a fluent puts on the board."""
        piece = int(self.piece_of[fluent])
        return NOTHING if piece == NOTHING else self.pieces[piece].owner

    def pieces_of(self, role: int) -> tuple[int, ...]:
        return tuple(p for p, piece in enumerate(self.pieces) if piece.owner == role)

    def cell_name(self, cell: int) -> str:
        """The coordinates of a cell as the rules write them."""
        row, column = divmod(cell, len(self.board.across.values))
        return " ".join((*self.board.across.values[column], *self.board.down.values[row]))
