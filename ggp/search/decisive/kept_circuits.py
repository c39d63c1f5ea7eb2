"""Circuits that see wins in one, made once per game and kept in the cache of compiled games.

A circuit is simplified for a limited time. Whether it is worth having is decided before, by its size, so that
the time decides nothing.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from ggp.circuit.cache import GameCache, cache_folder
from ggp.circuit.circuit import FALSE_LITERAL, Circuit
from ggp.circuit.file import CompilationReport, CompiledCircuit, encode
from ggp.circuit.simplify.plan import simplify
from ggp.circuit.tables import circuit_of
from ggp.engines.compiled import CompiledGame
from ggp.search.decisive import decisive_moves
from ggp.search.decisive.decisive_moves import (
    WatchedEnds,
    code_key,
    watch_ends,
    with_wins,
    without_percepts,
)

STAGES = ("factoring", "refactoring", "sharing", "gate_order")
"""Simplifications that do not use `next`, which these circuits do not have."""

SIMPLIFY_SECONDS = 0.5

_logger = logging.getLogger("ggp.search")

Tables = TypeVar("Tables")


class KeptCircuits(Generic[Tables]):
    """The circuits of one kind, by game."""

    def __init__(
        self,
        module: Path,
        largest: int,
        make: Callable[[Circuit, WatchedEnds], Circuit | None],
        lay_out: Callable[[Circuit], Tables],
    ) -> None:
        """Set up without any circuit.

        module    the file that makes the circuits; after a change of its text, kept ones are made again
        largest   literals at most, of the game's circuit and of the one made, before it is simplified
        make      the circuit for that of a game, with wins as goals; None if there is none
        lay_out   the circuit as kernels need it
        """
        self._module = module
        self._largest = largest
        self._make = make
        self._lay_out = lay_out
        self._lock = threading.Lock()
        self._known: WeakKeyDictionary[CompiledGame, Tables | None] = WeakKeyDictionary()

    def tables(self, game: CompiledGame) -> Tables | None:
        """The tables of the circuit; None if the game is not suitable or a circuit is too large.

        Suitable are games in which two roles alternate, whose goals add up to 100, and in which random
        playouts show wins by a role's own move.
        """
        with self._lock:
            if game not in self._known:
                self._known[game] = self._load(game)
            return self._known[game]

    def _load(self, game: CompiledGame) -> Tables | None:
        if len(game.tables.input) > self._largest or len(game.roles) != 2:
            return None
        circuit = circuit_of(game.tables, game.terms, game.exclusive)
        cache = GameCache(cache_folder())
        digest = hashlib.sha256(encode(CompiledCircuit(circuit, CompilationReport()))).hexdigest()
        texts = (self._module, Path(__file__), Path(decisive_moves.__file__))
        variant = " ".join((self._module.stem, *map(code_key, texts), digest))
        kept = cache.load(game.program, variant)
        if kept is None or kept.circuit.terms != without_percepts(circuit).terms:
            kept = CompiledCircuit(self._worthwhile_circuit(game, circuit), CompilationReport())
            cache.store(game.program, kept, variant)
        if all(goal.literal == FALSE_LITERAL for goal in kept.circuit.goals):
            return None
        _logger.info(
            "%s: %s are seen on %d literals", game.name, self._module.stem, kept.circuit.literal_count
        )
        return self._lay_out(kept.circuit)

    def _worthwhile_circuit(self, game: CompiledGame, circuit: Circuit) -> Circuit:
        """The circuit, simplified; one that never sees a win if it is not worth having."""
        watched = watch_ends(game)
        if watched is not None and watched.winning:
            made = self._make(circuit, watched)
            if made is not None and made.literal_count <= self._largest:
                return simplify(made, stages=STAGES, seconds=SIMPLIFY_SECONDS)
        return with_wins(circuit, (), [FALSE_LITERAL, FALSE_LITERAL])
