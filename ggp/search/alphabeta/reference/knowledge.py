"""Properties of a game that need its circuit: goals, symmetries and goal bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Game
from ggp.lanes.engine import Lanes
from ggp.lanes.keys.state_code import StateCode, encode_states, make_code
from ggp.search.alphabeta.goal_bounds import goal_bounds
from ggp.search.alphabeta.symmetry import fluent_symmetries


@dataclass(frozen=True)
class Knowledge:
    """Properties of the game that the search relies on.

    goals        that the first role can get, ascending
    canonical    state → the state that stands for all its mirror images
    goal_range   state that is not terminal → the least and the greatest goal the first role can still get;
                 None: not known
    """

    goals: tuple[int, ...] = tuple(range(101))
    canonical: Callable[[Any], Any] = lambda state: state
    goal_range: Callable[[Any], tuple[int, int]] | None = None


def knowledge_of(game: Game[Any], *, symmetries: bool = True) -> Knowledge:
    """Properties proven on the circuit of a compiled game; none for other games."""
    if not isinstance(game, CompiledGame):
        return Knowledge()
    goals = {int(v) for v, r in zip(game.tables.goal_value, game.tables.goal_role, strict=True) if r == 0}
    canonical = _canonical(game) if symmetries else Knowledge.canonical
    return Knowledge(tuple(sorted(goals)), canonical, _goal_range(game))


def _canonical(game: CompiledGame) -> Callable[[PackedState], PackedState]:
    images = fluent_symmetries(game)
    code: StateCode = make_code(len(game.terms.fluents), game.exclusive)

    def canonical(state: PackedState) -> PackedState:
        mirrored = game.unpack(state)[images]
        keys = encode_states(code, mirrored)
        return game.pack(mirrored[min(range(len(keys)), key=lambda v: tuple(keys[v]))])

    return canonical


def _goal_range(game: CompiledGame) -> Callable[[PackedState], tuple[int, int]] | None:
    bounds = goal_bounds(game)
    if bounds is None:
        return None
    lanes = Lanes(bounds.tables, words=1)
    goals = np.asarray(bounds.tables.goal_value)

    def goal_range(state: PackedState) -> tuple[int, int]:
        lanes.set_states(game.unpack(state)[:, None])
        lanes.settle(Phase.LEGAL, Phase.GOAL)
        possible = goals[lanes.read(bounds.tables.goal_literal, 1)[:, 0]]
        return int(possible.min()), int(possible.max())

    return goal_range
