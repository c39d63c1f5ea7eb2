"""Random rollouts at full speed: how long games last and who wins.

python examples/random_rollouts.py connectfour
"""

from __future__ import annotations

import sys
import time

import numpy as np

import ggp
from ggp.env.opponents import random_actions


def main(game: str = "connectfour", num_envs: int = 4096, steps: int = 200) -> float:
    """Step for a while and print what happened; the steps per second."""
    env = ggp.env.make(game, num_envs, auto_reset=True)
    rng = np.random.default_rng(0)
    state = env.init()
    state = env.step(state, random_actions(state, rng), copy=False)  # compiles the kernels
    ends, rewards, seconds = 0, np.zeros(env.num_players), 0.0
    for _ in range(steps):
        actions = random_actions(state, rng)
        before = time.perf_counter()
        state = env.step(state, actions, copy=False)
        seconds += time.perf_counter() - before
        ends += int(state.terminated.sum())
        rewards += state.rewards.sum(axis=0)
    rate = num_envs * steps / seconds
    print(f"{rate:,.0f} steps/s; {ends:,} games of {num_envs * steps / max(1, ends):.1f} steps")
    for agent, mean in zip(env.actions.agents, rewards / max(1, ends), strict=True):
        print(f"  {agent}: mean reward {mean:+.3f}")
    return rate


if __name__ == "__main__":
    main(*sys.argv[1:2])
