"""Opponents: players of the other seats of a batch of environments.

An opponent of the user is a function of a state and a random generator. It returns actions for all
environments of the state, of which those are used where another seat acts: int32[N], or int32[N, A] if agents
act at once.
Our own draw from a stream for each environment, so that its games depend on its own seed only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggp.env.batch import Environment
from ggp.env.kernels.arrays import NO_CHOICE
from ggp.env.state import EnvState
from ggp.env.streams import Streams
from ggp.search.one_state import search_state
from ggp.search.option_table import OptionError, rows_of
from ggp.search.tree.options import MctsOptions, default_options, parse_options

Opponent: TypeAlias = Callable[[EnvState, np.random.Generator], NDArray[np.int32]]
Mover: TypeAlias = Callable[[EnvState, NDArray[np.int64], Streams], NDArray[np.int32]]
"""Moves in a state, for environments with these numbers, whose streams it may draw from."""

_SIMULATIONS = 100


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


def make_opponent(spec: str | Opponent, environment: Environment) -> Mover:
    """A mover from "random", "mcts", "mcts:simulations=200,c=30", or an opponent of the user's own.

    `mcts` takes the options of the player mcts and searches environment after environment; in games with
    hidden information it sees the whole state.

    >>> import ggp
    >>> make_opponent("mcts:sims=4", ggp.env.make("nim", 1))              # doctest: +SKIP
    Traceback (most recent call last):
    ValueError: opponent 'mcts:sims=4': unknown option 'sims'; known options: simulations, policy, ...

    Raises TypeError and ValueError for anything else.
    """
    if callable(spec):
        return partial(_ask, spec)
    if not isinstance(spec, str):
        raise TypeError(f"opponent is a text or a function, not {spec!r}")
    name, _, text = spec.partition(":")
    if name == "random" and not text:
        return _move_at_random
    if name != "mcts":
        raise ValueError(f"opponent is random, mcts:simulations=K or a function, not {spec!r}")
    options = dict(part.partition("=")[::2] for part in filter(None, text.split(",")))
    names = ["simulations", *(row.name for row in rows_of(MctsOptions))]
    if unknown := [name for name in options if name not in names]:
        known = ", ".join(names)
        raise ValueError(f"opponent {spec!r}: unknown option {unknown[0]!r}; known options: {known}")
    count = options.pop("simulations", str(_SIMULATIONS))
    if not count.isdecimal() or not int(count):
        raise ValueError(f"simulations is a positive number, not {count!r}")
    try:
        parse_options(options, default_options(_SIMULATIONS))
    except (OptionError, OSError) as error:
        raise ValueError(f"opponent {spec!r}: {error}") from None
    return partial(_search, environment, int(count), options)


def _ask(
    opponent: Opponent, state: EnvState, environments: NDArray[np.int64], streams: Streams
) -> NDArray[np.int32]:
    """Actions of a function of the user. Raises ValueError for other shapes and types."""
    found = np.asarray(opponent(state, streams.generator))
    shape = state.legal_action_mask.shape[:-1]
    if found.shape != shape or found.dtype.kind not in "iu":
        raise ValueError(
            f"an opponent returns integers of shape {shape}, not {found.dtype} of shape {found.shape}"
        )
    return np.clip(found, NO_CHOICE, np.iinfo(np.int32).max).astype(np.int32)


def _move_at_random(state: EnvState, environments: NDArray[np.int64], streams: Streams) -> NDArray[np.int32]:
    mask = state.legal_action_mask
    rows = mask.reshape(-1, mask.shape[-1])
    legal = np.append(np.flatnonzero(rows), 0)  # row after row; the last is for rows without a legal move
    count = np.count_nonzero(rows, axis=1)
    drawn = streams.draw(environments, len(rows) // max(1, len(state))).reshape(-1)
    nth = (drawn % np.maximum(count, 1).astype(np.uint64)).astype(np.int64)
    chosen = legal[np.cumsum(count) - count + nth] % mask.shape[-1]
    return np.where(count > 0, chosen, NO_CHOICE).astype(np.int32).reshape(mask.shape[:-1])


def _search(
    environment: Environment,
    simulations: int,
    options: dict[str, Any],
    state: EnvState,
    environments: NDArray[np.int64],
    streams: Streams,
) -> NDArray[np.int32]:
    """Actions found by a tree search of each environment; those without a choice keep their first action."""
    actions = _move_at_random(state, environments, streams)
    seed = streams.draw(environments, environment.num_players)
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
                seed=int(seed[n, agent] >> np.uint64(33)),
                **options,
            )
            if report.best_move is not None:
                place = (n, agent) if environment.is_joint else n
                actions[place] = environment.move_to_action(agent, report.best_move)
    return actions
