"""How often latches settle a match before it is over, in the nodes of the tree search and in playouts.

    python -m benchmarks.settled_nodes connectfour hex_5x5 nineboard --seconds 1

Positions lie at 25, 50 and 75 % of two matches of the search with itself. Of each: the percentage of the
nodes that a search expands in which `goal_bounds` leaves one goal, though they are not terminal, and the
percentage of the moves of random playouts that are made after that. Games without goal bounds are left out.
"""

from __future__ import annotations

import argparse
import random
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ggp
from benchmarks.first_proof import states_of_match
from benchmarks.mirror_images import fluents_of, searched_keys
from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.lanes.engine import Lanes
from ggp.search.alphabeta.goal_bounds import goal_bounds

PLACES = (0.25, 0.5, 0.75)
MATCHES = 2
PLAYOUTS = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("games", nargs="+")
    parser.add_argument("--seconds", type=float, default=1.0)
    given = parser.parse_args()
    heads = [f"{what} at {place:.0%}" for what in ("nodes", "moves of playouts") for place in PLACES]
    print(f"| game | {' | '.join(heads)} |\n|---|{'---:|' * len(heads)}")
    for name in given.games:
        game = ggp.load(name, engine="lanes")
        if not isinstance(game, CompiledGame) or goal_bounds(game) is None:
            continue
        matches = [states_of_match(game, seed) for seed in range(MATCHES)]
        there: list[list[Any]] = [[match[int(place * len(match))] for match in matches] for place in PLACES]
        cells = [fmean(settled_nodes(game, state, given.seconds) for state in states) for states in there]
        cells += [fmean(settled_moves(game, state) for state in states) for states in there]
        print(f"| {name} | {' | '.join(f'{cell:.1f}' for cell in cells)} |", flush=True)


def are_settled(game: CompiledGame, holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[N]: whether one goal is left in each of the states `holds`, bool[N, F]."""
    bounds = goal_bounds(game)
    assert bounds is not None
    lanes = Lanes(bounds.tables, words=8)
    settled = np.zeros(len(holds), np.bool_)
    for first in range(0, len(holds), lanes.lane_count):
        part = holds[first : first + lanes.lane_count]
        lanes.set_states(part.T)
        lanes.settle(Phase.LEGAL, Phase.GOAL)
        possible = lanes.read(bounds.tables.goal_literal, len(part))
        settled[first : first + len(part)] = possible.sum(axis=0) == 1
    return settled


def settled_nodes(game: CompiledGame, state: PackedState, seconds: float) -> float:
    """The percentage of the nodes of a search from `state` whose goal is settled."""
    return 100 * float(are_settled(game, fluents_of(*searched_keys(game, state, seconds))).mean())


def settled_moves(game: CompiledGame, state: PackedState) -> float:
    """The percentage of the moves of random playouts from `state` that are made when the goal is settled."""
    rng = random.Random(0)
    states = []
    for _ in range(PLAYOUTS):
        here = state
        while not game.is_terminal(here):
            states.append(game.unpack(here))
            here = game.next_state(here, tuple(rng.choice(game.legal_moves(here, r)) for r in game.roles))
    return 100 * float(are_settled(game, np.array(states)).mean())


if __name__ == "__main__":
    main()
