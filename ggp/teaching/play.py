"""Matches side by side that a network learns from, here or in other processes, and that compare searches."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.networks.network import Network
from ggp.search.forest.forest import BoolArray, Forest
from ggp.search.forest.guided import PLAYING_SHARE, GuidedForest
from ggp.search.forest.self_play import EndedMatches, MatchBatch, MatchContext
from ggp.search.tree.kernels.arrays import UNPROVEN, Float64Array
from ggp.search.tree.options import MctsOptions
from ggp.teaching.samples import Samples, joined_samples

STEP_LIMIT = 500
OPENING_STEPS = 4
"""Half of the matches begin with up to this many random joint moves."""
DRAWN_STEPS = 12
"""Joint moves for which a move is drawn by its visits; after these the most visited one is made."""
RESULT_SHARE = 0.5
"""Share of the match's result in the value of a state; the rest is the mean of its search."""
MEBIBYTES = 256
WAIT_SECONDS = 0.2
"""Seconds between two checks whether teaching was stopped."""

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
    """Training data of matches: samples, and the number of joint moves."""

    samples: Samples
    positions: int

    def __add__(self, other: Taught) -> Taught:
        samples = joined_samples([self.samples, other.samples])
        return Taught(samples, self.positions + other.positions)


class _Searched(NamedTuple):
    """A search of one role: match, packed state, values of all roles, and the moves with their visits."""

    match: int
    state: NDArray[np.uint8]
    values: Float64Array
    role: int
    move: Int32Array
    visits: Int32Array


class _TeachingMatches(MatchBatch):
    """Self-play in which every search becomes a sample."""

    def __init__(self, context: MatchContext, forest: Forest, plan: PlayPlan) -> None:
        shape = (plan.matches, len(context.game.roles))
        super().__init__(context, 0, np.full(shape, plan.simulations, np.int64), (forest,))
        self._searched: list[_Searched] = []
        openings = self._rng.integers(0, OPENING_STEPS + 1, plan.matches)
        self._opening = np.where(self._rng.random(plan.matches) < 0.5, openings, 0)

    def search_states(self, forest: Forest, states: BoolArray, simulations: Int64Array) -> bool:
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
        kept = [each for each in self._searched if self._is_finished[each.match]]
        samples = self._samples(kept) if kept else Samples.empty(self._states.shape[1], self._roles)
        return Taught(samples, int(self._length.sum()))

    def _samples(self, kept: list[_Searched]) -> Samples:
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


def guided_forest(game: CompiledGame, network: Network, seed: int) -> GuidedForest:
    """Searches by the network and playouts."""
    return GuidedForest(game, network, PLAYING_SHARE, mebibytes=MEBIBYTES, seed=seed)


def playout_forest(game: CompiledGame, seed: int) -> Forest:
    """Searches by playouts alone."""
    return Forest(game, mebibytes=MEBIBYTES, seed=seed, options=MctsOptions(is_solving=True))


def play_here(
    game: CompiledGame,
    network: Network | None,
    plan: PlayPlan,
    is_stopped: Callable[[int], bool] = lambda ended: False,
) -> Taught:
    """The matches of a plan, by the network or, without one, by playouts; by the seed always the same.

    is_stopped  asked often, with the number of matches that have ended
    """
    forest = playout_forest(game, plan.seed) if network is None else guided_forest(game, network, plan.seed)
    context = MatchContext(game, plan.seed, forest.options, STEP_LIMIT, EndedMatches(is_stopped))
    batch = _TeachingMatches(context, forest, plan)
    batch.play()
    return batch.taught()


class Pool(Protocol):
    """Processes that call functions, `size` at a time: those of `ggp.tournament.pool`."""

    def size(self) -> int: ...

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]: ...


class MatchesAhead:
    """The matches of the next generation: begun with one network, fetched when they are over."""

    def __init__(self, game: CompiledGame, pool: Pool | None) -> None:
        self._game = game
        self._pool = pool
        self._count = 1 if pool is None else max(1, pool.size())
        self._next: tuple[Network | None, PlayPlan] | None = None
        self._futures: list[Future[Taught]] = []

    @property
    def are_elsewhere(self) -> bool:
        """Whether other processes play them, each a plan of its own."""
        return self._pool is not None

    def begin(self, network: Network | None, plan: PlayPlan) -> None:
        """Begin matches in the other processes; those of this one wait until they are fetched."""
        self._next = network, plan
        if self._pool is not None:
            plans = (replace(plan, seed=plan.seed + number) for number in range(self._count))
            self._futures = [self._pool.submit(play_here, self._game, network, each) for each in plans]

    def taught(self, is_stopped: Callable[[], bool]) -> Taught | None:
        """Their training data, in the order of their seeds; None if stopped. Raises what the pool raises."""
        assert self._next is not None, "begin comes first"
        if self._pool is None:
            return play_here(self._game, *self._next, lambda ended: is_stopped())
        while wait(self._futures, WAIT_SECONDS, FIRST_EXCEPTION).not_done:
            if is_stopped() or any(each.done() and each.exception() for each in self._futures):
                break
        if is_stopped():
            return None
        first, *others = (each.result() for each in self._futures)
        return sum(others, first)


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

    def open_with(self, seed: int) -> None:
        rng, game = np.random.default_rng(seed), self._game
        for match in range(0, len(self._states), 2):
            state = game.initial_state()
            for _ in range(int(rng.integers(1, OPENING_STEPS + 1))):
                following = random_successor(game, state, rng)
                if game.is_terminal(following):
                    break
                state = following
            self._states[match : match + 2] = game.unpack(state)


def random_successor(game: CompiledGame, state: PackedState, rng: np.random.Generator) -> PackedState:
    """The state after a joint move of which each role draws its part."""
    legal = [game.legal_moves(state, role) for role in game.roles]
    return game.next_state(state, tuple(moves[int(rng.integers(len(moves)))] for moves in legal))


def compare(
    game: CompiledGame,
    forests: tuple[Forest, Forest],
    simulations: tuple[int, int],
    *,
    matches: int,
    seed: int,
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
    context = MatchContext(game, seed, forests[0].options, STEP_LIMIT, EndedMatches())
    batch = _OpenedMatches(context, 0, each, forests, searcher)
    batch.open_with(seed)
    played = batch.play()
    goals = played.goals.astype(float)
    if roles == 1:
        scores = np.where(searcher[:, 0] == 0, goals[:, 0], 100 - goals[:, 0]) / 100
    else:
        others = (goals.sum(axis=1) - goals[numbers, own]) / (roles - 1)
        scores = (goals[numbers, own] - others + 100) / 200
    is_pair = played.is_finished[0 : matches - 1 : 2] & played.is_finished[1::2]
    return Comparison(((scores[0 : matches - 1 : 2] + scores[1::2]) / 2)[is_pair])
