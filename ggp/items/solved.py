"""Values and regrets of moves in games that are small enough to be solved."""

from __future__ import annotations

from itertools import product
from statistics import fmean

from ggp.engines.compiled import PackedState
from ggp.game import RANDOM_ROLE, Move, Role
from ggp.solver import Solution
from ggp.solver.stages import ENDLESS

_DIGITS = 6
"""Decimal places of expectations; goals are integers."""


def has_one_meaning(solution: Solution) -> bool:
    """Whether every state has the same value in all equilibria.

    That holds for one role, and for two whose goals have a constant sum, unless play may be endless.

    >>> import ggp
    >>> has_one_meaning(ggp.solve(ggp.load("tictactoe")))
    True
    """
    players = [role for role in solution.game.roles if role != RANDOM_ROLE]
    is_zero_sum = len(players) == 2 and solution.sum is not None
    return (len(players) == 1 or is_zero_sum) and solution.endless is None


def value_of(solution: Solution, state: PackedState, role: Role) -> float:
    """The goal of `role` under best play, whole if possible."""
    return _rounded(solution.values(state)[solution.game.roles.index(role)])


def chooser(solution: Solution, state: PackedState) -> Role | None:
    """The only role that can choose in `state`, chance aside; None if there is none, or several."""
    game = solution.game
    choosing = [role for role in game.roles if role != RANDOM_ROLE and len(game.legal_moves(state, role)) > 1]
    return choosing[0] if len(choosing) == 1 else None


def regrets(solution: Solution, state: PackedState, role: Role) -> dict[Move, float]:
    """The loss of each move of the only role that can choose, in goals under best play afterwards.

    >>> import ggp
    >>> game = ggp.load("nim")
    >>> solution = ggp.solve(game)
    >>> state = game.next_state(game.initial_state(), [game.legal_moves(game.initial_state(), role)[0]
    ...                                                for role in game.roles])
    >>> sorted(set(regrets(solution, state, chooser(solution, state)).values()))
    [0, 100]
    """
    game = solution.game
    r = game.roles.index(role)
    legal = [game.legal_moves(state, each) for each in game.roles]
    goals = {}
    for move in legal[r]:
        choices = [(move,) if place == r else moves for place, moves in enumerate(legal)]
        goals[move] = fmean(
            solution.values(game.next_state(state, joint_move))[r] for joint_move in product(*choices)
        )
    best = max(goals.values())
    return {move: _rounded(best - goal) for move, goal in goals.items()}


def plies_left(solution: Solution, state: PackedState) -> int | None:
    """Joint moves until best play ends; None if it need not end. Raises KeyError for unreachable states."""
    depth = solution.worth(state).depth
    return None if depth == ENDLESS else depth


def _rounded(value: float) -> float:
    whole = round(value)
    return whole if abs(value - whole) < 10.0**-_DIGITS else round(value, _DIGITS)
