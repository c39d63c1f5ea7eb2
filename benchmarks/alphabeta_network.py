"""Alpha-beta that evaluates by a taught network, against the evaluation that it chooses without one.

    python -m benchmarks.alphabeta_network breakthrough_small NET [--nodes 2000] [--games 60] [--learn 10]

NET is a file of `ggp teach`. Both play from the same random openings, once with equal nodes a move and once
with nodes in proportion to their speed. Prints shares of points with 95 % intervals.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from pathlib import Path

import ggp
from ggp.engines.compiled import CompiledGame
from ggp.knowledge.taught import TaughtNetwork
from ggp.search.alphabeta.evaluation import find_estimate, prepare_evaluations
from ggp.search.alphabeta.learning import search_speed
from ggp.search.alphabeta.options import EvaluationOptions
from ggp.search.alphabeta.search import AlphaBeta
from ggp.search.alphabeta.self_play import compare


def searches_of(game: CompiledGame, net: Path, seconds: float) -> tuple[dict[str, AlphaBeta], str]:
    """Alpha-beta with the network and without, and the name of the evaluation that it found without."""
    prepare_evaluations()
    taught = TaughtNetwork.load(net, game)
    images = AlphaBeta(game).images
    found, default = find_estimate(game, EvaluationOptions(), images, deadline=time.monotonic() + seconds)
    _, network = find_estimate(game, EvaluationOptions("network"), images, taught.network)
    return {
        "network": AlphaBeta(game, estimate=network, mebibytes=16),
        "default": AlphaBeta(game, estimate=default, mebibytes=16),
    }, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("game")
    parser.add_argument("net", type=Path)
    parser.add_argument("--nodes", type=int, default=2000, help="a move")
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--learn", type=float, default=10.0, help="seconds to choose the default evaluation")
    options = parser.parse_args()
    game = ggp.load(options.game, engine="lanes")
    assert isinstance(game, CompiledGame)
    searches, found = searches_of(game, options.net, options.learn)
    speed = {name: search_speed(search, 3.0) for name, search in searches.items()}
    slowdown = speed["default"] / speed["network"]
    pair = list(searches.values())
    print(
        f"{game.name}: default evaluation {found}; a node with the network takes {slowdown:.2f} times as long"
    )
    for label, nodes in (("nodes", options.nodes), ("time", round(options.nodes / slowdown))):
        limits = (nodes, options.nodes)
        share, played = compare(pair, limits, options.games, rng=random.Random(1))
        error = 1.96 * math.sqrt(share * (1 - share) / played)
        print(f"  equal {label}: {100 * share:.0f} ± {100 * error:.0f} % of {played}")


if __name__ == "__main__":
    main()
