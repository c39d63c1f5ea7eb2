"""Exact figures, where a game is small enough to be solved: values under best play, solutions of puzzles."""

from __future__ import annotations

import numpy as np

from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE, hides_information
from ggp.game_evaluation.figures import EQUAL, EQUILIBRIUM, Figure, exact
from ggp.game_evaluation.measuring import BEST_GOAL, players_of
from ggp.search.forest.self_play import SelfPlay
from ggp.solver import Solution, SolverError, SolverLimits, solve
from ggp.solver.cfr import ApproximateEquilibrium, CfrOptions, solve_hidden

SOLVED_STATES = 1_000_000
SOLVED_HISTORIES = 2_000_000
MEBIBYTES = 1024
ACCURACY = 0.05
"""Exploitability in goals at which an equilibrium is near enough."""
WIDEST = 5.0
"""Maximum distance of the bounds of a value, in goals; wider ones say less than matches."""


def solved(game: CompiledGame, deadline: float) -> list[Figure]:
    """Figures that replace estimates.

    Solves a game of few states, or finds an equilibrium where information is hidden; nothing if that fails.

    >>> import ggp
    >>> [(each.name, each.value) for each in solved(ggp.load("nim"), float("inf"))]
    [('balance', 0.0), ('advantage', -1.0)]

    Raises KeyboardInterrupt.
    """
    limits = SolverLimits(
        mebibytes=MEBIBYTES,
        states=SOLVED_STATES,
        histories=SOLVED_HISTORIES,
        deadline=deadline,
        may_use_disk=False,
    )
    try:
        if hides_information(game):
            return _of_equilibrium(solve_hidden(game, limits, CfrOptions(ACCURACY)))
        return _of_solution(solve(game, limits))
    except (SolverError, MemoryError):
        return []


def _of_solution(solution: Solution) -> list[Figure]:
    """Balance of the values under best play; of one role the best goal and how it is reached."""
    players = players_of(solution.game)
    values = [solution.values()[r] for r in players]
    states = solution.space.state_count
    if len(players) == 1:
        return [exact("best_goal", values[0], states), *_shortest_solution(solution)]
    return [
        exact("balance", 1 - (max(values) - min(values)) / BEST_GOAL, states),
        exact("advantage", (values[0] - values[1]) / BEST_GOAL, states),
    ]


def _of_equilibrium(found: ApproximateEquilibrium) -> list[Figure]:
    """Balance within the bounds that the strategies of an equilibrium prove, or the best play of one role."""
    if found.is_interrupted:
        raise KeyboardInterrupt
    histories, (low, high) = found.form.histories, found.bounds
    if high - low > WIDEST:
        return []
    agents, total = found.form.graph.agents, found.form.graph.total
    if len(agents) == 1:
        return [exact("best_goal", found.values[0], histories)]
    advantage = [(2 * each - total) / BEST_GOAL for each in (low, (low + high) / 2, high)]
    gaps = sorted(map(abs, advantage))
    least = 0.0 if advantage[0] <= 0 <= advantage[2] else gaps[0]
    is_first = agents[0] == found.form.graph.game.roles[players_of(found.form.graph.game)[0]]
    low, value, high = advantage if is_first else [-each for each in reversed(advantage)]
    return [
        Figure("balance", 1 - abs(value), 1 - gaps[-1], 1 - least, histories, EQUILIBRIUM),
        Figure("advantage", value, low, high, histories, EQUILIBRIUM),
    ]


def _shortest_solution(solution: Solution) -> list[Figure]:
    """Length of the shortest solutions of one role, if nothing is left to chance.

    States are numbered breadth first, so the first layer with a solved state ends the shortest solutions.
    """
    space = solution.space
    best = solution.values()[0]
    is_over = np.concatenate([(chunk.move_count == 0).all(axis=1) for chunk in space.chunks])
    is_solved = is_over & (solution.value[:, 0] == best)
    if RANDOM_ROLE in solution.game.roles or best <= 0 or not is_solved.any():
        return []
    shortest = np.searchsorted(space.layer_ends, np.flatnonzero(is_solved)[0], side="right")
    return [exact("shortest", float(shortest), space.state_count)]


def shortest_seen(game: CompiledGame, found: SelfPlay) -> list[Figure]:
    """The shortest of the matches that earned the only role the best goal of all; a shorter one may exist."""
    goals = found.goals[found.is_finished, players_of(game)[0]]
    best = int(goals.max(initial=0))
    if best <= 0 or RANDOM_ROLE in game.roles:
        return []
    lengths = found.length[found.is_finished][goals == best]
    return [Figure("shortest", float(lengths.min()), 1.0, float(lengths.min()), len(lengths), EQUAL)]
