"""The payoff matrix of a game of one joint move, and which of its moves are dominated.

A move is dominated if another move of the same role is never worse, whatever the other role does, and better
at least once; strictly, if it is better every time. (Mixtures of moves are not tried.) Sources: von Neumann,
"Zur Theorie der Gesellschaftsspiele" (1928), for the matrix and its value in mixed strategies; Nash,
"Equilibrium points in n-person games" (1950), where the sum is not constant; Luce and Raiffa, "Games and
Decisions" (1957), for dominance.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from ggp.game import RANDOM_ROLE, Game, Move, Role

MAX_CELLS = 400
"""Larger matrices are no help to a reader."""


@dataclass(frozen=True)
class PayoffMatrix:
    """A game of two roles and one joint move.

    roles   who chooses a row, and who a column
    moves   of each of them
    goals   goals[i][j]: the goals of both by row i and column j; means where chance moves too
    """

    roles: tuple[Role, Role]
    moves: tuple[tuple[Move, ...], tuple[Move, ...]]
    goals: tuple[tuple[tuple[Fraction, Fraction], ...], ...]

    def payoffs(self, place: int) -> list[list[Fraction]]:
        """The goals of one role (0 or 1), by own move and the other's."""
        own = [[cell[place] for cell in row] for row in self.goals]
        return own if place == 0 else [list(column) for column in zip(*own, strict=True)]

    @property
    def sum(self) -> Fraction | None:
        """The sum of both goals if it is the same in all cells."""
        sums = {first + second for row in self.goals for first, second in row}
        return sums.pop() if len(sums) == 1 else None

    def dominated(self, place: int) -> list[Dominance]:
        """The dominated moves of one role (0 or 1)."""
        own, moves = self.payoffs(place), self.moves[place]
        found = []
        for i, worse in enumerate(own):
            for j, better in enumerate(own):
                gains = [b - w for w, b in zip(worse, better, strict=True)]
                if i != j and min(gains) >= 0 and max(gains) > 0:
                    found.append(Dominance(self.roles[place], moves[i], moves[j], is_strict=min(gains) > 0))
                    break
        return found


@dataclass(frozen=True)
class Dominance:
    """A move of a role that is never better than another one, `by`."""

    role: Role
    move: Move
    by: Move
    is_strict: bool


def payoff_matrix(game: Game[Any]) -> PayoffMatrix | None:
    """The matrix, unless there are not two roles with a choice, or one joint move does not end the game, or
    there are more than MAX_CELLS.

    >>> import ggp
    >>> matrix = payoff_matrix(ggp.load("prisoners_dilemma", engine="reasoner"))
    >>> [f"{each.move} by {each.by}" for each in matrix.dominated(0)], matrix.sum
    (['silent by confess'], None)
    >>> print(*matrix.payoffs(0))
    [Fraction(50, 1), Fraction(100, 1)] [Fraction(0, 1), Fraction(90, 1)]
    """
    state = game.initial_state()
    if game.is_terminal(state):
        return None
    legal = [game.legal_moves(state, role) for role in game.roles]
    agents = [r for r, role in enumerate(game.roles) if role != RANDOM_ROLE]
    if len(agents) != 2 or any(len(legal[r]) < 2 for r in agents):
        return None
    moves = legal[agents[0]], legal[agents[1]]
    if len(moves[0]) * len(moves[1]) > MAX_CELLS:
        return None
    draws = [options[:1] if r in agents else options for r, options in enumerate(legal)]

    def cell(*pair: Move) -> tuple[Fraction, Fraction] | None:
        chosen = dict(zip(agents, pair, strict=True))
        goals = []
        for drawn in product(*draws):
            joint = [chosen.get(r, move) for r, move in enumerate(drawn)]
            after = game.next_state(state, joint)
            if not game.is_terminal(after):
                return None
            goals.append([game.goal(after, game.roles[r]) for r in agents])
        first, second = (Fraction(sum(each), len(goals)) for each in zip(*goals, strict=True))
        return first, second

    rows = []
    for row in moves[0]:
        cells = [cell(row, column) for column in moves[1]]
        if None in cells:
            return None
        rows.append(tuple(each for each in cells if each is not None))
    return PayoffMatrix((game.roles[agents[0]], game.roles[agents[1]]), moves, tuple(rows))
