"""Trial matches against the tree of `mcts`, as in a start clock, at several lengths of a move.

    python -m benchmarks.trial_matches othello minichess --milliseconds 4 16 64     # of alpha-beta
    python -m benchmarks.trial_matches othello minichess --policy mast              # of another policy
    python -m benchmarks.trial_matches othello minichess --c 20                     # of another C of UCT

Prints a table; matches end after `--seconds` for each game and length, whatever the score. Alpha-beta finds
its evaluation beforehand, in `--start-clock` seconds. The tree has one thread.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import replace
from typing import cast

import ggp
from ggp.engines.compiled import CompiledGame
from ggp.knowledge.trial import Trial
from ggp.knowledge.tuned import TunedOptions
from ggp.match.player import MatchSetup
from ggp.players.alphabeta_play import make_alphabeta
from ggp.players.option_play import with_tuned
from ggp.players.options import OFF
from ggp.players.trial_matches import AlphaBetaContender, Contender, TreeContender, TrialMatches
from ggp.search.alphabeta.evaluation import prepare_evaluations
from ggp.search.mcts.options import default_options
from ggp.search.mcts.policies.fast import can_learn
from ggp.search.mcts.policies.policy import Need
from ggp.search.mcts.search import prepare_policy


class EndlessTrial(Trial):
    """Matches are played until the time is up."""

    @property
    def is_over(self) -> bool:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="+")
    parser.add_argument("--milliseconds", type=float, nargs="+", default=[4, 16, 64], help="for each move")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each length of a move")
    parser.add_argument("--start-clock", type=float, default=4.0, help="seconds to find an evaluation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--policy", help="of the contender, a tree; without it and --c alpha-beta contends")
    parser.add_argument("--c", type=float, help="C of the contender, a tree")
    given = parser.parse_args()
    if given.policy is None and given.c is None:
        prepare_evaluations()
    print("| game | ms a move | won | lost | drawn | contender |\n|---|---|---|---|---|---|")
    for name in given.games:
        for milliseconds in given.milliseconds:
            print(row(name, milliseconds, given), flush=True)


def row(name: str, milliseconds: float, given: argparse.Namespace) -> str:
    """One line of the table."""
    game = cast("CompiledGame", ggp.load(name, engine="lanes"))
    options = replace(default_options(), threads=1)
    contender: Contender
    if given.policy is None and given.c is None:
        player = make_alphabeta(0.0, endings=OFF)
        setup = MatchSetup("trial", game, game.roles[0], given.start_clock, 1.0, given.seed)
        player.prepare(game)
        player.start(setup, time.monotonic() + given.start_clock)
        if player.search is None:
            return f"| {name} | {milliseconds:g} | alpha-beta does not apply | | | |"
        contender, means = AlphaBetaContender(player.search), player.evaluation
    else:
        exploration = options.exploration if given.c is None else given.c
        found = TunedOptions(given.policy or options.policy, exploration)
        prepare_policy(game, found.policy)
        changed = with_tuned(options, found)
        has_features = changed.parsed_policy.needs(Need.FEATURES)
        if has_features and not can_learn(game, changed, given.seed, math.inf):
            return f"| {name} | {milliseconds:g} | FAST does not apply | | | |"
        contender, means = TreeContender(game, changed, seed=given.seed), str(found)
    matches = TrialMatches(game, contender, options, seed=given.seed, move_seconds=milliseconds / 1000)
    trial = EndlessTrial.empty(game)
    matches.play(trial, time.monotonic() + given.seconds)
    return f"| {name} | {milliseconds:g} | {trial.won} | {trial.lost} | {trial.drawn} | {means} |"


if __name__ == "__main__":
    main()
