"""Circuits that detect immediate wins, made once per game and cached with compiled games.

A circuit is simplified for a limited time. Whether it is worth having is decided before, by its size, so that
the time decides nothing.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from ggp.circuit.cache import GameCache, cache_folder
from ggp.circuit.circuit import FALSE_LITERAL, Circuit, Goal, without_dead_gates
from ggp.circuit.file import CompilationReport, CompiledCircuit, encode
from ggp.circuit.tables import circuit_of
from ggp.engines.compiled import CompiledGame
from ggp.search.decisive.watched_ends import WINNING_GOAL, WatchedEnds, watch_ends

STAGES = ("factoring", "refactoring", "sharing", "gate_order")
"""Simplifications that do not use `next`, which these circuits lack."""

SIMPLIFY_SECONDS = 0.5

_logger = logging.getLogger("ggp.search")

Make: TypeAlias = Callable[[Circuit, WatchedEnds], Circuit | None]


def kept_circuit(game: CompiledGame, name: str, largest: int, make: Make) -> Circuit | None:
    """The circuit that `make` derives from that of `game`; None without one or if the game is not suitable.

    name      of this kind of circuit, in the cache and in the log
    largest   literals of the game's circuit at most
    Kept ones are made again after a change of the texts of this folder. Suitable are games in which two roles
    alternate, whose goals add up to 100, and in which random playouts show wins by a role's own move. Kept
    also that there is none: a second or two that every match would begin with.
    """
    circuit = circuit_of(game.tables, game.terms, game.exclusive)
    if circuit.literal_count > largest or len(game.roles) != 2:
        _logger.info("%s: no %s (not two roles, or a large circuit)", game.name, name)
        return None
    cache = GameCache(cache_folder())
    digest = hashlib.sha256(encode(CompiledCircuit(circuit, CompilationReport()))).hexdigest()
    variant = f"{name} {_code_key()} {digest}"
    kept = cache.load(game.program, variant)
    if kept is None or without_percepts(kept.circuit).terms != without_percepts(circuit).terms:
        watched = watch_ends(game)
        made = make(circuit, watched) if watched is not None and watched.winning else None
        kept = CompiledCircuit(made or with_goals(circuit, (), ()), CompilationReport())
        cache.store(game.program, kept, variant)
    found = kept.circuit
    if all(each == FALSE_LITERAL for each in (*found.legal, *(goal.literal for goal in found.goals))):
        _logger.info("%s: no %s (game or circuit not suitable)", game.name, name)
        return None
    _logger.info("%s: %s on %d literals", game.name, name, found.literal_count)
    return found


@functools.cache
def _code_key() -> str:
    """Hash of the texts of this folder, which decide what is made; nothing if modules are not files."""
    digest = hashlib.sha256()
    try:
        for path in sorted(Path(__file__).parent.glob("*.py")):
            digest.update(path.read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()


def with_wins(circuit: Circuit, gates: tuple[tuple[int, ...], ...], wins: Sequence[int]) -> Circuit:
    """A circuit with these gates, and no outputs but the literals `wins` as goals of the two roles."""
    return with_goals(circuit, gates, tuple(Goal(role, WINNING_GOAL, win) for role, win in enumerate(wins)))


def with_goals(circuit: Circuit, gates: tuple[tuple[int, ...], ...], goals: tuple[Goal, ...]) -> Circuit:
    """A circuit with these gates, and no outputs but these goals."""
    return without_dead_gates(
        replace(
            without_percepts(circuit),
            gates=gates,
            legal=(FALSE_LITERAL,) * len(circuit.legal),
            next=(FALSE_LITERAL,) * len(circuit.next),
            terminal=FALSE_LITERAL,
            goals=goals,
        )
    )


def without_percepts(circuit: Circuit) -> Circuit:
    return replace(circuit, percepts=(), terms=replace(circuit.terms, percepts=()))
