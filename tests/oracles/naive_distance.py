"""Goal distance of one state, part by part: the plain twin of `ggp.search.alphabeta.kernels.distance`."""

import math

import numpy as np
from numpy.typing import NDArray

from ggp.search.alphabeta.kernels.distance import GoalFormula


def distance_goal(formula: GoalFormula, state: NDArray[np.bool_]) -> float:
    """The goal of role 0 that the formula expects of a state bool[F]."""
    part = degrees(formula, state)
    own = part[formula.wanted[0]]
    if formula.wanted[1] < 0:
        share = 1 / (1 + math.log(own) / math.log(formula.near[0])) if own > 0 else 0.0
    else:
        other = part[formula.wanted[1]]
        share = own / (own + other) if own + other > 0 else 0.5
    return math.floor(10000 * share + 0.5) / 100


def degrees(formula: GoalFormula, state: NDArray[np.bool_]) -> list[float]:
    """The degree of every part."""
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
