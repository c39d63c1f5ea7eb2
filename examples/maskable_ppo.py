"""MaskablePPO of sb3-contrib learns a game against a random opponent.

pip install -e '.[rl]' sb3-contrib
python examples/maskable_ppo.py tictactoe
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from ggp.env.gymnasium import GgpVectorEnv


class BatchVecEnv(VecEnv):
    """A `GgpVectorEnv` as the `VecEnv` of stable-baselines3, so that one call steps all games."""

    def __init__(self, game: str, num_envs: int) -> None:
        self.games = GgpVectorEnv(game, num_envs, autoreset_mode=AutoresetMode.SAME_STEP)
        super().__init__(num_envs, self.games.single_observation_space, self.games.single_action_space)

    def reset(self) -> NDArray[np.uint8]:
        return self.games.reset(seed=self._seeds[0])[0]

    def step_async(self, actions: NDArray[np.int64]) -> None:
        self.actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        observations, rewards, terminated, truncated, infos = self.games.step(self.actions)
        each: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for n in np.flatnonzero(terminated | truncated):
            each[n] = {
                "terminal_observation": infos["final_obs"][n],
                "TimeLimit.truncated": bool(truncated[n] and not terminated[n]),
            }
        return observations, rewards.astype(np.float32), terminated | truncated, each

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        return list(getattr(self.games, method_name)(*args, **kwargs)[self._get_indices(indices)])

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.games, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError("the games are one batch")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        return [False] * len(list(self._get_indices(indices)))

    def close(self) -> None:
        self.games.close()


def main(game: str = "tictactoe", steps: int = 60_000, seed: int = 0) -> tuple[float, float]:
    """Learn for a number of steps, then play 1,000 games; the shares of games won and lost."""
    torch.set_num_threads(1)  # the network is small
    envs = BatchVecEnv(game, 64)
    model = MaskablePPO(
        "MlpPolicy", envs, n_steps=64, batch_size=512, gamma=1.0, ent_coef=0.01, learning_rate=1e-3, seed=seed
    )
    model.learn(steps)
    won, lost = results(model, game, 1000, seed + 1)
    print(f"{game} against random, after {steps:,} steps: won {won:.1%}, lost {lost:.1%}")
    return won, lost


def results(model: MaskablePPO, game: str, games: int, seed: int) -> tuple[float, float]:
    """The shares of games that the model wins and loses against random players, all played at once."""
    envs = GgpVectorEnv(game, games, autoreset_mode=AutoresetMode.DISABLED)
    observations, _ = envs.reset(seed=seed)
    total, over = np.zeros(games), np.zeros(games, np.bool_)
    while not over.all():
        actions, _ = model.predict(observations, action_masks=envs.action_masks(), deterministic=True)
        observations, rewards, terminated, truncated, _ = envs.step(actions)
        total += np.where(over, 0.0, rewards)
        over |= terminated | truncated
    return float((total > 0).mean()), float((total < 0).mean())


if __name__ == "__main__":
    main(*sys.argv[1:2])
