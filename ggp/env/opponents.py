"""Opponents: who moves for the other seats of a batch of environments.

An opponent is a function of a state and a random generator. It returns actions for all environments, of which
those are used where another seat acts: int32[N], or int32[N, A] if agents act at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggp.env.batch import Environment, EnvState
from ggp.search.one_state import search_state

Opponent: TypeAlias = Callable[[EnvState, np.random.Generator], NDArray[np.int32]]

NO_CHOICE = -1


def random_actions(state: EnvState, rng: np.random.Generator) -> NDArray[np.int32]:
    """A uniformly random legal action per environment, or per agent if agents act at once.

    >>> import ggp
    >>> env = ggp.env.make("nim", 4)                                      # doctest: +SKIP
    >>> random_actions(env.init(), np.random.default_rng(0)).shape        # doctest: +SKIP
    (4,)
    """
    mask = state.legal_action_mask
    drawn = rng.random(mask.shape, np.float32)
    drawn[~mask] = -1.0
    chosen: NDArray[np.int32] = drawn.argmax(axis=-1).astype(np.int32)
    return chosen if mask.ndim == 2 else np.where(mask.any(axis=-1), chosen, NO_CHOICE).astype(np.int32)


def make_opponent(spec: str | Opponent, environment: Environment) -> Opponent:
    """An opponent from "random", "mcts", "mcts:simulations=200", or a function of your own.

    `mcts` searches environment after environment; in games with hidden information it sees the whole state.
    Raises ValueError for anything else.
    """
    if callable(spec):
        return spec
    name, _, text = spec.partition(":")
    if name == "random" and not text:
        return random_actions
    if name != "mcts":
        raise ValueError(f"opponent is random, mcts:simulations=K or a function, not {spec!r}")
    options: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        options[key] = value
    count = options.pop("simulations", "100")
    if not count.isdigit() or not int(count):
        raise ValueError(f"simulations is a positive number, not {count!r}")
    return partial(_search, environment, int(count), options)


def _search(
    environment: Environment,
    simulations: int,
    options: dict[str, Any],
    state: EnvState,
    rng: np.random.Generator,
) -> NDArray[np.int32]:
    """Actions found by a tree search of each environment; those without a choice keep their first action."""
    actions = random_actions(state, rng)
    over = state.terminated | state.truncated
    for n in np.flatnonzero(~over).tolist():
        if environment.is_joint:
            agents = np.flatnonzero(state.legal_action_mask[n].sum(axis=1) > 1).tolist()
        else:
            agents = [int(state.current_player[n])] if state.legal_action_mask[n].sum() > 1 else []
        position = environment.state_of(state, n)
        for agent in agents:
            report = search_state(
                environment.game,
                position,
                environment.actions.agents[agent],
                simulations=simulations,
                seed=int(rng.integers(2**31)),
                **options,
            )
            if report.best_move is not None:
                place = (n, agent) if environment.is_joint else n
                actions[place] = environment.move_to_action(agent, report.best_move)
    return actions
