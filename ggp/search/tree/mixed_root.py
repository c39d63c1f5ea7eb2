"""Mixed strategies at simultaneous moves, from the statistics of a search tree.

Decoupled UCT ends in one move per role. If no single move is best (rock-paper-scissors), an opponent who
knows that move beats it. Here the children of the root are the entries of a matrix game, exact where a joint
move ends the match and mean goals of playouts elsewhere, and the role plays an equilibrium of that.

The means of moves that the search seldom made are rough, and an equilibrium would pick those that seem too
good by chance. So every move counts less for the role that makes it, the fewer playouts have made it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import PackedState
from ggp.game import RANDOM_ROLE, Move
from ggp.search.tree.search import LanesSearch
from ggp.solver.kernels.matrix import make_stage, solve_matrix
from ggp.solver.matrix_games import NoEquilibriumFoundError, solve_bimatrix

LARGEST_MATRIX = 400
"""Maximum joint moves: with more, too few playouts support each."""
LARGEST_WITHOUT_SUM = 36
SUM_TOLERANCE = 1e-6
DOUBT = 0.6
"""A move made in a share p of the playouts counts DOUBT / sqrt(p) goals less for its role.

Measured: `results/alphabeta.md`. It does not shrink with the number of playouts: the positions behind are
searched by decoupled UCT, so that means stay biased."""


@dataclass(frozen=True)
class RootMatrix:
    """One stage as a matrix game between the searching role (rows) and another one (columns).

    payoff         float64[rows, columns]: mean goal of the searching role
    other_payoff   the same of the other role
    """

    moves: tuple[Move, ...]
    payoff: NDArray[np.float64]
    other_payoff: NDArray[np.float64]

    @property
    def has_constant_sum(self) -> bool:
        return float(np.ptp(self.payoff + self.other_payoff)) < SUM_TOLERANCE

    def strategy(self) -> tuple[float, ...] | None:
        """Probability of each row in an equilibrium; None if none was found."""
        rows, columns = self.payoff.shape
        if self.has_constant_sum:
            stage = make_stage(2, rows * columns, max(rows, columns))
            stage.matrix[:rows, :columns] = self.payoff
            solve_matrix(stage, rows, columns)
            return _normal(stage.row_mix[:rows])
        if rows * columns > LARGEST_WITHOUT_SUM:
            return None
        exact = [
            [[Fraction(worth).limit_denominator(1000) for worth in row] for row in payoff]
            for payoff in (self.payoff, self.other_payoff)
        ]
        try:
            return _normal(np.array([float(p) for p in solve_bimatrix(*exact).row]))
        except NoEquilibriumFoundError:
            return None

    def draw(self, rng: random.Random) -> Move | None:
        """Draw a move by the strategy; None without a strategy."""
        chances = self.strategy()
        return None if chances is None else rng.choices(self.moves, chances)[0]


def prepare_mixing() -> None:
    """Compile the kernel of mixed strategies or load it from the cache."""
    payoff = np.zeros((1, 1))
    RootMatrix((), payoff, payoff).strategy()


def root_matrix(search: LanesSearch, state: PackedState) -> RootMatrix | None:
    """The stage at the root of `search`, which is `state`. None unless exactly two roles choose, one of them
    the searching role, and the matrix is small enough."""
    game = search.game
    legal = [game.legal_moves(state, role) for role in game.roles]
    choosing = [r for r, moves in enumerate(legal) if len(moves) > 1]
    if len(choosing) != 2 or search.role_index not in choosing:
        return None
    row = search.role_index
    (column,) = (r for r in choosing if r != row)
    shape = (len(legal[row]), len(legal[column]))
    if game.roles[column] == RANDOM_ROLE or shape[0] * shape[1] > LARGEST_MATRIX:
        return None
    known = _child_means(search, (row, column))
    payoff, visits = np.zeros((2, *shape)), np.zeros(shape)
    is_over = np.zeros(shape, np.bool_)
    for i, j in product(*map(range, shape)):
        chosen = {row: legal[row][i], column: legal[column][j]}
        joint = tuple(chosen.get(r, moves[0]) for r, moves in enumerate(legal))
        successor = game.next_state(state, joint)
        if game.is_terminal(successor):
            is_over[i, j] = True
            payoff[:, i, j] = [game.goal(successor, game.roles[r]) for r in (row, column)]
        else:
            *payoff[:, i, j], visits[i, j] = known.get((chosen[row], chosen[column]), (np.nan, np.nan, 0))
    if np.isnan(payoff).all():
        return None
    for one in payoff:
        _fill_unknown(one)
    of_rows, of_columns = doubts(visits, is_over)
    # Added to one and taken from the other, which keeps a constant sum.
    for_rows = of_columns[None, :] - of_rows[:, None]
    return RootMatrix(legal[row], payoff[0] + for_rows, payoff[1] - for_rows)


def doubts(
    visits: NDArray[np.float64], is_over: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """By how much the means of rows and columns may be too high, in goals; see DOUBT.

    visits    float64[rows, columns]: playouts of each joint move that does not end the match
    is_over   bool[rows, columns]: joint moves that do, whose payoffs are exact: a row is doubted by the share
              of the others in it

    >>> rows, columns = doubts(np.array([[90.0, 9.0], [0.0, 1.0]]), np.zeros((2, 2), np.bool_))
    >>> rows.round(2).tolist(), columns.round(2).tolist()
    ([0.6, 6.0], [0.63, 1.9])
    """
    total = max(1.0, float(visits.sum()))
    of_rows, of_columns = (
        DOUBT * np.sqrt(total / np.maximum(1.0, visits.sum(axis=axis))) * (~is_over).mean(axis=axis)
        for axis in (1, 0)
    )
    return of_rows, of_columns


def _fill_unknown(payoff: NDArray[np.float64]) -> None:
    """Estimate entries that were never searched from the others of their row and column."""
    unknown = np.isnan(payoff)
    overall = float(np.nanmean(payoff))
    known = np.where(unknown, 0.0, payoff)
    rows, columns = (~unknown).sum(axis=1), (~unknown).sum(axis=0)
    by_row = np.where(rows > 0, known.sum(axis=1) / np.maximum(rows, 1), overall)
    by_column = np.where(columns > 0, known.sum(axis=0) / np.maximum(columns, 1), overall)
    payoff[unknown] = ((by_row[:, None] + by_column[None, :]) / 2)[unknown]


def _child_means(
    search: LanesSearch, roles: tuple[int, int]
) -> dict[tuple[Move, Move], tuple[float, float, float]]:
    """Mean goals of two roles and visits by their moves, over all trees, for the joint moves searched."""
    sums: dict[tuple[Move, Move], NDArray[np.float64]] = defaultdict(lambda: np.zeros(3))
    game = search.game
    for engine in search.engines:
        tree = engine.tree
        first = tree.first_edge[engine.root, 0]
        for child in np.flatnonzero(tree.parent[: engine.node_count] == engine.root).tolist():
            made = tree.move[first + tree.came[child]] - game.tables.first_move[:-1]
            one, other = (game.moves[r][made[r]] for r in roles)
            edges = [engine.root_edges(r, engine.shared_node(child)) for r in roles]
            totals = [float(each.totals.sum()) for each in edges]
            sums[one, other] += [*totals, int(edges[0].visits.sum())]
    return {key: (a / n, b / n, n) for key, (a, b, n) in sums.items() if n}


def _normal(chances: Sequence[float] | NDArray[np.float64]) -> tuple[float, ...]:
    """Clipped at 0 and adding up to 1."""
    clipped = np.clip(chances, 0.0, None)
    return tuple(float(p) for p in clipped / clipped.sum())
