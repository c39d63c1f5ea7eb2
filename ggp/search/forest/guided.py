"""GuidedForest: a forest whose trees are guided by a network; NetworkSearch: one role in one match by it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.game import Move, Role
from ggp.networks.kernels import tables_of
from ggp.networks.network import Network
from ggp.search.budget import Budget
from ggp.search.forest.forest import MEBIBYTES, SLICE_TICKS, BoolArray, Forest
from ggp.search.forest.guided_kernel import Guide, search_guided
from ggp.search.report import SearchReport
from ggp.search.tree.kernels.arrays import NO_PARTS
from ggp.search.tree.kernels.compaction import abandon
from ggp.search.tree.options import MctsOptions

ENDLESS = 2**60
CONCENTRATION = 10.0
"""Of the Dirichlet distribution of noise: its parameter times the number of moves."""

LANES = 512
"""Simulations at a time of a NetworkSearch."""
PLAYING_SHARE = 0.5
"""Share of the network's value in matches; the rest is the playout's."""


class GuidedForest(Forest):
    """A tree per lane, or all lanes in one tree, guided by a network.

    >>> import ggp, numpy as np
    >>> game = ggp.load("tictactoe")
    >>> forest = GuidedForest(game, Network.random(game, seed=1))
    >>> roots = np.repeat(game.unpack(game.initial_state())[None], 2, axis=0)
    >>> forest.search(roots, [50, 101])
    True
    >>> x = forest.root_moves(0)        # the first simulation of a tree expands its root
    >>> np.add.reduceat(x.visits, x.first[:-1]).tolist()
    [49, 100]
    """

    def __init__(
        self,
        game: CompiledGame,
        network: Network,
        share: float = 1.0,
        *,
        words: int = 8,
        seed: int = 0,
        options: MctsOptions | None = None,
        mebibytes: int = MEBIBYTES,
    ) -> None:
        """As `Forest`, but proving unless `options` say otherwise.

        share   of the network's value in the result of a simulation; the rest is a playout's
        Raises ValueError for other shares, and for a network of another game.
        """
        if not 0 <= share <= 1:
            raise ValueError("share must be 0..1")
        if not network.fits(game):
            raise ValueError(f"the network is not one of {game.name}: other fluents, roles or moves")
        options = options or MctsOptions(is_solving=True)
        super().__init__(game, words=words, seed=seed, options=options, mebibytes=mebibytes)
        self._guide = Guide(
            tables_of(network),
            np.zeros(len(self._engine.tree.move), np.float32),
            np.zeros((self.lane_count, len(game.roles)), np.float32),
            float(share),
        )

    def _tick(self, ticks: int) -> bool:
        return bool(search_guided(self._engine.memory, NO_PARTS, self._guide, self._roots, ticks))

    def search_with_noise(
        self,
        states: BoolArray,
        simulations: Sequence[int] | NDArray[np.int64],
        rng: np.random.Generator,
        *,
        share: float = 0.25,
        is_stopped: Callable[[], bool] | None = None,
    ) -> bool:
        """As `search`, with this share of noise in the priors of the roots (Silver et al. 2017)."""
        self.search(states, np.minimum(simulations, 1))
        for role in range(len(self.game.roles)):
            first = self._engine.tree.first_edge[: len(states), role : role + 2]
            for begin, end in first[self._engine.tree.first_edge[: len(states), 0] >= 0].tolist():
                noise = rng.dirichlet(np.full(end - begin, CONCENTRATION / (end - begin)))
                prior = self._guide.prior[begin:end]
                prior[:] = (1 - share) * prior + share * noise
        self._roots.left[: len(states)] = np.maximum(np.asarray(simulations) - 1, 0)
        abandon(self._engine.arrays, self._engine.tree, self._engine.memory.walkers, len(states))
        return self._grow(is_stopped, SLICE_TICKS)

    def search_together(self, state: NDArray[np.bool_], budget: Budget, *, lanes: int) -> bool:
        """Search one state, bool[F], by several lanes of one tree; whether it was searched to the end.

        lanes   simulations at a time; those of the budget are rounded to a multiple of it
        """
        lanes, simulations = min(lanes, self.lane_count), budget.simulations
        self._plant(np.repeat(state[None], lanes, axis=0), trees=1)
        self._roots.left[:lanes] = ENDLESS if simulations is None else max(1, simulations // lanes)
        return self._grow(budget.is_over, SLICE_TICKS // 4)


class NetworkSearch:
    """Network-guided search; every state is searched from scratch.

    >>> import ggp
    >>> game = ggp.load("tictactoe")
    >>> search = NetworkSearch(game, game.roles[0], Network.random(game, seed=1), mebibytes=16)
    >>> search.run(Budget(simulations=512))
    512
    >>> search.best_move() == search.report().moves[0].move
    True
    """

    def __init__(
        self,
        game: CompiledGame,
        role: Role,
        network: Network,
        *,
        seed: int = 0,
        mebibytes: int = 256,
    ) -> None:
        """Compiles the kernel of the search or loads it from the cache."""
        self._game = game
        self._role = game.roles.index(role)
        words = LANES // 64
        self._forest = GuidedForest(game, network, PLAYING_SHARE, words=words, seed=seed, mebibytes=mebibytes)
        self._state = game.initial_state()
        self._playouts = 0

    @property
    def simulation_count(self) -> int:
        """Simulations of all searches so far."""
        return self._forest.simulation_count

    def move_to(self, state: Hashable, joint_move: tuple[Move, ...] | None) -> None:
        """Begin at `state`, which is not terminal."""
        assert isinstance(state, bytes)
        self._state = state

    def run(self, budget: Budget) -> int:
        """Search within the budget; return the number of simulations."""
        before = self._forest.simulation_count
        simulations = budget.simulations
        lanes = LANES if simulations is None else max(1, min(LANES, simulations // 64))
        self._forest.search_together(self._game.unpack(self._state), budget, lanes=lanes)
        self._playouts = self._forest.simulation_count - before
        return self._playouts

    def best_move(self) -> Move | None:
        """The move that the last search found best; None if it found nothing."""
        (best,), _ = self._forest.root_moves(self._role).best()
        return None if best < 0 else self._game.moves[self._role][best]

    def report(self) -> SearchReport:
        """The result of the last search, the best move first."""
        best = self.best_move()
        reports = self._forest.root_moves(self._role).reports(self._game.moves[self._role])
        moves = sorted((each for each in reports if each.visits), key=lambda each: each.move != best)
        return SearchReport(playouts=self._playouts, moves=tuple(moves), mode="network")
