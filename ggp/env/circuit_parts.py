"""The circuit in two parts: one for reading a state, one for a step from it.

A state is settled when a step leads to it and again before the next step: gates would be too many to keep. In
one circuit the goals and the end of the game would be settled both times, though only the new state's are
read; on hex and othello they are more than half of all gates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ggp.circuit.circuit import FALSE_LITERAL, without_dead_gates
from ggp.circuit.tables import circuit_of, tabulate
from ggp.engines.compiled import CompiledGame, once_per_game
from ggp.lanes.layout import LaneTables, arrange


class CircuitParts(NamedTuple):
    """Both parts number fluents, moves and slots alike, and use the same rows for their gates.

    of_state   legal, terminal and goal: phases LEGAL and GOAL
    of_step    legal, next and sees: phases LEGAL, NEXT and SEES

    >>> import ggp
    >>> game = ggp.load("othello", engine="lanes")
    >>> whole, parts = game.lane_tables, parts_of(game)
    >>> parts.of_state.row_count < whole.row_count, parts.of_step.row_count < whole.row_count
    (True, True)
    """

    of_state: LaneTables
    of_step: LaneTables


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
    return CircuitParts(*(arrange(tabulate(without_dead_gates(part))) for part in (of_state, of_step)))
