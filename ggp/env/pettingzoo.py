"""PettingZoo: any game as an AEC environment (`env`) or a Parallel one (`parallel_env`).

    env = ggp.env.pettingzoo.env("connectfour")
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        ...

Observations are `{"observation", "action_mask"}`. With `env`, agents move in turn: those with a
choice, in rule-sheet order; none sees what another one chose in the same state before
all have. With `parallel_env` all act in every step, those without a choice by their only move.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv

from ggp.engines.compiled import CompiledGame
from ggp.env.batch import ActionError
from ggp.env.kernels.arrays import ILLEGAL, NO_CHOICE
from ggp.env.make import make, refuse_unknown_keywords
from ggp.env.state import EnvState
from ggp.integers import to_integer

Observation: TypeAlias = dict[str, NDArray[Any]]
Illegal: TypeAlias = Literal["lose", "first"]
ParallelStep: TypeAlias = tuple[
    dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
]


class _OneGame:
    """What both kinds of environments have: one game with an observation and a mask for every agent.

    Options as for `env`; what `max_cycles` counts is up to the environment.
    """

    def __init__(
        self,
        rules: str | Path | CompiledGame,
        *,
        max_cycles: int | None = None,
        illegal: Illegal = "lose",
        render_mode: str | None = None,
        **choices: Any,
    ) -> None:
        super().__init__()
        if illegal not in ("lose", "first"):
            raise ValueError(f"illegal is lose or first, not {illegal!r}")
        refuse_unknown_keywords(choices, GgpAecEnv, taken=("simultaneous",))
        self.max_cycles = None if max_cycles is None else to_integer(max_cycles, "max_cycles", 1)
        self.illegal, self.render_mode = illegal, render_mode
        self.environment = environment = make(rules, 1, simultaneous=True, **choices)
        self.metadata = {
            "render_modes": ["ansi"],
            "is_parallelizable": True,
            "name": f"ggp_{environment.game.name}_v0",
        }
        self.possible_agents = list(map(str, environment.actions.agents))
        self.agents: list[str] = []
        self._has_own_view = len(environment.observed.literal) > 1
        seen = Box(0, 1, environment.observation_shape[1 if self._has_own_view else 0 :], np.uint8)
        counts = dict(zip(self.possible_agents, map(len, environment.actions.moves), strict=True))
        self.action_spaces = {agent: Discrete(count) for agent, count in counts.items()}
        self.observation_spaces = {
            agent: Dict({"observation": seen, "action_mask": Box(0, 1, (count,), np.int8)})
            for agent, count in counts.items()
        }
        self._rng = np.random.default_rng()
        self._state = self._begin(None)

    def observation_space(self, agent: str) -> Dict:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        return self.action_spaces[agent]

    def render(self) -> str | None:
        """The facts that hold, one per line, with `render_mode="ansi"`."""
        if self.render_mode != "ansi":
            return None
        facts = self.environment.game.facts(self.environment.state_of(self._state, 0))
        return "\n".join(map(str, facts))

    def close(self) -> None:
        """Do nothing: no resource is held."""

    def _begin(self, seed: int | None) -> EnvState:
        """A new game; the next one of the same stream of chance without a seed. Raises TypeError and
        ValueError for seeds that are not integers from 0."""
        if seed is not None:
            self._rng = np.random.default_rng(to_integer(seed, "seed", 0))
        self._state = self.environment.init(seed=int(self._rng.integers(2**63)))
        return self._state

    @property
    def _is_terminated(self) -> bool:
        return bool(self._state.terminated[0])

    def _mask(self, agent: int) -> NDArray[np.int8]:
        """int8[M]: legal actions of an agent; none when the game is over."""
        mask = self._state.legal_action_mask[0, agent, : len(self.environment.actions.moves[agent])]
        return (mask & (not self._is_terminated)).astype(np.int8)

    def _seen(self, agent: int) -> Observation:
        seen = self._state.observation[0, agent] if self._has_own_view else self._state.observation[0]
        return {"observation": seen.copy(), "action_mask": self._mask(agent)}

    def _play(self, actions: Mapping[int, int]) -> dict[str, float]:
        """One step of the game; the rewards by agent."""
        given = np.full((1, len(self.possible_agents)), NO_CHOICE, np.int32)
        for agent, action in actions.items():
            mask = self._mask(agent)
            is_legal = 0 <= action < len(mask) and bool(mask[action])
            instead = ILLEGAL if self.illegal == "lose" else int(mask.argmax())
            given[0, agent] = action if is_legal else instead
        self._state = self.environment.step(self._state, given)
        return dict(zip(self.possible_agents, self._state.rewards[0].tolist(), strict=True))


class GgpAecEnv(_OneGame, AECEnv[str, Observation, int]):  # type: ignore[misc]
    """Agents act in turn; made by `env`."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._begin(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._turns = dict.fromkeys(self.agents, 0)
        self._begin_step()
        if self._is_terminated:
            self._end(truncated=False)

    def _begin_step(self) -> None:
        self._chosen: dict[int, int] = {}
        self._waiting = self._choosers()
        self.agent_selection = self.possible_agents[self._waiting[0]]

    def _choosers(self) -> list[int]:
        """Acting agents, in order: those with a choice, else with another move than waiting, else one."""
        masks = [self._mask(agent) for agent in range(len(self.possible_agents))]
        several = [agent for agent, mask in enumerate(masks) if mask.sum() > 1]
        waiting = self.environment.waiting
        acting = [a for a, mask in enumerate(masks) if mask[waiting[a, : len(mask)] == 0].any()]
        return several or acting[:1] or [0]

    def observe(self, agent: str) -> Observation:
        """An agent's observation; its mask is empty unless it is to act."""
        number = self.possible_agents.index(agent)
        found = self._seen(number)
        if number not in self._waiting or any(self.truncations.values()):
            found["action_mask"] = np.zeros_like(found["action_mask"])
        return found

    def step(self, action: int | None) -> None:
        """The action of `agent_selection`; the game proceeds when all that choose at once have chosen.

        Numbers that are not a legal action are illegal. Raises TypeError for what is not an integer,
        ActionError for None while the agent is to act.
        """
        if not hasattr(self, "agent_selection"):
            raise RuntimeError("call reset first")
        agent = self.agent_selection
        number = None if action is None else to_integer(action, "action")
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if number is None:
            raise ActionError(f"{agent} is to act: None is for agents whose game is over")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._chosen[self._waiting.pop(0)] = number
        self._turns[agent] += 1
        if self._waiting:
            self.agent_selection = self.possible_agents[self._waiting[0]]
            return
        self.rewards = self._play(self._chosen)
        self._accumulate_rewards()
        if self._is_terminated or self._is_too_long():
            self._end(truncated=not self._is_terminated)
        else:
            self._begin_step()

    def _is_too_long(self) -> bool:
        most = self.max_cycles
        if self._state.truncated[0] or most is None:
            return bool(self._state.truncated[0])
        # The second holds where an agent never has a choice, and so never acts.
        return min(self._turns.values()) >= most or int(self._state.step_count[0]) >= most * len(self._turns)

    def _end(self, *, truncated: bool) -> None:
        (self.truncations if truncated else self.terminations).update(dict.fromkeys(self.agents, True))
        self._waiting = []
        self.agent_selection = self.agents[0]


class GgpParallelEnv(_OneGame, ParallelEnv[str, Observation, int]):  # type: ignore[misc]
    """All agents act in every step; made by `parallel_env`."""

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        self._begin(seed)
        self.agents = list(self.possible_agents)
        self._cycles = 0
        return self._observations(), {agent: {} for agent in self.agents}

    def _observations(self) -> dict[str, Observation]:
        return {agent: self._seen(a) for a, agent in enumerate(self.possible_agents)}

    def step(self, actions: dict[str, int]) -> ParallelStep:
        """One step of the game; agents without a choice may be left out, others lose if they are.

        Numbers that are not a legal action are illegal. Raises TypeError for what is not an integer,
        ActionError for an unknown agent.
        """
        agents = self.agents
        if unknown := [agent for agent in actions if agent not in self.possible_agents]:
            raise ActionError(f"agents are {', '.join(self.possible_agents)}, not {unknown[0]!r}")
        rewards = self._play(
            {
                self.possible_agents.index(agent): to_integer(action, f"action of {agent}")
                for agent, action in actions.items()
            }
        )
        self._cycles += 1
        terminated = self._is_terminated
        too_long = self.max_cycles is not None and self._cycles >= self.max_cycles
        truncated = not terminated and (too_long or bool(self._state.truncated[0]))
        if terminated or truncated:
            self.agents = []
        return (
            self._observations(),
            rewards,
            dict.fromkeys(agents, terminated),
            dict.fromkeys(agents, truncated),
            {agent: {} for agent in agents},
        )


def env(rules: str | Path | CompiledGame = "tictactoe", **options: Any) -> GgpAecEnv:
    """A game in which agents act in turn.

    max_cycles    truncate games once every agent has acted this often, as PettingZoo counts cycles: where
                  agents move in turn, A agents make A moves a cycle, and one with `parallel_env`
    illegal       "lose": an illegal action ends the game with -1; "first": the first legal action instead
    observation, rewards   as for `ggp.env.make`
    """
    return GgpAecEnv(rules, **options)


def parallel_env(rules: str | Path | CompiledGame = "tictactoe", **options: Any) -> GgpParallelEnv:
    """A game in which all agents act in every step; options as for `env`.

    max_cycles    truncate games after this many steps of the game
    """
    return GgpParallelEnv(rules, **options)


raw_env = env
