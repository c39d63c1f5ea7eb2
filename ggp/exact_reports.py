"""What exact searches found, in the form in which every search reports."""

from __future__ import annotations

from ggp.game import Role
from ggp.players import MatchSetup
from ggp.search.alphabeta import SearchResult
from ggp.search.report import MoveReport, SearchReport
from ggp.solver.stages import Stage


def alphabeta_report(result: SearchResult, setup: MatchSetup, mode: str = "alphabeta") -> SearchReport:
    """What alpha-beta found, as the player's role sees it: the best move, whose mean is the value.

    The mean depth is that of the last iteration finished, the deepest that of the one that gave the move.
    """
    goal = result.goal
    if goal is not None and setup.role != setup.game.roles[0]:
        goal = 100 - goal
    proven = round(goal) if goal is not None and result.is_proven else None
    moves = () if result.move is None or goal is None else (MoveReport(result.move, 1, goal, proven),)
    depth = result.depth or 0
    return SearchReport(
        seconds=result.seconds,
        playouts=0,
        descents=0,
        mean_depth=float(depth if result.is_whole else depth - 1),
        deepest=depth,
        nodes=result.nodes,
        is_full=False,
        moves=moves,
        best_line=(),
        goal=proven,
        mode=mode,
    )


def stage_report(stage: Stage, role: Role) -> SearchReport:
    """What a solved game says of one state: the optimal moves of `role`, and what it gets by them."""
    rated = stage.best_moves.get(role, ())
    goals = [round(each.goal) if float(each.goal).is_integer() else None for each in rated]
    return SearchReport(
        seconds=0.0,
        playouts=0,
        descents=0,
        mean_depth=0.0,
        deepest=0,
        nodes=0,
        is_full=False,
        moves=tuple(
            MoveReport(each.move, 1, each.goal, goal) for each, goal in zip(rated, goals, strict=True)
        ),
        best_line=(),
        goal=goals[0] if goals else None,
        mode="solution",
    )
