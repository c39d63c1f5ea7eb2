"""Correlated equilibria of stages in which any number of roles choose at once.

A trusted party draws a joint move and shows each role its own part alone; no role gains in expectation by
another move than the one it was shown. Every finite stage has one, in rational numbers, and it is found by
linear programming, whereas a Nash equilibrium of three roles may need irrational probabilities.

Sources: Aumann, "Subjectivity and correlation in randomized strategies" (1974); Hart & Schmeidler,
"Existence of correlated equilibria" (1989): optimal play of an auxiliary zero-sum game.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod

from ggp.solver.matrix_games import Mix, NoEquilibriumFoundError, Payoff, solve_zero_sum

MAX_CELLS = 2_500
"""Largest auxiliary game (joint moves times deviations). Exact pivots for three roles of four moves each
(2,304 cells) take 2 to 6 CPU seconds, for five moves each over 20."""


def correlated_equilibrium(payoff: Sequence[Sequence[Payoff]], moves: Sequence[int]) -> Mix:
    """Probabilities of the joint moves, in the order of `itertools.product`.

    payoff   payoff[j][r] is what role r gets by joint move j
    moves    number of moves of each role

    In the auxiliary game one side picks a joint move, the other a role, a move that it was shown and another
    that it plays instead; the loss by this deviation goes to the first side, whose optimal mix loses nothing.
    Raises NoEquilibriumFoundError if the auxiliary game has over MAX_CELLS cells. Which of several
    equilibria is found is fixed by the order of the moves; it need not be the one with the greatest sum.

    >>> pennies = [[1, 0], [0, 1], [0, 1], [1, 0]]
    >>> print(*correlated_equilibrium(pennies, [2, 2]))
    1/4 1/4 1/4 1/4
    """
    deviations = [
        (role, shown, played)
        for role, count in enumerate(moves)
        for shown in range(count)
        for played in range(count)
        if played != shown
    ]
    if not deviations:
        return (Fraction(1),)
    if prod(moves) * len(deviations) > MAX_CELLS:
        raise NoEquilibriumFoundError(
            f"a stage of {prod(moves)} joint moves is too large for a correlated equilibrium"
        )
    strides = [prod(moves[role + 1 :]) for role in range(len(moves))]
    losses = [
        [
            Fraction(payoff[place][role]) - Fraction(payoff[place + (played - shown) * strides[role]][role])
            if joint[role] == shown
            else Fraction(0)
            for role, shown, played in deviations
        ]
        for place, joint in enumerate(product(*map(range, moves)))
    ]
    return solve_zero_sum(losses).row


def marginals(mix: Mix, moves: Sequence[int]) -> list[Mix]:
    """For each role the probabilities of its own moves.

    >>> [tuple(map(str, each)) for each in marginals((Fraction(1, 2), Fraction(0), Fraction(1, 2)), [3, 1])]
    [('1/2', '0', '1/2'), ('1',)]
    """
    shares = [[Fraction(0)] * count for count in moves]
    for joint, probability in zip(product(*map(range, moves)), mix, strict=True):
        for role, move in enumerate(joint):
            shares[role][move] += probability
    return [tuple(each) for each in shares]
