"""All best moves of a state whose value is proven, by null-window searches of the other moves."""

from __future__ import annotations

from dataclasses import dataclass

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Move
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError
from ggp.search.budget import NO_LIMIT, Budget


@dataclass(frozen=True)
class BestMoves:
    """The mover's moves: those proven to keep the value, and those undecided when time was up."""

    best: tuple[Move, ...]
    unsettled: tuple[Move, ...]


class BestMovesSearch:
    """Searches the moves of one state; `found` may be read from another thread during `run`."""

    def __init__(self, search: AlphaBeta, state: PackedState, goal: int, known: Move) -> None:
        """`goal` is the first role's proven value of a state that is not terminal, `known` a best move."""
        self._search = search
        self._state = state
        self._goal = goal
        self._known = known
        game = search.game
        self._legal = [game.legal_moves(state, role) for role in game.roles]
        self._mover = next(r for r, moves in enumerate(self._legal) if len(moves) > 1)
        self._is_best: dict[Move, bool | None] = {known: True}
        self._is_interrupted = False

    def run(self, budget: Budget = NO_LIMIT) -> None:
        """Decide all moves, or as many as the budget allows."""
        for move in self._legal[self._mover]:
            if self._is_interrupted or budget.is_over():
                return
            if move not in self._is_best:
                self._is_best[move] = self._keeps_value(move, budget)

    def interrupt(self) -> None:
        """Stop after the current move, which ends when the search itself is interrupted."""
        self._is_interrupted = True

    @property
    def found(self) -> BestMoves:
        verdicts = dict(self._is_best)
        moves = self._legal[self._mover]
        best = [move for move in moves if verdicts.get(move) and move != self._known]
        return BestMoves((self._known, *best), tuple(move for move in moves if verdicts.get(move) is None))

    def _keeps_value(self, move: Move, budget: Budget) -> bool | None:
        game: CompiledGame = self._search.game
        joint = tuple(move if r == self._mover else moves[0] for r, moves in enumerate(self._legal))
        state = game.next_state(self._state, joint)
        side = 1 if self._mover == 0 else -1
        if game.is_terminal(state):
            return side * game.goal(state, game.roles[0]) >= side * self._goal
        try:
            return self._search.is_reached(state, self._goal, side, budget)
        except AlphaBetaError:
            return None
