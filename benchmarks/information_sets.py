"""Measure what best responses gain against a search over information sets, by number of simulations.

    python benchmarks/information_sets.py kuhn_poker --simulations 100 1000 10000 --seeds 8
    python benchmarks/information_sets.py kuhn_poker --search trees

sets: outcome sampling; trees: the many-tree search that selects by regret matching.
Prints the mean and the standard deviation over the seeds, in goals. 0 simulations are uniform strategies.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable

import numpy as np

import ggp
from ggp.beliefs.observation import Observation
from ggp.beliefs.observation_keys import ObservationKeys
from ggp.engines.batches import require_compiled
from ggp.engines.compiled import CompiledGame
from ggp.game import Move, Role
from ggp.search.information_sets.many_trees import ManyTreeSearch
from ggp.search.information_sets.search import InformationSetSearch
from ggp.solver.cfr import SequenceForm, information_set, make_state_graph, respond, sequence_form
from ggp.solver.cfr.minimization import uniform_strategy


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("game", help="a game of two roles and constant sum")
    parser.add_argument("--simulations", nargs="+", type=int, default=[0, 100, 1000, 10000, 100000])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--search", choices=["sets", "trees"], default="sets")
    arguments = parser.parse_args()
    game = require_compiled(ggp.load(arguments.game))
    form = sequence_form(make_state_graph(game))
    gains = np.zeros((arguments.seeds, len(arguments.simulations)))
    searching = 0.0
    for seed in range(arguments.seeds):
        search = (
            InformationSetSearch(game, seed=seed) if arguments.search == "sets" else RegretTrees(game, seed)
        )
        for i, simulations in enumerate(sorted(arguments.simulations)):
            began = time.process_time()
            search.run(simulations=simulations - search.simulation_count)
            searching += time.process_time() - began
            gains[seed, i] = gain(form, search)
    for i, simulations in enumerate(sorted(arguments.simulations)):
        print(f"| {arguments.game} | {simulations:,} | {gains[:, i].mean():.2f} | {gains[:, i].std():.2f} |")
    rate = arguments.seeds * max(arguments.simulations) / searching
    print(f"{arguments.seeds} seeds, {rate:,.0f} simulations/CPU s")


class RegretTrees:
    """The many-tree search by regret matching, from the initial state."""

    def __init__(self, game: CompiledGame, seed: int) -> None:
        self._game = game
        self._search = ManyTreeSearch(game, game.roles[0], seed=seed, selection="regrets")
        self._keys = [ObservationKeys(game, i) for i in range(len(game.roles))]

    @property
    def simulation_count(self) -> int:
        return self._search.simulation_count

    def run(self, *, simulations: int) -> None:
        """Simulate this many matches."""
        if simulations > 0:
            keys = np.zeros((1, len(self._game.roles)), np.uint64)
            self._search.run({self._game.initial_state(): 1.0}, keys, simulations=simulations)

    def average_strategy(self, role: Role, observations: Iterable[Observation]) -> dict[Move, float]:
        """The average strategy, as that of `InformationSetSearch`."""
        index = self._game.roles.index(role)
        key = self._keys[index].of(observations)
        return {} if key is None else self._search.average_strategy(index, key)


def gain(form: SequenceForm, search: InformationSetSearch | RegretTrees) -> float:
    """What a best response gains on average over both seats; sets without simulations play evenly."""
    goals = 0.0
    for agent in (0, 1):
        plex = form.plexes[agent]
        strategy = uniform_strategy(plex)
        for d in range(plex.set_count):
            place = information_set(form, agent, d, strategy, 1.0)
            observed = [Observation(move, percepts) for move, percepts in place.observed]
            shares = search.average_strategy(place.role, observed)
            if shares:
                moves = slice(plex.first[d], plex.first[d + 1])
                strategy[moves] = [shares[move] for move in place.probabilities]
        goals += respond(form, 1 - agent, strategy)[1]
    return (goals - form.graph.total) / 2


if __name__ == "__main__":
    main()
