"""The static score of a position that is not terminal, and the goal distance of one state."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.game import Game, GameError
from ggp.search.alphabeta.estimate import SCALE, Estimate
from ggp.search.alphabeta.kernels.distance import GoalFormula
from ggp.search.alphabeta.reference.position import Position, signed


def static_score(game: Game[Any], position: Position, estimate: Estimate) -> int:
    """Hundredths of a goal for the first role; between those of a lost and a won game, unless it only orders.
    Weights, formula and network need a compiled game."""
    even = estimate.null_score
    score = even + signed(estimate.mobility_weight * position.mobility, position.mover)
    try:
        goal = game.goal(position.state, game.roles[0])
        score += estimate.goal_weight * (SCALE * goal - even) // 100
    except GameError:
        pass
    if estimate.weights is not None or estimate.formula is not None or estimate.network is not None:
        held = cast("CompiledGame", game).unpack(position.state)
        if estimate.weights is not None:
            score += int(estimate.weights[:-1][held].sum() + estimate.weights[-1])
        if estimate.network is not None:
            value = float(estimate.network.evaluate(held[None, :])[0][0, 0])
            score += estimate.network_weight * (round(100 * SCALE * value) - even) // 100
        if estimate.formula is not None:
            worth = round(SCALE * distance_goal(estimate.formula, held))
            score += estimate.distance_weight * (worth - even) // 100
    return score if estimate.is_for_order else min(max(score, 1), 100 * SCALE - 1)


def distance_goal(formula: GoalFormula, state: NDArray[np.bool_]) -> float:
    """The goal of role 0 that the formula expects of a state bool[F].

    Its share of both roles' degrees; alone 1 / (1 + steps to go). Source: Schiffel and Thielscher (2007), see
    `ggp.search.alphabeta.goal_distance`.
    """
    part = degrees(formula, state)
    own = part[formula.wanted[0]]
    if formula.wanted[1] < 0:
        share = 1 / (1 + math.log(own) / math.log(formula.near[0])) if own > 0 else 0.0
    else:
        other = part[formula.wanted[1]]
        share = own / (own + other) if own + other > 0 else 0.5
    return math.floor(10000 * share + 0.5) / 100


def degrees(formula: GoalFormula, state: NDArray[np.bool_]) -> list[float]:
    """The degree of every part: leaves, then gates."""
    part: list[float] = []
    for v, leaf in enumerate(formula.leaf):
        of = slice(formula.first_source[v], formula.first_source[v + 1])
        reached = formula.degree[of][state[formula.source[of]]]
        blockers = formula.blocker[formula.first_blocker[v] : formula.first_blocker[v + 1]]
        if state[leaf >> 1] != bool(leaf & 1):
            part.append(1.0)
        elif state[blockers].any():
            part.append(0.0)
        else:
            part.append(float(reached[0]) if len(reached) else float(formula.away[v]))
    for g, is_any in enumerate(formula.is_any):
        inputs = [part[p] for p in formula.input[formula.first_input[g] : formula.first_input[g + 1]]]
        part.append(1 - math.prod(1 - degree for degree in inputs) if is_any else math.prod(inputs))
    return part
