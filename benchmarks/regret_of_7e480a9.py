"""Regret of the default player of commit 7e480a9, in the bundled positions.

That commit has no `ggp assess --regret`, so this runs in a checkout of it and reads the positions and sheets
of this one:

    git worktree add ../base 7e480a9
    PYTHONPATH=../base python benchmarks/regret_of_7e480a9.py --play-clock 1 connectfour_5x5 sheepandwolf

Names of modules are those of that commit.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from importlib import import_module
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
POSITIONS = ROOT / "ggp" / "assessment" / "regret_positions.json.gz"
TOLERANCE = 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("games", nargs="*", help="all by default")
    parser.add_argument("--play-clock", type=float, default=0.1, help="seconds a move (default: 0.1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--player", default="mcts:threads=1")
    arguments = parser.parse_args()
    by_game: dict[str, list[dict[str, Any]]] = {}
    for position in json.loads(gzip.decompress(POSITIONS.read_bytes())):
        by_game.setdefault(position["game"], []).append(position)
    print("| game | positions | mistakes | regret |\n|---|---:|---:|---:|")
    for name in arguments.games or by_game:
        regrets = regrets_in(
            name, by_game[name], arguments.player, clock=arguments.play_clock, seed=arguments.seed
        )
        margin = 1.96 * stdev(regrets) / math.sqrt(len(regrets))
        mistakes = sum(regret > TOLERANCE for regret in regrets)
        print(
            f"| {name} | {len(regrets)} | {mistakes} | {fmean(regrets):.2f} ± {margin:.2f} |",
            flush=True,
        )


def regrets_in(
    name: str, positions: list[dict[str, Any]], player: str, *, clock: float, seed: int
) -> list[float]:
    """What `player` gives away in each of the positions, in goals; without a move the mean of all moves."""
    asking, players = import_module("ggp.assessment.asking"), import_module("ggp.players")
    place_of = import_module("ggp.assessment.positions").Place
    parse_term = import_module("gdl.parser").parse_term
    game = import_module("ggp.loading").load(ROOT / "games" / f"{name}.kif", "lanes")
    players.make_player(player).prepare(game)
    asker = asking.Asker(lambda: players.make_player(player), asking.Terms(0.0, clock, "lanes", seed))
    fluent = {str(term): f for f, term in enumerate(game.terms.fluents)}
    regrets = []
    for number, position in enumerate(positions):
        facts = parse_term(f"(state {position['facts'].strip()[1:-1]})")
        holds = np.zeros(len(fluent), np.bool_)
        holds[[fluent[str(fact)] for fact in facts.arguments]] = True
        state = game.pack(holds)
        place = place_of(f"{name}.{number}", "regret", name, position["facts"], position["role"])
        sitting = asking._Sitting(asker, place, game, 0)
        sitting.start()
        move = sitting.choose(state, None)
        sitting.stop(sitting.joint_move(state, move))
        goals = position["goals"]
        regrets.append(max(goals.values()) - (fmean(goals.values()) if move is None else goals[str(move)]))
    return regrets


if __name__ == "__main__":
    main()
