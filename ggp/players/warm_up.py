"""A short match before the first clock, which compiles and loads the player's kernels."""

from __future__ import annotations

import time
from typing import Any

from ggp.game import Game
from ggp.match.player import MatchSetup, Player

_TRIAL_SECONDS = 0.3
"""Each clock of the trial match."""
_TRIAL_STEPS = 8


def play_trial(player: Player, game: Game[Any], steps: int = _TRIAL_STEPS) -> None:
    """Let `player` play the first role; the others make their first legal moves."""
    role = game.roles[0]
    seconds = _TRIAL_SECONDS
    player.start(MatchSetup("prepare", game, role, seconds, seconds, seed=0), time.monotonic() + seconds)
    state, joint_move = game.initial_state(), None
    for _ in range(steps):
        if game.is_terminal(state):
            break
        chosen = player.choose(state, time.monotonic() + seconds, joint_move)
        moves = [game.legal_moves(state, each) for each in game.roles]
        joint_move = (chosen if chosen in moves[0] else moves[0][0], *(each[0] for each in moves[1:]))
        state = game.next_state(state, joint_move)
    player.stop(joint_move)
