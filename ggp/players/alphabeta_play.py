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
from ggp.game import RANDOM_ROLE, Game, GameError, hides_information, is_compiled
from ggp.knowledge.folder import prepare_kept_file
from ggp.knowledge.trial import FILE_NAME, MOST_MATCHES, MOST_MOVES, Trial
from ggp.knowledge.tuned import TunedOptions
from ggp.match.player import MatchSetup
from ggp.players.alphabeta import AlphaBetaPlayer
from ggp.players.kept_knowledge import kept_trial, taught_network
from ggp.players.options import OFF, AlphaBetaOptions
from ggp.players.trial_matches import TrialMatches
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
_COUNTS = {"won": MOST_MATCHES, "lost": MOST_MATCHES, "drawn": MOST_MATCHES, "moves": MOST_MOVES}

_logger = logging.getLogger("ggp.players")


def may_play_trials(game: Game[Any]) -> bool:
    """Whether the game is of a kind that trial matches decide: two roles, no chance, and nothing hidden.

    >>> import ggp
    >>> may_play_trials(ggp.load("tictactoe", engine="reasoner"))
    False
    """
    has_two = len(game.roles) == 2 and RANDOM_ROLE not in game.roles
    return has_two and is_compiled(game) and not hides_information(game)


def is_chosen(game: Game[Any], network: str = OFF, rival: TunedOptions = DEFAULT_RIVAL) -> bool:
    """Whether alpha-beta won the trial matches that earlier start clocks had time for.

    network   option of the player
    rival     options of its tree
    """
    return may_play_trials(game) and _trial_of(game, network, rival).is_won


def make_alphabeta(margin_seconds: float, network: str = OFF) -> AlphaBetaPlayer:
    """The player, without a book: its owner has read that. network: its option `net`."""
    margin = max(margin_seconds, MARGIN_SECONDS)
    return AlphaBetaPlayer(AlphaBetaOptions(margin_seconds=margin, book=OFF, network=network))


def begin_alphabeta(
    setup: MatchSetup,
    margin_seconds: float,
    deadline: float,
    rival: MctsOptions | None,
    *,
    network: str = OFF,
) -> AlphaBetaPlayer | None:
    """Alpha-beta, ready to choose the moves of the match; None if the tree is to do that.

    deadline   time.monotonic() seconds of the start clock; trial matches leave a part of it
    rival      options of the tree to win trial matches against; None: there is no question
    network    option of the player: a network that its evaluation may use. With another one than in the
               matches that were counted, or other options of the rival, counting begins again
    """
    player = make_alphabeta(margin_seconds, network)
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
    before = replace(trial)
    if rival.parsed_policy.needs(Need.FEATURES):
        can_learn(game, rival, setup.seed, now + TRIAL_SHARE * left)  # else another policy stands in
    try:
        TrialMatches(game, player.search, rival, seed=setup.seed).play(trial, now + TRIAL_SHARE * left)
    except (AlphaBetaError, GameError, IndexError) as error:  # IndexError: a role without a legal move
        _logger.info("%s: alpha-beta does not apply: %r", game.name, error)
        return None
    _logger.info("%s: alpha-beta (%s) against the tree: %s", game.name, player.evaluation, trial)
    return player if _keep_trial(game, trial, before).is_won else None


def _trial_of(game: Game[Any], network: str, rival: TunedOptions = DEFAULT_RIVAL) -> Trial:
    """The trial matches so far with the network that alpha-beta may use now, against the tree's options."""
    taught = taught_network(cast("CompiledGame", game), network, may_use_kept=True)
    generation = 0 if taught is None else taught.generation
    empty = Trial.empty(game, generation=generation, rival=str(rival))
    kept = kept_trial(game)
    return kept if kept is not None and kept.has_same_sides(empty) else empty


def _keep_trial(game: Game[Any], trial: Trial, before: Trial) -> Trial:
    """Keep trial matches for later start clocks, and return all that are known.

    before   what was kept when they began: matches that other players have added since then stay
    """
    kept = kept_trial(game)
    if kept is None or not kept.has_same_sides(trial):
        kept = before
    counts = {
        name: min(most, getattr(kept, name) + getattr(trial, name) - getattr(before, name))
        for name, most in _COUNTS.items()
    }
    merged = replace(trial, **counts)
    try:
        place = prepare_kept_file(game.program, FILE_NAME)
        if place is not None:
            merged.save(place)
    except OSError as error:
        _logger.warning("%s: trial matches are not kept: %s", game.name, error)
    return merged
