"""Wins in one, seen in the tree: for games whose circuit is too large for decisive moves in playouts.

Whether a joint move wins for a role is a function of the state and the moves: `terminal` and both goals, read
in the next state, whose fluents are read from `next`. Nothing else of the circuit is kept, so that looking
at 64 moves of a node costs about as much as a step of playouts in 64 lanes.

    winning_tables    the tables of that circuit, if the game is suitable
    winning_circuit   the circuit
"""

from __future__ import annotations

import hashlib
import logging
import threading
from pathlib import Path
from weakref import WeakKeyDictionary

from ggp.circuit.cache import GameCache, cache_folder
from ggp.circuit.circuit import (
    FALSE_LITERAL,
    TRUE_LITERAL,
    Circuit,
    GateBuilder,
    cone_of,
)
from ggp.circuit.file import CompilationReport, CompiledCircuit, encode
from ggp.circuit.packed_gates import as_tuples
from ggp.circuit.simplify.plan import simplify
from ggp.circuit.tables import circuit_of, tabulate
from ggp.engines.compiled import CompiledGame
from ggp.lanes.layout import LaneTables, arrange
from ggp.search.decisive.decisive_moves import code_key, watch_ends, with_wins, without_percepts

WINNING_GOAL = 100
LARGEST = 10_000
"""Literals at most, of the game's circuit and of the one made, before it is simplified: how far that gets in
its time must decide nothing. Looking at a larger one costs more playouts than it is worth."""

STAGES = ("factoring", "refactoring", "sharing", "gate_order")
"""Simplifications that do not use `next`, which this circuit does not have."""

SIMPLIFY_SECONDS = 0.5

_logger = logging.getLogger("ggp.search")
_LOCK = threading.Lock()
_KNOWN: WeakKeyDictionary[CompiledGame, LaneTables | None] = WeakKeyDictionary()


def winning_tables(game: CompiledGame) -> LaneTables | None:
    """The tables of `winning_circuit`; None if the game is not suitable or a circuit is too large.

    Suitable are games in which two roles alternate, whose goals add up to 100, and in which random playouts
    show wins by a role's own move. Made once per game, and kept in the cache of compiled games.
    """
    with _LOCK:
        if game not in _KNOWN:
            _KNOWN[game] = _make_tables(game)
        return _KNOWN[game]


def _make_tables(game: CompiledGame) -> LaneTables | None:
    """Tables of a circuit from the cache of compiled games, or made and kept there."""
    if len(game.tables.input) > LARGEST or len(game.roles) != 2:
        return None
    circuit = circuit_of(game.tables, game.terms, game.exclusive)
    cache = GameCache(cache_folder())
    digest = hashlib.sha256(encode(CompiledCircuit(circuit, CompilationReport()))).hexdigest()
    variant = f"winning {code_key(Path(__file__))} {digest}"
    kept = cache.load(game.program, variant)
    if kept is None or kept.circuit.terms != without_percepts(circuit).terms:
        kept = CompiledCircuit(_worthwhile_circuit(game, circuit), CompilationReport())
        cache.store(game.program, kept, variant)
    if all(goal.literal == FALSE_LITERAL for goal in kept.circuit.goals):
        return None
    _logger.info("%s: wins in one are seen on %d literals", game.name, kept.circuit.literal_count)
    return arrange(tabulate(kept.circuit))


def _worthwhile_circuit(game: CompiledGame, circuit: Circuit) -> Circuit:
    """The circuit, simplified; one that never sees a win if it is not worth having."""
    watched = watch_ends(game)
    if watched is not None and watched.winning:
        made = winning_circuit(circuit)
        if made.literal_count <= LARGEST:
            return simplify(made, stages=STAGES, seconds=SIMPLIFY_SECONDS)
    return with_wins(circuit, (), [FALSE_LITERAL, FALSE_LITERAL])


def winning_circuit(circuit: Circuit) -> Circuit:
    """A circuit whose only outputs are goals: that the joint move wins for role 0, and for role 1.

    Its role gets 100 in a terminal next state, the other one 0.
    """
    builder = GateBuilder(circuit.gate0)
    now = [2 * node for node in range(circuit.gate0)]
    for gate in as_tuples(circuit.gates):
        now.append(builder.conj(now[x >> 1] ^ (x & 1) for x in gate))
    gates = as_tuples(circuit.gates)

    def inputs(node: int) -> tuple[int, ...]:
        return gates[node - circuit.gate0] if node >= circuit.gate0 else ()

    then: dict[int, int] = {0: TRUE_LITERAL}
    goal = {(each.role, each.value): each.literal for each in circuit.goals}
    ends = [goal.get((role, value), FALSE_LITERAL) for role in (0, 1) for value in (WINNING_GOAL, 0)]
    for node in cone_of([circuit.terminal, *ends], inputs):
        if node >= circuit.gate0:
            then[node] = builder.conj(then[x >> 1] ^ (x & 1) for x in gates[node - circuit.gate0])
        else:
            literal = circuit.next[node - 1]
            then[node] = now[literal >> 1] ^ (literal & 1)
    wins = [
        builder.conj(then[x >> 1] ^ (x & 1) for x in (circuit.terminal, ends[2 * role], ends[3 - 2 * role]))
        for role in (0, 1)
    ]
    return with_wins(circuit, tuple(builder.gates), wins)
