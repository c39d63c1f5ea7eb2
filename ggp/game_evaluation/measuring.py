"""Figures from matches that were played side by side."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.confidence_intervals import mean_interval, wilson_interval
from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE, Game
from ggp.game_evaluation.figures import EQUAL, RANDOM, UNEQUAL, Figure
from ggp.search.forest.self_play import SelfPlay

BEST_GOAL = 100
EVEN = 50.0


def players_of(game: Game[Any]) -> list[int]:
    """The numbers of the roles that players take."""
    return [r for r, role in enumerate(game.roles) if role != RANDOM_ROLE]


def share(name: str, count: int, sample: int, source: str) -> Figure:
    """A share with its Wilson interval."""
    return Figure(name, count / max(sample, 1), *wilson_interval(count, sample), sample, source)


def mean(name: str, values: NDArray[np.floating | np.integer], source: str) -> Figure:
    """A mean with its normal interval; values of 0 where there are none."""
    if not len(values):
        return Figure(name, 0.0, -np.inf, np.inf, 0, source)
    center, margin = mean_interval(values.astype(float).tolist())
    return Figure(name, center, center - margin, center + margin, len(values), source)


def of_random_matches(game: Game[Any], found: SelfPlay) -> list[Figure]:
    """Figures of random matches: completion, branching, agency; of a puzzle how often chance solves it."""
    players = players_of(game)
    choices = found.choices[:, :, players]
    is_made = found.moves[:, :, 0] >= 0
    has_choice = (choices > 1).any(axis=2) & is_made
    figures = [
        share("completion", int(found.is_finished.sum()), len(found.length), RANDOM),
        mean("duration", found.length[found.is_finished], RANDOM),
        mean("branching", choices[choices > 1], RANDOM),
        share("agency", int(has_choice.sum()), int(is_made.sum()), RANDOM),
    ]
    if len(players) == 1:
        goals = found.goals[found.is_finished, players[0]]
        best = int(goals.max(initial=0))
        figures.append(share("random_success", int((goals == best).sum()) if best else 0, len(goals), RANDOM))
    return figures


def coverage(game: CompiledGame, parts: list[SelfPlay]) -> list[Figure]:
    """Share of the players' moves that some match of `parts`, which is not empty, has made.

    The interval reaches from the value to 1, since more matches can only add to it.

    >>> import ggp
    >>> from ggp.search.forest.self_play import self_play
    >>> game = ggp.load("tictactoe", engine="lanes")
    >>> [(figure.name, figure.value) for figure in coverage(game, [self_play(game, 0, 100)])]
    [('coverage', 1.0)]
    """
    matches = sum(len(part.length) for part in parts)
    made = 0
    for r in players_of(game):
        moves = np.concatenate([part.moves[:, :, r].ravel() for part in parts])
        made += len(np.unique(moves[moves >= 0]))
    share = made / sum(len(game.moves[r]) for r in players_of(game))
    return [Figure("coverage", share, share, 1.0, matches, RANDOM)]


def of_equal_searches(game: Game[Any], found: SelfPlay) -> list[Figure]:
    """Figures of matches between equal searches: balance, draws, length, drama."""
    players = players_of(game)
    goals = found.goals[found.is_finished][:, players]
    figures = [mean("duration", found.length[found.is_finished], EQUAL)]
    if len(players) == 1:
        best = float(goals[:, 0].max(initial=0))
        return [*figures, Figure("best_goal", best, best, BEST_GOAL, len(goals), EQUAL)]
    figures += balance_of(goals)
    figures.append(share("draws", int((goals == goals[:, :1]).all(axis=1).sum()), len(goals), EQUAL))
    if len(players) == 2 and len(goals) and (goals.sum(axis=1) == BEST_GOAL).all():
        figures += course_of(found, players)
    return figures


def balance_of(goals: NDArray[np.int32]) -> list[Figure]:
    """Balance and advantage from int32[N, P], goals of the players."""
    points = goals / BEST_GOAL
    ends = [
        mean("advantage", points[:, a] - points[:, b], EQUAL)
        for a, b in itertools.combinations(range(goals.shape[1]), 2)
    ]
    widest = max(ends, key=lambda each: abs(each.value))
    margin, value = (widest.high - widest.low) / 2, 1 - abs(widest.value)
    low, high = max(0.0, value - margin), min(1.0, value + margin)
    return [Figure("balance", value, low, high, len(goals), EQUAL), ends[0]]


def course_of(found: SelfPlay, players: list[int]) -> list[Figure]:
    """Drama and lead changes of matches of two roles whose goals sum up to 100."""
    # What the searches of a step expect for the first player, [N, P]; NaN where no role searched.
    own, other = found.value[:, :, players[0]], BEST_GOAL - found.value[:, :, players[1]]
    first = np.where(np.isnan(own), other, np.where(np.isnan(other), own, (own + other) / 2))
    drama, changes = [], []
    for n in np.flatnonzero(found.is_finished):
        values = first[n][~np.isnan(first[n])]
        side = np.sign(values - EVEN)
        side = side[side != 0]
        changes.append(int((side[1:] != side[:-1]).sum()))
        goal = found.goals[n, players[0]]
        if goal != EVEN and len(values):
            worst = values.min() if goal > EVEN else BEST_GOAL - values.max()
            drama.append(max(0.0, EVEN - worst) / EVEN)
    figures = [mean("drama", np.array(drama), EQUAL), mean("lead_changes", np.array(changes), EQUAL)]
    return [replace(each, low=max(0.0, each.low)) for each in figures]  # neither can be negative


def strong_share(game: Game[Any], found: SelfPlay, strong: NDArray[np.int64]) -> Figure:
    """Points of the stronger search, whose seat in match n is the player `strong[n]`, against all others."""
    players = np.array(players_of(game))
    goals = found.goals[:, players].astype(float)
    rows = np.arange(len(strong))
    own = goals[rows, strong]
    others = (goals.sum(axis=1) - own) / max(1, len(players) - 1)
    total = own + others
    points = np.where(total > 0, own / np.where(total > 0, total, 1.0), 0.5)[found.is_finished]
    value = float(points.mean()) if len(points) else 0.5
    ends = wilson_interval(float(points.sum()), len(points))
    return Figure("depth", value, *ends, len(points), UNEQUAL)


def skill_of(rungs: list[Figure]) -> Figure:
    """Skill: gain by more playouts over the whole ladder, from the `strong_share` of at least one rung."""
    sample = sum(rung.sample for rung in rungs)
    points = sum(rung.value * rung.sample for rung in rungs)
    value, low, high = (
        max(0.0, 2 * share - 1) for share in (points / sample, *wilson_interval(points, sample))
    )
    return Figure("skill", value, low, high, sample, UNEQUAL)
