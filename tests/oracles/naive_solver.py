"""Exhaustive search by the definitions: what solvers and game counts are compared with."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from ggp.game import RANDOM_ROLE, Game, Move
from ggp.solver.matrix_games import solve_zero_sum

Values = tuple[Fraction, ...]


def joint_moves(game: Game[Any], state: Any) -> Iterator[tuple[Move, ...]]:
    return product(*(game.legal_moves(state, role) for role in game.roles))


def successors(game: Game[Any], state: Any) -> Iterator[Any]:
    if not game.is_terminal(state):
        for joint_move in joint_moves(game, state):
            yield game.next_state(state, joint_move)


def perft(game: Game[Any], depth: int) -> list[int]:
    """How many move sequences of length 1..depth there are."""
    level = Counter([game.initial_state()])
    counts = []
    for _ in range(depth):
        following: Counter[Any] = Counter()
        for state, ways in level.items():
            for successor in successors(game, state):
                following[successor] += ways
        level = following
        counts.append(level.total())
    return counts


def positions(game: Game[Any], depth: int) -> list[int]:
    """How many different states there are after 0..depth steps."""
    level = {game.initial_state()}
    counts = [1]
    for _ in range(depth):
        level = {successor for state in level for successor in successors(game, state)}
        counts.append(len(level))
    return counts


def goals(game: Game[Any], state: Any) -> Values:
    """What each player gets in `state`; 0 for the chance role."""
    return tuple(Fraction(0 if role == RANDOM_ROLE else game.goal(state, role)) for role in game.roles)


def chooser(game: Game[Any], state: Any) -> int:
    """The index of the one role that has a choice (any role if none has)."""
    choosing = [i for i, role in enumerate(game.roles) if len(game.legal_moves(state, role)) > 1]
    assert len(choosing) <= 1, "not turn-taking"
    return choosing[0] if choosing else 0


def coalition_sum(game: Game[Any], members: frozenset[int], state: Any) -> Fraction:
    """The sum of goals that the roles `members` can be sure of from `state` on, without cycles.

    Chance is averaged. If both sides choose at once, they draw joint moves: a matrix game.
    """
    if game.is_terminal(state):
        return sum((goals(game, state)[r] for r in members), Fraction(0))
    moves = [game.legal_moves(state, role) for role in game.roles]
    chance = {r for r, role in enumerate(game.roles) if role == RANDOM_ROLE}

    def choices(side: set[int]) -> list[dict[int, Move]]:
        return [
            dict(zip(sorted(side), joint, strict=True))
            for joint in product(*(moves[r] for r in sorted(side)))
        ]

    def payoff(ours: dict[int, Move], theirs: dict[int, Move]) -> Fraction:
        found = []
        for drawn in choices(chance):
            joint = ours | theirs | drawn
            following = game.next_state(state, tuple(joint[r] for r in range(len(moves))))
            found.append(coalition_sum(game, members, following))
        return sum(found, Fraction(0)) / len(found)

    others = set(range(len(moves))) - members - chance
    matrix = [[payoff(ours, theirs) for theirs in choices(others)] for ours in choices(set(members))]
    if len(matrix) == 1:
        return min(matrix[0])
    if len(matrix[0]) == 1:
        return max(row[0] for row in matrix)
    return solve_zero_sum(matrix).row_value


def solve(game: Game[Any], *, stop_at_win: bool = False) -> dict[Any, Values]:
    """The value of every reachable state of a turn-taking game without cycles, for each role.

    The role that has a choice takes its best successor, the chance role all with equal probability.
    With `stop_at_win` states behind a winning move are left out.
    """
    values: dict[Any, Values] = {}

    def value(state: Any) -> Values:
        if state not in values:
            values[state] = goals(game, state) if game.is_terminal(state) else best(state)
        return values[state]

    def best(state: Any) -> Values:
        mover = chooser(game, state)
        if game.roles[mover] == RANDOM_ROLE:
            outcomes = [value(successor) for successor in successors(game, state)]
            return tuple(sum(each, Fraction(0)) / len(outcomes) for each in zip(*outcomes, strict=True))
        found: list[Values] = []
        for successor in successors(game, state):
            found.append(value(successor))
            if stop_at_win and found[-1][mover] == 100:
                break
        return max(found, key=lambda each: each[mover])

    value(game.initial_state())
    return values
