"""SearchResult: what an alpha-beta search says."""

from __future__ import annotations

from dataclasses import dataclass

from ggp.game import Move


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    goal        of the first role: its value where `is_proven`, else an estimate; None if nothing was finished
    move        the best move of the role that chooses; None where nothing was completed or no role chooses
    depth       plies searched; None where without limit
    nodes       positions expanded
    is_whole    whether the last iteration was finished. If not, some moves were searched that deep, the best
                move of the iteration before among them; `goal` is the least that the best of them is worth
    """

    goal: float | None
    move: Move | None
    is_proven: bool
    depth: int | None
    nodes: int
    seconds: float
    is_whole: bool = True
