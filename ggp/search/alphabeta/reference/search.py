"""`ReferenceSearch`: the readable alpha-beta, called like `ggp.search.alphabeta.search.AlphaBeta`."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from ggp.game import RANDOM_ROLE, Game, hides_information
from ggp.search.alphabeta.estimate import SCALE, Estimate
from ggp.search.alphabeta.reference.events import Listener
from ggp.search.alphabeta.reference.knowledge import Knowledge, knowledge_of
from ggp.search.alphabeta.reference.negamax import negamax
from ggp.search.alphabeta.reference.node import UNLIMITED, Memory, Node, StoppedError
from ggp.search.alphabeta.reference.position import Position, position_of
from ggp.search.alphabeta.reference.refinements import Refinements
from ggp.search.alphabeta.reference.windows import aspire, bisect, bisected_scores, depths, unfinished
from ggp.search.alphabeta.result import AlphaBetaError, SearchResult
from ggp.search.budget import NO_LIMIT, Budget


class ReferenceSearch:
    """Search of one game; its memory persists between searches.

    memory    transposition table, killers, history, and the count of nodes
    windows   searched from the root in the latest search

    >>> import ggp
    >>> search = ReferenceSearch(ggp.load("nim", engine="reasoner"))
    >>> result = search.search(search.memory.game.initial_state())
    >>> result.goal, result.is_proven
    (0.0, True)
    """

    def __init__(
        self,
        game: Game[Any],
        refinements: Refinements | None = None,
        estimate: Estimate | None = None,
        *,
        knowledge: Knowledge | None = None,
        listener: Listener | None = None,
    ) -> None:
        """Set up a search.

        knowledge   None: what the game's circuit proves, if it has one
        listener    called with an event per step of a node
        Raises AlphaBetaError if the game is not one that alpha-beta can search.
        """
        if len(game.roles) > 2 or RANDOM_ROLE in game.roles:
            raise AlphaBetaError("alpha-beta needs one role, or two without chance")
        if hides_information(game):
            raise AlphaBetaError("alpha-beta needs roles that see everything")
        use = refinements or Refinements()
        known = knowledge_of(game, symmetries=use.symmetries) if knowledge is None else knowledge
        self.memory = Memory(game, use, estimate or Estimate(), known, listener)
        self.windows = 0
        self._root: Node | None = None

    def search(self, state: Any, budget: Budget = NO_LIMIT, *, depth: int | None = None) -> SearchResult:
        """The value of a state that is not terminal, and a best move; as `AlphaBeta.search`.

        depth   plies to search at most; None: to the end of the game
        Raises AlphaBetaError.
        """
        memory, start = self.memory, time.perf_counter()
        memory.nodes, self.windows = 0, 0
        memory.budget = budget
        position = position_of(memory.game, state)
        result = SearchResult(None, None, False, None, 0, 0.0)
        for limit in depths(depth, deepens=memory.refinements.iterative_deepening):
            reached = None if limit >= UNLIMITED else limit
            sign = 1 if position.mover == 0 else -1
            try:
                root = self._iterate(position, limit, result, sign)
            except StoppedError:
                assert self._root is not None
                if not memory.refinements.bisection:
                    result = unfinished(self._root, result, depth=reached, sign=sign)
                break
            move = None if root.best_choice is None else root.best_choice.move
            result = SearchResult(sign * root.best / SCALE, move, not root.is_open, reached, 0, 0.0)
            if result.is_proven:
                break
        return replace(result, nodes=memory.nodes, seconds=time.perf_counter() - start)

    def forget(self) -> None:
        """Empty the table and all statistics."""
        for each in (self.memory.table, self.memory.killers, self.memory.history):
            each.clear()

    def run(self, position: Position, depth: int, alpha: int, beta: int) -> Node:
        """The finished root of one search with a window. Raises StoppedError."""
        self.windows += 1
        self.memory.root_depth = depth
        self._root = Node(position, 0, depth, alpha, beta)
        negamax(self.memory, self._root)
        return self._root

    def _iterate(self, position: Position, depth: int, previous: SearchResult, sign: int) -> Node:
        """The root searched to one depth, by the window that the refinements ask for."""
        use, goals = self.memory.refinements, [sign * goal for goal in self.memory.knowledge.goals]
        lowest, highest = SCALE * min(goals), SCALE * max(goals)

        def run(alpha: int, beta: int) -> Node:
            return self.run(position, depth, alpha, beta)

        if use.bisection:
            return bisect(run, bisected_scores(goals, has_horizon=depth < UNLIMITED))
        if use.aspiration and previous.goal is not None:
            center = sign * round(previous.goal * SCALE)
            return aspire(run, lowest, highest, center, use.aspiration * SCALE)
        return run(lowest, highest)
