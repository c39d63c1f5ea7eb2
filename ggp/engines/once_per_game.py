"""Values computed once per game and kept as long as the game is."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

from ggp.engines.compiled import CompiledGame

_Made = TypeVar("_Made")


def once_per_game(make: Callable[[CompiledGame], _Made]) -> Callable[[CompiledGame], _Made]:
    """`make`, called once per game; threads that ask meanwhile wait.

    >>> import ggp
    >>> count = once_per_game(lambda game: print("counted") or len(game.terms.fluents))
    >>> game = ggp.load("tictactoe", engine="lanes")
    >>> count(game) == count(game)
    counted
    True
    """
    made: WeakKeyDictionary[CompiledGame, _Made] = WeakKeyDictionary()
    lock = threading.Lock()

    @functools.wraps(make)
    def kept(game: CompiledGame) -> _Made:
        with lock:
            if game not in made:
                made[game] = make(game)
            return made[game]

    return kept
