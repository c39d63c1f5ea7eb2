"""States from their facts, which any engine and process can write and read."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from gdl.reasoning.values import value_of
from ggp.game import Fact, Game, GameError, engine_of, is_compiled


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
