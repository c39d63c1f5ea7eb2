"""Gymnasium: a batch of environments as a `VectorEnv`, and single ones by `gymnasium.make`.

    import gymnasium, ggp.env.gymnasium
    envs = ggp.env.gymnasium.GgpVectorEnv("connectfour", num_envs=256, opponent="mcts:simulations=50")
    env = gymnasium.make("ggp/connectfour-v0")

The agent has one seat, and an opponent the others; or it plays all seats (`seat="all"`). Masks of legal
actions are in `infos["action_mask"]`, int8 as `action_space.sample` takes them; `action_masks()` returns
them to MaskablePPO of sb3-contrib. Numbers outside the action space are illegal actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.engines.loading import own_game_folders
from ggp.env.batch import ActionError, Environment
from ggp.env.kernels.arrays import HOLD, ILLEGAL, NO_CHOICE, RESTART
from ggp.env.make import make, refuse_unknown_keywords
from ggp.env.opponents import Opponent, make_opponent
from ggp.env.state import EnvState
from ggp.env.streams import Streams, streams_of
from ggp.integers import is_integer, to_integer, to_integers

Observations: TypeAlias = NDArray[np.uint8]
Infos: TypeAlias = dict[str, Any]
Steps: TypeAlias = tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]

ALL = "all"
_MAX_STEPS = 10_000
"""Steps of opponents in a row before a game counts as one in which the agent never acts."""


class GgpVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """N games of which the agent plays one seat, or all of them.

    rules            a rule sheet, the name of a bundled game, or a compiled game
    seat             number or name of the agent's role; "all": the agent moves for every role
    opponent         "random", "mcts:simulations=K", or a function: see `ggp.env.opponents`
    autoreset_mode   as in Gymnasium 1.x; with SAME_STEP, infos have `final_obs` and `final_info`
    seed             of the first reset without one: environment n gets seed + n
    max_episode_steps   truncate after this many actions of the agent, as `gymnasium.make` does; None or -1:
                     never. `max_steps` counts the moves of all
    choices          further keywords of `ggp.env.make`: observation, rewards, max_steps, threads

    Rewards are those of the seat; with "all", those of the agent that moved. Infos have `action_mask`,
    `current_player`, and `rewards` of all agents.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        rules: str | Path | CompiledGame,
        num_envs: int = 1,
        *,
        seat: int | str = 0,
        opponent: str | Opponent = "random",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        seed: int = 0,
        max_episode_steps: int | None = None,
        **choices: Any,
    ) -> None:
        """Raises TypeError and ValueError for unknown choices, and what `ggp.env.make` raises."""
        refuse_unknown_keywords(choices, type(self))
        most = -1 if max_episode_steps is None else to_integer(max_episode_steps, "max_episode_steps", -1)
        if most == 0:
            raise ValueError("max_episode_steps is at least 1, or -1 for no limit, not 0")
        self._most_steps = most
        self.environment: Environment = make(rules, num_envs, seed=seed, **choices)
        self.num_envs = num_envs = self.environment.num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.seat = self._seat_of(seat)
        self._opponent = make_opponent(opponent, self.environment)
        shape = self.environment.observation_shape
        if self.environment.sees_each:
            shape = shape[1:]
        self.single_observation_space = Box(0, 1, shape, np.uint8)
        moves = self.environment.actions.moves
        self.action_count = self.environment.num_actions if self.seat is None else len(moves[self.seat])
        self.single_action_space = Discrete(self.action_count)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = MultiDiscrete(np.full(num_envs, self.action_count, np.int64))
        self._streams = Streams(np.zeros(num_envs, np.uint64))
        self._state: EnvState | None = None
        self._ended = np.zeros(num_envs, np.bool_)
        self._cut = np.zeros(num_envs, np.bool_)
        self._elapsed = np.zeros(num_envs, np.int64)
        self._clear_rewards()
        self._set_seeds(self._seeds_of(self.environment.settings.seed), np.ones(num_envs, np.bool_))

    def _seat_of(self, seat: int | str) -> int | None:
        agents = list(map(str, self.environment.actions.agents))
        if seat == ALL:
            if self.environment.is_joint:
                raise ValueError("seat='all' needs a game in which agents move in turn")
            return None
        number = agents.index(seat) if isinstance(seat, str) and seat in agents else seat
        if isinstance(number, str) or not 0 <= (number := to_integer(number, "seat")) < len(agents):
            raise ValueError(f"seat is 0 to {len(agents) - 1}, {', '.join(agents)} or all, not {seat!r}")
        return number

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, Infos]:
        """New games; `options={"reset_mask": bool[N]}` restarts some, as Gymnasium defines it.

        seed   a list with one for each environment, None where its stream continues; a number s means
               [s, s + 1, ...]; None: all streams continue. What happens in an environment depends on its own
               seed and actions only, functions as opponents aside: these share one generator

        Raises TypeError and ValueError for other seeds and masks.
        """
        mask = (options or {}).get("reset_mask")
        restarted = np.ones(self.num_envs, np.bool_) if mask is None else self._checked_mask(mask)
        seeded = np.zeros(self.num_envs, np.bool_)
        if seed is not None:
            seeded = self._set_seeds(self._seeds_of(seed), restarted)
        if mask is None or self._state is None:
            self._state = self.environment.init(seed=self._streams.draw(np.arange(self.num_envs))[:, 0])
            restarted[:] = True
        else:
            state = self._state[:] if seeded.any() else self._state
            state.batch.seed[seeded] = self._streams.draw(np.flatnonzero(seeded))[:, 0]
            self._state = self.environment.step(state, self._commands(restarted, RESTART, HOLD))
        self._begin(restarted)
        self._clear_rewards()
        self._let_others_move()
        return self._observation(self.state), self._infos()

    def _begin(self, restarted: NDArray[np.bool_]) -> None:
        self._ended = self._ended & ~restarted
        self._cut = self._cut & ~restarted
        self._elapsed[restarted] = 0

    def _checked_mask(self, mask: Any) -> NDArray[np.bool_]:
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"reset_mask is a numpy array of bool, not {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"reset_mask has shape ({self.num_envs},) and is true somewhere, not {mask.tolist()}"
            )
        return mask.copy()

    def _seeds_of(self, seed: int | Sequence[int | None]) -> list[int | None]:
        if is_integer(seed):
            first = to_integer(seed, "seed", 0)
            super().reset(seed=first)
            self._streams.generator = self.np_random
            return [first + n for n in range(self.num_envs)]
        given = [0 if each is None else each for each in seed] if isinstance(seed, list | tuple) else seed
        numbers = [to_integer(each, "seed", 0) for each in to_integers(given, "seed", self.num_envs)]
        self._streams.generator = self.np_random = np.random.default_rng(numbers)
        return [None if each is None else number for each, number in zip(seed, numbers, strict=True)]  # type: ignore[arg-type]

    def _set_seeds(self, seeds: list[int | None], where: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Begin the streams of environments with a seed; return which these are."""
        seeded = where & np.array([each is not None for each in seeds], np.bool_)
        numbers = streams_of([0 if each is None else each for each in seeds], self.num_envs)
        self._streams.start[seeded] = numbers[seeded]
        return seeded

    def step(self, actions: NDArray[np.int64]) -> Steps:
        """One move of the agent in every environment, and those of the others until it is to move again.

        actions   int[N]; numbers outside the action space are illegal actions. ActionError for other shapes
        """
        given = self._checked_actions(actions)
        state = self.state
        restarting = np.zeros(self.num_envs, np.bool_)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            restarting = self._ended
        over = self._over(state) & ~restarting
        self._begin(restarting)
        self._elapsed += ~(restarting | over)
        mover = np.full(self.num_envs, self.seat) if self.seat is not None else state.current_player
        self._play(self._actions(given, restarting, over), mover)
        self._let_others_move()
        state = self.state
        if self._most_steps > 0:
            self._cut = self._elapsed >= self._most_steps
        rewards, terminated, truncated = self._rewards.copy(), state.terminated, state.truncated | self._cut
        self._ended = terminated | truncated
        infos = self._infos()
        self._clear_rewards()
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._ended.any():
            infos = self._restart_ended(infos)
        return self._observation(self.state), rewards, terminated, truncated, infos

    def _checked_actions(self, actions: NDArray[np.int64]) -> NDArray[np.int32]:
        """int32[N]: ILLEGAL for all that is outside the action space. Raises ActionError."""
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ActionError(
                f"actions are integers of shape ({self.num_envs},), not {given.dtype} of shape {given.shape}"
            )
        return np.where((given >= 0) & (given < self.action_count), given, ILLEGAL).astype(np.int32)

    def _restart_ended(self, infos: Infos) -> Infos:
        """Begin new games where games have ended; the last observations go to `final_obs`."""
        ended = self._ended
        final = self._observation(self.state)
        observations = np.empty(self.num_envs, object)
        for n in np.flatnonzero(ended):
            observations[n] = final[n]
        final_info = {**infos, **{f"_{name}": ended for name in infos if not name.startswith("_")}}
        self._state = self.environment.step(self.state, self._commands(ended, RESTART, HOLD))
        self._begin(ended)
        self._let_others_move()
        infos = {**self._infos(), "rewards": infos["rewards"]}
        infos.update(final_obs=observations, _final_obs=ended, final_info=final_info, _final_info=ended)
        return infos

    def action_masks(self) -> NDArray[np.bool_]:
        """bool[N, M]: legal actions of the agent; all of them in environments whose game is over."""
        mask = self.state.legal_action_mask
        if mask.ndim == 3:
            mask = mask[:, self.seat or 0]
        mask = mask[:, : self.action_count].copy()
        mask[self._over(self.state)] = True
        return mask

    @property
    def state(self) -> EnvState:
        """The batch as `ggp.env` has it. Raises ResetNeeded before the first reset."""
        if self._state is None:
            raise gymnasium.error.ResetNeeded("call reset first")
        return self._state

    def _clear_rewards(self) -> None:
        self._rewards = np.zeros(self.num_envs)
        self._all_rewards = np.zeros((self.num_envs, self.environment.num_players), np.float32)

    def _commands(self, where: NDArray[np.bool_], there: int, elsewhere: int) -> NDArray[np.int32]:
        """HOLD or RESTART for every environment, as actions."""
        codes = np.where(where, there, elsewhere).astype(np.int32)
        if not self.environment.is_joint:
            return codes
        return np.pad(
            codes[:, None], ((0, 0), (0, self.environment.num_players - 1)), constant_values=NO_CHOICE
        )

    def _actions(
        self, given: NDArray[np.int32], restarting: NDArray[np.bool_], over: NDArray[np.bool_]
    ) -> NDArray[np.int32]:
        commanded, commands = restarting | over, self._commands(over, HOLD, RESTART)
        if not self.environment.is_joint:
            return np.where(commanded, commands, given)
        actions = self._opponent(self.state, np.arange(self.num_envs), self._streams).copy()
        actions[:, self.seat or 0] = given
        return np.where(commanded[:, None], commands, actions)

    def _play(self, actions: NDArray[np.int32], mover: NDArray[np.int32] | NDArray[np.int64]) -> None:
        self._state = state = self.environment.step(self.state, actions)
        self._all_rewards = self._all_rewards + state.rewards
        rows = np.arange(self.num_envs)
        self._rewards = self._rewards + state.rewards[rows, np.maximum(mover, 0)]

    def _let_others_move(self) -> None:
        """Let opponents move where they are to move. Raises RuntimeError if the agent never acts."""
        if self.seat is None or self.environment.is_joint:
            return
        for _ in range(_MAX_STEPS):
            state = self.state
            waiting = ~self._over(state) & (state.current_player != self.seat)
            if not waiting.any():
                return
            ids = np.flatnonzero(waiting)
            actions = np.full(self.num_envs, HOLD, np.int32)
            part = state if len(ids) == self.num_envs else state[ids]
            actions[ids] = self._opponent(part, ids, self._streams)
            self._play(actions, np.full(self.num_envs, self.seat))
        raise RuntimeError(f"{self.environment.game.name}: seat {self.seat} never acts")

    def _over(self, state: EnvState) -> NDArray[np.bool_]:
        return state.terminated | state.truncated | self._cut

    def _observation(self, state: EnvState) -> Observations:
        return state.observation[:, self.seat or 0] if self.environment.sees_each else state.observation

    def _infos(self) -> Infos:
        everywhere = np.ones(self.num_envs, np.bool_)
        infos = {
            "action_mask": self.action_masks().view(np.int8),
            "current_player": self.state.current_player,
            "rewards": self._all_rewards.copy(),
        }
        return {**infos, **{f"_{name}": everywhere for name in infos}}


class GgpEnv(gymnasium.Env[Observations, np.int64]):
    """One game of which the agent plays one seat, or all of them; options as for `GgpVectorEnv`."""

    metadata: dict[str, Any] = {"render_modes": ["ansi"]}  # noqa: RUF012

    def __init__(
        self, rules: str | Path | CompiledGame, *, render_mode: str | None = None, **options: Any
    ) -> None:
        self._vector = GgpVectorEnv(rules, 1, autoreset_mode=AutoresetMode.DISABLED, **options)
        self.observation_space = self._vector.single_observation_space
        self.action_space = self._vector.single_action_space
        self._actions = self._vector.action_count
        self.render_mode = render_mode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """A new game. Raises TypeError and ValueError for seeds that are not integers from 0."""
        seed = None if seed is None else to_integer(seed, "seed", 0)
        super().reset(seed=seed)
        observation, infos = self._vector.reset(seed=seed)
        return observation[0], self._single(infos)

    def step(self, action: np.int64 | int) -> tuple[Observations, float, bool, bool, Infos]:
        """One move of the agent, and those of the others until it is to move again. Numbers outside the
        action space are illegal actions. Raises TypeError for what is not an integer."""
        number = to_integer(action, "action")
        found = self._vector.step(np.array([number if 0 <= number < self._actions else ILLEGAL]))
        observation, reward, terminated, truncated, infos = found
        done = bool(terminated[0]), bool(truncated[0])
        return observation[0], float(reward[0]), *done, self._single(infos)

    def action_masks(self) -> NDArray[np.bool_]:
        """bool[M]: legal actions."""
        mask: NDArray[np.bool_] = self._vector.action_masks()[0]
        return mask

    def render(self) -> str:
        """The facts that hold, one per line."""
        environment = self._vector.environment
        state = environment.state_of(self._vector.state, 0)
        return "\n".join(map(str, environment.game.facts(state)))

    @staticmethod
    def _single(infos: Infos) -> Infos:
        return {name: values[0] for name, values in infos.items() if not name.startswith("_")}


def register_games() -> None:
    """Register every bundled game as `ggp/NAME-v0`, once."""
    names = {path.stem for folder in own_game_folders() for path in folder.glob("*.kif")}
    for name in sorted(names):
        if f"ggp/{name}-v0" not in gymnasium.registry:
            gymnasium.register(
                f"ggp/{name}-v0",
                entry_point="ggp.env.gymnasium:GgpEnv",
                vector_entry_point="ggp.env.gymnasium:GgpVectorEnv",
                disable_env_checker=False,
                kwargs={"rules": name},
            )


register_games()
