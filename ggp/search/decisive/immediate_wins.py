"""Does the role to move win at once? A circuit that is nothing but that question, for alpha-beta.

Made of the same gates as decisive moves (`decisive_moves`), but without asking of every move whether it lets
the other role win: alpha-beta asks that of the children, which are states of their own.
"""

from __future__ import annotations

from pathlib import Path

from ggp.circuit.circuit import Circuit
from ggp.engines.compiled import CompiledGame
from ggp.lanes.layout import LaneTables
from ggp.search.decisive.decisive_moves import WatchedEnds, winnable_circuit
from ggp.search.decisive.kept_circuits import KeptCircuits

LARGEST = 15_000
"""Literals at most, of the game's circuit and of the one made."""

WHILE_BUILT = 20_000
"""Literals at most while it is built, besides those of the circuit."""


def _made(circuit: Circuit, watched: WatchedEnds) -> Circuit | None:
    return winnable_circuit(circuit, watched, WHILE_BUILT + circuit.literal_count)


_CIRCUITS = KeptCircuits(Path(__file__), LARGEST, _made)


def immediate_wins(game: CompiledGame) -> LaneTables | None:
    """Tables of a circuit whose goal of role r says that a legal move of r wins at once, with goal 100.

    The other role's goal is 0 then. None if the game is not suitable (see `KeptCircuits.tables`) or a circuit
    is too large.
    """
    return _CIRCUITS.tables(game)
