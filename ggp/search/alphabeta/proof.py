"""Proving the value of one state in slices, next to another search that has the rest of the time.

Iterative deepening without an evaluation: a position at the horizon counts as even, so that the search spends
nothing on telling unproven positions apart. Deepening makes a win that is found the fastest one, and the last
move that was not yet refuted the longest defence, but for what the transposition table knows of lines that
reach a position later.
"""

from __future__ import annotations

from dataclasses import dataclass

from ggp.engines.compiled import PackedState
from ggp.game import Move
from ggp.search.alphabeta.kernels.arrays import MOST_PLIES
from ggp.search.alphabeta.refinements import Estimate, Refinements
from ggp.search.alphabeta.search import AlphaBeta

PROVING = Refinements(symmetries=False)
"""Finding symmetries grounds the rules again, which a start clock may not have the time for."""
NO_EVALUATION = Estimate(goal_weight=0, mobility_weight=0)


@dataclass(frozen=True)
class Proven:
    """The proven value of a state.

    goal   of the first role
    move   of the role that chooses: it keeps the value, to win fast or to lose slowly; None if no role has a
           choice, or if every move gives the worst goal and nothing says which of them lasts longest
    """

    goal: int
    move: Move | None


class ProofSearch:
    """The search for the proven value of one state.

    state    the root
    depth    of the current iteration, in plies
    sizes    positions expanded by each finished iteration
    """

    def __init__(self, search: AlphaBeta, state: PackedState) -> None:
        """`search` is the game's, and nobody else uses it meanwhile; `state` is not terminal."""
        self._search = search
        self.state = state
        self.depth = 1
        self.sizes: list[int] = []
        self.proven: Proven | None = None
        self._unrefuted: Move | None = None
        self._before = 0
        search.put_root(state)

    @property
    def nodes(self) -> int:
        """Positions expanded so far."""
        return self._search.nodes

    @property
    def is_over(self) -> bool:
        """Whether there is a proof, or the game is too long for one."""
        return self.proven is not None or self.depth > MOST_PLIES

    def advance(self, nodes: int) -> bool:
        """Expand about `nodes` more positions; whether an iteration or the search ended.

        Raises AlphaBetaError if the game turns out to be of another kind.
        """
        if self.is_over:
            return True
        score = self._search.advance(self.depth, nodes)
        if score is None:
            return False
        if self._search.is_proven:
            self.proven = self._proof(score)
        else:
            self._unrefuted = self._search.best_move
        self.sizes.append(self.nodes - self._before)
        self._before = self.nodes
        self.depth += 1
        return True

    def proven_goals(self) -> dict[Move, int]:
        """Move of the role that chooses → goal of the first role that is proven behind it."""
        return self._search.proven_goals()

    def _proof(self, score: int) -> Proven:
        lowest = self._search.window[0]
        move = self._unrefuted if score <= lowest else self._search.best_move
        return Proven(self._search.goal_of(score), move)
