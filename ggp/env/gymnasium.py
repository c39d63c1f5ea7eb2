"""Gymnasium: a batch of environments as a `VectorEnv`, and single ones by `gymnasium.make`.

    import gymnasium, ggp.env.gymnasium
    envs = ggp.env.gymnasium.GgpVectorEnv("connectfour", num_envs=256, opponent="mcts:simulations=50")
    env = gymnasium.make("ggp/connectfour-v0")

The agent has one seat, and an opponent the others; or it plays all seats (`seat="all"`). Masks of legal
actions are in `infos["action_mask"]`; `action_masks()` returns them to MaskablePPO of sb3-contrib.
"""

from __future__ import annotations

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
from ggp.env.batch import HOLD, RESTART, Environment, EnvState
from ggp.env.make import make
from ggp.env.opponents import NO_CHOICE, Opponent, make_opponent

Observations: TypeAlias = NDArray[np.uint8]
Infos: TypeAlias = dict[str, Any]
Steps: TypeAlias = tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]

ALL = "all"
_MOST_STEPS = 10_000
"""Steps of opponents in a row before a game counts as one in which the agent never acts."""


class GgpVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """N games of which the agent plays one seat, or all of them.

    rules            a rule sheet, the name of a bundled game, or a compiled game
    seat             number or name of the agent's role; "all": the agent moves for whoever acts
    opponent         "random", "mcts:simulations=K", or a function: see `ggp.env.opponents`
    autoreset_mode   as in Gymnasium 1.x; with SAME_STEP, infos have `final_obs` and `final_info`
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
        **choices: Any,
    ) -> None:
        self.environment: Environment = make(rules, num_envs, seed=seed, **choices)
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.seat = self._seat_of(seat)
        self._opponent = make_opponent(opponent, self.environment)
        shape = self.environment.observation_shape
        if self._has_own_view:
            shape = shape[1:]
        self.single_observation_space = Box(0, 1, shape, np.uint8)
        self._actions_of_agent = self._action_count()
        self.single_action_space = Discrete(self._actions_of_agent)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = MultiDiscrete(np.full(num_envs, self._actions_of_agent, np.int64))
        self._rng = np.random.default_rng(seed)
        self._state: EnvState | None = None
        self._ended = np.zeros(num_envs, np.bool_)
        self._clear_rewards()

    def _seat_of(self, seat: int | str) -> int | None:
        agents = list(map(str, self.environment.actions.agents))
        if seat == ALL:
            if self.environment.is_joint:
                raise ValueError("seat='all' needs a game in which agents move in turn")
            return None
        number = agents.index(seat) if isinstance(seat, str) and seat in agents else seat
        if not isinstance(number, int) or not 0 <= number < len(agents):
            raise ValueError(f"seat is 0 to {len(agents) - 1}, {', '.join(agents)} or all, not {seat!r}")
        return number

    @property
    def _has_own_view(self) -> bool:
        environment = self.environment
        return environment.is_joint and len(environment.observed.literal) > 1

    def _action_count(self) -> int:
        moves = self.environment.actions.moves
        return self.environment.num_actions if self.seat is None else len(moves[self.seat])

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """New games; `options={"reset_mask": bool[N]}` restarts some, as Gymnasium has it.

        seed   one number, of which each environment gets its own stream; of a list, the first counts
        """
        number = seed[0] if isinstance(seed, list) else seed
        mask = (options or {}).get("reset_mask")
        if number is not None:
            self._rng = np.random.default_rng(number)
        if mask is None or self._state is None:
            draw = int(self._rng.integers(2**63)) if number is None else number
            self._state = self.environment.init(seed=draw)
            self._ended = np.zeros(self.num_envs, np.bool_)
        else:
            restarted = np.asarray(mask, np.bool_)
            self._state = self.environment.step(self._state, self._special(restarted, RESTART))
            self._ended = self._ended & ~restarted
        self._clear_rewards()
        self._let_others_move()
        return self._observation(self._state), self._infos()

    def step(self, actions: NDArray[np.int64]) -> Steps:
        """One move of the agent in every environment, and those of the others until it is to move again."""
        assert self._state is not None, "call reset first"
        restarting = np.zeros(self.num_envs, np.bool_)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            restarting = self._ended
        state = self._state
        over = self._over(state) & ~restarting
        mover = np.full(self.num_envs, self.seat) if self.seat is not None else state.current_player
        self._play(self._actions(np.asarray(actions), restarting, over), mover)
        self._let_others_move()
        state = self._state
        rewards, terminated, truncated = self._rewards.copy(), state.terminated, state.truncated
        self._ended = terminated | truncated
        infos = self._infos()
        self._clear_rewards()
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._ended.any():
            infos = self._restart_ended(infos)
        return self._observation(self._state), rewards, terminated, truncated, infos

    def _restart_ended(self, infos: Infos) -> Infos:
        """Begin new games where games have ended; what was last seen goes to `final_obs`."""
        assert self._state is not None
        ended = self._ended
        final = self._observation(self._state)
        observations = np.empty(self.num_envs, object)
        for n in np.flatnonzero(ended):
            observations[n] = final[n]
        final_info = {**infos, **{f"_{name}": ended for name in infos if not name.startswith("_")}}
        self._state = self.environment.step(self._state, self._special(ended, RESTART))
        self._ended = np.zeros_like(ended)
        self._let_others_move()
        infos = {**self._infos(), "rewards": infos["rewards"]}
        infos.update(final_obs=observations, _final_obs=ended, final_info=final_info, _final_info=ended)
        return infos

    def action_masks(self) -> NDArray[np.bool_]:
        """bool[N, M]: legal actions of the agent; all of them in environments whose game is over."""
        assert self._state is not None, "call reset first"
        mask = self._state.legal_action_mask
        if mask.ndim == 3:
            mask = mask[:, self.seat or 0]
        mask = mask[:, : self._actions_of_agent].copy()
        mask[self._over(self._state)] = True
        return mask

    @property
    def state(self) -> EnvState:
        """The batch as `ggp.env` has it."""
        assert self._state is not None, "call reset first"
        return self._state

    def _clear_rewards(self) -> None:
        self._rewards = np.zeros(self.num_envs)
        self._all_rewards = np.zeros((self.num_envs, self.environment.num_players), np.float32)

    def _special(self, where: NDArray[np.bool_], code: int) -> NDArray[np.int32]:
        """HOLD everywhere but for `code` in some environments."""
        actions = np.where(where, code, HOLD).astype(np.int32)
        return self._in_columns(actions) if self.environment.is_joint else actions

    def _in_columns(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        columns = np.full((self.num_envs, self.environment.num_players), NO_CHOICE, np.int32)
        columns[:, 0] = codes
        return columns

    def _actions(
        self, given: NDArray[np.int64], restarting: NDArray[np.bool_], over: NDArray[np.bool_]
    ) -> NDArray[np.int32]:
        """What the environments are told, from the actions of the agent."""
        assert self._state is not None
        given = given.astype(np.int32)
        codes = np.where(over, HOLD, RESTART).astype(np.int32)
        special = restarting | over
        if not self.environment.is_joint:
            return np.where(special, codes, given)
        actions = self._opponent(self._state, self._rng).copy()
        actions[:, self.seat or 0] = given
        return np.where(special[:, None], self._in_columns(codes), actions)

    def _play(self, actions: NDArray[np.int32], mover: NDArray[np.int32] | NDArray[np.int64]) -> None:
        """Step, and add up the rewards."""
        assert self._state is not None
        self._state = self.environment.step(self._state, actions)
        self._all_rewards = self._all_rewards + self._state.rewards
        rows = np.arange(self.num_envs)
        self._rewards = self._rewards + self._state.rewards[rows, np.maximum(mover, 0)]

    def _let_others_move(self) -> None:
        """Let opponents move where they are to move. Raises RuntimeError if the agent never acts."""
        if self.seat is None or self.environment.is_joint:
            return
        for _ in range(_MOST_STEPS):
            assert self._state is not None
            waiting = ~self._over(self._state) & (self._state.current_player != self.seat)
            if not waiting.any():
                return
            ids = np.flatnonzero(waiting)
            actions = np.full(self.num_envs, HOLD, np.int32)
            part = self._state if len(ids) == self.num_envs else self._state[ids]
            actions[ids] = self._opponent(part, self._rng)
            self._play(actions, np.full(self.num_envs, self.seat))
        raise RuntimeError(f"{self.environment.game.name}: seat {self.seat} never acts")

    @staticmethod
    def _over(state: EnvState) -> NDArray[np.bool_]:
        return state.terminated | state.truncated

    def _observation(self, state: EnvState) -> Observations:
        return state.observation[:, self.seat or 0] if self._has_own_view else state.observation

    def _infos(self) -> Infos:
        assert self._state is not None
        everywhere = np.ones(self.num_envs, np.bool_)
        infos = {
            "action_mask": self.action_masks(),
            "current_player": self._state.current_player,
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
        self.render_mode = render_mode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """A new game."""
        super().reset(seed=seed)
        observation, infos = self._vector.reset(seed=seed)
        return observation[0], self._single(infos)

    def step(self, action: np.int64 | int) -> tuple[Observations, float, bool, bool, Infos]:
        """One move of the agent, and those of the others until it is to move again."""
        found = self._vector.step(np.array([action], np.int64))
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
