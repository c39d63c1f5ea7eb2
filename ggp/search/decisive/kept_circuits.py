"""Circuits that detect immediate wins, made once per game and cached with compiled games.

Random playouts are watched for moves that win and moves that wait, by which a game is found suitable.
A circuit is simplified for a limited time. Whether it is worth having is decided before, by its size, so that
the time decides nothing.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.cache import CompilationReport, CompiledCircuit, GameCache, cache_folder, encode
from ggp.circuit.circuit import FALSE_LITERAL, Circuit, Goal, without_dead_gates
from ggp.circuit.tables import circuit_of
from ggp.engines.compiled import CompiledGame, ManyStates, Settled
from ggp.game import RANDOM_ROLE
from ggp.jit.compiling import announced_compilation

STAGES = ("factoring", "sharing", "gate_order")
"""Simplifications that do not use `next`, which these circuits lack."""

SIMPLIFY_SECONDS = 0.5

WINNING_GOAL = 100
"""Of the role that makes the move; also the sum of the goals."""
FIRST_HOPELESS = 101
"""The "goal" of `early_ends` that the first move of a role is hopeless; others follow."""

WATCHED_PLAYOUTS, WATCHED_STEPS = 512, 256
"""Random playouts to watch, and steps of each."""

_logger = logging.getLogger("ggp.search")


class WatchedEnds(NamedTuple):
    """Findings of random playouts; moves are counted over all roles.

    passive           by role the move that it has while another one chooses
    winning           moves that ended a match with goal 100 for their role
    """

    passive: tuple[int, ...]
    winning: frozenset[int]


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


def watch_ends(game: CompiledGame, seed: int = 0) -> WatchedEnds | None:
    """Watch random playouts for waiting moves and winning moves.

    None unless there are two roles whose goals add up to 100, that never both choose at once, and that have
    exactly one passive move each. Moves that win so rarely that no playout shows it are not worth their
    gates.
    """
    if len(game.roles) != 2 or RANDOM_ROLE in game.roles:
        return None
    stretches = list(pairwise(game.tables.first_move.tolist()))
    passive: list[set[int]] = [set(), set()]
    winning: set[int] = set()
    for chosen, (legal, is_over, goals) in _random_playouts(game, seed):
        if (np.maximum(goals[is_over], 0).sum(axis=1) != WINNING_GOAL).any():
            return None
        won = is_over & (goals == WINNING_GOAL).any(axis=1)
        winning.update((game.tables.first_move[:-1] + chosen[won]).ravel().tolist())
        chooses = np.array([legal[:, begin:end].sum(axis=1) > 1 for begin, end in stretches])
        if (chooses.all(axis=0) & ~is_over).any():
            return None
        for role, (begin, end) in enumerate(stretches):
            waits = chooses[1 - role] & ~chooses[role] & ~is_over
            passive[role].update((begin + np.flatnonzero(legal[waits, begin:end].any(axis=0))).tolist())
    if any(len(of_role) != 1 for of_role in passive):
        return None
    waiting = (passive[0].pop(), passive[1].pop())
    return WatchedEnds(waiting, frozenset(winning - set(waiting)))


def _random_playouts(game: CompiledGame, seed: int) -> Iterator[tuple[NDArray[np.int32], Settled]]:
    """Many playouts at once, state by state: int32[N, R], the joint moves that led to the N that run or have
    just ended (any in the initial state), and what holds there.

    Settles only: the kernel of `Lanes.play`, which a match does not need, takes seconds to compile.
    """
    many = ManyStates(game)
    count = min(WATCHED_PLAYOUTS, many.lane_count)
    rng = np.random.default_rng(seed)
    states = np.repeat(game.unpack(game.initial_state())[None], count, axis=0)
    chosen = np.zeros((count, len(game.roles)), np.int32)
    stretches = list(pairwise(game.tables.first_move.tolist()))
    for _ in range(WATCHED_STEPS):
        with announced_compilation():
            settled = many.settle(states)
        yield chosen, settled
        goes_on = ~settled.is_terminal
        if not goes_on.any():
            return
        draw = rng.random(settled.legal.T.shape, np.float32).T
        draw[~settled.legal] = -1.0
        moves = [draw[goes_on, begin:end].argmax(axis=1) for begin, end in stretches]
        chosen = np.stack(moves, axis=1).astype(np.int32)
        states = many.following(states[goes_on], chosen)[0]
