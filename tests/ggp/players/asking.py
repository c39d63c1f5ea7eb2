"""Players under test: their advisors, and a first move."""

import time
from contextlib import contextmanager

from ggp.match.player import MatchSetup
from ggp.players.advisors.tree import TreeAdvisor
from ggp.players.factory import make_player


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
    player = make_player(spec)
    begin = time.monotonic()
    player.start(MatchSetup("m", game, game.roles[0], start_seconds, 0.1, 1), begin + start_seconds)
    try:
        move = player.choose(game.initial_state(), time.monotonic() + 0.1, None)
        assert move in game.legal_moves(game.initial_state(), game.roles[0])
        yield player
    finally:
        player.stop(None)
