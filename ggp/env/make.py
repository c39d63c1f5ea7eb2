"""make: from rules to environments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ggp.engines.compiled import CompiledGame
from ggp.engines.loading import load
from ggp.engines.point_of_view import PointOfView, find_point_of_view
from ggp.env.actions import actions_of, find_turns
from ggp.env.batch import Environment, Settings
from ggp.env.observations import observe
from ggp.game import has_percepts
from ggp.integers import require_bool, to_integer


def make(
    rules: str | Path | CompiledGame,
    num_envs: int = 1024,
    *,
    observation: Literal["facts", "board", "percepts"] | None = None,
    view: Literal["mover", "absolute"] | None = None,
    rewards: Literal["symmetric", "unit"] = "symmetric",
    simultaneous: bool | None = None,
    **settings: Any,
) -> Environment:
    """Environments of a game: a rule sheet, the name of a bundled game, or a compiled game.

    observation    "facts", "board" or "percepts", see `ggp.env.observations`; None: facts, or percepts if the
                   game has `sees` rules
    view           "mover": the second of two agents sees and numbers everything as the first one does, where
                   the rules are proven the same for both; "absolute": as the rules have it; None: "mover" for
                   boards where that is proven, else "absolute"
    rewards        goals 0..100 become "symmetric" -1..1 or "unit" 0..1
    simultaneous   whether agents act at once, so that actions are int32[N, A]; None: as random playouts show
    settings       auto_reset, max_steps, check, threads and seed: see `Settings`

    Raises ValueError for unknown choices, TypeError for unknown settings and for numbers that are not
    integers, and what `ggp.load` raises with engine "lanes".

    >>> make("connectfour", max_episode_steps=5)
    Traceback (most recent call last):
    TypeError: make has no keyword 'max_episode_steps', did you mean max_steps? Its keywords: ...
    """
    refuse_unknown_keywords(settings, make)
    checked = Settings(**settings)
    num_envs = to_integer(num_envs, "num_envs", 1)
    if simultaneous is not None:
        require_bool(simultaneous, "simultaneous")
    if rewards not in ("symmetric", "unit"):
        raise ValueError(f"rewards is one of symmetric, unit, not {rewards!r}")
    if view not in (None, "mover", "absolute"):
        raise ValueError(f"view is one of mover, absolute, not {view!r}")
    game = rules if isinstance(rules, CompiledGame) else load(rules, engine="lanes")
    assert isinstance(game, CompiledGame)
    kind = observation or ("percepts" if has_percepts(game) else "facts")
    swapped = _point_of_view(game, kind, view)
    actions = actions_of(game, swapped)
    seen = observe(game, actions, kind, swapped)
    turns = find_turns(game)
    if simultaneous is not None:
        turns = replace(turns, is_joint=simultaneous)
    goals = game.lane_tables.goal_value.astype(np.float32)
    reward_of = goals / np.float32(50) - np.float32(1) if rewards == "symmetric" else goals / np.float32(100)
    return Environment(game, num_envs, actions, turns, seen, reward_of, checked)


def refuse_unknown_keywords(
    given: Iterable[str], function: Callable[..., Any], taken: Iterable[str] = ()
) -> None:
    """Raise TypeError for a keyword that neither `make` nor `function`, which hands the rest to it, has.

    taken   keywords of `make` that `function` gives itself
    """
    own = [*inspect.signature(function).parameters.values(), *inspect.signature(make).parameters.values()]
    names = [each.name for each in own if each.kind == each.KEYWORD_ONLY]
    names += [each.name for each in fields(Settings)]
    known = [name for name in dict.fromkeys(names) if name not in taken]
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f", did you mean {close[0]}?" if close else "."
            raise TypeError(
                f"{function.__name__} has no keyword {name!r}{hint} Its keywords: {', '.join(known)}"
            )


def _point_of_view(game: CompiledGame, observation: str, view: str | None) -> PointOfView | None:
    """How the second agent sees the game; None: as it is. Raises ValueError if "mover" is unavailable."""
    if view == "absolute" or (view is None and observation != "board"):
        return None
    found = None if observation == "percepts" else find_point_of_view(game)
    if found is None and view == "mover":
        raise ValueError(
            f"{game.name}: view='mover' needs two roles that the rules treat alike, and no percepts"
        )
    return found
