"""Proofs of one state's value in slices, interleaved with another search.

`ProofSearch` is iterative deepening without an evaluation: a position at the horizon counts as even, so that
the search spends nothing on telling unproven positions apart. Deepening makes a win that is found the fastest
one, and the last move that was not yet refuted the longest defence, but for what the transposition table
knows of lines that reach a position later.

`StraightProof` has no horizon: it searches to the end at once, moves in the order of the goal distance alone.
If every line ends before long, as on a board that fills up, it needs a quarter of the positions or fewer; if
one side can prolong the game, it gets lost. How far it has come shows which of the two is the case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from ggp.engines.compiled import CompiledGame, PackedState, once_per_game
from ggp.game import Move
from ggp.search.alphabeta.estimate import Estimate
from ggp.search.alphabeta.goal_distance import goal_formula
from ggp.search.alphabeta.kernels.arrays import MAX_PLIES, PAUSED, UNLIMITED
from ggp.search.alphabeta.kernels.distance import GoalFormula
from ggp.search.alphabeta.search import AlphaBeta
from ggp.search.alphabeta.symmetry import identity_image

NO_EVALUATION = Estimate(goal_weight=0, mobility_weight=0)
MAX_ORDER_INPUTS = 1500
"""Maximum gate inputs of a goal formula: evaluating larger ones costs more than it saves."""
FIRST_FORECAST = 200
"""The progress of a straight proof is trusted after this many positions."""
STUCK = 5.0
"""A search is expected to stay stuck for this multiple of the positions since its latest gain."""
_MIN_GAIN = 0.1
"""Minimum share of the remaining search that counts as a gain."""


@dataclass(frozen=True)
class Proven:
    """The proven value of a state.

    goal   of the first role
    move   of the role that chooses: it keeps the value, to win fast or to lose slowly; None if no role has a
           choice, or if every move gives the worst goal and it is unknown which of them lasts longest
    """

    goal: int
    move: Move | None


class ProofSearch:
    """A proof of one state's value by iterative deepening.

    state       the root
    depth       of the current iteration, in plies
    sizes       positions expanded by each finished iteration
    proven      the proof, if there is one
    unrefuted   the best move of the latest finished iteration in which it did not lose
    is_over     whether there is a proof, or the game is too long for one
    """

    def __init__(self, search: AlphaBeta, state: PackedState) -> None:
        """`search` serves this proof alone meanwhile; `state` is not terminal."""
        self._search = search
        self.state = state
        self.depth = 1
        self.sizes: list[int] = []
        self.proven: Proven | None = None
        self.unrefuted: Move | None = None
        self.is_over = False
        self._before = 0
        search.put_root(state)

    @property
    def nodes(self) -> int:
        """Positions expanded so far."""
        return self._search.nodes

    def advance(self, nodes: int, passes: int | None = None) -> bool:
        """Expand about `nodes` more positions; return whether an iteration or the search ended.

        passes   of lanes, at most; see `AlphaBeta.advance`
        Raises AlphaBetaError if the game turns out to be of another kind.
        """
        if self.is_over:
            return True
        search = self._search
        score = search.advance(self.depth, nodes, passes)
        if score is None:
            return False
        if search.is_proven:
            move = self.unrefuted if score <= search.window[0] else search.best_move
            self.proven = Proven(search.goal_of(score), move)
        else:
            self.unrefuted = search.best_move
        self.sizes.append(self.nodes - self._before)
        self._before = self.nodes
        self.depth += 1
        self.is_over = self.proven is not None or self.depth > MAX_PLIES
        return True

    def proven_goals(self) -> dict[Move, int]:
        """Move of the role that chooses → goal of the first role that is proven behind it."""
        return self._search.proven_goals()


class StraightProof(ProofSearch):
    """A proof of one state's value in one iteration without a horizon. The proof's move is None
    if every move gives the worst goal."""

    def __init__(self, search: AlphaBeta, state: PackedState) -> None:
        super().__init__(search, state)
        self.depth = UNLIMITED
        self._left = 1.0
        self._gained_left, self._gained_at = 1.0, 0

    def advance(self, nodes: int, passes: int | None = None) -> bool:
        is_finished = super().advance(nodes, passes)
        if not is_finished:
            self._left = 1.0 - self.progress
            if self._left < (1.0 - _MIN_GAIN) * self._gained_left:
                self._gained_left, self._gained_at = self._left, self.nodes
        return is_finished

    @property
    def progress(self) -> float:
        """The share of the search that is done, from 0 to 1.

        Of a node's children each counts half as much as the one before, since the first is searched with the
        widest window and fills the table for the others. (On connect four this is mostly within a factor of
        three from a fiftieth of the search on; equal weights are a factor of 100 too low.)
        """
        frames = self._search.frames
        ply = int(self._search.counter[PAUSED]) - 1
        if ply < 1:
            return 0.0
        late = frames.tried[:ply].astype(np.float64) - 1.0
        whole = 1.0 - 0.5 ** np.maximum(frames.children[:ply], 1)
        before = (1.0 - 0.5**late) / whole
        weights = 0.5 ** (late + 1.0) / whole
        above = np.concatenate(([1.0], np.cumprod(weights)[:-1]))
        return float(before @ above)

    def positions_to_proof(self) -> float | None:
        """About how many positions are still to be expanded; None while nothing is known, inf if too many. A
        search that is stuck is expected to stay so for STUCK times as long."""
        if self.nodes < FIRST_FORECAST:
            return None
        done = 1.0 - self._left
        if done <= 0.0:
            return inf
        return max(self.nodes * self._left / done, STUCK * (self.nodes - self._gained_at))


@once_per_game
def _order_formula(game: CompiledGame) -> GoalFormula | None:
    return goal_formula(game, None, most_inputs=MAX_ORDER_INPUTS)


def deepening_search(game: CompiledGame, *, mebibytes: int) -> AlphaBeta:
    """A search for `ProofSearch`, with rows of one word.

    Without symmetries: finding them grounds the rules again, which a start clock may not have the time for.
    Raises AlphaBetaError if the game is of another kind.
    """
    return AlphaBeta(game, NO_EVALUATION, mebibytes=mebibytes, images=identity_image(game), words=1)


def straight_search(game: CompiledGame, *, mebibytes: int) -> AlphaBeta:
    """A search for `StraightProof`; otherwise as `deepening_search`."""
    estimate = replace(NO_EVALUATION, formula=_order_formula(game), is_for_order=True)
    return AlphaBeta(game, estimate, mebibytes=mebibytes, images=identity_image(game), words=1)
