"""Measure beliefs on lanes: joint moves per CPU second, and how far a sample is from the exact belief.

    python benchmarks/beliefs.py kuhn_poker leduc_poker krieg_tictactoe dark_hex_4x4

The roles of random matches are followed by two beliefs: one exact as long as its states fit, one that draws
SAMPLE states after every step. Per game: the largest number of states possible at a step; the joint moves
made per CPU second in the step that made most of them, best of REPEATS, after the states were looked at as
in a match; those that agreed with the observation, and so the consistent histories per CPU second; the same
for SAMPLE particles, states drawn with repetition, as a particle filter would hold them; and the greatest and
the mean total variation distance of the sample from the exact belief. Prints a table.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Hashable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import ggp
from ggp.beliefs.belief import Belief
from ggp.beliefs.expansion import PlainExpansion, Weights
from ggp.beliefs.lanes_expansion import LanesExpansion
from ggp.beliefs.observation import Observation, observe_step
from ggp.game import RANDOM_ROLE, Game, Role

REPEATS = 20
FAR = float("inf")


class Followed(NamedTuple):
    """One step of one role: the exact belief before it, what was observed, and the distance after it."""

    role: Role
    before: Weights
    observation: Observation
    distance: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("games", nargs="+")
    parser.add_argument("--matches", type=int, default=5)
    parser.add_argument("--sample", type=int, default=10_000)
    arguments = parser.parse_args()
    print("| game | most states | joint moves/s | consistent histories/s | particles/s | TV mean | TV most |")
    print("|---|---|---|---|---|---|---|")
    for name in arguments.games:
        game = ggp.load(name, engine="lanes")
        steps = [step for seed in range(arguments.matches) for step in followed(game, seed, arguments.sample)]
        made, agreed, of_particles = rates(game, steps, arguments.sample)
        most = max(len(step.before) for step in steps)
        distances = [step.distance for step in steps]
        mean = sum(distances) / len(distances)
        print(
            f"| {name} | {most:,} | {made:,.0f} | {agreed:,.0f} | {of_particles:,.0f} "
            f"| {mean:.4f} | {max(distances):.4f} |",
            flush=True,
        )


def followed(game: Game[Any], seed: int, sample: int) -> Iterator[Followed]:
    """Every step of a random match, for every role, as long as the exact belief is exact."""
    rng, state = random.Random(seed), game.initial_state()
    pairs = {role: (Belief(game, role, rng), sampling(game, role, sample)) for role in game.roles}
    pairs.pop(RANDOM_ROLE, None)
    while True:
        joint_move = [rng.choice(game.legal_moves(state, role)) for role in game.roles]
        following = game.next_state(state, joint_move)
        if game.is_terminal(following):
            return
        for role, (exact, sampled) in list(pairs.items()):
            seen = observe_step(game, state, joint_move, role)
            before = exact.probabilities
            for belief in (exact, sampled):
                belief.advance(seen.percepts, seen.own_move, FAR)
            if not exact.is_exact:
                del pairs[role]
                continue
            yield Followed(role, before, seen, distance(exact.probabilities, sampled.probabilities))
        state = following


def sampling(game: Game[Any], role: Role, sample: int) -> Belief:
    """A belief that draws `sample` states after every step, even if all would fit."""
    belief = Belief(game, role, random.Random(1))
    expansion: Any = belief._expansion
    expansion.most_states, expansion.sample_size = 0, sample
    return belief


def distance(left: Weights, right: Weights) -> float:
    """The total variation distance of two distributions."""
    return sum(abs(left.get(state, 0.0) - right.get(state, 0.0)) for state in {*left, *right}) / 2


def rates(game: Any, steps: list[Followed], sample: int) -> tuple[float, float, float]:
    """Per CPU second of the largest step: joint moves, those that agree, and those that do of particles."""
    expansions = {role: LanesExpansion(game, role) for role in {step.role for step in steps}}

    def size(step: Followed) -> int:
        return sum(expansions[step.role].count(list(step.before), step.observation.own_move))

    step = max(steps, key=size)
    expansion, own_move = expansions[step.role], step.observation.own_move
    particles = random.Random(1).choices(list(step.before), list(step.before.values()), k=sample)
    wanted, weight = expansion._wanted(step.observation), np.ones(sample)
    of_step = fastest(
        lambda: expansion.count(list(step.before), own_move),
        lambda: expansion.successors(step.before, step.observation, FAR),
    )
    of_particles = fastest(
        lambda: expansion.count(particles, own_move),
        lambda: expansion._successors(particles, weight, None, own_move, wanted, lambda made: False),
    )
    agreed = agreeing(game, step, list(step.before))
    agreed_of = {state: agreeing(game, step, [state]) for state in set(particles)}
    return size(step) / of_step, agreed / of_step, sum(map(agreed_of.__getitem__, particles)) / of_particles


def fastest(prepare: Callable[[], object], run: Callable[[], object]) -> float:
    """The fewest CPU seconds that `run` took, each time after `prepare`."""
    seconds = []
    for _ in range(REPEATS):
        prepare()
        begin = time.process_time()
        run()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def agreeing(game: Game[Any], step: Followed, states: list[Hashable]) -> int:
    """The number of joint moves of these states that give the observation, by the `Game` protocol."""
    plain, count = PlainExpansion(game, step.role), 0
    for state in states:
        choices = plain.choices(state, step.observation.own_move)
        count += sum(
            frozenset(game.percepts(state, joint_move, step.role)) == frozenset(step.observation.percepts)
            for joint_move in product(*choices)
        )
    return count


if __name__ == "__main__":
    main()
