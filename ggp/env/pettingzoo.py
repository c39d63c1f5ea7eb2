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
from ggp.env.batch import ActionError, Environment
from ggp.env.kernels.arrays import NO_CHOICE
from ggp.env.make import make, refuse_unknown_keywords
from ggp.env.state import EnvState
from ggp.integers import to_integer

Observation: TypeAlias = dict[str, NDArray[Any]]
Illegal: TypeAlias = Literal["lose", "first"]

ILLEGAL = 2**31 - 1
"""Replaces every number that is not a legal action, some of which `ggp.env` reads as commands."""
_METADATA = {"render_modes": ["ansi"], "is_parallelizable": True}


class _OneGame:
    """The base of both kinds of environments: one game with an observation and a mask for every agent.

    illegal      "lose": an illegal action ends the game with -1 for its agent; "first": the first legal
                 action is taken instead
    max_cycles   truncate games after this many cycles; what these are is up to the environment
    choices      further keywords of `ggp.env.make`: observation, rewards
    """

    def __init__(
        self,
        rules: str | Path | CompiledGame,
        max_cycles: int | None,
        illegal: Illegal,
        choices: dict[str, Any],
    ) -> None:
        if illegal not in ("lose", "first"):
            raise ValueError(f"illegal is lose or first, not {illegal!r}")
        refuse_unknown_keywords(choices, GgpAecEnv, taken=("simultaneous",))
        self.max_cycles = None if max_cycles is None else to_integer(max_cycles, "max_cycles", 1)
        self.environment: Environment = make(rules, 1, simultaneous=True, **choices)
        self.illegal = illegal
        self.names = list(map(str, self.environment.actions.agents))
        self.has_own_view = len(self.environment.observed.literal) > 1
        shape = self.environment.observation_shape[1 if self.has_own_view else 0 :]
        self.action_spaces = {
            name: Discrete(len(moves))
            for name, moves in zip(self.names, self.environment.actions.moves, strict=True)
        }
        self.observation_spaces = {
            name: Dict(
                {
                    "observation": Box(0, 1, shape, np.uint8),
                    "action_mask": Box(0, 1, (int(self.action_spaces[name].n),), np.int8),
                }
            )
            for name in self.names
        }
        self._rng = np.random.default_rng()
        self.state = self.begin(None)

    def begin(self, seed: int | None) -> EnvState:
        """A new game; the next one of the same stream of chance without a seed. Raises TypeError and
        ValueError for seeds that are not integers from 0."""
        if seed is not None:
            self._rng = np.random.default_rng(to_integer(seed, "seed", 0))
        self.state = self.environment.init(seed=int(self._rng.integers(2**63)))
        return self.state

    @property
    def is_terminated(self) -> bool:
        return bool(self.state.terminated[0])

    def mask(self, agent: int) -> NDArray[np.int8]:
        """int8[M]: legal actions of an agent; none when the game is over."""
        mask = self.state.legal_action_mask[0, agent, : len(self.environment.actions.moves[agent])]
        return (mask & (not self.is_terminated)).astype(np.int8)

    def observe(self, agent: int) -> Observation:
        seen = self.state.observation[0, agent] if self.has_own_view else self.state.observation[0]
        return {"observation": seen.copy(), "action_mask": self.mask(agent)}

    def choosers(self) -> list[int]:
        """Acting agents, in order: those with a choice, else with another move than waiting, else one."""
        masks = [self.mask(agent) for agent in range(len(self.names))]
        several = [agent for agent, mask in enumerate(masks) if mask.sum() > 1]
        return several or [next((a for a in range(len(masks)) if self._acts(a, masks[a])), 0)]

    def _acts(self, agent: int, mask: NDArray[np.int8]) -> bool:
        return bool(mask[self.environment.waiting[agent, : len(mask)] == 0].any())

    def play(self, actions: Mapping[int, int]) -> dict[str, float]:
        """One step of the game; the rewards by agent."""
        given = np.full((1, len(self.names)), NO_CHOICE, np.int32)
        for agent, action in actions.items():
            mask = self.mask(agent)
            is_legal = 0 <= action < len(mask) and bool(mask[action])
            instead = ILLEGAL if self.illegal == "lose" else int(mask.argmax())
            given[0, agent] = action if is_legal else instead
        self.state = self.environment.step(self.state, given)
        return {name: float(self.state.rewards[0, a]) for a, name in enumerate(self.names)}

    def text(self) -> str:
        """The facts that hold, one per line."""
        facts = self.environment.game.facts(self.environment.state_of(self.state, 0))
        return "\n".join(map(str, facts))


class _Spaces:
    """The common part of both kinds of environments; options as for `env`."""

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
        self._game = _OneGame(rules, max_cycles, illegal, choices)
        self.metadata = {**_METADATA, "name": f"ggp_{self._game.environment.game.name}_v0"}
        self.render_mode = render_mode
        self.possible_agents = self._game.names
        self.action_spaces = self._game.action_spaces
        self.observation_spaces = self._game.observation_spaces
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Dict:
        """The space; the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """The space; the same object each time."""
        return self.action_spaces[agent]

    def render(self) -> str | None:
        """The facts that hold, with `render_mode="ansi"`."""
        return self._game.text() if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Do nothing: no resource is held."""


class GgpAecEnv(_Spaces, AECEnv[str, Observation, int]):  # type: ignore[misc]
    """Agents act in turn; made by `env`."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new game."""
        self._game.begin(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._turns = dict.fromkeys(self.agents, 0)
        self._begin_step()
        if self._game.is_terminated:
            self._end(truncated=False)

    def _begin_step(self) -> None:
        self._chosen: dict[int, int] = {}
        self._waiting = self._game.choosers()
        self.agent_selection = self.possible_agents[self._waiting[0]]

    def observe(self, agent: str) -> Observation:
        """An agent's observation; its mask is empty unless it is to act."""
        number = self.possible_agents.index(agent)
        found = self._game.observe(number)
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
        self.rewards = self._game.play(self._chosen)
        self._accumulate_rewards()
        if self._game.is_terminated or self._is_too_long():
            self._end(truncated=not self._game.is_terminated)
        else:
            self._begin_step()

    def _is_too_long(self) -> bool:
        state, most = self._game.state, self._game.max_cycles
        if state.truncated[0] or most is None:
            return bool(state.truncated[0])
        # The second holds where an agent never has a choice, and so never acts.
        return min(self._turns.values()) >= most or int(state.step_count[0]) >= most * len(self._turns)

    def _end(self, *, truncated: bool) -> None:
        (self.truncations if truncated else self.terminations).update(dict.fromkeys(self.agents, True))
        self._waiting = []
        self.agent_selection = self.agents[0]


class GgpParallelEnv(_Spaces, ParallelEnv[str, Observation, int]):  # type: ignore[misc]
    """All agents act in every step; made by `parallel_env`."""

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """A new game."""
        self._game.begin(seed)
        self.agents = list(self.possible_agents)
        self._cycles = 0
        return self._observations(), {agent: {} for agent in self.agents}

    def _observations(self) -> dict[str, Observation]:
        return {agent: self._game.observe(a) for a, agent in enumerate(self.possible_agents)}

    def step(
        self, actions: dict[str, int]
    ) -> tuple[
        dict[str, Observation],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """One step of the game; agents without a choice may be left out, others lose if they are.

        Numbers that are not a legal action are illegal. Raises TypeError for what is not an integer,
        ActionError for an unknown agent.
        """
        agents = self.agents
        if unknown := [agent for agent in actions if agent not in self.possible_agents]:
            raise ActionError(f"agents are {', '.join(self.possible_agents)}, not {unknown[0]!r}")
        numbers = {
            self.possible_agents.index(agent): to_integer(action, f"action of {agent}")
            for agent, action in actions.items()
        }
        rewards = self._game.play(numbers)
        self._cycles += 1
        terminated = self._game.is_terminated
        too_long = self._game.max_cycles is not None and self._cycles >= self._game.max_cycles
        truncated = not terminated and (too_long or bool(self._game.state.truncated[0]))
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
