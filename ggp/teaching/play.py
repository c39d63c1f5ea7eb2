"""Matches side by side that a network learns from, and matches that compare two searches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.search.forest.forest import BoolArray, Forest
from ggp.search.forest.guided import GuidedForest
from ggp.search.forest.self_play import EndedMatches, MatchBatch, MatchContext
from ggp.search.tree.kernels.arrays import UNPROVEN, Float64Array
from ggp.teaching.samples import Samples, joined_samples

STEP_LIMIT = 500
OPENING_STEPS = 4
"""Half of the matches begin with up to this many random joint moves."""
DRAWN_STEPS = 12
"""Joint moves for which a move is drawn by its visits; after these the most visited one is made."""
RESULT_SHARE = 0.5
"""Share of the match's result in the value of a state; the rest is the mean of its search."""

Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]


@dataclass(frozen=True)
class PlayPlan:
    """The number of training matches and of simulations per search."""

    matches: int
    simulations: int
    seed: int


@dataclass(frozen=True)
class Taught:
    """Training data of matches: samples, joint moves, and the number of finished matches."""

    samples: Samples
    positions: int = 0
    ended: int = 0

    def __add__(self, other: Taught) -> Taught:
        return Taught(
            joined_samples([self.samples, other.samples]),
            self.positions + other.positions,
            self.ended + other.ended,
        )


class _Searched(NamedTuple):
    """A search of one role: match, packed state, values of all roles, and the moves with their visits."""

    match: int
    state: NDArray[np.uint8]
    values: Float64Array
    role: int
    move: Int32Array
    visits: Int32Array


class TeachingMatches(MatchBatch):
    """Self-play in which every search becomes a sample."""

    def __init__(self, context: MatchContext, forest: Forest, plan: PlayPlan) -> None:
        shape = (plan.matches, len(context.game.roles))
        super().__init__(context, 0, np.full(shape, plan.simulations, np.int64), (forest,))
        self._searched: list[_Searched] = []
        openings = self._rng.integers(0, OPENING_STEPS + 1, plan.matches)
        self._opening = np.where(self._rng.random(plan.matches) < 0.5, openings, 0)

    def search_states(self, forest: Forest, states: BoolArray, simulations: Int64Array) -> bool:
        """Search with noise at the roots."""
        if isinstance(forest, GuidedForest):
            is_stopped = self._context.ended.is_stopped
            return forest.search_with_noise(states, simulations, self._rng, is_stopped=is_stopped)
        return super().search_states(forest, states, simulations)

    def moves_of(
        self, forest: Forest, role: int, matches: Int64Array, is_role: BoolArray
    ) -> tuple[Int32Array, Float64Array]:
        """Draw a move by the visits, and keep the search's values of the states of this role."""
        found = forest.root_moves(role)
        best, mean = found.best()
        values, is_proven = forest.root_values(), forest.root_proofs() != UNPROVEN
        packed = np.packbits(self._states[matches], axis=1)
        steps = len(self._steps)
        for place in np.flatnonzero(is_role).tolist():
            begin, end = found.first[place : place + 2].tolist()
            visits = found.visits[begin:end]
            if end - begin < 2 or visits.sum() == 0:
                continue
            match = int(matches[place])
            if is_proven[place]:
                visits = (found.move[begin:end] == best[place]).astype(np.int32)
            moves = found.move[begin:end], visits.copy()
            self._searched.append(_Searched(match, packed[place], values[place], role, *moves))
            if steps < self._opening[match]:
                best[place] = found.move[begin + self._rng.integers(end - begin)]
            elif steps < DRAWN_STEPS and not is_proven[place]:
                drawn = self._rng.choice(end - begin, p=visits / visits.sum())
                best[place] = found.move[begin + drawn]
        return best, mean

    def taught(self) -> Taught:
        """After `play`: the training data of the finished matches."""
        return Taught(self._samples(), int(self._length.sum()), int(self._is_finished.sum()))

    def _samples(self) -> Samples:
        fluents = self._states.shape[1]
        kept = [each for each in self._searched if self._is_finished[each.match]]
        if not kept:
            return Samples.empty(fluents, self._roles)
        results = self._goals[[each.match for each in kept]]
        means = np.array([each.values for each in kept])
        values = RESULT_SHARE * results + (1 - RESULT_SHARE) * np.where(np.isnan(means), results, means)
        sizes = [len(each.move) for each in kept]
        return Samples(
            np.array([each.state for each in kept]),
            (values / 100).astype(np.float32),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([each.move + self._first_move[each.role] for each in kept]).astype(np.int32),
            np.repeat([each.role for each in kept], sizes).astype(np.int32),
            np.concatenate([each.visits / each.visits.sum() for each in kept]).astype(np.float32),
        )


def play_to_teach(
    game: CompiledGame,
    forest: Forest,
    plan: PlayPlan,
    is_stopped: Callable[[int], bool] = lambda ended: False,
) -> Taught:
    """Matches of `forest` with itself.

    is_stopped  asked often, with the number of matches that have ended
    """
    context = MatchContext(game, plan.seed, forest.options, STEP_LIMIT, EndedMatches(is_stopped))
    batch = TeachingMatches(context, forest, plan)
    batch.play()
    return batch.taught()


@dataclass(frozen=True)
class Comparison:
    """Scores of one search against another, 0..1, one for each pair of matches from the same opening."""

    scores: Float64Array

    @property
    def mean(self) -> float:
        return float(self.scores.mean()) if len(self.scores) else 0.5

    @property
    def error(self) -> float:
        """Half of the 95 % interval, by the spread of the pairs (at least that of one pair in two lost)."""
        if len(self.scores) < 2:
            return 0.5
        spread = max(float(self.scores.std(ddof=1)), 0.25 / len(self.scores) ** 0.5)
        return float(1.96 * spread / len(self.scores) ** 0.5)

    def __str__(self) -> str:
        return f"{100 * self.mean:.0f} ± {100 * self.error:.0f} %"


class _OpenedMatches(MatchBatch):
    """Matches that begin with random moves, the same in both matches of a pair."""

    def open_with(self, seed: int, steps: int) -> None:
        """Make up to `steps` random joint moves in each pair of matches."""
        rng = np.random.default_rng(seed)
        game = self._game
        for match in range(0, len(self._states), 2):
            state = game.initial_state()
            for _ in range(int(rng.integers(1, steps + 1))):
                joint = tuple(
                    legal[int(rng.integers(len(legal)))]
                    for legal in (game.legal_moves(state, role) for role in game.roles)
                )
                following = game.next_state(state, joint)
                if game.is_terminal(following):
                    break
                state = following
            self._states[match : match + 2] = game.unpack(state)


def compare(
    game: CompiledGame,
    forests: tuple[Forest, Forest],
    simulations: tuple[int, int],
    *,
    matches: int,
    seed: int,
    is_stopped: Callable[[int], bool] = lambda ended: False,
) -> Comparison:
    """Matches of the first search against the second: pairs from one opening, with roles exchanged. With more
    than two roles the first search has one role, each in turn; with one role both play alone."""
    roles = len(game.roles)
    numbers = np.arange(matches)
    own = numbers % max(roles, 2)
    searcher = np.ones((matches, roles), np.int32)
    if roles == 1:
        searcher[:, 0] = numbers % 2
    else:
        searcher[numbers, own] = 0
    each = np.array(simulations, np.int64)[searcher]
    context = MatchContext(game, seed, forests[0].options, STEP_LIMIT, EndedMatches(is_stopped))
    batch = _OpenedMatches(context, 0, each, forests, searcher)
    batch.open_with(seed, OPENING_STEPS)
    played = batch.play()
    goals = played.goals.astype(float)
    if roles == 1:
        scores = np.where(searcher[:, 0] == 0, goals[:, 0], 100 - goals[:, 0]) / 100
    else:
        others = (goals.sum(axis=1) - goals[numbers, own]) / (roles - 1)
        scores = (goals[numbers, own] - others + 100) / 200
    is_pair = played.is_finished[0 : matches - 1 : 2] & played.is_finished[1::2]
    return Comparison(((scores[0 : matches - 1 : 2] + scores[1::2]) / 2)[is_pair])
