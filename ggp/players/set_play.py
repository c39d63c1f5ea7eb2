"""Play by a search over information sets, while it has been in the sets that the match comes to.

The search starts every simulation in the initial state, so its statistics serve the whole match. In games of
more than some thousands of information sets a match soon leaves those that were searched.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import cast

from ggp.beliefs.observation import Observation
from ggp.engines.compiled import CompiledGame
from ggp.game import Move
from ggp.match.player import MatchSetup
from ggp.search.information_sets.search import InformationSetSearch
from ggp.search.report import MoveReport, SearchReport

LEAST_VISITS = 100
"""Simulations in which the role learned in an information set, below which its statistics are not played."""


class SetPlay:
    """One role's search and what the role has observed in a match.

    >>> import ggp
    >>> game = ggp.load("wire_cutting")
    >>> play = SetPlay(MatchSetup("test", game, game.roles[0], 1.0, 1.0, seed=1), mebibytes=16)
    >>> play.observe(Observation(ggp.parse_term("noop"), ()))
    >>> play.draw() is None                                         # nothing has been searched yet
    True
    >>> play.run(simulations=2000)
    >>> move, report = play.draw()
    >>> str(move), report.mode
    ('ask', 'sets')
    """

    def __init__(self, setup: MatchSetup, *, mebibytes: int) -> None:
        game = cast("CompiledGame", setup.game)
        self._search = InformationSetSearch(game, seed=setup.seed, mebibytes=mebibytes)
        self._role = setup.role
        self._moves = game.moves[game.roles.index(setup.role)]
        self._rng = random.Random(setup.seed)
        self._observations: list[Observation] = []

    @property
    def simulation_count(self) -> int:
        """Simulations of the whole match."""
        return self._search.simulation_count

    @property
    def is_known(self) -> bool:
        """Whether the statistics of the current information set are good enough to be played."""
        found = self._search.statistics(self._role, self._observations)
        return bool(found) and float(found["tries"].sum()) >= LEAST_VISITS

    def observe(self, observation: Observation) -> None:
        """Follow one step."""
        self._observations.append(observation)

    def run(
        self,
        *,
        simulations: int | None = None,
        deadline: float | None = None,
        is_stopped: Callable[[], bool] | None = None,
    ) -> None:
        """Search on; see `InformationSetSearch.run`."""
        self._search.run(simulations=simulations, deadline=deadline, is_stopped=is_stopped)

    def draw(self) -> tuple[Move, SearchReport] | None:
        """A move drawn by the average strategy; None if the set is hardly known.

        In the report the visits of a move are the simulations in which the role learned and made it, and its
        mean is that of their goals.
        """
        if not self.is_known:
            return None
        chances = self._search.average_strategy(self._role, self._observations)
        found = self._search.statistics(self._role, self._observations)
        reports = []
        for move in sorted(chances, key=lambda each: -chances[each]):
            index = self._moves.index(move)
            tries = found["tries"][index]
            mean = found["total"][index] / max(tries, 1.0)
            reports.append(MoveReport(move, int(tries), float(mean), None))
        (move,) = self._rng.choices(list(chances), list(chances.values()))
        count = self.simulation_count
        return move, SearchReport(playouts=count, descents=count, moves=tuple(reports), mode="sets")
