"""Where training matches are played: in this process, or in others while it learns."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from dataclasses import replace
from typing import Any, Protocol

from ggp.engines.compiled import CompiledGame
from ggp.networks.network import Network
from ggp.search.forest.forest import Forest
from ggp.search.forest.guided import Guidance, GuidedForest
from ggp.search.tree.options import MctsOptions
from ggp.teaching.play import PlayPlan, Taught, play_to_teach

PLAYING_SHARE = 0.5
"""Share of the network's value in matches; the rest is the playout's."""
MEBIBYTES = 256
WAIT_SECONDS = 0.2
"""Seconds between two checks whether teaching was stopped."""


class Pool(Protocol):
    """Processes that call functions: those of `ggp.tournament.pool`."""

    def size(self) -> int:
        """How many at a time."""
        ...

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Call a function in one of them."""
        ...


def guided_forest(
    game: CompiledGame, network: Network, seed: int, share: float = PLAYING_SHARE
) -> GuidedForest:
    """Searches by the network, with this share of its value."""
    return GuidedForest(game, network, Guidance(share), mebibytes=MEBIBYTES, seed=seed)


def playout_forest(game: CompiledGame, seed: int) -> Forest:
    """Searches by playouts alone."""
    return Forest(game, mebibytes=MEBIBYTES, seed=seed, options=MctsOptions(is_solving=True))


def play_here(
    game: CompiledGame,
    network: Network | None,
    plan: PlayPlan,
    is_stopped: Callable[[int], bool] = lambda ended: False,
) -> Taught:
    """The matches of a plan, by the network or, without one, by playouts; by the seed always the same."""
    forest = playout_forest(game, plan.seed) if network is None else guided_forest(game, network, plan.seed)
    return play_to_teach(game, forest, plan, is_stopped)


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
