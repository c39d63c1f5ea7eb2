"""Optimal moves in one state, given the values of its successors."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from ggp.game import RANDOM_ROLE, Game, Move, Role
from ggp.solver.limits import UnsolvableError
from ggp.solver.matrix_games import Mix, solve_bimatrix, solve_zero_sum

TOLERANCE = 1e-9
"""Goals closer than this count as equal."""
ENDLESS = 65535
"""Depth of states whose best play never ends, or is not known to."""
_PRECISION = 10**9


class Worth(NamedTuple):
    """A state's values in role order, and its depth (see `ggp.solver.solution.Solution`)."""

    values: tuple[float, ...]
    depth: int


Lookup: TypeAlias = Callable[[Any], Worth]
"""From a state to its worth. Raises KeyError for unknown states."""
Mixes: TypeAlias = tuple[Sequence[Mix], Sequence[Fraction]]
"""By role that chooses: the probabilities of its moves, and its goal."""


@dataclass(frozen=True)
class RatedMove:
    """A move of one role. `goal` is what the role gets by it; `probability` that of its optimal strategy."""

    move: Move
    goal: float
    depth: int
    probability: float


@dataclass(frozen=True)
class Stage:
    """One state: for each role with a choice its moves that are part of optimal play, best first."""

    best_moves: dict[Role, tuple[RatedMove, ...]]


def rate_stage(game: Game[Any], state: Hashable, lookup: Lookup) -> Stage:
    """The optimal moves of every role in a state that is not terminal.

    If one role has a choice: all moves that give it its best goal, with probability 1 for the first, which
    ends the game soonest if the role gets more than 50, else latest. If several have a choice: an
    equilibrium (a minimax strategy if the sum is constant).
    Raises KeyError if a successor is unknown, UnsolvableError if no equilibrium is found.
    """
    legal = [game.legal_moves(state, role) for role in game.roles]
    chance = [r for r, role in enumerate(game.roles) if role == RANDOM_ROLE]
    choosing = [r for r, moves in enumerate(legal) if len(moves) > 1 and r not in chance]
    if not choosing:
        return Stage({})

    def worth_of(joint: tuple[Move, ...]) -> Worth:
        """The mean over the moves of chance."""
        moves = [legal[r] if r in chance else (move,) for r, move in enumerate(joint)]
        worths = [lookup(game.next_state(state, joint)) for joint in product(*moves)]
        values = zip(*(worth.values for worth in worths), strict=True)
        return Worth(tuple(sum(each) / len(worths) for each in values), max(worth.depth for worth in worths))

    joints = product(*[legal[r][:1] if r in chance else legal[r] for r in range(len(legal))])
    expected = {joint: worth_of(joint) for joint in joints}
    if len(choosing) == 1:
        return _one_chooses(game, choosing[0], expected)
    stable = _best_stable(choosing, legal, expected) if len(choosing) > 2 else None
    if stable is not None:
        worth = expected[stable]
        rated = {r: RatedMove(stable[r], worth.values[r], worth.depth, 1.0) for r in choosing}
        return Stage({game.roles[r]: (move,) for r, move in rated.items()})
    # `expected` has its joint moves in the order of `product`: roles that do not choose have one move in it.
    payoff = [[rounded(worth.values[r]) for r in choosing] for worth in expected.values()]
    if len(choosing) > 2:
        raise UnsolvableError("a stage of three or more players has no equilibrium in pure strategies")
    is_alone = len(game.roles) - len(chance) == 2
    return _mixed(game, choosing, legal, *_of_two(payoff, len(legal[choosing[1]]), is_alone=is_alone))


def _one_chooses(game: Game[Any], mover: int, expected: dict[tuple[Move, ...], Worth]) -> Stage:
    top = max(worth.values[mover] for worth in expected.values())
    best = [
        RatedMove(joint[mover], worth.values[mover], worth.depth, 0.0)
        for joint, worth in expected.items()
        if worth.values[mover] >= top - TOLERANCE
    ]
    hurries = top > 50 or len(game.roles) == 1
    best.sort(key=lambda each: each.depth if hurries else -each.depth)
    return Stage({game.roles[mover]: (replace(best[0], probability=1.0), *best[1:])})


def rounded(goal: float) -> Fraction:
    """The simplest fraction within the precision of values, so that equal goals stay equal."""
    return Fraction(goal).limit_denominator(_PRECISION)


def _mixed(
    game: Game[Any],
    choosing: list[int],
    legal: list[tuple[Move, ...]],
    mixes: Sequence[Mix],
    goals: Sequence[Fraction],
) -> Stage:
    """The moves that each role draws, the likeliest first, with its goal by all of them."""
    return Stage(
        {
            game.roles[r]: tuple(
                RatedMove(move, float(goal), 0, float(share))
                for move, share in sorted(zip(legal[r], mix, strict=True), key=lambda each: -each[1])
                if share > TOLERANCE
            )
            for r, mix, goal in zip(choosing, mixes, goals, strict=True)
        }
    )


def _of_two(payoff: list[list[Fraction]], columns: int, *, is_alone: bool) -> Mixes:
    """An equilibrium of two roles; payoff[j][k] of role k by joint move j."""
    rows, others = (
        [[joint[k] for joint in payoff[first : first + columns]] for first in range(0, len(payoff), columns)]
        for k in (0, 1)
    )
    sums = [sum(joint, Fraction(0)) for joint in payoff]
    if is_alone and max(sums) - min(sums) < Fraction(1, 10**6):
        found = solve_zero_sum(rows)
        return (found.row, found.column), (found.row_value, sums[0] - found.row_value)
    found = solve_bimatrix(rows, others)
    return (found.row, found.column), (found.row_value, found.column_value)


def _best_stable(
    choosing: list[int], legal: list[tuple[Move, ...]], expected: dict[tuple[Move, ...], Worth]
) -> tuple[Move, ...] | None:

    def is_stable(joint: tuple[Move, ...]) -> bool:
        return all(
            expected[(*joint[:r], move, *joint[r + 1 :])].values[r] <= expected[joint].values[r] + TOLERANCE
            for r in choosing
            for move in legal[r]
        )

    return max(filter(is_stable, expected), key=lambda joint: sum(expected[joint].values), default=None)
