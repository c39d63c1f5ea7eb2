"""Search of possible states by what each role has observed, for `mcts` in games with hidden information."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from ggp.engines.compiled import CompiledGame
from ggp.game import Move
from ggp.match.player import MatchSetup
from ggp.search.information_sets.many_trees import ManyTreeSearch
from ggp.search.mcts.options import MctsOptions
from ggp.search.report import SearchReport

if TYPE_CHECKING:
    from ggp.beliefs.belief import Belief


class PossibleStates:
    """The search of one role in one match. Beliefs given to it keep keys.

    >>> import ggp, random
    >>> from ggp.beliefs.belief import Belief
    >>> game = ggp.load("dark_hex_3x3")
    >>> belief = Belief(game, game.roles[0], random.Random(0))
    >>> belief.keep_keys()
    >>> setup = MatchSetup("test", game, game.roles[0], 1.0, 1.0, seed=1)
    >>> play = PossibleStates(setup, MctsOptions())
    >>> report = play.search(belief, simulations=2000)
    >>> report.mode, report.playouts, play.simulation_count
    ('trees', 2000, 2000)
    """

    def __init__(self, setup: MatchSetup, options: MctsOptions) -> None:
        """Set up the lanes."""
        game = cast("CompiledGame", setup.game)
        self._state = game.initial_state()
        self._is_over = game.is_terminal(self._state)
        self._search = ManyTreeSearch(game, setup.role, seed=setup.seed, options=options)

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        if not self._is_over:
            self._search.prepare(self._state)

    @property
    def simulation_count(self) -> int:
        """Playouts of all searches so far."""
        return self._search.simulation_count

    def search(
        self, belief: Belief, *, deadline: float | None = None, simulations: int | None = None
    ) -> SearchReport:
        """Search the states of `belief`."""
        self._search.run(belief.probabilities, belief.keys(), deadline=deadline, simulations=simulations)
        return self._search.report()

    def search_ahead(
        self,
        belief: Belief,
        own_move: Move | None,
        deadline: float,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Search for later moves until `deadline` or `is_over()`.

        own_move   answered last, and not observed yet: the states that may follow it are searched; None:
                   those of `belief`
        """
        if self._is_over:
            return
        if own_move is None:
            found = (belief.probabilities, belief.keys())
        else:
            foreseen = belief.foreseen(own_move, deadline, is_over)
            if foreseen is None or not foreseen[0]:
                return
            found = foreseen
        self._search.run_ahead(*found, deadline, is_over)
