"""A circuit that only answers whether the role to move wins at once, for alpha-beta.

Made of the same gates as decisive moves (`decisive_moves`), but without asking of every move whether it lets
the other role win: alpha-beta asks that of the children, which are states of their own.
"""

from __future__ import annotations

from pathlib import Path

from ggp.circuit.circuit import FALSE_LITERAL, Circuit
from ggp.circuit.packed_gates import as_tuples
from ggp.circuit.simplify.plan import simplify
from ggp.circuit.tables import tabulate
from ggp.engines.compiled import CompiledGame
from ggp.engines.once_per_game import once_per_game
from ggp.lanes.layout import LaneTables, arrange
from ggp.search.decisive.decisive_moves import winnable_circuit
from ggp.search.decisive.kept_circuits import SIMPLIFY_SECONDS, STAGES, kept_circuit, with_wins
from ggp.search.decisive.watched_ends import WatchedEnds

LARGEST = 15_000
"""Maximum literals of the game's circuit and of the one made."""

WHILE_BUILT = 20_000
"""Maximum literals while it is built, besides those of the circuit."""


@once_per_game
def immediate_wins(game: CompiledGame) -> tuple[LaneTables, LaneTables] | None:
    """Tables of two circuits: the goal of role r in circuit r means that a legal move of r wins.

    It gets 100 then and the other role 0. In most states only one role can move, so that the other circuit
    need not be settled. None if the game is not suitable (see `kept_circuit`) or a circuit is too large.
    """
    circuit = kept_circuit(game, Path(__file__), LARGEST, _made)
    return None if circuit is None else (_of_role(circuit, 0), _of_role(circuit, 1))


def _made(circuit: Circuit, watched: WatchedEnds) -> Circuit | None:
    made = winnable_circuit(circuit, watched, WHILE_BUILT + circuit.literal_count)
    if made is None or made.literal_count > LARGEST:
        return None
    return simplify(made, stages=STAGES, seconds=SIMPLIFY_SECONDS)


def _of_role(circuit: Circuit, role: int) -> LaneTables:
    """The part of the circuit that shows whether `role` wins at once; the other role's goal is false."""
    wins = [FALSE_LITERAL, FALSE_LITERAL]
    wins[role] = next((goal.literal for goal in circuit.goals if goal.role == role), FALSE_LITERAL)
    return arrange(tabulate(with_wins(circuit, as_tuples(circuit.gates), wins)))
