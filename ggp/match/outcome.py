"""The outcome of a match in words."""

from __future__ import annotations

from collections.abc import Sequence

from ggp.game import RANDOM_ROLE


def outcome_text(roles: Sequence[str], goals: Sequence[int | None] | None) -> str:
    """Who won, from the goals in role order; chance never wins.

    >>> outcome_text(("white", "black"), (0, 100)), outcome_text(("x", "o"), (50, 50))
    ('black wins', 'draw')
    >>> outcome_text(("a", "b", "random"), (60, 40, 0)), outcome_text(("player",), (75,))
    ('a wins, 60 to 40', 'player scores 75 of 100')
    >>> outcome_text(("a", "b", "c"), (50, 50, 0)), outcome_text(("a", "b"), None)
    ('a and b share the win, 50 to 50 to 0', 'no result')
    """
    if goals is None:
        return "no result"
    found = {role: goal for role, goal in zip(roles, goals, strict=True) if role != str(RANDOM_ROLE)}
    known = {role: goal for role, goal in found.items() if goal is not None}
    if not known or len(known) < len(found):
        return "no result"
    best = max(known.values())
    first = [role for role, goal in known.items() if goal == best]
    if len(known) == 1:
        return f"{first[0]} scores {best} of 100"
    if len(first) == len(known):
        return "draw" if best == 50 else f"draw, {best} each"
    score = "" if sorted(known.values()) == [0] * (len(known) - 1) + [100] else ", "
    score += " to ".join(map(str, known.values())) if score else ""
    if len(first) == 1:
        return f"{first[0]} wins{score}"
    return f"{', '.join(first[:-1])} and {first[-1]} share the win{score}"
