"""Notation of a coalition of roles: the numbers of its members, as in `1+3`. Imports no numpy."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ggp.game import RANDOM_ROLE, Role

_COALITION = re.compile(r"[1-9]\d{0,3}(\+[1-9]\d{0,3})*", re.ASCII)


def is_coalition(text: str) -> bool:
    """Whether `text` is written like a coalition, whatever the roles are."""
    return _COALITION.fullmatch(text) is not None


def parse_coalition(text: str, roles: Sequence[Role]) -> frozenset[int]:
    """The indices of the roles that `text` numbers from 1.

    Raises ValueError for anything but numbers of players joined by `+`.

    >>> from gdl.terms import Symbol
    >>> roles = [Symbol("red"), Symbol("blue"), Symbol("green")]
    >>> sorted(parse_coalition("1+3", roles))
    [0, 2]
    >>> parse_coalition("1+4", roles)
    Traceback (most recent call last):
    ValueError: coalition 1+4: expected numbers joined by +, of 1 red, 2 blue, 3 green
    """
    members = frozenset(int(part) - 1 for part in text.split("+")) if is_coalition(text) else None
    players = [r for r, role in enumerate(roles) if role != RANDOM_ROLE]
    if not members or not members <= set(players):
        numbered = ", ".join(f"{r + 1} {roles[r]}" for r in players)
        raise ValueError(f"coalition {text}: expected numbers joined by +, of {numbered}")
    return members
