"""Players under test: at the start of a match, their moves and their advisors."""

import time
from contextlib import contextmanager

from ggp.match.player import MatchSetup
from ggp.players.advisors.tree import TreeAdvisor
from ggp.players.factory import make_player


def started(player, game, role=0, *, clock=0.0, seed=1):
    """A player, or the one of a spec, in a match whose start clock ends `clock` seconds from now."""
    player = make_player(player) if isinstance(player, str) else player
    player.start(MatchSetup("test", game, game.roles[role], clock, 1.0, seed), time.monotonic() + clock)
    return player


def choose(player, state=None, joint_move=None, *, seconds=60.0):
    """The player's move in a state, by default the initial one; it must be legal."""
    game, role = player.setup.game, player.setup.role
    state = game.initial_state() if state is None else state
    move = player.choose(state, time.monotonic() + seconds, joint_move)
    assert move in game.legal_moves(state, role)
    return move


def advisor_of(player, kind):
    """The advisor of a class, in the present match of a player."""
    (found,) = [each for each in player.advisors if isinstance(each, kind)]
    return found


def tree_of(player):
    """The tree search of the present match."""
    return advisor_of(player, TreeAdvisor).search


@contextmanager
def after_first_move(spec, game, start_seconds):
    """The player in the first role, whose first move was legal; stopped at the end."""
    player = started(spec, game, clock=start_seconds)
    try:
        choose(player, seconds=0.1)
        yield player
    finally:
        player.stop(None)
