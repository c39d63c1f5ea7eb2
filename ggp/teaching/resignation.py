"""Resigning matches of self-play that are lost, audited.

A match is resigned when the last two searches of both players all say that a role gets less than a threshold.
A tenth of the matches is played to its end all the same: the threshold is the highest at which at most 5 % of
those that would have been resigned were not lost in the end (Silver et al. 2017, Mastering the game of Go
without human knowledge, Methods).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE

BoolArray = NDArray[np.bool_]
Float64Array = NDArray[np.float64]
Int32Array = NDArray[np.int32]

AUDITED_SHARE = 0.1
MOST_FALSE = 0.05
THRESHOLDS = (20.0, 15.0, 10.0, 7.5, 5.0, 3.0, 2.0, 1.0)
"""That are tried, in goals."""
LEAST_RESIGNED = 30
"""Matches that would have been resigned, below which a threshold is not trusted."""
KEPT_CASES = 2000
SEARCHES = 2
"""Of each player that have to agree."""


def can_resign(game: CompiledGame) -> bool:
    """Whether a lost match is worth 0 to one of two players and 100 to the other, so far as the goals say.

    >>> import ggp
    >>> [can_resign(ggp.load(name)) for name in ("tictactoe", "dotsandboxes", "connectfour_3p", "lightsout")]
    [True, True, False, False]
    """
    goals = set(game.lane_tables.goal_value.tolist())
    return len(game.roles) == 2 and RANDOM_ROLE not in game.roles and {0, 100} <= goals <= {0, 50, 100}


@dataclass(frozen=True)
class Cases:
    """Matches that were played to their ends; one row for each role of each.

    level    float64[N]: the highest threshold at which it would not have resigned
    is_lost  bool[N]: it got 0, and the other 100
    """

    level: Float64Array = field(default_factory=lambda: np.zeros(0))
    is_lost: BoolArray = field(default_factory=lambda: np.zeros(0, np.bool_))

    def __add__(self, other: Cases) -> Cases:
        """Both, of which the newest are kept."""
        level = np.concatenate([self.level, other.level])[-2 * KEPT_CASES :]
        return Cases(level, np.concatenate([self.is_lost, other.is_lost])[-2 * KEPT_CASES :])

    def resigned(self, threshold: float) -> int:
        """How many would have resigned."""
        return int((self.level < threshold).sum())

    def false_share(self, threshold: float) -> float:
        """Of those, the share that did not lose; 0 where nobody resigns."""
        would = self.level < threshold
        return float((~self.is_lost[would]).mean()) if would.any() else 0.0

    def threshold(self) -> float:
        """The highest that is safe; 0: none.

        >>> cases = Cases(np.array([4.0] * 40 + [9.0] * 40), np.array([True] * 40 + [True, False] * 20))
        >>> cases.threshold(), cases.false_share(5.0), cases.false_share(10.0)
        (7.5, 0.0, 0.25)
        """
        for each in THRESHOLDS:
            if self.resigned(each) >= LEAST_RESIGNED and self.false_share(each) <= MOST_FALSE:
                return each
        return 0.0


class ResignationWatch:
    """Watches N matches of two roles; `level` is what `Cases` says, float64[N, 2]."""

    def __init__(self, matches: int, threshold: float, rng: np.random.Generator) -> None:
        """Audit a tenth of the matches, or all if nobody resigns."""
        self.threshold = threshold
        self.is_audited = rng.random(matches) < AUDITED_SHARE if threshold else np.ones(matches, np.bool_)
        self._values = np.full((matches, 2, SEARCHES, 2), np.inf)
        self.level = np.full((matches, 2), np.inf)

    def note(self, matches: NDArray[np.int64], searcher: int, values: Float64Array) -> None:
        """What searches of role `searcher` say both roles get, float64[B, 2]; NaN: nothing."""
        found = self._values[matches, searcher]
        found[:, :-1] = found[:, 1:]
        found[:, -1] = np.where(np.isnan(values), np.inf, values)
        self._values[matches, searcher] = found
        highest = self._values[matches].max(axis=(1, 2))
        self.level[matches] = np.minimum(self.level[matches], highest)

    def resigning(self) -> Int32Array:
        """int32[N]: the role that resigns now, or -1."""
        is_low = (self.level < self.threshold) & ~self.is_audited[:, None]
        return np.where(is_low.any(axis=1), is_low.argmax(axis=1), -1).astype(np.int32)

    def cases(self, is_finished: BoolArray, goals: Int32Array) -> Cases:
        """Of the audited matches that came to an end, with goals int32[N, 2]."""
        ended = is_finished & self.is_audited
        is_lost = (goals == 0) & (goals[:, ::-1] == 100)
        return Cases(self.level[ended].ravel(), is_lost[ended].ravel())
