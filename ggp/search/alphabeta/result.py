"""SearchResult: the outcome of an alpha-beta search, and AlphaBetaError."""

from __future__ import annotations

from dataclasses import dataclass

from ggp.game import Move


class AlphaBetaError(Exception):
    """The game is not one that alpha-beta can search."""


@dataclass(frozen=True)
class SearchResult:
    """The outcome of a search.

    goal        of the first role: its value if `is_proven`, else an estimate; None if nothing was completed
    move        the best move of the role that chooses; None if nothing was completed or no role has a choice
    depth       plies searched; None without a limit
    nodes       positions expanded; leaves: positions evaluated, see `AlphaBeta.leaves`
    is_whole    whether the last iteration was completed. If not, some moves were searched to that depth, the
                best move of the previous iteration among them; `goal` is a lower bound of the best of them
    """

    goal: float | None = None
    move: Move | None = None
    is_proven: bool = False
    depth: int | None = None
    nodes: int = 0
    leaves: int = 0
    seconds: float = 0.0
    is_whole: bool = True
