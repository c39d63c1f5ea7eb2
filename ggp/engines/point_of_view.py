"""point_of_view: how the second of two roles sees a game as the first one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.grounding import ground
from gdl.terms import Term
from ggp.circuit.automorphisms import MAX_INPUTS, Permutation, role_swap
from ggp.circuit.construction import build
from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE


@dataclass(frozen=True)
class PointOfView:
    """How the second of two roles sees a game as the first one, where the rules are proven the same for both.

    A renaming of facts and moves under which the two roles change places (`ggp.circuit.automorphisms`) shows
    the second role every state as if it were the first: its own pieces where the first role has its own, its
    own moves by the first role's numbers. A network then learns one side of the game and plays both.

    fluent   int64[F]: what it sees as fluent f is fluent[f] of the state
    move     int64[M]: what it plays as move m of the first role is its own move[m]
    """

    fluent: NDArray[np.int64]
    move: NDArray[np.int64]


def find_point_of_view(game: CompiledGame) -> PointOfView | None:
    """How the second of two roles sees a game as the first one; None if that is not proven.

    None also for games with `sees` rules, and for those whose circuit is too large to look.

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="lanes")
    >>> view = find_point_of_view(game)
    >>> fluents = [str(fluent) for fluent in game.terms.fluents]
    >>> fluents[view.fluent[fluents.index("(control x)")]]
    '(control o)'
    """
    if len(game.roles) != 2 or RANDOM_ROLE in game.roles or len(game.tables.input) > MAX_INPUTS:
        return None
    circuit = build(ground(game.program))
    swap = role_swap(circuit)
    if swap is None:
        return None
    moves = [move for of_role in circuit.terms.moves for move in of_role]
    seen: Permutation = np.argsort(swap)
    fluent_of = {f: circuit.terms.fluents[seen[1 + i] - 1] for i, f in enumerate(circuit.terms.fluents)}
    first = range(circuit.first_move[1])
    move_of = {moves[m]: moves[seen[circuit.move0 + m] - circuit.move0] for m in first}
    fluents = [fluent_of[f] for f in game.terms.fluents]
    own = [move_of[m] for m in game.moves[0]]
    if set(fluents) != set(game.terms.fluents) or set(own) != set(game.moves[1]):
        return None  # simplification left out a fact of one role, but not that of the other
    return PointOfView(_places(fluents, game.terms.fluents), _places(own, game.moves[1]))


def _places(chosen: list[Term], terms: tuple[Term, ...]) -> NDArray[np.int64]:
    place = {term: i for i, term in enumerate(terms)}
    return np.array([place[term] for term in chosen], np.int64)
