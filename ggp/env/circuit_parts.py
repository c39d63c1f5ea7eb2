"""The circuit in two parts: one for reading a state, one for a step from it.

A state is settled when a step leads to it and again before the next step: gates would be too many to keep. In
one circuit the goals and the end of the game would be settled both times, though only the new state's are
read; on hex and othello they are more than half of all gates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ggp.circuit.circuit import FALSE_LITERAL, without_dead_gates
from ggp.circuit.tables import circuit_of
from ggp.engines.compiled import CompiledGame, once_per_game
from ggp.engines.side_tables import SideTables, side_tables


class CircuitParts(NamedTuple):
    """Both parts number fluents, moves and slots alike, and use the same rows for their gates.

    of_state   legal, terminal and goal: phases LEGAL and GOAL
    of_step    legal, next and sees: phases LEGAL, NEXT and SEES

    >>> import ggp
    >>> game = ggp.load("othello", engine="lanes")
    >>> whole, parts = game.lane_tables, parts_of(game)
    >>> [part.tables.row_count < whole.row_count for part in parts]
    [True, True]
    """

    of_state: SideTables
    of_step: SideTables


@once_per_game
def parts_of(game: CompiledGame) -> CircuitParts:
    """The two parts of a game's circuit."""
    circuit = circuit_of(game.tables, game.terms)
    of_state = replace(
        circuit,
        next=(FALSE_LITERAL,) * len(circuit.next),
        percepts=tuple(percept._replace(literal=FALSE_LITERAL) for percept in circuit.percepts),
    )
    of_step = replace(
        circuit,
        terminal=FALSE_LITERAL,
        goals=tuple(goal._replace(literal=FALSE_LITERAL) for goal in circuit.goals),
    )
    return CircuitParts(*(side_tables(game, without_dead_gates(part)) for part in (of_state, of_step)))
