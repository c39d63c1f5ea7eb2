"""FAST: the effects of moves on the board, case by case, before their values are learned.

A move has one case for each combination of the piece that moves and what it captures (`PIECES`), or for each
cell that may be its target (`CELLS`). What a move captures is proven from the circuit: a piece of another
role that cannot be on its cell after the move, or is replaced by something that certainly is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, product

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import TRUE_LITERAL
from ggp.engines.compiled import CompiledGame
from ggp.features.board_features import NOTHING, Features, MoveFamily
from ggp.features.learning import CELLS, PIECES
from ggp.features.possibilities import Question, possible

MAX_CASES = 48
"""At most this many cases of one move that captures several pieces; above, only one of its cells counts."""


@dataclass(frozen=True)
class Case:
    """The effect of a move if all conditions hold: literals `2 * fluent + negated`, fluents from 0."""

    conditions: tuple[int, ...]
    pieces: tuple[int, ...] = ()
    taken_by: int = NOTHING
    target: int = NOTHING


def find_cases(
    game: CompiledGame, features: Features, kind: str = "auto", deadline: float = math.inf
) -> tuple[str | None, tuple[tuple[Case, ...], ...]]:
    """The form that suits the game (or the requested one), and the cases of all moves in it. (None, ()) if no
    move has a case. Raises TimeoutError if the deadline (time.monotonic() seconds) passes."""
    if kind == "auto":
        several = any(len(features.pieces_of(role)) > 1 for role in range(len(game.roles)))
        kinds = [PIECES, CELLS] if several else [CELLS]
    else:
        kinds = [kind]
    for each in kinds:
        if each == PIECES:
            cases = _capture_cases(game, features, deadline)
        else:
            cases = tuple(tuple(_cases_of_targets(features, targets)) for targets in features.targets_of)
        if any(case.pieces or case.target != NOTHING for of_move in cases for case in of_move):
            return each, cases
    return None, ()


def _cases_of_targets(features: Features, targets: Sequence[int]) -> Iterator[Case]:
    """The first target that is free."""
    for place, cell in enumerate(targets):
        owned = [int(f) for f in features.fluents_at(cell) if features.owner_of(int(f)) != NOTHING]
        is_last = place == len(targets) - 1
        yield Case(() if is_last else tuple(2 * f + 1 for f in owned), target=cell)
    if not targets:
        yield Case(())


def _capture_cases(game: CompiledGame, features: Features, deadline: float) -> tuple[tuple[Case, ...], ...]:
    cases: list[tuple[Case, ...]] = [(Case(()),)] * len(features.targets_of)
    for family in features.families:
        for move, of_move in _Captures(game, features, family, deadline).cases():
            cases[move] = of_move
    return tuple(cases)


class _Captures:
    """Captures by the moves of one family: by the piece that moves and the pieces captured."""

    def __init__(self, game: CompiledGame, features: Features, family: MoveFamily, deadline: float) -> None:
        self.features, self.family = features, family
        self.tables, self.deadline = game.tables, deadline
        owners = np.array([features.owner_of(f) for f in range(len(features.piece_of))])
        self.theirs = np.flatnonzero((owners != NOTHING) & (owners != family.role))
        self.is_theirs = frozenset(self.theirs.tolist())
        self.own = {
            cell: [int(f) for f in np.flatnonzero((features.cell_of == cell) & (owners == family.role))]
            for cell in {int(features.source_of[m]) for m in family.moves} - {NOTHING}
        }
        by_cell = np.argsort(features.cell_of, kind="stable")
        self.on_board = by_cell[features.cell_of[by_cell] != NOTHING]
        self.at = {
            int(cell): np.flatnonzero(features.cell_of == cell)
            for cell in np.unique(features.cell_of)
            if cell != NOTHING
        }

    def cases(self) -> Iterator[tuple[int, tuple[Case, ...]]]:
        """The cases of every move that can capture."""
        by_move: dict[int, list[Case]] = {}
        must_capture: dict[int, bool] = {}
        movers: dict[int, list[int | None]] = {}
        for (move, mover), taken, can_spare in self._takings():
            movers.setdefault(move, []).append(mover)
            by_move.setdefault(move, []).extend(self._combined(mover, taken))
            must_capture[move] = must_capture.get(move, True) and not can_spare
        for move, cases in by_move.items():
            if not cases:
                continue
            mover, *others = movers[move]
            if mover is not None and not others:  # the move itself names the piece that moves
                given = 2 * mover
                cases = [
                    replace(each, conditions=tuple(c for c in each.conditions if c != given))
                    for each in cases
                ]
            cases.sort(key=lambda case: -len(case.pieces))
            if must_capture[move]:
                cases[-1] = replace(cases[-1], conditions=())
            else:
                cases.append(Case(()))
            yield move, tuple(cases)

    def _combined(self, mover: int | None, taken: dict[int, list[int]]) -> Iterator[Case]:
        """One case for each combination of pieces that can be captured on one or several cells."""
        choices: list[list[int | None]] = [[*fluents, None] for fluents in taken.values()]
        if math.prod(map(len, choices)) > MAX_CASES:
            choices = choices[:1]
        piece = NOTHING if mover is None else int(self.features.piece_of[mover])
        for choice in product(*choices):
            captured = [f for f in choice if f is not None]
            if captured:
                conditions = captured if mover is None else [*captured, mover]
                yield Case(
                    tuple(2 * f for f in conditions),
                    tuple(int(self.features.piece_of[f]) for f in captured),
                    piece,
                )

    def _takings(self) -> Iterator[tuple[tuple[int, int | None], dict[int, list[int]], bool]]:
        """What can be captured by each move with each own piece at its source. ((move, own fluent at the
        source or None), {cell: fluents captured there}, whether none may be)"""
        no_piece: list[int | None] = [None]
        movers = [
            (move, mover)
            for move in self.family.moves
            for mover in self.own.get(int(self.features.source_of[move])) or no_piece
        ]
        if not movers or not len(self.theirs):
            return
        questions = [
            self.family.turn.knowing(move)
            if mover is None
            else self.family.turn.knowing(move, (mover,), self._beside(mover))
            for move, mover in movers
        ]
        moves = [move for move, _ in movers]
        is_legal, is_gone = self._gone(questions, self._legal(moves))
        places, taken = np.nonzero(is_legal[:, None] & is_gone)
        sources = self.features.source_of[np.array(moves)]
        is_source = self.features.cell_of[self.theirs[taken]] == sources[places]
        places, fluents = self._there(questions, moves, places[~is_source], self.theirs[taken[~is_source]])
        if not len(places):
            places, fluents = self._there(questions, moves, *self._passed(questions, moves))
        by_mover: dict[int, dict[int, list[int]]] = {}
        for q, f in zip(places, fluents, strict=True):
            of_cell = by_mover.setdefault(int(q), {})
            of_cell.setdefault(int(self.features.cell_of[f]), []).append(int(f))
        without = [
            questions[q].knowing(false=chain.from_iterable(taken.values())) for q, taken in by_mover.items()
        ]
        legal = self._legal([movers[q][0] for q in by_mover])
        answers = possible(self.tables, without, legal, self.deadline)[:, 0]
        can_spare = {q: bool(answer) for q, answer in zip(by_mover, answers, strict=True)}
        for number, mover in enumerate(movers):
            if is_legal[number]:
                yield mover, by_mover.get(number, {}), can_spare.get(number, True)

    def _gone(
        self, questions: Sequence[Question], legal: NDArray[np.int32]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether a move can be legal, bool[Q]; whether others' pieces are gone afterwards, bool[Q, theirs].
        A piece is gone if it cannot hold, or if something else certainly is in its cell."""
        cell_of = self.features.cell_of
        following = self.tables.next[self.theirs]
        contents = self.tables.next[self.on_board] ^ 1
        asked = np.column_stack((legal, np.tile(np.concatenate((following, contents)), (len(questions), 1))))
        answers = possible(self.tables, questions, asked.astype(np.int32), self.deadline)
        can_last = answers[:, 1 : 1 + len(self.theirs)]
        is_sure = ~answers[:, 1 + len(self.theirs) :]
        starts = np.flatnonzero(np.diff(cell_of[self.on_board], prepend=NOTHING))
        sure_in_cell = np.add.reduceat(is_sure.astype(np.int32), starts, axis=1)
        place = np.searchsorted(cell_of[self.on_board[starts]], cell_of[self.theirs])
        itself = is_sure[:, [int(np.flatnonzero(self.on_board == f)[0]) for f in self.theirs]]
        is_replaced = (sure_in_cell[:, place] > itself) & self.features.single[cell_of[self.theirs]]
        can_ever_last = possible(self.tables, [self.family.turn], following[None, :].astype(np.int32))[0]
        return answers[:, 0], (~can_last | is_replaced) & can_ever_last

    def _there(
        self,
        questions: Sequence[Question],
        moves: Sequence[int],
        places: NDArray[np.int64],
        fluents: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Those (question, fluent) for which the fluent can hold while the move is legal."""
        with_piece = [
            questions[q].knowing(true=(f,), false=self._beside(f))
            for q, f in zip(places, fluents, strict=True)
        ]
        legal = self._legal([moves[q] for q in places])
        is_there = possible(self.tables, with_piece, legal, self.deadline)[:, 0]
        return places[is_there], fluents[is_there]

    def _passed(
        self, questions: Sequence[Question], moves: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(question, fluent) of what is captured between the cells that a move names. Where rules say "what
        is there and is not captured stays", it must be known what is there."""
        pairs = [(q, f) for q, move in enumerate(moves) for f in self._between(move)]
        if not pairs:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        places, fluents = np.array(pairs, np.int64).T
        with_piece = [questions[q].knowing(true=(f,), false=self._beside(f)) for q, f in pairs]
        beside = [self._beside(f) for _, f in pairs]
        asked = np.full((len(pairs), 1 + max(map(len, beside))), TRUE_LITERAL, np.int32)
        asked[:, 0] = self.tables.next[fluents]
        for row, others in enumerate(beside):
            asked[row, 1 : 1 + len(others)] = self.tables.next[others] ^ 1
        answers = possible(self.tables, with_piece, asked, self.deadline)
        is_replaced = ~answers[:, 1:].all(axis=1) & self.features.single[self.features.cell_of[fluents]]
        is_gone = ~answers[:, 0] | is_replaced
        return places[is_gone], fluents[is_gone]

    def _between(self, move: int) -> Iterator[int]:
        """What others may have on or between the cells on a move's way, the first excepted."""
        columns = len(self.features.board.across.values)
        way = [divmod(cell, columns) for cell in self.features.way_of[move]]
        passed = {
            row * columns + column
            for (row1, column1), (row2, column2) in pairwise(way)
            for row in range(min(row1, row2), max(row1, row2) + 1)
            for column in range(min(column1, column2), max(column1, column2) + 1)
        }
        for cell in sorted(passed - {int(self.features.source_of[move])}):
            if cell in self.at:
                yield from (int(f) for f in self.at[cell] if int(f) in self.is_theirs)

    def _legal(self, moves: Sequence[int]) -> NDArray[np.int32]:
        return self.tables.legal[np.array(moves, np.int64)][:, None]

    def _beside(self, fluent: int) -> list[int]:
        return [int(f) for f in self.at[int(self.features.cell_of[fluent])] if f != fluent]
