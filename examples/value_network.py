"""A network in torch learns who wins, from batches of random games.

pip install -e . torch
python examples/value_network.py connectfour_4x4
"""

from __future__ import annotations

import sys

import numpy as np
import torch

import ggp
from ggp.env.opponents import random_actions


def random_games(game: str, count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Every position of random games as float32[N, K], from the mover's side, and its result float32[N]."""
    env = ggp.env.make(game, count, observation="board", view="mover", seed=seed)
    rng = np.random.default_rng(seed)
    state = env.init()
    seen, movers, playing = [], [], []
    result = np.zeros((count, env.num_players), np.float32)
    while not state.terminated.all():
        seen.append(torch.from_dlpack(state.observation).reshape(count, -1))  # the same memory, no copy
        movers.append(np.maximum(state.current_player, 0))
        playing.append(~state.terminated)
        state = env.step(state, random_actions(state, rng))
        result += state.rewards
    positions = torch.cat([each[torch.from_numpy(on)] for each, on in zip(seen, playing, strict=True)])
    results = [result[on, mover[on]] for mover, on in zip(movers, playing, strict=True)]
    return positions.float(), torch.from_numpy(np.concatenate(results))


def main(game: str = "connectfour_4x4", games: int = 4096, passes: int = 4) -> tuple[float, float]:
    """Learn; the mean squared error on games not seen, of the network and of always saying the mean."""
    torch.manual_seed(0)
    positions, results = random_games(game, games, 0)
    network = torch.nn.Sequential(
        torch.nn.Linear(positions.shape[1], 64), torch.nn.ReLU(), torch.nn.Linear(64, 1), torch.nn.Tanh()
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    for _ in range(passes):
        for batch in torch.randperm(len(positions)).split(512):
            loss = torch.nn.functional.mse_loss(network(positions[batch])[:, 0], results[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    unseen, truth = random_games(game, games, 1)
    with torch.no_grad():
        error = float(torch.nn.functional.mse_loss(network(unseen)[:, 0], truth))
    plain = float(truth.var())
    print(f"{len(positions):,} positions; squared error {error:.3f}, of the mean {plain:.3f}")
    return error, plain


if __name__ == "__main__":
    main(*sys.argv[1:2])
