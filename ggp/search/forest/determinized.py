"""Determinized search: UCT in many states that a role takes for possible, side by side, one tree per lane.

Every tree searches one state as if all roles knew it, and the value of a move is its mean over the trees.
So what is unknown is averaged over, instead of guessed once. What the other roles know is not modeled: the
search never bluffs, and sees no worth in information (strategy fusion: Frank and Basin 1998).

Source: Ginsberg, GIB: Imperfect information in a computationally challenging game (JAIR 2001), with UCT in
place of alpha-beta, as determinized UCT in Cowling, Powley and Whitehouse (2012), section III.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggp.engines.compiled import CompiledGame
from ggp.game import Move, Role
from ggp.search.forest.forest import Forest, RootMoves
from ggp.search.mcts.kernels.arrays import UNPROVEN, Float64Array
from ggp.search.mcts.options import MctsOptions
from ggp.search.report import MoveReport, SearchReport
from ggp.search.stopping import stops_at

PLAYOUTS_PER_TREE = 32
"""Playouts of a counted search for each of its trees, up to `_TREES` per thread."""
_ENDLESS = 2**40
_TREES = 128
"""Trees per thread: with more, each would be searched less deeply, for hardly more playouts in all."""
_SLICE_TICKS = 16


class DeterminizedSearch:
    """Searches for one role, each from scratch, in the states that it takes for possible.

    >>> import ggp
    >>> game = ggp.load("battleship")
    >>> search = DeterminizedSearch(game, game.roles[0], seed=1)
    >>> search.run({game.initial_state(): 1.0}, simulations=640)
    >>> report = search.report()
    >>> report.playouts, len(report.moves) == len(game.legal_moves(game.initial_state(), game.roles[0]))
    (640, True)
    """

    def __init__(
        self, game: CompiledGame, role: Role, *, seed: int = 0, options: MctsOptions | None = None
    ) -> None:
        """Set up the lanes; of `options` those of UCT count, and threads and memory. Playouts are uniform."""
        options = options or MctsOptions()
        threads = options.threads
        self._game = game
        self._role = game.roles.index(role)
        self._rng = np.random.default_rng(seed & (2**64 - 1))
        self._forests = [
            Forest(
                game,
                seed=seed,
                stream=stream,
                options=replace(options, policy=MctsOptions().policy),
                mebibytes=max(1, options.memory_mebibytes // threads),
            )
            for stream in range(threads)
        ]
        self._searched: list[Forest] = []
        self._seconds = 0.0
        self._playouts = 0

    @property
    def simulation_count(self) -> int:
        """Playouts of all searches so far."""
        return sum(forest.simulation_count for forest in self._forests)

    def run(
        self,
        probabilities: Mapping[Hashable, float],
        *,
        deadline: float | None = None,
        simulations: int | None = None,
        is_stopped: Callable[[], bool] | None = None,
    ) -> None:
        """Search until `deadline` (`time.monotonic()` seconds) or for so many playouts.

        probabilities   of states, which are not terminal; those drawn from them are searched
        """
        begun, before = time.monotonic(), self.simulation_count
        is_over = stops_at(deadline, is_stopped)
        roots = self._draw_roots(probabilities, simulations)
        shares = even_shares(_ENDLESS if simulations is None else simulations, [len(each) for each in roots])
        self._searched = self._forests[: len(roots)]
        with ThreadPoolExecutor(len(roots)) as pool:
            tasks = [
                pool.submit(forest.search, states, counts, is_over, ticks=_SLICE_TICKS)
                for forest, states, counts in zip(self._searched, roots, shares, strict=True)
            ]
            for task in tasks:
                task.result()
        self._seconds = time.monotonic() - begun
        self._playouts = self.simulation_count - before

    def _draw_roots(
        self, probabilities: Mapping[Hashable, float], simulations: int | None
    ) -> list[NDArray[np.bool_]]:
        """bool[N, F] for each forest: states drawn by systematic sampling, so that few are drawn twice."""
        most = _TREES * len(self._forests)
        count = most if simulations is None else min(most, max(1, simulations // PLAYOUTS_PER_TREE))
        states = list(probabilities)
        drawn = draw_by_weight(list(probabilities.values()), count, self._rng.random())
        unpacked = {each: self._game.unpack(cast("bytes", states[each])) for each in set(drawn.tolist())}
        parts = np.array_split(self._rng.permutation(drawn), len(self._forests))
        return [np.array([unpacked[each] for each in part.tolist()]) for part in parts if len(part)]

    def report(self) -> SearchReport:
        """What the last search found; the moves by their value, a mean over the trees."""
        means, visits = self._values()
        moves = self._game.moves[self._role]
        order = sorted(
            np.flatnonzero(np.isfinite(means)).tolist(), key=lambda move: (-means[move], str(moves[move]))
        )
        return SearchReport(
            seconds=self._seconds,
            playouts=self._playouts,
            descents=self._playouts,
            is_full=any(forest.is_full for forest in self._searched),
            moves=tuple(MoveReport(moves[m], int(visits[m]), float(means[m]), None) for m in order),
            mode="determinized",
        )

    def best_move(self) -> Move | None:
        """The move of the greatest value; None before any search."""
        moves = self.report().moves
        return moves[0].move if moves else None

    def _values(self) -> tuple[Float64Array, NDArray[np.int64]]:
        """Mean goal by move of the role, -inf if not in all trees that know a move, and visits in all."""
        count = len(self._game.moves[self._role])
        visits = np.zeros(count, np.int64)
        parts = []
        for forest in self._searched:
            found = forest.root_moves(self._role)
            np.add.at(visits, found.move, found.visits)
            parts.append((np.zeros(len(found.first) - 1, np.int64), found))
        return mean_over_trees(parts, 1, count)[0], visits


def draw_by_weight(weights: ArrayLike, count: int, offset: float) -> NDArray[np.int64]:
    """int64[count] places of `weights` drawn by systematic sampling, so that few are drawn twice.

    offset   from 0 to 1, drawn at random

    >>> draw_by_weight([1.0, 3.0], 4, 0.5).tolist()
    [0, 1, 1, 1]
    """
    bounds = np.cumsum(np.asarray(weights, np.float64))
    points = (np.arange(count) + offset) * bounds[-1] / count
    drawn: NDArray[np.int64] = np.minimum(np.searchsorted(bounds, points, side="right"), len(bounds) - 1)
    return drawn


def mean_over_trees(
    parts: Sequence[tuple[NDArray[np.int64], RootMoves]], decisions: int, moves: int
) -> Float64Array:
    """float64[D, M]: the mean goal of each move over the trees of each decision.

    A move has -inf if fewer than half of the trees know it that know some other move of the decision.

    parts   int64[T] decisions to which trees belong, and what the trees found
    """
    total, trees = np.zeros((decisions, moves)), np.zeros((decisions, moves), np.int64)
    for of_tree, found in parts:
        decision = np.repeat(of_tree, np.diff(found.first))
        is_proven = found.goal != UNPROVEN
        mean = np.where(is_proven, found.goal, found.total / np.maximum(found.visits, 1))
        is_known = is_proven | (found.visits > 0)
        place = decision[is_known], found.move[is_known]
        np.add.at(total, place, mean[is_known])
        np.add.at(trees, place, 1)
    enough = (trees > 0) & (2 * trees >= trees.max(axis=1, initial=0)[:, None])
    return np.where(enough, total / np.maximum(trees, 1), -np.inf)


def even_shares(total: int, counts: list[int]) -> list[NDArray[np.int64]]:
    """`total` in shares that differ by one at most, for groups of `counts` trees."""
    trees = sum(counts)
    shares = np.full(trees, total // trees, np.int64)
    shares[: total % trees] += 1
    return np.split(shares, np.cumsum(counts)[:-1])
