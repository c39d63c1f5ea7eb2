"""Immediate wins on a circuit of their own, for searches that do not narrow legality.

It is made of the gates of decisive moves, without asking of every move whether it lets the other role win:
that is asked of the children, which are states of their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.circuit import Circuit
from ggp.circuit.simplify.plan import simplify
from ggp.engines.compiled import CompiledGame, once_per_game
from ggp.engines.side_tables import SideTables, side_tables
from ggp.lanes.layout import LaneTables
from ggp.search.decisive.decisive_moves import Narrowing
from ggp.search.decisive.kept_circuits import (
    SIMPLIFY_SECONDS,
    STAGES,
    WatchedEnds,
    kept_circuit,
)

LARGEST = 15_000
"""Maximum literals of the game's circuit and of the one made."""

WHILE_BUILT = 20_000
"""Maximum literals while the first one is built, besides those of the circuit."""


@once_per_game
def early_ends(game: CompiledGame) -> SideTables | None:
    """A circuit with two goals of each role, 100 and 0 in this order: a legal move of the role wins; it has
    to move, and the other role wins at once after each of its moves.

    The winner gets 100 then and the other role 0. A goal is also false if it would take too many literals.
    None if the game is not suitable (see `kept_circuit`) or a circuit is too large.
    """
    circuit = early_ends_circuit(game)
    return None if circuit is None else side_tables(game, circuit)


def early_ends_circuit(game: CompiledGame) -> Circuit | None:
    """The circuit of `early_ends`, whose goals from FIRST_HOPELESS on are moves that are hopeless."""
    return kept_circuit(game, "early ends", LARGEST, _made_for_roles)


def _made_for_roles(circuit: Circuit, watched: WatchedEnds) -> Circuit | None:
    narrowing = Narrowing(circuit, watched, WHILE_BUILT + circuit.literal_count)
    made = narrowing.early_ends(LARGEST)
    if made is None or made.literal_count > LARGEST:
        return None
    return simplify(made, stages=STAGES, seconds=SIMPLIFY_SECONDS)


def fluents_read(tables: LaneTables) -> NDArray[np.int32]:
    """int32[*]: the fluents that gates or goals of a circuit read."""
    read = np.concatenate([tables.schedule.source, tables.goal_literal >> 1])
    return np.unique(read[(read >= 1) & (read <= tables.fluent_count)] - 1).astype(np.int32)
