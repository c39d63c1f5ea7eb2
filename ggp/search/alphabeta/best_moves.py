"""All best moves of a state whose value is proven, by null-window searches of the other moves."""

from __future__ import annotations

from typing import Protocol

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Move
from ggp.search.alphabeta.result import AlphaBetaError
from ggp.search.budget import NO_LIMIT, Budget


class Prover(Protocol):
    """A search that answers what goals a state leads to: alpha-beta, or proof numbers."""

    game: CompiledGame

    def is_reached(self, state: PackedState, goal: int, side: int, budget: Budget = NO_LIMIT) -> bool | None:
        """See `ggp.search.alphabeta.search.AlphaBeta.is_reached`."""
        ...


class BestMovesSearch:
    """The search of the moves of one state, which other threads may read meanwhile.

    best        the mover's moves that provably keep the value
    unsettled   those undecided so far
    """

    def __init__(self, search: Prover, state: PackedState, goal: int, known: Move) -> None:
        """`goal` is the first role's proven value of a state that is not terminal, `known` a best move."""
        self._search, self._state, self._goal = search, state, goal
        self._legal = [search.game.legal_moves(state, role) for role in search.game.roles]
        self._mover = next(r for r, moves in enumerate(self._legal) if len(moves) > 1)
        self.best = [known]
        self.unsettled = [move for move in self._legal[self._mover] if move != known]
        self._is_interrupted = False

    def run(self, budget: Budget = NO_LIMIT) -> None:
        """Decide all moves, or as many as the budget allows."""
        for move in tuple(self.unsettled):
            if self._is_interrupted or budget.is_over():
                return
            keeps = self._keeps_value(move, budget)
            if keeps:
                self.best.append(move)
            if keeps is not None:
                self.unsettled.remove(move)

    def interrupt(self) -> None:
        """Stop after the current move, which ends when the search itself is interrupted."""
        self._is_interrupted = True

    def _keeps_value(self, move: Move, budget: Budget) -> bool | None:
        game = self._search.game
        joint = tuple(move if r == self._mover else moves[0] for r, moves in enumerate(self._legal))
        state = game.next_state(self._state, joint)
        side = 1 if self._mover == 0 else -1
        if game.is_terminal(state):
            return side * game.goal(state, game.roles[0]) >= side * self._goal
        try:
            return self._search.is_reached(state, self._goal, side, budget)
        except AlphaBetaError:
            return None
