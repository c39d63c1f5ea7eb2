"""The policy of playouts that suits a game: what earlier trial matches of it have found, and more of them.

MAST wins four fifths of the matches on othello against uniform playouts, and loses on most other games;
matches of 16 ms a move tell them apart (results/policies.md). They are played in start clocks, and counted
from match to match until they are decided.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import Any, cast

from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE, Game, has_percepts, is_compiled
from ggp.knowledge.trial import PolicyTrial
from ggp.knowledge.tuned import TunedOptions
from ggp.match.player import MatchSetup
from ggp.players.kept_knowledge import keep_trial, kept_trial
from ggp.players.trial_matches import TreeContender, TrialMatches
from ggp.search.mcts.options import MctsOptions

POLICY = "mast"
LEAST_SECONDS = 2.0
"""What must be left of the start clock for trial matches."""
TRIAL_SHARE = 0.9
"""By when they end, in parts of what is left."""

_logger = logging.getLogger("ggp.players")


def may_try(game: Game[Any]) -> bool:
    """Whether trial matches can be played: two roles, no chance, and nothing hidden."""
    two = len(game.roles) == 2 and RANDOM_ROLE not in game.roles
    return two and is_compiled(game) and not has_percepts(game)


def tried_options(game: Game[Any]) -> TunedOptions | None:
    """The options that won the trial matches of earlier start clocks; None if those stay the default."""
    trial = kept_trial(game, PolicyTrial) if may_try(game) else None
    return TunedOptions(POLICY) if trial is not None and trial.is_won else None


def try_policy(setup: MatchSetup, options: MctsOptions, deadline: float) -> bool:
    """Play trial matches against the tree with `options`, unless they are decided; whether they are won now.

    deadline   time.monotonic() seconds of the start clock; trial matches leave a part of it
    """
    if not may_try(setup.game):
        return False
    game = cast("CompiledGame", setup.game)
    trial = kept_trial(game, PolicyTrial) or PolicyTrial.empty(game)
    now = time.monotonic()
    left = deadline - now
    if trial.is_over or left < LEAST_SECONDS:
        return False
    contender = TreeContender(game, replace(options, policy=POLICY), seed=setup.seed)
    TrialMatches(game, contender, options, seed=setup.seed).play(trial, now + TRIAL_SHARE * left)
    _logger.info("%s: policy=%s against uniform playouts: %s", game.name, POLICY, trial)
    keep_trial(game, trial)
    return trial.is_won
