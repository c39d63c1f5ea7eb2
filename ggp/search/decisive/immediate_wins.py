"""Does the role to move win at once? A circuit that is nothing but that question, for alpha-beta.

Made of the same gates as decisive moves (`decisive_moves`), but without asking of every move whether it lets
the other role win: alpha-beta asks that of the children, which are states of their own.
"""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from weakref import WeakKeyDictionary

from ggp.circuit.cache import GameCache, cache_folder
from ggp.circuit.circuit import FALSE_LITERAL, Circuit
from ggp.circuit.file import CompilationReport, CompiledCircuit, encode
from ggp.circuit.simplify.plan import simplify
from ggp.circuit.tables import circuit_of, tabulate
from ggp.engines.compiled import CompiledGame
from ggp.lanes.layout import LaneTables, arrange
from ggp.search.decisive.decisive_moves import (
    code_key,
    watch_ends,
    winnable_circuit,
    with_wins,
    without_percepts,
)
from ggp.search.decisive.winning_moves import STAGES

LARGEST = 15_000
"""Literals at most, of the game's circuit and of the one made, before it is simplified: how far that gets in
its time must decide nothing."""

WHILE_BUILT = 20_000
"""Literals at most while it is built, besides those of the circuit."""

SIMPLIFY_SECONDS = 0.5

_LOCK = threading.Lock()
_KNOWN: WeakKeyDictionary[CompiledGame, LaneTables | None] = WeakKeyDictionary()


def immediate_wins(game: CompiledGame) -> LaneTables | None:
    """Tables of a circuit whose goal of role r says that a legal move of r wins at once, with goal 100.

    The other role's goal is 0 then. None if the game is not suitable (see `watch_ends`) or a circuit is too
    large. Made once per game, and kept in the cache of compiled games.
    """
    with _LOCK:
        if game not in _KNOWN:
            _KNOWN[game] = _make_tables(game)
        return _KNOWN[game]


def _make_tables(game: CompiledGame) -> LaneTables | None:
    if len(game.tables.input) > LARGEST or len(game.roles) != 2:
        return None
    circuit = circuit_of(game.tables, game.terms, game.exclusive)
    cache = GameCache(cache_folder())
    digest = hashlib.sha256(encode(CompiledCircuit(circuit, CompilationReport()))).hexdigest()
    variant = f"immediate {code_key(Path(__file__))} {digest}"
    kept = cache.load(game.program, variant)
    if kept is None or kept.circuit.terms != without_percepts(circuit).terms:
        kept = CompiledCircuit(_worthwhile_circuit(game, circuit), CompilationReport())
        cache.store(game.program, kept, variant)
    if all(goal.literal == FALSE_LITERAL for goal in kept.circuit.goals):
        return None
    return arrange(tabulate(kept.circuit))


def _worthwhile_circuit(game: CompiledGame, circuit: Circuit) -> Circuit:
    """The circuit, simplified; one that never sees a win if it is not worth having."""
    watched = watch_ends(game)
    if watched is not None and watched.winning:
        made = winnable_circuit(circuit, watched, WHILE_BUILT + circuit.literal_count)
        if made is not None and made.literal_count <= LARGEST:
            return simplify(made, stages=STAGES, seconds=SIMPLIFY_SECONDS)
    return with_wins(circuit, (), [FALSE_LITERAL, FALSE_LITERAL])
