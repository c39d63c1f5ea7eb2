"""Trial matches in the start clock: whether MAST suits the game better than uniform playouts.

MAST scores 79 % on othello and below 50 % on most other games; matches of 16 ms a move distinguish the two
(results/policies.md). Scores accumulate from match to match until a sequential test decides; after that
`ggp.players.kept_knowledge.tried_options` returns the winner.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import cast

from ggp.engines.compiled import CompiledGame
from ggp.game import GameError
from ggp.knowledge.trial import PolicyTrial
from ggp.match.player import MatchSetup
from ggp.players.kept_knowledge import TRIED_POLICY, keep_trial, kept_trial, may_try_policy
from ggp.players.trial_matches import TreeContender, TrialMatches
from ggp.search.mcts.options import MctsOptions

LEAST_SECONDS = 5.0
"""What must be left of the start clock for trial matches."""
TRIAL_SHARE = 0.9
"""The part of it that trial matches may take."""

_logger = logging.getLogger("ggp.players")


def try_policy(setup: MatchSetup, options: MctsOptions, deadline: float) -> bool:
    """Play trial matches against the tree with `options`, unless they are decided; whether they are won now.

    deadline   time.monotonic() seconds of the start clock
    """
    if not may_try_policy(setup.game):
        return False
    game = cast("CompiledGame", setup.game)
    trial = kept_trial(game, PolicyTrial) or PolicyTrial.empty(game)
    before, now = replace(trial), time.monotonic()
    left = deadline - now
    if trial.is_over or left < LEAST_SECONDS:
        return False
    try:
        contender = TreeContender(game, replace(options, policy=TRIED_POLICY), seed=setup.seed)
        TrialMatches(game, contender, options, seed=setup.seed).play(trial, now + TRIAL_SHARE * left)
    except (GameError, IndexError) as error:  # the rules are at fault: a role without a legal move or a goal
        _logger.info("%s: no trial matches: %r", game.name, error)
        return False
    _logger.info("%s: policy=%s against uniform playouts: %s", game.name, TRIED_POLICY, trial)
    keep_trial(game, trial, before)
    return trial.is_won
