"""Immediate wins on circuits of their own, for searches that do not narrow legality.

    immediate_wins    whether the role to move wins at once: for the children of alpha-beta
    early_ends        the same, and whether the other role wins after each of its moves: for proof numbers

They are made of the gates of decisive moves, without asking of every move whether it lets the other role
win: alpha-beta asks that of the children, which are states of their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.circuit import FALSE_LITERAL, Circuit
from ggp.circuit.packed_gates import as_tuples
from ggp.circuit.simplify.plan import simplify
from ggp.engines.compiled import CompiledGame, once_per_game
from ggp.engines.side_tables import SideTables, side_tables
from ggp.lanes.layout import LaneTables
from ggp.search.decisive.decisive_moves import Narrowing
from ggp.search.decisive.kept_circuits import (
    SIMPLIFY_SECONDS,
    STAGES,
    WINNING_GOAL,
    WatchedEnds,
    kept_circuit,
    with_wins,
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


@once_per_game
def immediate_wins(game: CompiledGame) -> tuple[SideTables, SideTables] | None:
    """Two parts of the circuit of `early_ends`: the goal of role r in circuit r means that a legal move of r
    wins, that of the other role is false.

    In most states only one role can move, so that the other circuit need not be settled.
    """
    circuit = early_ends_circuit(game)
    return None if circuit is None else (_of_role(game, circuit, 0), _of_role(game, circuit, 1))


def early_ends_circuit(game: CompiledGame) -> Circuit | None:
    """The circuit of `early_ends`, whose goals from FIRST_HOPELESS on are moves that are hopeless."""
    return kept_circuit(game, "early ends", LARGEST, _made_for_roles)


def _made_for_roles(circuit: Circuit, watched: WatchedEnds) -> Circuit | None:
    narrowing = Narrowing(circuit, watched, WHILE_BUILT + circuit.literal_count)
    made = narrowing.early_ends(LARGEST)
    if made is None or made.literal_count > LARGEST:
        return None
    return simplify(made, stages=STAGES, seconds=SIMPLIFY_SECONDS)


def _of_role(game: CompiledGame, circuit: Circuit, role: int) -> SideTables:
    """The part of the circuit that shows whether `role` wins at once."""
    wins = [FALSE_LITERAL, FALSE_LITERAL]
    wins[role] = next(g.literal for g in circuit.goals if (g.role, g.value) == (role, WINNING_GOAL))
    return side_tables(game, with_wins(circuit, as_tuples(circuit.gates), wins))


def fluents_read(tables: LaneTables) -> NDArray[np.int32]:
    """int32[*]: the fluents that gates or goals of a circuit read."""
    read = np.concatenate([tables.schedule.source, tables.goal_literal >> 1])
    return np.unique(read[(read >= 1) & (read <= tables.fluent_count)] - 1).astype(np.int32)
