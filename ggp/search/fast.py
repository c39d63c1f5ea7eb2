"""FAST, the Features-to-Action Sampling Technique: what moves are worth, from what features are worth.

Source: Finnsson & Björnsson, "Learning Simulation Control in General Game-Playing Agents" (AAAI 2010).
Playouts choose by Gibbs sampling, weight exp(Q / tau), with

    capture form     Q = -(2 w(captured) + w(moving piece)) for a move that captures, else -100
    placement form   Q = c · w(cell): the role's weight of having a piece on the cell that the move leads to

where w are weights in the eyes of the role that moves (pieces of others usually have negative ones, so that
captures are good, of strong pieces by weak ones best). The capture form is for games in which some role has
several kinds of pieces, the placement form for the others. Weights come from `ggp.search.feature_learning`,
features from `ggp.features`.

Where this departs from the paper, or says what the paper leaves open:

* A move captures what certainly is no longer there afterwards, proven from the circuit: the piece on the
  target cell, or one that was jumped over. Several captured pieces add up.
* Weights are learned from uniformly random playouts before the first move, and stay as they are then.
* Learning centers and scales the features and has a constant.
* Moves without a cell (passing) have Q = 0 in the placement form.
* Weights of moves are rounded to 1/1023 of the best legal one's; so a move 8 tau below it is not made.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ggp.compiled_game import CompiledGame
from ggp.features import NOTHING, Features, MoveFamily, recognize_features
from ggp.kernels.policies_fast import WEIGHT_PLANES, FeatureCases
from ggp.kernels.rows import make_rows
from ggp.possibilities import possible
from ggp.search.feature_learning import CELLS, PIECES, FeatureWeights, feature_numbers, learn_weights
from ggp.search.options import MctsOptions

LARGEST_WEIGHT = 1023
NO_CAPTURE = -100.0
MOST_LEVELS = 64
"""Different values of a role at most; beyond, they are rounded to a grid."""

MOST_CASES = 48
"""Cases of one move that takes several pieces; beyond, only one of the cells counts."""

_logger = logging.getLogger("ggp.search")
_known: WeakKeyDictionary[CompiledGame, dict[object, Any]] = WeakKeyDictionary()
_recognized: WeakKeyDictionary[CompiledGame, dict[str, Any]] = WeakKeyDictionary()
_told: set[str] = set()


@dataclass(frozen=True)
class Case:
    """What a move is worth where all conditions hold: literals `2 * fluent + negated`, fluents from 0."""

    conditions: tuple[int, ...]
    pieces: tuple[int, ...] = ()
    taken_by: int = NOTHING
    target: int = NOTHING


@dataclass(frozen=True)
class FastModel:
    """All that FAST knows of a game.

    cases    by move, counted over all roles: the first whose conditions hold counts; the last has none
    level    by move and case: place among the values of the role, 0 the best
    values   by role: the values of its levels, falling
    weight   by role: weight[level][top], 0..1023, of a move of `level` where `top` is the best legal one
    """

    features: Features
    weights: FeatureWeights
    cases: tuple[tuple[Case, ...], ...]
    level: tuple[tuple[int, ...], ...]
    values: tuple[tuple[float, ...], ...]
    weight: tuple[NDArray[np.int32], ...]


def learn_fast(
    game: CompiledGame, options: MctsOptions, seed: int, deadline: float = math.inf
) -> FastModel | None:
    """Recognize, learn, and value the moves; None, and once a warning, where no features are found.

    The same for the same game, options and seed, unless the deadline (time.monotonic() seconds) cuts it.
    """
    learned = _learn(game, options, seed, deadline)
    if learned is not None:
        return value_moves(game, *learned, options)
    if game.name not in _told:
        _told.add(game.name)
        _logger.warning("%s: no features recognized for FAST; MAST instead", game.name)
    return None


def without_fast(options: MctsOptions) -> MctsOptions:
    """The same search with MAST, and MAST's temperature, where no features are found."""
    parts = ["mast" if part == "fast" else part for part in options.policy.split("+")]
    return replace(options, policy="+".join(parts), temperature=None)


_Recognized: TypeAlias = tuple[Features | None, str | None, tuple[tuple[Case, ...], ...]]
_Learned: TypeAlias = tuple[Features, FeatureWeights, tuple[tuple[Case, ...], ...]]


def _learn(game: CompiledGame, options: MctsOptions, seed: int, deadline: float) -> _Learned | None:
    """What was found before, or else now; it is kept unless the deadline may have cut it."""
    known = _known.setdefault(game, {})
    key = (options.episodes, options.feature_kind, seed)
    learned: _Learned | None = known.get(key)
    if key in known:
        return learned
    features, kind, cases = _recognize(game, options.feature_kind, deadline)
    if features is not None and kind is not None:
        weights = learn_weights(game, features, kind, episodes=options.episodes, seed=seed, deadline=deadline)
        if weights.episodes:
            learned = features, weights, cases
    if time.monotonic() < deadline:
        known[key] = learned
    return learned


def _recognize(game: CompiledGame, kind: str, deadline: float) -> _Recognized:
    """Features, form and cases: the same for all seeds, so matches of one game share them."""
    known = _recognized.setdefault(game, {})
    if kind in known:
        recognized: _Recognized = known[kind]
        return recognized
    features = recognize_features(game, deadline)
    found: _Recognized = (
        (None, None, ()) if features is None else (features, *find_cases(game, features, kind))
    )
    if time.monotonic() < deadline:
        known[kind] = found
    return found


def find_cases(
    game: CompiledGame, features: Features, kind: str = "auto"
) -> tuple[str | None, tuple[tuple[Case, ...], ...]]:
    """The form that suits the game (or the one asked for), and the cases of all moves in it.

    (None, ()) where no move can be valued that way.
    """
    if kind == "auto":
        several = any(len(features.pieces_of(role)) > 1 for role in range(len(game.roles)))
        kinds = [PIECES, CELLS] if several else [CELLS]
    else:
        kinds = [kind]
    for each in kinds:
        cases = _capture_cases(game, features) if each == PIECES else _placement_cases(features)
        if any(case.pieces or case.target != NOTHING for of_move in cases for case in of_move):
            return each, cases
    return None, ()


def _placement_cases(features: Features) -> tuple[tuple[Case, ...], ...]:
    return tuple(tuple(_cases_of_targets(features, targets)) for targets in features.targets_of)


def _cases_of_targets(features: Features, targets: Sequence[int]) -> Iterator[Case]:
    """The first target that is free."""
    for place, cell in enumerate(targets):
        owned = [int(f) for f in features.fluents_at(cell) if features.owner_of(int(f)) != NOTHING]
        is_last = place == len(targets) - 1
        yield Case(() if is_last else tuple(2 * f + 1 for f in owned), target=cell)
    if not targets:
        yield Case(())


def _capture_cases(game: CompiledGame, features: Features) -> tuple[tuple[Case, ...], ...]:
    cases: list[tuple[Case, ...]] = [(Case(()),)] * len(features.targets_of)
    for family in features.families:
        for move, of_move in _Captures(game, features, family).cases():
            cases[move] = of_move
    return tuple(cases)


class _Captures:
    """What the moves of one family capture: by the piece that moves and what is taken."""

    def __init__(self, game: CompiledGame, features: Features, family: MoveFamily) -> None:
        self.tables, self.features, self.family = game.tables, features, family
        owners = np.array([features.owner_of(f) for f in range(len(features.piece_of))])
        self.theirs = np.flatnonzero((owners != NOTHING) & (owners != family.role))
        self.own = {
            cell: [int(f) for f in np.flatnonzero((features.cell_of == cell) & (owners == family.role))]
            for cell in {int(features.source_of[m]) for m in family.moves} - {NOTHING}
        }
        self.at = {
            int(cell): np.flatnonzero(features.cell_of == cell)
            for cell in np.unique(features.cell_of)
            if cell != NOTHING
        }

    def cases(self) -> Iterator[tuple[int, tuple[Case, ...]]]:
        """The cases of every move that can capture."""
        by_move: dict[int, list[Case]] = {}
        must_capture: dict[int, bool] = {}
        for (move, mover), taken, can_spare in self._takings():
            by_move.setdefault(move, []).extend(self._combined(mover, taken))
            must_capture[move] = must_capture.get(move, True) and not can_spare
        for move, cases in by_move.items():
            if not cases:
                continue
            cases.sort(key=lambda case: -len(case.pieces))
            if must_capture[move]:
                cases[-1] = replace(cases[-1], conditions=())
            else:
                cases.append(Case(()))
            yield move, tuple(cases)

    def _combined(self, mover: int | None, taken: dict[int, list[int]]) -> Iterator[Case]:
        """One case for each way in which the pieces of one or several cells can be taken."""
        choices: list[list[int | None]] = [[*fluents, None] for fluents in taken.values()]
        if math.prod(map(len, choices)) > MOST_CASES:
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
        """What can be taken by each move with each own piece at its source.

        ((move, own fluent at the source or None), {cell: what can be taken there}, whether nothing may be)
        """
        nobody: list[int | None] = [None]
        movers = [
            (move, mover)
            for move in self.family.moves
            for mover in self.own.get(int(self.features.source_of[move])) or nobody
        ]
        if not movers or not len(self.theirs):
            return
        questions = [
            self.family.turn.knowing(
                move,
                () if mover is None else (mover,),
                () if mover is None else (f for f in self._beside(mover) if f != mover),
            )
            for move, mover in movers
        ]
        following = self.tables.next[self.theirs]
        asked = np.column_stack(
            (
                np.array([self.tables.legal[move] for move, _ in movers]),
                np.tile(following, (len(movers), 1)),
            )
        ).astype(np.int32)
        answers = possible(self.tables, questions, asked)
        lasting = possible(self.tables, [self.family.turn], following[None, :].astype(np.int32))[0]
        places, taken = np.nonzero(answers[:, :1] & ~answers[:, 1:] & lasting)
        is_source = (
            self.features.cell_of[self.theirs[taken]]
            == self.features.source_of[np.array([move for move, _ in movers])[places]]
        )
        places, fluents = places[~is_source], self.theirs[taken[~is_source]]
        # What cannot be there while the move is legal is not taken by it.
        with_piece = [
            questions[q].knowing(true=(f,), false=(g for g in self._beside(f) if g != f))
            for q, f in zip(places, fluents, strict=True)
        ]
        legal = self._legal([movers[q][0] for q in places])
        is_there = possible(self.tables, with_piece, legal)[:, 0]
        by_mover: dict[int, dict[int, list[int]]] = {}
        for q, f in zip(places[is_there], fluents[is_there], strict=True):
            of_cell = by_mover.setdefault(int(q), {})
            of_cell.setdefault(int(self.features.cell_of[f]), []).append(int(f))
        without = [
            questions[q].knowing(false=chain.from_iterable(taken.values())) for q, taken in by_mover.items()
        ]
        legal = self._legal([movers[q][0] for q in by_mover])
        can_spare = dict(zip(by_mover, possible(self.tables, without, legal)[:, 0], strict=True))
        for q, mover in enumerate(movers):
            if answers[q, 0]:
                yield mover, by_mover.get(q, {}), bool(can_spare.get(q, True))

    def _legal(self, moves: Sequence[int]) -> NDArray[np.int32]:
        """int32[Q, 1]: the literals of the moves' legality."""
        return self.tables.legal[np.array(moves, np.int64)][:, None]

    def _beside(self, fluent: int) -> NDArray[np.int64]:
        """All that can be said of the cell of a fluent."""
        return self.at[int(self.features.cell_of[fluent])]


def value_moves(
    game: CompiledGame,
    features: Features,
    weights: FeatureWeights,
    cases: Sequence[Sequence[Case]],
    options: MctsOptions,
) -> FastModel:
    """Q of every case, as levels, and the Gibbs weights of the levels relative to each other."""
    first = [int(m) for m in game.tables.first_move]
    level: list[tuple[int, ...]] = []
    values: list[tuple[float, ...]] = []
    tables: list[NDArray[np.int32]] = []
    for role in range(len(game.roles)):
        of_role = [
            [_value(features, weights, role, case, options.fast_scale) for case in cases[m]]
            for m in range(first[role], first[role + 1])
        ]
        levels = _levels([value for of_move in of_role for value in of_move], options.gibbs_temperature)
        falling = sorted(set(levels.values()), reverse=True)
        place = {value: i for i, value in enumerate(falling)}
        level += [tuple(place[levels[value]] for value in of_move) for of_move in of_role]
        values.append(tuple(falling))
        tables.append(_gibbs_table(falling, options.gibbs_temperature))
    return FastModel(features, weights, tuple(map(tuple, cases)), tuple(level), tuple(values), tuple(tables))


def _value(features: Features, weights: FeatureWeights, role: int, case: Case, scale: float) -> float:
    """Q of a move of `role` in a case."""
    if weights.kind == PIECES:
        if not case.pieces:
            return NO_CAPTURE
        mover = 0.0 if case.taken_by == NOTHING else weights.weight[case.taken_by, role]
        return -(2.0 * float(sum(weights.weight[piece, role] for piece in case.pieces)) + float(mover))
    if case.target == NOTHING:
        return 0.0
    cells = len(features.board.across.values) * len(features.board.down.values)
    feature = role * cells + case.target
    return scale * float(weights.weight[feature, role]) if feature < len(weights.weight) else 0.0


def _levels(values: Sequence[float], temperature: float) -> dict[float, float]:
    """Every value, or the point nearest to it on the finest grid that has few enough of them."""
    unique = set(values)
    rounded = {value: value for value in unique}
    step = temperature / 4
    while len(set(rounded.values())) > MOST_LEVELS:
        rounded = {value: step * round(value / step) for value in unique}
        step *= 2
    return rounded


def _gibbs_table(values: Sequence[float], temperature: float) -> NDArray[np.int32]:
    """weight[level][top] for falling values."""
    table = np.zeros((len(values), len(values)), np.int32)
    for level, value in enumerate(values):
        for top in range(level + 1):
            scaled = LARGEST_WEIGHT * math.exp((value - values[top]) / temperature)
            table[level, top] = math.floor(scaled + 0.5)
    return table


def feature_cases(model: FastModel, words: int) -> FeatureCases:
    """The model as the kernels read it, with scratch rows of `words` words."""
    cases = [case for of_move in model.cases for case in of_move]
    most = max(map(len, model.values))
    weight = np.zeros((len(model.values), most, most), np.int32)
    for role, table in enumerate(model.weight):
        weight[role, : len(table), : len(table)] = table
    # Fluent f is node 1 + f.
    conditions = [literal + 2 for case in cases for literal in case.conditions]
    return FeatureCases(
        first_case=_offsets([len(of_move) for of_move in model.cases]),
        first_condition=_offsets([len(case.conditions) for case in cases]),
        condition=np.array(conditions or [0], np.int32),
        level=np.array([level for of_move in model.level for level in of_move], np.int32),
        level_count=np.array([len(values) for values in model.values], np.int32),
        weight=weight,
        rows=make_rows((2 + WEIGHT_PLANES) * most, words),
    )


def _offsets(counts: Sequence[int]) -> NDArray[np.int32]:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int32)


__all__ = [
    "Case",
    "FastModel",
    "feature_cases",
    "feature_numbers",
    "find_cases",
    "learn_fast",
    "value_moves",
    "without_fast",
]
