"""Choice of alpha-beta's static evaluation for one game, before the first move.

What can be asked for is in `ggp.search.alphabeta.options`. `auto` tries several evaluations: they play short
games against each other, and the best one stays.
"""

from __future__ import annotations

import functools
import logging
import math
import random
import time
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.engines.loading import find_own_rules, load
from ggp.features.recognition import recognize_features
from ggp.search.alphabeta.goal_distance import goal_formula
from ggp.search.alphabeta.kernels.distance import GoalFormula
from ggp.search.alphabeta.learning import (
    GAMES,
    MIN_NODES,
    NODES,
    SEARCHES,
    TABLE_MEBIBYTES,
    SelfPlayLearner,
    has_kinds,
    search_speed,
)
from ggp.search.alphabeta.options import AUTO, PARTS
from ggp.search.alphabeta.search import AlphaBeta, Estimate
from ggp.search.alphabeta.self_play import compare

TRIED = ("mobility", "distance+mobility", "features+mobility", "distance+features+mobility")

_COMPARED = 32
_MIN_COMPARED = 8

_logger = logging.getLogger("ggp.players")


def find_estimate(
    game: CompiledGame,
    evaluation: str = AUTO,
    *,
    games: int = GAMES,
    seed: int = 0,
    deadline: float = math.inf,
    is_timed: bool = True,
) -> tuple[str, Estimate]:
    """The requested estimate, or the best one, with its name. Parts that a game does not have are left out.

    games      of self-play to learn from, at most
    deadline   time.monotonic() seconds; what is not ready by then is left out
    is_timed   compare evaluations at equal time; else with equal nodes, so that only the seed matters
    Raises AlphaBetaError where alpha-beta cannot search the game.
    """
    if evaluation == "mobility":
        return "mobility", Estimate()
    is_auto = evaluation == AUTO
    names = TRIED if is_auto else (evaluation,)
    asked = {part for name in names for part in name.split("+")}
    features = recognize_features(game, deadline)
    formula = goal_formula(game, features, deadline) if "distance" in asked else None
    if is_auto and len(game.roles) == 1:
        asked -= {"features"}
    weights = None
    if "features" in asked:
        now = time.monotonic()
        until = now + (deadline - now) * (0.5 if is_auto else 1.0)
        learner = SelfPlayLearner(game, features, games=games, seed=seed, deadline=until)
        weights = learner.spread_scores() if learner.run() else None
    found = {"distance": formula, "features": weights}
    have = {"mobility": True, **{part: value is not None for part, value in found.items()}}
    if not is_auto and (missing := [part for part in names[0].split("+") if not have[part]]):
        _logger.warning("%s: evaluation by %s unavailable", game.name, " or ".join(missing))
    estimates: dict[str, Estimate] = {}
    for name in names:
        parts = [part for part in name.split("+") if have[part]] or ["mobility"]
        estimates["+".join(parts)] = _estimate(parts, formula, weights)
    if len(game.roles) == 1:
        return list(estimates.items())[-1]
    # If pieces differ in worth, captures matter most.
    guess = "features+mobility" if has_kinds(game, features) else "distance+mobility"
    guess = guess if guess in estimates else next(iter(estimates))
    best = _best_of(game, estimates, guess, seed, deadline, is_timed)
    return best, estimates[best]


@functools.cache
def prepare_evaluations() -> None:
    """Compile the kernels that find an evaluation or load them from the cache, before any clock starts."""
    game = load(find_own_rules("tictactoe"), "lanes")
    assert isinstance(game, CompiledGame)
    AlphaBeta(game, mebibytes=TABLE_MEBIBYTES).search(game.initial_state(), depth=1)
    find_estimate(game, "+".join(PARTS), games=1)


def _estimate(parts: list[str], formula: GoalFormula | None, weights: NDArray[np.int32] | None) -> Estimate:
    if parts == ["mobility"]:
        return Estimate()
    return Estimate(
        goal_weight=0,
        mobility_weight=Estimate.mobility_weight if "mobility" in parts else 0,
        formula=formula if "distance" in parts else None,
        weights=weights if "features" in parts else None,
    )


def _best_of(
    game: CompiledGame,
    estimates: Mapping[str, Estimate],
    guess: str,
    seed: int,
    deadline: float,
    is_timed: bool,
) -> str:
    """The name of the winning estimate: each plays against the best of those before it.

    guess   the result if there is no time for matches
    """
    names = list(estimates)
    left = deadline - time.monotonic()
    if len(names) == 1 or left <= 0:
        return guess
    searches = {
        name: AlphaBeta(game, estimate, mebibytes=TABLE_MEBIBYTES) for name, estimate in estimates.items()
    }
    nodes = dict.fromkeys(names, NODES)
    if is_timed:
        speeds = {name: search_speed(search, left / 40) for name, search in searches.items()}
        quick = max(speeds.values())
        most = min(NODES, quick * left / (len(names) * SEARCHES))
        if most < MIN_NODES:
            return guess
        nodes = {name: max(1, round(most * speed / quick)) for name, speed in speeds.items()}
    best = names[0]
    rng = random.Random(seed + 1)
    for place, name in enumerate(names[1:], start=1):
        now = time.monotonic()
        until = now + (deadline - now) / (len(names) - place)
        pair = searches[name], searches[best]
        limits = nodes[name], nodes[best]
        share, played = compare(pair, limits, _COMPARED, rng=rng, deadline=until)
        _logger.info(
            "%s: %s scores %.0f %% against %s in %d games", game.name, name, 100 * share, best, played
        )
        if share > 0.5 and played >= _MIN_COMPARED:
            best = name
    return best
