"""Trial matches in the start clock, by which the tree's options are chosen.

MAST scores 79 % on othello and below 50 % on most other games; matches of 16 ms a move distinguish the two
(results/policies.md). Scores accumulate from match to match until a sequential test decides; a winner is
confirmed with more time for a move, then the next challenger plays the best so far. `ggp.players.kept_trials`
knows who that is.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from ggp.engines.compiled import CompiledGame
from ggp.game import GameError
from ggp.knowledge.trial import LongTrial, OptionTrial
from ggp.knowledge.tuned import TunedOptions
from ggp.match.player import MatchSetup
from ggp.players.kept_trials import keep_trial, kept_trial, open_trials
from ggp.players.trial_matches import TREE_MEBIBYTES, TreeContender, TrialMatches, small_trees
from ggp.search.mcts.options import MctsOptions, default_options
from ggp.search.mcts.policies.fast import can_learn
from ggp.search.mcts.policies.policy import Need
from ggp.search.mcts.search import prepare_policy
from ggp.search.mcts.tree_memory import has_room_for_past

LEAST_SECONDS = 5.0
"""What must be left of the start clock for trial matches."""
LEARNING_SHARE, TRIAL_SHARE = 0.4, 0.9
"""By when FAST has learned its values, and by when trial matches end, in parts of what is left."""

_prepared = {TunedOptions().policy}
"""Policies whose kernels this process has: those of the default are there before any match."""

_logger = logging.getLogger("ggp.players")


def prepare_options(game: CompiledGame, policies: Iterable[str]) -> None:
    """Compile what trial matches of these policies need, or load it from the cache.

    Others play none in this process: kernels must not be compiled in a start clock.
    """
    for policy in policies:
        if policy not in _prepared:
            prepare_policy(game, policy)
            options = replace(default_options(), policy=policy)
            is_learning = options.parsed_policy.needs(Need.FEATURES)
            # Without features the kernels that learn are not there.
            if not is_learning or can_learn(game, options, 0, time.monotonic() + LEAST_SECONDS):
                _prepared.add(policy)


def try_options(setup: MatchSetup, options: MctsOptions, deadline: float) -> TunedOptions | None:
    """Play trial matches of one challenger; its options if they are to be used now.

    options    of the tree, with the best policy and C so far
    deadline   time.monotonic() seconds of the start clock
    """
    left = deadline - time.monotonic()
    trials = (trial for trial in open_trials(setup.game) if _is_in_time(trial, left))
    trial = next((trial for trial in trials if trial.challenger.policy in _prepared), None)
    while trial is not None and _is_in_time(trial, left):
        before = replace(trial)
        try:
            _play(trial, setup, options, deadline)
        except (GameError, IndexError) as error:
            # The rules are at fault: a role has no legal move or no goal.
            _logger.info("%s: no trial matches: %r", setup.game.name, error)
            trial.is_excluded = True
        trial = keep_trial(setup.game, trial, before)
        if not trial.is_won:
            break
        if isinstance(trial, LongTrial):
            return trial.challenger
        trial = kept_trial(setup.game, LongTrial.after(trial))
        left = deadline - time.monotonic()
    return None


def _is_in_time(trial: OptionTrial, left: float) -> bool:
    """Whether a match of the trial may end within the seconds left."""
    return left >= LEAST_SECONDS and trial.mean_moves * trial.move_seconds < TRIAL_SHARE * left


def _play(trial: OptionTrial, setup: MatchSetup, options: MctsOptions, deadline: float) -> None:
    """Resume a trial for a part of the time until the deadline."""
    game = cast("CompiledGame", setup.game)
    challenger = with_tuned(options, trial.challenger)
    now = time.monotonic()
    left = deadline - now
    applies = _applies(game, challenger, setup.seed, now + LEARNING_SHARE * left)
    if applies and _applies(game, options, setup.seed, now + LEARNING_SHARE * left):
        contender, seconds = TreeContender(game, challenger, seed=setup.seed), trial.move_seconds
        matches = TrialMatches(game, contender, options, seed=setup.seed, move_seconds=seconds)
        matches.play(trial, now + TRIAL_SHARE * left)
    trial.is_excluded = applies is False
    sides = f"{trial.challenger} against {trial.rival}"
    _logger.info("%s: %s, %g s a move: %s", game.name, sides, trial.move_seconds, trial)


def with_tuned(options: MctsOptions, found: TunedOptions) -> MctsOptions:
    """`options` with the policy and C that were found."""
    return replace(options, policy=found.policy, exploration=found.exploration)


def _applies(game: CompiledGame, options: MctsOptions, seed: int, deadline: float) -> bool | None:
    """Whether no other policy stands in for that of `options`; None if that is not known in time.

    PAST needs room, and FAST must have learned its values.
    """
    policy = options.parsed_policy
    if policy.needs(Need.FEATURES):
        is_ready = can_learn(game, options, seed, deadline)
        return is_ready if time.monotonic() < deadline else None
    if policy.needs(Need.STATES):
        trees = replace(options, memory_mebibytes=TREE_MEBIBYTES * options.threads)
        if not has_room_for_past(game.lane_tables, trees):
            return False
        return has_room_for_past(game.lane_tables, small_trees(options)) or None
    return True
