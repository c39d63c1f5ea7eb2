"""FAST, the Features-to-Action Sampling Technique: values of moves from values of features.

Source: Finnsson & Björnsson, "Learning Simulation Control in General Game-Playing Agents" (AAAI 2010).
Playouts choose by Gibbs sampling, weight exp(Q / tau), with

    capture form     Q = -(2 w(captured) + w(moving piece)) for a move that captures, else -100
    placement form   Q = w(cell): the role's weight of having a piece on the cell that the move leads to

where w are weights in the eyes of the role that moves (pieces of others usually have negative ones, so that
captures are good, of strong pieces by weak ones best). The capture form is for games in which some role has
several kinds of pieces, the placement form for the others. Weights come from `ggp.features.learning`,
features from `ggp.features.board_features`.

Where this departs from the paper, or fills in what the paper leaves open:

* A move captures a piece that is provably gone afterwards, by the circuit: the piece on the target cell, or
  one that was jumped over. Several captured pieces add up.
* Weights are learned from uniformly random playouts before the first move, and stay fixed afterwards.
* Learning centers and scales the features and has a constant.
* Moves without a cell (passing) have Q = 0 in the placement form.
* Weights of moves are rounded to 1/1023 of the best legal one's; a move 8 tau below it is never made.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.features.board_features import NOTHING, Features
from ggp.features.cases import Case, find_cases
from ggp.features.learning import PIECES, FeatureWeights, learn_weights
from ggp.features.recognition import recognize_features
from ggp.jit.rows import make_rows
from ggp.lanes.roulette import make_legal_moves
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.policies.fast_kernels import FeatureCases

NO_CAPTURE = -100.0
MAX_LEVELS = 64
"""Maximum different values of a role; more are rounded to a grid."""
LARGEST_WEIGHT = 1023

_logger = logging.getLogger("ggp.search")
_Recognized: TypeAlias = tuple[Features, str, tuple[tuple[Case, ...], ...]]
_Learned: TypeAlias = tuple[Features, FeatureWeights, tuple[tuple[Case, ...], ...]]

_known: WeakKeyDictionary[CompiledGame, dict[object, _Learned | None]] = WeakKeyDictionary()
_recognized: WeakKeyDictionary[CompiledGame, dict[str, _Recognized | None]] = WeakKeyDictionary()
_told: set[str] = set()


@dataclass(frozen=True)
class FastModel:
    """Everything FAST knows about a game.

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

    def worth(self, role: int) -> dict[str, float]:
        """What each piece is worth to a role, or one of its own pieces on each cell, by name."""
        weight, board = self.weights.weight, self.features.board
        if self.weights.kind == PIECES:
            names, first = [piece.name for piece in self.features.pieces], 0
        else:
            cells = len(board.across.values) * len(board.down.values)
            names, first = [self.features.cell_name(cell) for cell in range(cells)], role * cells
        return dict(zip(names, weight[first : first + len(names), role].tolist(), strict=False))


def learn_fast(
    game: CompiledGame, options: MctsOptions, seed: int, deadline: float = math.inf
) -> FastModel | None:
    """Recognize features, learn their weights, and value the moves; None, with one warning, if that fails.
    The same for the same game, options and seed, unless the deadline (time.monotonic() seconds) cuts it."""
    learned = _learn(game, options, seed, deadline)
    if learned is not None:
        return _value_moves(game, *learned, options)
    if game.name not in _told:
        _told.add(game.name)
        _logger.warning("%s: FAST unavailable (no features found in time); using MAST", game.name)
    return None


def can_learn(game: CompiledGame, options: MctsOptions, seed: int, deadline: float) -> bool:
    """Whether features and weights are found by the deadline and remembered."""
    return _learn(game, options, seed, deadline) is not None and time.monotonic() < deadline


def _learn(game: CompiledGame, options: MctsOptions, seed: int, deadline: float) -> _Learned | None:
    """Features and weights, remembered per game unless the deadline may have cut them."""
    known = _known.setdefault(game, {})
    key = (options.episodes, options.feature_kind, seed)
    if key in known:
        return known[key]
    learned: _Learned | None = None
    recognized = _recognize(game, options.feature_kind, deadline)
    if recognized is not None:
        features, kind, cases = recognized
        weights = learn_weights(game, features, kind, episodes=options.episodes, seed=seed, deadline=deadline)
        if weights.episodes:
            learned = features, weights, cases
    if time.monotonic() < deadline:
        known[key] = learned
    return learned


def _recognize(game: CompiledGame, wanted: str, deadline: float) -> _Recognized | None:
    """Features, form and cases: the same for all seeds, so matches of one game share them."""
    known = _recognized.setdefault(game, {})
    if wanted in known:
        return known[wanted]
    found: _Recognized | None = None
    features = recognize_features(game, deadline)
    if features is not None:
        try:
            kind, cases = find_cases(game, features, wanted, deadline)
        except TimeoutError:
            return None
        found = None if kind is None else (features, kind, cases)
    if time.monotonic() < deadline:
        known[wanted] = found
    return found


def _value_moves(
    game: CompiledGame,
    features: Features,
    weights: FeatureWeights,
    cases: Sequence[Sequence[Case]],
    options: MctsOptions,
) -> FastModel:
    """Q of every case, as levels, and the Gibbs weights of the levels relative to each other."""
    first = game.tables.first_move.tolist()
    level: list[tuple[int, ...]] = []
    values: list[tuple[float, ...]] = []
    tables: list[NDArray[np.int32]] = []
    for role in range(len(game.roles)):
        of_role = [
            [_value(features, weights, role, case) for case in cases[m]]
            for m in range(first[role], first[role + 1])
        ]
        levels = _levels([value for of_move in of_role for value in of_move], options.gibbs_temperature)
        falling = sorted(set(levels.values()), reverse=True)
        place = {value: i for i, value in enumerate(falling)}
        level += [tuple(place[levels[value]] for value in of_move) for of_move in of_role]
        values.append(tuple(falling))
        tables.append(_gibbs_table(falling, options.gibbs_temperature))
    return FastModel(features, weights, tuple(map(tuple, cases)), tuple(level), tuple(values), tuple(tables))


def _value(features: Features, weights: FeatureWeights, role: int, case: Case) -> float:
    if weights.kind == PIECES:
        if not case.pieces:
            return NO_CAPTURE
        mover = 0.0 if case.taken_by == NOTHING else weights.weight[case.taken_by, role]
        return -(2.0 * float(sum(weights.weight[piece, role] for piece in case.pieces)) + float(mover))
    if case.target == NOTHING:
        return 0.0
    cells = len(features.board.across.values) * len(features.board.down.values)
    feature = role * cells + case.target
    return float(weights.weight[feature, role]) if feature < len(weights.weight) else 0.0


def _levels(values: Sequence[float], temperature: float) -> dict[float, float]:
    """Every value, or the nearest point on the finest grid with few enough points."""
    rounded = {value: value for value in values}
    step = temperature / 4
    while len(set(rounded.values())) > MAX_LEVELS:
        rounded = {value: step * round(value / step) for value in rounded}
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
    """The model as arrays for the kernels, with scratch rows of `words` words."""
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
        rows=make_rows(most, words),
        holding=make_legal_moves(len(cases), words),
        legal=make_legal_moves(len(cases), words),
    )


def _offsets(counts: Sequence[int]) -> NDArray[np.int32]:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
