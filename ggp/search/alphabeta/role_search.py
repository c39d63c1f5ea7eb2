"""RoleSearch: alpha-beta for one role, with the protocol of all searches."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeAlias

from ggp.game import Move, Role
from ggp.search.alphabeta.reference.search import ReferenceSearch
from ggp.search.alphabeta.result import SearchResult
from ggp.search.alphabeta.search import AlphaBeta
from ggp.search.budget import Budget
from ggp.search.report import MoveReport, SearchReport

AnyAlphaBeta: TypeAlias = AlphaBeta | ReferenceSearch


class RoleSearch:
    """Alpha-beta on the state of `move_to`; see `ggp.search.protocol.Search`.

    >>> import ggp
    >>> game = ggp.load("tictactoe")
    >>> search = RoleSearch(AlphaBeta(game, mebibytes=1), game.roles[0])
    >>> search.move_to(game.initial_state(), None)
    >>> search.run(Budget(nodes=100)) <= 101
    True
    >>> search.best_move() == search.report().moves[0].move
    True
    """

    def __init__(self, search: AnyAlphaBeta, role: Role, *, depth: int | None = None) -> None:
        """`search` keeps its table from state to state. depth: plies at most."""
        self.alphabeta = search
        game = search.game if isinstance(search, AlphaBeta) else search.memory.game
        self._is_first = role == game.roles[0]
        self._depth = depth
        self._state: Any = game.initial_state()
        self._result = SearchResult()
        self.simulation_count = 0

    def move_to(self, state: Hashable, joint_move: tuple[Move, ...] | None) -> None:
        """Search `state`, which is not terminal, from now on."""
        self._state, self._result = state, SearchResult()

    def run(self, budget: Budget) -> int:
        """Search within the budget; return the positions expanded. Raises AlphaBetaError.

        What may be stopped is pondering: to any depth, since the table keeps what is found. The readable
        search has none to keep.
        """
        is_pondering = budget.is_stopped is not None
        if is_pondering and not isinstance(self.alphabeta, AlphaBeta):
            return 0
        depth = None if is_pondering else self._depth
        self._result = self.alphabeta.search(self._state, budget, depth=depth)
        self.simulation_count += self._result.nodes
        return self._result.nodes

    def best_move(self) -> Move | None:
        """The best move; None before any search."""
        return self._result.move

    @property
    def _goal_sum(self) -> int:
        """The sum of both roles' goals at the ends met so far; as long as there are none, what is usual."""
        search = self.alphabeta
        found = search.goal_sum if isinstance(search, AlphaBeta) else search.memory.goal_sum
        return 100 if found is None or found < 0 else found

    def report(self) -> SearchReport:
        """The best move, with the value for the role as its mean. The mean depth is that of the last finished
        iteration, the deepest that of the one that gave the move."""
        result = self._result
        goal = result.goal
        if goal is not None and not self._is_first:
            goal = self._goal_sum - goal
        proven = round(goal) if goal is not None and result.is_proven else None
        moves = () if result.move is None or goal is None else (MoveReport(result.move, 1, goal, proven),)
        depth = result.depth or 0
        return SearchReport(
            seconds=result.seconds,
            mean_depth=float(depth if result.is_whole else depth - 1),
            deepest=depth,
            nodes=result.nodes,
            leaves=result.leaves,
            moves=moves,
            goal=proven,
            mode="alphabeta" if isinstance(self.alphabeta, AlphaBeta) else "reference",
        )
