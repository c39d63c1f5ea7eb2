"""Successors and playouts in batches, and states from their facts: functions of a game of any engine."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from gdl.reasoning.values import value_of
from ggp.game import Fact, Game, GameError, engine_of, is_compiled
from ggp.integers import to_integer

if TYPE_CHECKING:
    from ggp.engines.compiled import CompiledGame, PackedState, Successors
    from ggp.lanes.engine import PlayoutStatistics

MANY_PLAYOUTS = 1_000_000
"""From this number on they are worth compiling machine code for."""


def successors(game: Game[Any], state: PackedState | None = None) -> Successors:
    """Every joint move of a state with the state it leads to, as arrays.

    512 joint moves are made at a time. state: None for the initial one.

    >>> import ggp
    >>> game = ggp.load("tictactoe")
    >>> found = ggp.successors(game)
    >>> found.joint_moves.shape, len(found.states), bool(found.is_terminal.any())
    ((9, 2), 9, False)
    >>> [str(game.moves[role][index]) for role, index in enumerate(found.joint_moves[0])]
    ['(mark 1 1)', 'noop']

    Raises GameError for games that are not compiled.
    """
    compiled = require_compiled(game)
    return compiled.successors(compiled.initial_state() if state is None else state)


def playouts(
    game: Game[Any],
    count: int = 10_000,
    state: PackedState | None = None,
    *,
    seed: int = 0,
    threads: int | None = 1,
    step_limit: int = 10_000,
    deadline: float | None = None,
) -> PlayoutStatistics:
    """Uniformly random playouts from a state, 512 at a time.

    state       None: the initial state
    seed        with the same seed, count and threads the result is the same on every machine
    threads     None: as many as there are processors; each has a random stream of its own
    step_limit, deadline   as in `ggp.lanes.engine.Lanes.playouts`

    >>> import ggp
    >>> found = ggp.playouts(ggp.load("tictactoe"), 10_000)
    >>> found.finished, found.shortest, found.longest
    (10000, 5, 9)
    >>> [round(goal) for goal in found.mean_goals]
    [65, 35]

    Raises GameError for games that are not compiled, TypeError and ValueError for wrong numbers.
    """
    from ggp.lanes.engine import Lanes

    compiled = require_compiled(game)
    root = compiled.unpack(compiled.initial_state() if state is None else state)
    count, seed = to_integer(count, "count", 0), to_integer(seed, "seed")
    threads = os.cpu_count() or 1 if threads is None else to_integer(threads, "threads", 1)
    step_limit = to_integer(step_limit, "step_limit", 1)

    if deadline is not None or count >= MANY_PLAYOUTS:
        compiled.native_playouts.begin(compiled.words)

    def run(stream: int) -> PlayoutStatistics:
        lanes = Lanes(compiled.lane_tables, words=compiled.words, seed=seed, stream=stream)
        share = count // threads + (stream < count % threads)
        return lanes.playouts(root, share, step_limit=step_limit, deadline=deadline)

    if threads == 1:
        return run(0)
    with ThreadPoolExecutor(threads) as pool:
        first, *others = pool.map(run, range(threads))
    return sum(others, first)


def require_compiled(game: Game[Any]) -> CompiledGame:
    """`game` as a compiled game. Raises GameError if another engine plays it.

    >>> from ggp.engines.loading import load
    >>> require_compiled(load("tictactoe", engine="reasoner"))
    Traceback (most recent call last):
    ggp.game.GameError: tictactoe is not compiled (engine reasoner): load it with engine="lanes"
    """
    from ggp.engines.compiled import CompiledGame

    if not isinstance(game, CompiledGame):
        raise GameError(
            f'{game.name} is not compiled (engine {engine_of(game)}): load it with engine="lanes"'
        )
    return game


def state_of_facts(game: Game[Any], facts: Iterable[Fact]) -> Hashable:
    """The state of `game` in which `facts` are true: the inverse of `game.facts`.

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> state = game.initial_state()
    >>> state_of_facts(game, game.facts(state)) == state
    True

    Raises GameError for facts that the rules do not have, as far as they are known.
    """
    held = frozenset(facts)
    if not is_compiled(game):
        return frozenset(map(value_of, held)) if engine_of(game) == "reasoner" else held
    compiled: Any = game
    unknown = held - set(compiled.terms.fluents)
    if unknown:
        raise GameError(f"not a fact of {game.name}: {min(map(str, unknown))}")
    import numpy as np

    packed: bytes = compiled.pack(np.array([fluent in held for fluent in compiled.terms.fluents]))
    return packed
