"""Compile and load the kernels of an agent before the first clock, on small sheets of each kind.

Kernels differ between games with one role or several, and with moves in turn or at the same time. So an agent
is prepared on a sheet of each kind. Players of this package compile their kernels in `prepare`; a
user-defined player plays a short match on each sheet, because its kernels are unknown. For the others, the
first legal moves are played, which loads the kernels that follow a match.
"""

from __future__ import annotations

import logging

from ggp.beliefs.belief import prepare_beliefs
from ggp.engines.loading import find_own_rules, load
from ggp.game import hides_information
from ggp.players.factory import make_player
from ggp.players.own import error_text, is_own_player
from ggp.players.simple import LegalPlayer
from ggp.players.warm_up import play_trial

log = logging.getLogger("ggp.player")

_PUZZLE = """
    (role a) (init (at 1)) (succ 1 2) (succ 2 3) (succ 3 4)
    (legal a step) (<= (legal a jump) (true (at 1)))
    (<= (next (at ?m)) (does a step) (true (at ?n)) (succ ?n ?m))
    (<= (next (at 3)) (does a jump)) (<= (next jumped) (does a jump)) (<= (next jumped) (true jumped))
    (<= terminal (true (at 4))) (<= (goal a 100) (true jumped)) (<= (goal a 0) (not (true jumped)))
"""
_SIMULTANEOUS = """
    (role a) (role b) (init (round 1)) (succ 1 2) (succ 2 3)
    (<= (legal ?r heads) (role ?r)) (<= (legal ?r tails) (role ?r))
    (<= same (does a ?m) (does b ?m))
    (<= (next won) same) (<= (next (round ?m)) (true (round ?n)) (succ ?n ?m))
    (<= terminal (true (round 3)))
    (<= (goal a 100) (true won)) (<= (goal a 0) (not (true won)))
    (<= (goal b 0) (true won)) (<= (goal b 100) (not (true won)))
"""
_BOARD_GAME = "tictactoe"
"""A game of two roles with alternating moves and pieces on a board."""
_HIDING_GAME = "kuhn_poker"
"""A game with percepts and a tree small enough for an equilibrium."""


def prepare(agent: str) -> None:
    """Compile and cache every kernel that `agent` runs. Raises PlayerSpecError."""
    for rules in (_PUZZLE, find_own_rules(_BOARD_GAME), _SIMULTANEOUS, find_own_rules(_HIDING_GAME)):
        # Not from the cache of games: compiling a game has kernels too.
        game = load(rules, use_cache=False)
        player = make_player(agent)
        player.prepare(game)
        prepare_beliefs(game)
        # A user-defined player may refuse hidden information.
        is_trial = is_own_player(agent) and not hides_information(game)
        try:
            play_trial(player if is_trial else LegalPlayer(), game)
        except Exception as error:
            if not is_trial:
                raise
            log.warning("%s fails while it prepares: %s", agent, error_text(error))
