"""Alpha-beta within `mcts`: whether it is to choose the moves of a match instead of the tree.

Which of the two is the stronger depends on the game (results/alphabeta.md). What `ggp tune` found is used;
else both play trial matches in the start clock, counted from match to match until they are decided.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import Any, cast

from ggp.engines.compiled import CompiledGame
from ggp.game import Game, GameError
from ggp.knowledge.trial import Trial
from ggp.knowledge.tuned import TunedOptions
from ggp.match.player import MatchSetup
from ggp.players.alphabeta import AlphaBetaPlayer
from ggp.players.kept_knowledge import taught_network
from ggp.players.kept_trials import keep_trial, kept_trial, may_play_trials
from ggp.players.options import OFF, AlphaBetaOptions
from ggp.players.trial_matches import AlphaBetaContender, TrialMatches
from ggp.search.alphabeta.search import AlphaBetaError
from ggp.search.mcts.options import MctsOptions
from ggp.search.mcts.policies.fast import can_learn
from ggp.search.mcts.policies.policy import Need

MARGIN_SECONDS = 0.02
"""Alpha-beta looks at the clock a little less often than the tree does."""
LEAST_SECONDS = 6.0
"""What must be left of the start clock for trial matches."""
LEARNING_SHARE, TRIAL_SHARE = 0.4, 0.9
"""By when the evaluation is found, and by when trial matches end, in parts of what is left."""

DEFAULT_RIVAL = TunedOptions()

_logger = logging.getLogger("ggp.players")


def is_chosen(game: Game[Any], network: str = OFF, rival: TunedOptions = DEFAULT_RIVAL) -> bool:
    """Whether alpha-beta won the trial matches that earlier start clocks had time for.

    network   option of the player
    rival     options of its tree
    """
    return may_play_trials(game) and _trial_of(game, network, rival).is_won


def make_alphabeta(margin_seconds: float, endings: str, network: str = OFF) -> AlphaBetaPlayer:
    """The player, without a book: its owner has read that. endings, network: its options `endings`, `net`."""
    margin = max(margin_seconds, MARGIN_SECONDS)
    return AlphaBetaPlayer(
        AlphaBetaOptions(margin_seconds=margin, book=OFF, endings=endings, network=network)
    )


def begin_alphabeta(
    setup: MatchSetup,
    margin_seconds: float,
    deadline: float,
    rival: MctsOptions | None,
    *,
    endings: str,
    network: str = OFF,
) -> AlphaBetaPlayer | None:
    """Alpha-beta, ready to choose the moves of the match; None if the tree is to do that.

    deadline   time.monotonic() seconds of the start clock; trial matches leave a part of it
    rival      options of the tree to win trial matches against; None: there is no question
    endings    option of the player: its table of endings
    network    option of the player: a network that its evaluation may use. With another one than in the
               matches that were counted, or other options of the rival, counting begins again
    """
    player = make_alphabeta(margin_seconds, endings, network)
    trial = None
    if rival is not None:
        trial = _trial_of(setup.game, network, TunedOptions(rival.policy, rival.exploration))
    if rival is None or trial is None or trial.is_won:
        player.start(setup, deadline)
        return player if player.search is not None else None
    now = time.monotonic()
    left = deadline - now
    if trial.is_over or left < LEAST_SECONDS:
        return None
    player.start(setup, now + LEARNING_SHARE * left)
    if player.search is None:
        return None
    game = cast("CompiledGame", setup.game)
    contender, before = AlphaBetaContender(player.search), replace(trial)
    if rival.parsed_policy.needs(Need.FEATURES):
        can_learn(game, rival, setup.seed, now + TRIAL_SHARE * left)  # else another policy stands in
    try:
        TrialMatches(game, contender, rival, seed=setup.seed).play(trial, now + TRIAL_SHARE * left)
    except (AlphaBetaError, GameError, IndexError) as error:  # IndexError: a role without a legal move
        _logger.info("%s: alpha-beta does not apply: %r", game.name, error)
        return None
    _logger.info("%s: alpha-beta (%s) against the tree: %s", game.name, player.evaluation, trial)
    trial = keep_trial(game, trial, before)
    return player if trial.is_won else None


def _trial_of(game: Game[Any], network: str, rival: TunedOptions = DEFAULT_RIVAL) -> Trial:
    """The trial matches so far with the network that alpha-beta may use now, against the tree's options."""
    taught = taught_network(cast("CompiledGame", game), network, may_use_kept=True)
    generation = 0 if taught is None else taught.generation
    return kept_trial(game, Trial.empty(game, generation, str(rival)))
