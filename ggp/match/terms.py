"""MatchTerms: clocks, seed, limits and substitutes of one match."""

from __future__ import annotations

import random
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from ggp.integers import check_integers

STEP_LIMIT = 10_000
"""Steps after which the referee aborts a match that does not end."""

GRACE_SECONDS = 1.0
"""Time beyond the clock before an answer is late, as in ggp-base."""

OnError = Literal["first", "random"]


@dataclass(frozen=True)
class MatchTerms:
    """Clocks, seed and limits of a match.

    on_error         what replaces a missing or illegal move: a random legal one (ggp-base) or the first
                     (Dresden)
    match_id         empty: made from the game's name and the time
    grace_seconds    time beyond the clock before a move is late, the same for players in this process,
                     in others and over HTTP; people are never late
    all_must_start   whether a fault at START ends the match: players are notified, NotStartedError is raised

    >>> MatchTerms(start_clock_seconds=5, play_clock_seconds=1, seed=7).on_error
    'random'
    """

    start_clock_seconds: float = 30.0
    play_clock_seconds: float = 10.0
    seed: int = 0
    _: KW_ONLY
    on_error: OnError = "random"
    match_id: str = ""
    step_limit: int = STEP_LIMIT
    grace_seconds: float = GRACE_SECONDS
    all_must_start: bool = False

    def __post_init__(self) -> None:
        """Raises TypeError and ValueError for numbers that are not integers or too small."""
        check_integers(self, seed=None, step_limit=0)


def derived_seed(seed: int, purpose: str) -> int:
    """A seed for one seat or purpose of a match, the same in every run and on every machine."""
    return random.Random(f"{seed}/{purpose}").getrandbits(62)
