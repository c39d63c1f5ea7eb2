"""Stopping when enough is known.

What is tested are whole repetitions, every assignment of roles together, and only those before the first
one that is not finished: short matches end first, and to count them first would favor whoever wins fast.

The sequential probability ratio test (Wald, 1945) decides between two differences in strength. Its
log-likelihood ratio is the normal approximation of the generalized test for results that may be draws
and come in groups (Van den Bergh, "A practical introduction to the GSPRT").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ggp.tournament.intervals import wilson
from ggp.tournament.plan import Until

MIN_REPETITIONS = 8
"""Repetitions without which nothing is decided: the normal approximation needs some."""


@dataclass(frozen=True)
class Decision:
    """What the matches of a cell say so far.

    is_final   no more matches are needed
    verdict    in words, for people; empty while it is open
    llr        log-likelihood ratio of the test; 0 for other rules
    """

    is_final: bool
    verdict: str = ""
    llr: float = 0.0


def decide(until: Until, repetition_scores: Sequence[float], seats: int) -> Decision:
    """Whether a cell is decided.

    repetition_scores   mean score 0..1 of the first agent in each whole repetition
    seats               matches in one repetition
    """
    count = len(repetition_scores)
    if count < MIN_REPETITIONS:
        return Decision(False)
    if until.rule == "width":
        low, high = wilson(sum(repetition_scores) * seats, count * seats)
        is_narrow = high - low <= until.width
        return Decision(is_narrow, f"interval {high - low:.3f} wide" if is_narrow else "")
    llr = log_likelihood_ratio(repetition_scores, expected_score(until.elo0), expected_score(until.elo1))
    lower = math.log(until.beta / (1 - until.alpha))
    upper = math.log((1 - until.beta) / until.alpha)
    if llr >= upper:
        return Decision(True, f"at least {until.elo1:g} Elo better", llr)
    if llr <= lower:
        return Decision(True, f"at most {until.elo0:g} Elo better", llr)
    return Decision(False, "", llr)


def expected_score(elo: float) -> float:
    """What somebody `elo` points stronger scores, 0..1."""
    return float(1 / (1 + 10 ** (-elo / 400)))


def log_likelihood_ratio(scores: Sequence[float], score0: float, score1: float) -> float:
    """How much more likely `scores` are if their mean is `score1` than if it is `score0`, as a logarithm.

    One win and one loss are added, so that a run of equal scores has a variance.
    """
    padded = [*scores, 0.0, 1.0]
    count = len(padded)
    mean = sum(padded) / count
    variance = sum((score - mean) ** 2 for score in padded) / count
    return count * (score1 - score0) * (2 * mean - score0 - score1) / (2 * variance)
