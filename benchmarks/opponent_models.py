"""Measure how probable a belief holds the state that a match is in, by what it takes the other roles to do.

    python -m benchmarks.opponent_models dark_hex_3x3 battleship --matches 20

All roles play the many-tree search, whose beliefs take the others to move uniformly. Next to these stand
beliefs whose model of the others is the search's own choices, with a share of even ones. Prints how much the
logarithm of the true state's probability gains by each, with a 95 % interval, before moves of a choice in
which several states are possible.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import ggp
from ggp.beliefs.belief import Belief
from ggp.beliefs.lanes_expansion import MoveModel
from ggp.beliefs.observation_keys import UInt64Array
from ggp.engines.batches import require_compiled
from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE, Move, Role
from ggp.search.information_sets.many_trees import ManyTreeSearch
from ggp.search.mcts.options import default_options

ERRORS = (0.02, 0.1, 0.25, 0.5, 0.75)
SECONDS = 60.0
CERTAIN = 0.9999


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("games", nargs="+", help="games with hidden information")
    parser.add_argument("--matches", type=int, default=20)
    parser.add_argument("--simulations", type=int, default=10_000)
    arguments = parser.parse_args()
    print("| game | moves | ln p, uniform | " + " | ".join(f"{error:g}" for error in ERRORS) + " |")
    for name in arguments.games:
        game = require_compiled(ggp.load(name))
        found: list[list[float]] = []
        for seed in range(arguments.matches):
            found += match(game, seed, arguments.simulations)
        logs = np.array(found)
        gains = logs[:, 1:] - logs[:, :1]
        margin = 1.96 * gains.std(axis=0) / math.sqrt(len(gains))
        cells = [f"{mean:+.2f} ± {each:.2f}" for mean, each in zip(gains.mean(axis=0), margin, strict=True)]
        print(f"| {name} | {len(logs)} | {logs[:, 0].mean():.2f} | {' | '.join(cells)} |", flush=True)


@dataclass
class Seat:
    """A role's search and its beliefs: uniform, then by `ERRORS`."""

    search: ManyTreeSearch
    beliefs: list[Belief]

    @classmethod
    def of(cls, game: CompiledGame, role: Role, seed: int, simulations: int) -> Seat:
        search = ManyTreeSearch(game, role, seed=seed, options=default_options(simulations))
        beliefs = [Belief(game, role, random.Random(seed)) for _ in (0.0, *ERRORS)]
        beliefs[0].keep_keys()
        for belief, error in zip(beliefs[1:], ERRORS, strict=True):
            belief.keep_keys(erring(search, error))
        return cls(search, beliefs)

    def logs(self, state: bytes) -> list[float] | None:
        """By belief the logarithm of the probability of `state`; None if it is certain, or not held."""
        chances = [belief.probabilities.get(state, 0.0) for belief in self.beliefs]
        return [math.log(p) for p in chances] if all(chances) and chances[0] < CERTAIN else None

    def choose(self, simulations: int, legal: tuple[Move, ...]) -> Move:
        """The move of the search, from the uniform belief."""
        self.search.run(self.beliefs[0].probabilities, self.beliefs[0].keys(), simulations=simulations)
        move = self.search.report().best_move
        return move if move is not None and move in legal else legal[0]


def erring(search: ManyTreeSearch, error: float) -> MoveModel:
    """The model of `search` with a given share of even choices."""

    def model(role: int, keys: UInt64Array, is_legal: NDArray[np.bool_]) -> NDArray[np.float64]:
        return search.move_model(role, keys, is_legal, error=error)

    return model


def match(game: CompiledGame, seed: int, simulations: int) -> list[list[float]]:
    """One match: `Seat.logs` before each choice."""
    rng, found = random.Random(seed), []
    seats = {
        role: Seat.of(game, role, 10 * seed + i, simulations)
        for i, role in enumerate(game.roles)
        if role != RANDOM_ROLE
    }
    state = game.initial_state()
    while True:
        joint: list[Move] = []
        for role in game.roles:
            legal = game.legal_moves(state, role)
            if role not in seats or len(legal) == 1:
                joint.append(rng.choice(legal))
                continue
            logs = seats[role].logs(state)
            if logs is not None:
                found.append(logs)
            joint.append(seats[role].choose(simulations, legal))
        following = game.next_state(state, tuple(joint))
        if game.is_terminal(following):
            return found
        for i, role in enumerate(game.roles):
            if role in seats:
                seen = game.percepts(state, tuple(joint), role)
                for belief in seats[role].beliefs:
                    belief.advance(seen, joint[i], time.monotonic() + SECONDS)
        state = following


if __name__ == "__main__":
    main()
