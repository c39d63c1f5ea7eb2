"""Trial matches in the start clock: whether other options of the tree suit the game better.

MAST scores 79 % on othello and below 50 % on most other games; matches of 16 ms a move distinguish the two
(results/policies.md). Scores accumulate from match to match until a sequential test decides; a winner is
confirmed with more time for a move, then the next challenger plays the best so far. `ggp.players.kept_trials`
knows who that is.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import cast

from ggp.engines.compiled import CompiledGame
from ggp.game import GameError
from ggp.knowledge.trial import LongTrial, OptionTrial
from ggp.knowledge.tuned import TunedOptions
from ggp.match.player import MatchSetup
from ggp.players.kept_trials import keep_trial, kept_trial, open_trial
from ggp.players.trial_matches import TREE_MEBIBYTES, TreeContender, TrialMatches
from ggp.search.mcts.options import MctsOptions
from ggp.search.mcts.policies.fast import can_learn
from ggp.search.mcts.policies.policy import Need
from ggp.search.mcts.tree_memory import has_room_for_past

LEAST_SECONDS = 5.0
"""What must be left of the start clock for trial matches."""
LEARNING_SHARE, TRIAL_SHARE = 0.4, 0.9
"""By when FAST has learned its values, and by when trial matches end, in parts of what is left."""

_logger = logging.getLogger("ggp.players")


def try_options(setup: MatchSetup, options: MctsOptions, deadline: float) -> TunedOptions | None:
    """Play trial matches of one challenger, unless all are decided; its options if they are to be used now.

    options    of the tree, with the best policy and C so far
    deadline   time.monotonic() seconds of the start clock
    """
    trial = open_trial(setup.game)
    while trial is not None and deadline - time.monotonic() >= LEAST_SECONDS:
        before = replace(trial)
        try:
            _play(trial, setup, options, deadline)
        except (
            GameError,
            IndexError,
        ) as error:  # the rules are at fault: a role has no legal move or no goal
            _logger.info("%s: no trial matches: %r", setup.game.name, error)
            return None
        keep_trial(setup.game, trial, before)
        if not trial.is_won:
            break
        if isinstance(trial, LongTrial):
            return trial.challenger
        trial = kept_trial(setup.game, LongTrial.between(setup.game, trial.challenger, trial.rival))
    return None


def _play(trial: OptionTrial, setup: MatchSetup, options: MctsOptions, deadline: float) -> None:
    """Play on in a trial for a part of the time until the deadline, if that suffices for a match."""
    game = cast("CompiledGame", setup.game)
    challenger = with_tuned(options, trial.challenger)
    now = time.monotonic()
    left = deadline - now
    if not _applies(game, challenger, setup.seed, now + LEARNING_SHARE * left):
        trial.is_excluded = True
    else:
        contender = TreeContender(game, challenger, seed=setup.seed)
        seconds = trial.move_seconds
        matches = TrialMatches(game, contender, options, seed=setup.seed, move_seconds=seconds)
        matches.play(trial, now + TRIAL_SHARE * left)
    _logger.info(
        "%s: %s against %s, %g s a move: %s",
        game.name,
        trial.challenger,
        trial.rival,
        trial.move_seconds,
        trial,
    )


def with_tuned(options: MctsOptions, found: TunedOptions) -> MctsOptions:
    """`options` with the policy and C that were found."""
    return replace(options, policy=found.policy, exploration=found.exploration)


def _applies(game: CompiledGame, options: MctsOptions, seed: int, deadline: float) -> bool:
    """Whether the policy of `options` plays itself: PAST has room, and FAST has learned its values by now."""
    policy = options.parsed_policy
    if policy.needs(Need.FEATURES):
        return can_learn(game, options, seed, deadline)
    small = replace(options, memory_mebibytes=min(options.memory_mebibytes, TREE_MEBIBYTES))
    return not policy.needs(Need.STATES) or has_room_for_past(game.lane_tables, small)
