"""What a role can know, by definition: every history that gives its own moves and percepts, weighted."""

from collections.abc import Hashable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

from gdl.terms import Term
from ggp.game import Game, Move, Role

Belief = dict[Hashable, Fraction]
"""States with their probabilities if all other roles move uniformly at random."""


def first_belief(game: Game[Any]) -> Belief:
    return {game.initial_state(): Fraction(1)}


def outcomes(
    game: Game[Any], role: Role, belief: Belief, own_move: Move
) -> Iterator[tuple[tuple[Term, ...], Hashable, Fraction]]:
    """Every percept, successor and weight after `own_move`."""
    for state, weight in belief.items():
        choices = [(own_move,) if each == role else game.legal_moves(state, each) for each in game.roles]
        joint_moves = list(product(*choices))
        for joint_move in joint_moves:
            seen = game.percepts(state, joint_move, role)
            yield seen, game.next_state(state, joint_move), weight / len(joint_moves)


def step(game: Game[Any], role: Role, belief: Belief, own_move: Move, seen: tuple[Term, ...]) -> Belief:
    """The belief after a step that did not end the match; of weight 1."""
    found: Belief = {}
    for percepts, successor, weight in outcomes(game, role, belief, own_move):
        if percepts == seen and not game.is_terminal(successor):
            found[successor] = found.get(successor, Fraction(0)) + weight
    total = sum(found.values())
    return {state: weight / total for state, weight in found.items()}


def best_goal(game: Game[Any], role: Role) -> Fraction:
    """The expected goal of `role` at its best against uniformly random others."""

    @cache
    def value(items: frozenset[tuple[Hashable, Fraction]]) -> Fraction:
        belief = dict(items)
        return max(move_value(belief, move) for move in game.legal_moves(next(iter(belief)), role))

    def move_value(belief: Belief, move: Move) -> Fraction:
        total, later = Fraction(0), {}
        for seen, successor, weight in outcomes(game, role, belief, move):
            if game.is_terminal(successor):
                total += weight * game.goal(successor, role)
            else:
                found = later.setdefault(seen, {})
                found[successor] = found.get(successor, Fraction(0)) + weight
        for found in later.values():
            share = sum(found.values())
            total += share * value(frozenset((state, each / share) for state, each in found.items()))
        return total

    return value(frozenset(first_belief(game).items()))
