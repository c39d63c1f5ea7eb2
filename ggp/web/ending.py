"""Why a match ended as it did: the facts that decide, and a sentence about them."""

from __future__ import annotations

from collections.abc import Sequence

from gdl.terms import Term
from ggp.analysis.board_style import owner_of
from ggp.analysis.figures import words_of
from ggp.analysis.goal_support import deciding_facts, goal_conditions
from ggp.analysis.picture import Picture
from ggp.game import RANDOM_ROLE, GameError, Role
from ggp.web.match_history import MatchHistory


def deciding(history: MatchHistory, picture: Picture) -> frozenset[Term]:
    """The facts that decide a match that is over, none if a role has no move left; looked for once."""
    last = history.steps[-1]
    if last.decided_by is None and _stuck_loser(history, picture) is not None:
        last.decided_by = frozenset()
    if last.decided_by is None:
        before = (history.facts(step) for step in reversed(range(len(history.steps))))
        last.decided_by = deciding_facts(history.game.program, history.facts(), _goals(history), before)
    return last.decided_by


def explanation(history: MatchHistory, picture: Picture, you: Role | None = None) -> str:
    """Why a match that is over ended so, in a sentence; "" if there is nothing to say.

    you   the only person, who is called so
    """
    if not history.steps or not history.is_over:
        return ""
    if (loser := _stuck_loser(history, picture)) is not None:
        name = str(loser)
        return "You have no move left." if loser == you else f"{name[:1].upper()}{name[1:]} has no move left."
    support, now, board = deciding(history, picture), history.facts(), picture.board
    words = [
        words_of(fact)
        for fact in sorted(support.intersection(now), key=str)
        if not picture.is_turn(fact) and (board is None or not board.shows(fact))
    ]
    if words:
        return f"Decided by: {' · '.join(words)}"
    return "What decides is marked on the board." if picture.few_cells(support, now) else ""


def _goals(history: MatchHistory) -> dict[Role, int | None]:
    return dict(zip(history.game.roles, history.goals() or (), strict=False))


def _stuck_loser(history: MatchHistory, picture: Picture) -> Role | None:
    """The role that loses as it has no move left, because the rules deny something."""
    goals = {role: goal for role, goal in _goals(history).items() if role != RANDOM_ROLE}
    if len(goals) != 2 or None in goals.values() or len(set(goals.values())) == 1:
        return None
    loser, winner = sorted(goals, key=lambda role: goals[role] or 0)
    now, before = (_pieces(picture, history.facts(step), loser) for step in (None, len(history.steps) - 1))
    if now == 0 < before or not _can_move(history, winner) or _can_move(history, loser):
        return None
    conditions = goal_conditions(history.game.program, history.facts(), winner, goals[winner] or 0)
    return None if all(conditions.values()) else loser


def _pieces(picture: Picture, facts: Sequence[Term], role: Role) -> int:
    """The number of pieces of a role on the board."""
    if picture.board is None:
        return 0
    roles = frozenset(picture.board.style.roles)
    stacks = picture.board.contents(facts).values()
    return sum(owner_of(stack[0][-1], roles) == str(role) for stack in stacks)


def _can_move(history: MatchHistory, role: Role) -> bool:
    """Whether a role has a legal move in the last state; rules need not give it one."""
    try:
        return bool(history.legal(role))
    except GameError:
        return False
