"""Immediate wins detected in the tree, for circuits too large for decisive moves in playouts.

Whether a joint move wins for a role is a function of the state and the moves: `terminal` and both goals, read
in the next state, whose fluents are read from `next`. Nothing else of the circuit is kept, so that looking
at 64 moves of a node costs about as much as a step of playouts in 64 lanes.

    winning_tables    the tables of that circuit, if the game is suitable
    winning_circuit   the circuit
"""

from __future__ import annotations

from pathlib import Path

from ggp.circuit.circuit import FALSE_LITERAL, TRUE_LITERAL, Circuit, GateBuilder, cone_of
from ggp.circuit.packed_gates import as_tuples
from ggp.circuit.simplify.plan import simplify
from ggp.circuit.tables import tabulate
from ggp.engines.compiled import CompiledGame, once_per_game
from ggp.lanes.layout import LaneTables, arrange
from ggp.search.decisive.kept_circuits import SIMPLIFY_SECONDS, STAGES, kept_circuit, with_wins
from ggp.search.decisive.watched_ends import WINNING_GOAL, WatchedEnds

LARGEST = 10_000
"""Maximum literals of the game's circuit and of the one made. Looking at a larger one costs more playouts
than it is worth."""


@once_per_game
def winning_tables(game: CompiledGame) -> LaneTables | None:
    """The tables of `winning_circuit`; None if the game is not suitable or a circuit is too large. Suitable
    games: see `kept_circuit`."""
    circuit = kept_circuit(game, Path(__file__), LARGEST, _made)
    return None if circuit is None else arrange(tabulate(circuit))


def _made(circuit: Circuit, _: WatchedEnds) -> Circuit | None:
    made = winning_circuit(circuit)
    is_small = made.literal_count <= LARGEST
    return simplify(made, stages=STAGES, seconds=SIMPLIFY_SECONDS) if is_small else None


def winning_circuit(circuit: Circuit) -> Circuit:
    """A circuit whose only outputs are goals: that the joint move wins for role 0, and for role 1. Its role
    gets 100 in a terminal next state, the other one 0."""
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
