"""`ReferenceSearch`: the readable alpha-beta, called like `ggp.search.alphabeta.search.AlphaBeta`.

The root is searched by iterative deepening, with a full window, aspiration or bisection.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ggp.game import RANDOM_ROLE, Game, hides_information
from ggp.search.alphabeta.estimate import SCALE, Estimate
from ggp.search.alphabeta.events import Listener, StoppedError
from ggp.search.alphabeta.reference.negamax import negamax
from ggp.search.alphabeta.reference.node import INFINITE, MAX_PLIES, UNLIMITED, Memory, Node
from ggp.search.alphabeta.reference.position import Position, position_of
from ggp.search.alphabeta.reference.refinements import Refinements
from ggp.search.alphabeta.result import AlphaBetaError, SearchResult
from ggp.search.budget import NO_LIMIT, Budget

Run: TypeAlias = Callable[[int, int], Node]
"""Searches the root with a window (alpha, beta); return the finished root."""


class ReferenceSearch:
    """Search of one game; its memory persists between searches.

    memory    transposition table, killers, history, and counts
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
        listener: Listener | None = None,
    ) -> None:
        """listener: called with an event per step of a node. Raises AlphaBetaError if alpha-beta cannot
        search the game."""
        if len(game.roles) > 2 or RANDOM_ROLE in game.roles:
            raise AlphaBetaError("alpha-beta needs one role, or two without chance")
        if hides_information(game):
            raise AlphaBetaError("alpha-beta needs roles that see everything")
        self.memory = Memory(game, refinements or Refinements(), estimate or Estimate(), listener)
        self.windows = 0
        self._root: Node | None = None

    def search(
        self,
        state: Any,
        budget: Budget = NO_LIMIT,
        *,
        depth: int | None = None,
        guess: float | None = None,
    ) -> SearchResult:
        """The value of a state that is not terminal, and a best move; as `AlphaBeta.search`.

        depth   plies to search at most; None: to the end of the game
        guess   the goal around which the first aspiration window lies; None: that one is full
        Raises AlphaBetaError.
        """
        memory, start = self.memory, time.perf_counter()
        memory.visits = memory.hits = memory.leaves = self.windows = 0
        memory.budget = budget
        position = position_of(memory.game, state)
        result = SearchResult(guess)
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
            result = SearchResult(sign * root.best / SCALE, move, not root.is_open, reached)
            if result.is_proven:
                break
        nodes, seconds = memory.visits - memory.hits, time.perf_counter() - start
        return replace(result, nodes=nodes, leaves=memory.leaves, seconds=seconds)

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
        use, goals = self.memory.refinements, [sign * goal for goal in self.memory.goals]
        lowest, highest = round(SCALE * min(goals)), round(SCALE * max(goals))
        if not use.goal_window:
            lowest, highest = -INFINITE, INFINITE

        def run(alpha: int, beta: int) -> Node:
            return self.run(position, depth, alpha, beta)

        if use.bisection:
            return bisect(run, bisected_scores(goals, has_horizon=depth < UNLIMITED))
        if use.aspiration and previous.goal is not None:
            center = sign * round(previous.goal * SCALE)
            return aspire(run, lowest, highest, center, use.aspiration * SCALE)
        return run(lowest, highest)


def depths(depth: int | None, *, deepens: bool) -> Iterator[int]:
    """Depths to search, one after the other.

    Iterative deepening: each search orders the moves of the next one, and there is a result at any time.
    Source: Slate and Atkin (1977).
    """
    if deepens:
        yield from range(1, min(depth or MAX_PLIES, MAX_PLIES) + 1)
    else:
        yield depth or UNLIMITED


def aspire(run: Run, lowest: int, highest: int, center: int, width: int) -> Node:
    """Search the root with a window of half width `width` around a guess; the score is exact.

    A score up to alpha or from beta on is a bound only: that side opens twice as far below it, then wholly.
    Source: Slate and Atkin (1977).
    """
    low, high = max(lowest, center - width), min(highest, center + width)
    while True:
        root = run(low, high)
        if root.best <= low > lowest:
            low = max(lowest, root.best - 2 * width) if low == center - width else lowest
        elif root.best >= high < highest:
            high = min(highest, root.best + 2 * width) if high == center + width else highest
        else:
            return root


def bisect(run: Run, scores: list[int]) -> Node:
    """Find the root's exact score among `scores` (ascending) by bisection with null windows.

    Each search shows on which side of a score the value lies; the table keeps what it has shown. Source:
    Coplan's C* (1982); Plaat, Schaeffer, Pijls and de Bruin (1996) for the driver MTD with a table.
    """
    low, high = 0, len(scores) - 1
    choice, is_open = None, False
    while True:
        middle = (low + high + 1) // 2
        root = run(scores[middle] - 1, scores[middle])
        is_open |= root.is_open
        if root.best >= scores[middle]:
            low, choice = middle, root.best_choice
        else:
            high = max(low, middle - 1)
            choice = choice or (root.best_choice if low == high else None)
        if low == high:
            root.decide(scores[low], choice, is_open=is_open)
            return root


def bisected_scores(goals: Sequence[float], *, has_horizon: bool) -> list[int]:
    """The scores that a search can find: those of the goals; with a horizon every whole goal between them."""
    scores = sorted(round(SCALE * goal) for goal in goals)
    return sorted({*scores, *range(scores[0], scores[-1] + 1, SCALE)}) if has_horizon else scores


def unfinished(root: Node, previous: SearchResult, *, depth: int | None, sign: int) -> SearchResult:
    """The result of a stopped iteration, if it has searched the previous best move; else the previous one.
    Its goal is a lower bound of the best move's. Scores up to alpha are upper bounds and show nothing."""
    done = [each.choice.move for each in root.children[: max(0, root.tried - 1)] if each.choice is not None]
    is_known = previous.move is None or previous.move in done
    if root.best_choice is None or not is_known or root.best <= root.floor:
        return previous
    goal = sign * root.best / SCALE
    return SearchResult(goal, root.best_choice.move, False, depth, is_whole=False)
