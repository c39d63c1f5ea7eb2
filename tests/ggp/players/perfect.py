"""Perfect opponents, and matches that all wait for their solvers."""

import time
from functools import lru_cache

from ggp.engines.loading import load
from ggp.match.player import MatchSetup, Player
from ggp.players.advisors.solution import SolutionAdvisor
from ggp.solver import solve

LONG = 600.0


@lru_cache
def solved(name):
    return solve(load(name, "lanes"))


class PerfectPlayer(Player):
    """Plays from the solution; a check on the others, not one of them."""

    name = "perfect"

    def choose(self, state, deadline, joint_move):
        best = solved(self.setup.game.name).stage(state).best_moves
        rated = best.get(self.setup.role)
        return rated[0].move if rated else self.setup.game.legal_moves(state, self.setup.role)[0]


def wait_until_solved(player):
    """Wait for the solver of a player, if it has one."""
    for advisor in getattr(player, "advisors", ()):
        if isinstance(advisor, SolutionAdvisor) and advisor._solver is not None:
            advisor._solver.join()


def play(game, players, seed=0, from_state=None):
    """The goals of one match; players of the chance role are random."""
    for role, player in zip(game.roles, players, strict=True):
        player.start(MatchSetup("test", game, role, 10, 10, seed), time.monotonic() + LONG)
        wait_until_solved(player)
    state, joint = from_state or game.initial_state(), None
    while not game.is_terminal(state):
        joint = tuple(player.choose(state, time.monotonic() + LONG, joint) for player in players)
        state = game.next_state(state, joint)
    for player in players:
        player.stop(joint)
    return [game.goal(state, role) for role in game.roles]
