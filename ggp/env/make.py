"""make: from rules to environments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.engines.loading import load
from ggp.env.actions import actions_of, find_turns
from ggp.env.batch import Environment, Settings, SettingsOptions
from ggp.env.observations import observe

REWARDS = ("symmetric", "unit")


def make(
    rules: str | Path | CompiledGame,
    num_envs: int = 1024,
    *,
    observation: Literal["facts", "board", "percepts"] | None = None,
    rewards: Literal["symmetric", "unit"] = "symmetric",
    simultaneous: bool | None = None,
    **settings: Unpack[SettingsOptions],
) -> Environment:
    """Environments of a game: a rule sheet, the name of a bundled game, or a compiled game.

    observation    "facts", "board" or "percepts", see `ggp.env.observations`; None: facts, or percepts if the
                   game has `sees` rules
    rewards        goals 0..100 become "symmetric" -1..1 or "unit" 0..1
    simultaneous   whether agents act at once, so that actions are int32[N, A]; None: as random playouts show
    settings       auto_reset, max_steps, check, skip_forced, threads and seed: see `Settings`

    Raises ValueError for unknown choices, TypeError for unknown settings, and what `ggp.load` raises with
    engine "lanes".
    """
    if rewards not in REWARDS:
        raise ValueError(f"rewards is one of {', '.join(REWARDS)}, not {rewards!r}")
    game = rules if isinstance(rules, CompiledGame) else load(rules, engine="lanes")
    assert isinstance(game, CompiledGame)
    actions = actions_of(game)
    seen = observe(game, actions, observation)
    turns = find_turns(game)
    if simultaneous is not None:
        turns = replace(turns, is_joint=simultaneous)
    return Environment(game, num_envs, actions, turns, seen, _reward_of(game, rewards), Settings(**settings))


def _reward_of(game: CompiledGame, rewards: str) -> NDArray[np.float32]:
    goals = game.lane_tables.goal_value.astype(np.float32)
    return goals / np.float32(50) - np.float32(1) if rewards == "symmetric" else goals / np.float32(100)
