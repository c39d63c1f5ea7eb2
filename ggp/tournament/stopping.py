"""Stopping rules: end the matches of a cell as soon as its result is known.

Only whole repetitions are tested, all assignments of roles together, and only those before the first
unfinished one: short matches end first, so that counting them would favor the agent that wins quickly.

The sequential probability ratio test (Wald, 1945) decides between two differences in strength. Its
log-likelihood ratio is the normal approximation of the generalized test for results that may be draws
and come in groups (Van den Bergh, "A practical introduction to the GSPRT").
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ggp.confidence_intervals import wilson_interval
from ggp.tournament.plan import Until
from ggp.tournament.results import pair_scores
from ggp.tournament.schedule import Cell, CellKey, Schedule, cell_key
from ggp.tournament.store import StoredMatch

MIN_REPETITIONS = 8
"""Minimum number of repetitions for a decision, for the sake of the normal approximation."""


@dataclass(frozen=True)
class Decision:
    """The state of the test of a cell.

    is_final   no more matches are needed
    verdict    the decision in words; empty until it is final
    llr        log-likelihood ratio of the SPRT; 0 for other rules
    """

    is_final: bool
    verdict: str = ""
    llr: float = 0.0


class Stopping:
    """Tracks which cells need no more matches."""

    def __init__(self, schedule: Schedule) -> None:
        self.until = schedule.plan.until
        self.cells = {cell.key: cell for cell in schedule.cells}
        self.decisions: dict[CellKey, Decision] = {}
        self._scores: dict[CellKey, dict[int, list[float | None]]] = {key: {} for key in self.cells}
        self._means: dict[CellKey, list[float | None]] = {key: [] for key in self.cells}
        self._played: Counter[CellKey] = Counter()

    def add(self, match: StoredMatch) -> None:
        """Count a match, and test its cell again unless it is decided. Aborted matches leave gaps."""
        key = cell_key(match.condition, match.game, match.cell_agents)
        cell = self.cells.get(key)
        if cell is None:
            return
        self._played[key] += 1
        if self.until is None or len(cell.agents) != 2 or self.is_decided(cell):
            return
        score = dict(pair_scores(match)).get((cell.agents[0], cell.agents[1])) if match.is_completed else None
        self._scores[key].setdefault(match.repetition, []).append(score)
        self._test_whole_repetitions(cell, self.until)

    def is_decided(self, cell: Cell) -> bool:
        decision = self.decisions.get(cell.key)
        return decision is not None and decision.is_final

    def played(self) -> int:
        return self._played.total()

    def saved(self) -> int:
        """Number of scheduled matches that are no longer needed."""
        return sum(
            max(0, self.cells[key].match_count - self._played[key])
            for key, decision in self.decisions.items()
            if decision.is_final
        )

    def _test_whole_repetitions(self, cell: Cell, until: Until) -> None:
        """Test after each repetition before the first unfinished one, until one decides.

        One by one: a test only of the latest state (after several workers finished, or when matches come back
        from a store in another order) would miss decisions. This way the decision depends only on the set of
        matches.
        """
        scores, means = self._scores[cell.key], self._means[cell.key]
        while len(means) < cell.condition.repetitions and not self.is_decided(cell):
            found = scores.get(len(means), [])
            if len(found) < len(cell.seatings):
                break
            known = [score for score in found if score is not None]
            means.append(math.fsum(known) / len(known) if len(known) == len(found) else None)
            without_gaps = [mean for mean in means if mean is not None]
            self.decisions[cell.key] = decide(until, without_gaps, len(cell.seatings))


def decide(until: Until, repetition_scores: Sequence[float], seats: int) -> Decision:
    """Apply the stopping rule to the whole repetitions of a cell.

    repetition_scores   mean score 0..1 of the first agent in each repetition
    seats               matches per repetition

    >>> decide(Until("sprt", elo1=100), [1.0] * 20, seats=2).verdict
    'at least 100 Elo better'
    """
    count = len(repetition_scores)
    if count < MIN_REPETITIONS:
        return Decision(False)
    if until.rule == "width":
        low, high = wilson_interval(sum(repetition_scores) * seats, count * seats)
        is_narrow = high - low <= until.width
        return Decision(is_narrow, f"interval {high - low:.3f} wide" if is_narrow else "")
    llr = log_likelihood_ratio(repetition_scores, expected_score(until.elo0), expected_score(until.elo1))
    if llr >= math.log((1 - until.beta) / until.alpha):
        return Decision(True, f"at least {until.elo1:g} Elo better", llr)
    if llr <= math.log(until.beta / (1 - until.alpha)):
        return Decision(True, f"at most {until.elo0:g} Elo better", llr)
    return Decision(False, "", llr)


def expected_score(elo: float) -> float:
    """Expected score 0..1 of an agent that is `elo` points stronger.

    >>> round(expected_score(100), 2)
    0.64
    """
    return float(1 / (1 + 10 ** (-elo / 400)))


def log_likelihood_ratio(scores: Sequence[float], score0: float, score1: float) -> float:
    """Log-likelihood ratio of the hypotheses that the mean score is `score1` and `score0`.

    One win and one loss are added, so that equal scores have a variance.
    """
    padded = [*scores, 0.0, 1.0]
    count = len(padded)
    mean = sum(padded) / count
    variance = sum((score - mean) ** 2 for score in padded) / count
    return count * (score1 - score0) * (2 * mean - score0 - score1) / (2 * variance)
