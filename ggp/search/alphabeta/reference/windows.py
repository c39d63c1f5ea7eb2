"""Searches from the root: full window, aspiration, bisection, and iterative deepening."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from ggp.search.alphabeta.estimate import SCALE
from ggp.search.alphabeta.reference.node import MAX_PLIES, UNLIMITED, Node
from ggp.search.alphabeta.result import SearchResult

Run: TypeAlias = Callable[[int, int], Node]
"""Searches the root with a window (alpha, beta); return the finished root."""


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


def bisected_scores(goals: list[int], *, has_horizon: bool) -> list[int]:
    """The scores that a search can find: those of the goals; with a horizon every whole goal between them."""
    scores = sorted(SCALE * goal for goal in goals)
    return sorted({*scores, *range(scores[0], scores[-1] + 1, SCALE)}) if has_horizon else scores


def unfinished(root: Node, previous: SearchResult, *, depth: int | None, sign: int) -> SearchResult:
    """The result of a stopped iteration, if it has searched the previous best move; else the previous one.
    Its goal is a lower bound of the best move's. Scores up to alpha are upper bounds and show nothing."""
    done = [each.choice.move for each in root.children[: max(0, root.tried - 1)] if each.choice is not None]
    is_known = previous.move is None or previous.move in done
    if root.best_choice is None or not is_known or root.best <= root.floor:
        return previous
    goal = sign * root.best / SCALE
    return SearchResult(goal, root.best_choice.move, False, depth, 0, 0.0, is_whole=False)
