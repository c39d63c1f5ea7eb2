"""Search of possible states, for `mcts` in games with hidden information.

By what each role has observed (`belief=trees`), or in each state as if all roles knew it (`belief=many`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from ggp.engines.compiled import CompiledGame
from ggp.game import Move
from ggp.match.player import MatchSetup
from ggp.search.forest.determinized import DeterminizedSearch
from ggp.search.information_sets.many_trees import ManyTreeSearch
from ggp.search.mcts.options import MctsOptions
from ggp.search.report import SearchReport

if TYPE_CHECKING:
    from ggp.beliefs.belief import Belief
    from ggp.beliefs.lanes_expansion import BoolArray
    from ggp.beliefs.observation_keys import UInt64Array
    from ggp.search.mcts.kernels.arrays import Float64Array


class PossibleStates:
    """The search of one role in one match.

    >>> import ggp, random
    >>> from ggp.beliefs.belief import Belief
    >>> game = ggp.load("dark_hex_3x3")
    >>> belief = Belief(game, game.roles[0], random.Random(0))
    >>> belief.keep_keys()
    >>> setup = MatchSetup("test", game, game.roles[0], 1.0, 1.0, seed=1)
    >>> play = PossibleStates(setup, MctsOptions(), "trees")
    >>> move, report = play.search(belief, simulations=2000)
    >>> move == report.best_move, report.mode, report.playouts, play.simulation_count
    (True, 'trees', 2000, 2000)
    """

    def __init__(self, setup: MatchSetup, options: MctsOptions, kind: str, selection: str = "uct") -> None:
        """Set up the lanes. kind: trees or many; selection: for trees, see `ManyTreeSearch`."""
        game = cast("CompiledGame", setup.game)
        self._state = game.initial_state()
        self._is_over = game.is_terminal(self._state)
        self._search: ManyTreeSearch | DeterminizedSearch
        if kind == "trees":
            self._search = ManyTreeSearch(
                game, setup.role, seed=setup.seed, options=options, selection=selection
            )
        else:
            self._search = DeterminizedSearch(game, setup.role, seed=setup.seed, options=options)

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
    ) -> tuple[Move | None, SearchReport] | None:
        """Search the states of `belief`, which keeps keys for `trees`; the move chosen, and a report.

        None for `many` if only one state is possible: another search knows it as well.
        """
        probabilities = belief.probabilities
        if isinstance(self._search, ManyTreeSearch):
            self._search.run(probabilities, belief.keys(), deadline=deadline, simulations=simulations)
            report = self._search.report()
            return self._search.draw() or report.best_move, report
        if len(probabilities) < 2:
            return None
        self._search.run(probabilities, deadline=deadline, simulations=simulations)
        report = self._search.report()
        return report.best_move, report

    def search_ahead(
        self,
        belief: Belief,
        own_move: Move | None,
        deadline: float,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Search for later moves until `deadline` or `is_over()`; for `trees`, others do nothing.

        own_move   answered last, and not observed yet: the states that may follow it are searched; None:
                   those of `belief`
        """
        if not isinstance(self._search, ManyTreeSearch) or self._is_over:
            return
        if own_move is None:
            found = (belief.probabilities, belief.keys())
        else:
            foreseen = belief.foreseen(own_move, deadline, is_over)
            if foreseen is None or not foreseen[0]:
                return
            found = foreseen
        self._search.run_ahead(*found, deadline, is_over)

    def move_model(self, role: int, keys: UInt64Array, is_legal: BoolArray) -> Float64Array:
        """How another role moves that has observed `keys`, for `trees`; see `MoveModel`."""
        assert isinstance(self._search, ManyTreeSearch)
        return self._search.move_model(role, keys, is_legal)
