"""How early in a match a player proves its position: the number of joint moves before it.

    python -m benchmarks.first_proof connectfour mcts:threads=1,book=off mcts:threads=1,book=off,proof=off

The matches are played by counted searches after four random moves. Each player searches every position from
the seventh on by itself, without a start clock, until it proves one. With `--follow` it is a match: from the
fifth position on, one player a role, which keeps what it has found. For games in which one role chooses at a
time.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Hashable
from typing import Any

import ggp
from ggp.game import Game
from ggp.match.player import MatchSetup
from ggp.players.factory import make_player
from ggp.search.budget import Budget
from ggp.search.mcts.options import default_options
from ggp.search.mcts.search import LanesSearch
from ggp.search.report import SearchReport

RANDOM_MOVES, SKIPPED = 4, 6
SIMULATIONS = 20_000


def chooser(game: Game[Any], state: Hashable) -> int:
    """The role with a choice; the first one if none has."""
    return next((i for i, role in enumerate(game.roles) if len(game.legal_moves(state, role)) > 1), 0)


def states_of_match(game: Any, seed: int) -> list[Hashable]:
    """The states of a match of the search with itself, the last one aside."""
    rng = random.Random(seed)
    options = default_options(SIMULATIONS)
    searches = [LanesSearch(game, role, seed=seed, options=options) for role in game.roles]
    state = game.initial_state()
    states: list[Hashable] = []
    while not game.is_terminal(state):
        moves = [rng.choice(game.legal_moves(state, role)) for role in game.roles]
        if len(states) >= RANDOM_MOVES:
            role = chooser(game, state)
            searches[role].move_to(state, None)
            searches[role].run(Budget(simulations=SIMULATIONS))
            moves[role] = searches[role].best_move()
        states.append(state)
        state = game.next_state(state, tuple(moves))
    return states


def first_proof(game: Game[Any], states: list[Hashable], spec: str, seconds: float) -> str:
    """The number of the first state that the player proves, and by what; "-" if it proves none."""
    for number, state in enumerate(states[SKIPPED:], SKIPPED):
        player = make_player(spec)
        player.prepare(game)
        role = game.roles[chooser(game, state)]
        player.start(MatchSetup("m", game, role, 0.0, seconds, number), time.monotonic() + 0.01)
        player.choose(state, time.monotonic() + seconds, None)
        report = getattr(player, "last_report", None)
        player.stop(None)
        if isinstance(report, SearchReport) and report.goal is not None:
            return f"{number} ({report.mode})"
    return "-"


def first_proof_in_match(game: Game[Any], states: list[Hashable], spec: str, seconds: float) -> str:
    """The same for players that follow the match, one a role, without pondering."""
    players = [make_player(spec) for _ in game.roles]
    for player, role in zip(players, game.roles, strict=True):
        player.prepare(game)
        player.start(MatchSetup(f"m {role}", game, role, 0.0, seconds, 1), time.monotonic() + 0.01)
    found = "-"
    for number, state in enumerate(states[RANDOM_MOVES:], RANDOM_MOVES):
        player = players[chooser(game, state)]
        player.choose(state, time.monotonic() + seconds, None)
        report = getattr(player, "last_report", None)
        if isinstance(report, SearchReport) and report.goal is not None:
            found = f"{number} ({report.mode})"
            break
    for player in players:
        player.stop(None)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("players", nargs="+")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--matches", type=int, default=3)
    parser.add_argument("--follow", action="store_true", help="players keep what they find during the match")
    given = parser.parse_args()
    search = first_proof_in_match if given.follow else first_proof
    game = ggp.load(given.game, engine="lanes")
    print("| match | moves |", " | ".join(given.players), "|")
    print("|---|---|" + "---|" * len(given.players))
    for seed in range(given.matches):
        states = states_of_match(game, seed)
        found = [search(game, states, spec, given.seconds) for spec in given.players]
        print("|", seed, "|", len(states), "|", " | ".join(found), "|", flush=True)


if __name__ == "__main__":
    main()
