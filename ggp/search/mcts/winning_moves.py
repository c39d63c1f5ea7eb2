"""Wins in one, seen in the tree: for games whose circuit is too large for decisive moves in playouts.

Whether a joint move wins for a role is a function of the state and the moves: `terminal` and both goals, read
in the next state, whose fluents are read from `next`. Nothing else of the circuit is kept, so that looking
at all moves of a node costs less than one step of a playout in 64 lanes.

    winning_tables    the tables of that circuit, if the game is one for it
    winning_circuit   the circuit
"""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from ggp.circuit.circuit import FALSE_LITERAL, TRUE_LITERAL, Circuit, GateBuilder, Goal, without_dead_gates
from ggp.circuit.packed_gates import as_tuples
from ggp.circuit.simplify.plan import simplify
from ggp.circuit.tables import circuit_of, tabulate
from ggp.engines.compiled import CompiledGame
from ggp.lanes.layout import LaneTables, arrange
from ggp.search.mcts.decisive_moves import watch_ends

WINNING_GOAL = 100
LARGEST = 60_000
"""Literals of the game's circuit at most: with larger ones making this one takes long."""

LARGEST_MADE = 6_000
"""Literals of the circuit made at most: with larger ones looking costs a fifth of the playouts."""

STAGES = ("factoring", "refactoring", "sharing", "gate_order")
"""Simplifications that do not argue with the next state, which this circuit does not have."""

SIMPLIFY_SECONDS = 0.5

_logger = logging.getLogger("ggp.search")
_LOCK = threading.Lock()
_KNOWN: WeakKeyDictionary[CompiledGame, LaneTables | None] = WeakKeyDictionary()


def winning_tables(game: CompiledGame) -> LaneTables | None:
    """The tables of `winning_circuit`; None if the game is not suitable or its circuit is too large.

    Suitable are games in which two roles alternate, whose goals add up to 100, and in which random playouts
    show wins by a role's own move. Made once per game.
    """
    with _LOCK:
        if game not in _KNOWN:
            _KNOWN[game] = _make_tables(game)
        return _KNOWN[game]


def _make_tables(game: CompiledGame) -> LaneTables | None:
    circuit = circuit_of(game.tables, game.terms, game.exclusive)
    if circuit.literal_count > LARGEST:
        return None
    watched = watch_ends(game)
    if watched is None or not watched.winning:
        return None
    made = simplify(winning_circuit(circuit), stages=STAGES, seconds=SIMPLIFY_SECONDS)
    if made.literal_count > LARGEST_MADE:
        return None
    _logger.info("%s: wins in one are seen on %d literals", game.name, made.literal_count)
    return arrange(tabulate(made))


def winning_circuit(circuit: Circuit) -> Circuit:
    """A circuit whose only outputs are goals: that the joint move wins for role 0, and for role 1.

    Its role gets 100 in a terminal next state, the other one 0.
    """
    builder = GateBuilder(circuit.gate0)
    now = [2 * node for node in range(circuit.gate0)]
    for gate in as_tuples(circuit.gates):
        now.append(builder.conj(now[x >> 1] ^ (x & 1) for x in gate))
    gates = as_tuples(circuit.gates)
    then: dict[int, int] = {0: TRUE_LITERAL}
    goal = {(each.role, each.value): each.literal for each in circuit.goals}
    ends = [goal.get((role, value), FALSE_LITERAL) for role in (0, 1) for value in (WINNING_GOAL, 0)]
    for node in _cone(circuit, gates, [circuit.terminal, *ends]):
        if node >= circuit.gate0:
            then[node] = builder.conj(then[x >> 1] ^ (x & 1) for x in gates[node - circuit.gate0])
        else:
            literal = circuit.next[node - 1]
            then[node] = now[literal >> 1] ^ (literal & 1)
    wins = [
        builder.conj(then[x >> 1] ^ (x & 1) for x in (circuit.terminal, ends[2 * role], ends[3 - 2 * role]))
        for role in (0, 1)
    ]
    return without_dead_gates(
        replace(
            circuit,
            gates=tuple(builder.gates),
            legal=(FALSE_LITERAL,) * len(circuit.legal),
            next=(FALSE_LITERAL,) * len(circuit.next),
            terminal=FALSE_LITERAL,
            goals=tuple(Goal(role, WINNING_GOAL, win) for role, win in enumerate(wins)),
            percepts=(),
            terms=replace(circuit.terms, percepts=()),
        )
    )


def _cone(circuit: Circuit, gates: tuple[tuple[int, ...], ...], literals: list[int]) -> list[int]:
    """The nodes that literals depend on, inputs first, without the constant."""
    nodes: set[int] = {0}
    left = [literal >> 1 for literal in literals]
    while left:
        node = left.pop()
        if node not in nodes:
            nodes.add(node)
            if node >= circuit.gate0:
                left += [x >> 1 for x in gates[node - circuit.gate0]]
    return sorted(nodes - {0})


def fluents_read(tables: LaneTables) -> np.ndarray:
    """int32[*]: the fluents that gates or goals of a circuit read."""
    read = np.concatenate([tables.source, tables.goal_literal >> 1])
    return np.unique(read[(read >= 1) & (read <= tables.fluent_count)] - 1).astype(np.int32)
