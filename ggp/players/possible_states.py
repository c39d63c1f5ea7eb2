"""Search of possible states, for `mcts` in games with hidden information.

By what each role has observed (`belief=trees`), or in each state as if all roles knew it (`belief=many`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ggp.engines.compiled import CompiledGame
from ggp.match.player import MatchSetup
from ggp.search.forest.determinized import DeterminizedSearch
from ggp.search.information_sets.many_trees import ManyTreeSearch
from ggp.search.mcts.options import MctsOptions
from ggp.search.report import SearchReport

if TYPE_CHECKING:
    from ggp.beliefs.belief import Belief


class PossibleStates:
    """The search of one role in one match.

    >>> import ggp, random
    >>> from ggp.beliefs.belief import Belief
    >>> game = ggp.load("dark_hex_3x3")
    >>> belief = Belief(game, game.roles[0], random.Random(0))
    >>> belief.keep_keys()
    >>> setup = MatchSetup("test", game, game.roles[0], 1.0, 1.0, seed=1)
    >>> play = PossibleStates(setup, MctsOptions(), "trees")
    >>> report = play.search(belief, simulations=2000)
    >>> report.mode, report.playouts, play.simulation_count
    ('trees', 2000, 2000)
    """

    def __init__(self, setup: MatchSetup, options: MctsOptions, kind: str) -> None:
        """Set up the lanes. kind: trees or many."""
        game = cast("CompiledGame", setup.game)
        self._state = game.initial_state()
        self._is_over = game.is_terminal(self._state)
        search = ManyTreeSearch if kind == "trees" else DeterminizedSearch
        self._search = search(game, setup.role, seed=setup.seed, options=options)

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        if self._is_over:
            return
        if isinstance(self._search, ManyTreeSearch):
            self._search.prepare(self._state)
        else:
            self._search.run({self._state: 1.0}, simulations=1)

    @property
    def simulation_count(self) -> int:
        """Playouts of all searches so far."""
        return self._search.simulation_count

    def search(
        self, belief: Belief, *, deadline: float | None = None, simulations: int | None = None
    ) -> SearchReport | None:
        """Search the states of `belief`, which keeps keys for `trees`.

        None for `many` if only one state is possible: another search knows it as well.
        """
        probabilities = belief.probabilities
        if isinstance(self._search, ManyTreeSearch):
            self._search.run(probabilities, belief.keys(), deadline=deadline, simulations=simulations)
        elif len(probabilities) < 2:
            return None
        else:
            self._search.run(probabilities, deadline=deadline, simulations=simulations)
        return self._search.report()
