"""Scores of answers: 0 to 1 for each position."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ggp.assessment.asking import Answer
from ggp.assessment.positions import Choice, Mixture, PlayOut

NOISE_SAMPLES = 2000
NOISE_QUANTILE = 0.95
"""A mixture passes unless it is worse than 95 of 100 samples of an optimal one."""


@dataclass(frozen=True)
class Score:
    """The score of an answer, with the reason in a few words."""

    answer: Answer
    value: float
    remark: str

    @property
    def is_right(self) -> bool:
        return self.value >= 1


def score(answer: Answer) -> Score:
    """Score an answer by the known solution of its position."""
    position = answer.position
    match position:
        case Choice():
            move = answer.moves[0]
            if move in position.good_moves:
                return Score(answer, 1.0, f"{move} is correct")
            right = " or ".join(position.good_moves)
            return Score(answer, 0.0, f"{move or 'no move'} instead of {right}")
        case PlayOut():
            value = min(1.0, (answer.goal or 0) / position.best_goal)
            return Score(answer, value, f"goal {answer.goal} of {position.best_goal}")
        case Mixture():
            return _score_mixture(answer, position)


def _score_mixture(answer: Answer, position: Mixture) -> Score:
    """Score 1 for any plausible sample of optimal play, less if more exploitable."""
    counts = Counter(answer.moves)
    if counts[None]:
        return Score(answer, 0.0, f"{counts[None]} of {len(answer.moves)} moves missing")
    frequencies = [counts[move] / len(answer.moves) for move in position.moves]
    loss = exploitability(position.payoff, frequencies, position.value)
    allowed = chance_loss(position, len(answer.moves))
    worst = max(position.value - min(row) for row in position.payoff)
    value = 1.0 if loss <= allowed else max(0.0, 1 - (loss - allowed) / max(worst - allowed, 1e-9))
    shown = ", ".join(f"{move} {counts[move]}" for move in position.moves)
    return Score(answer, value, f"{shown}; loses {loss:.1f} to the best reply, {allowed:.1f} allowed")


def exploitability(payoff: Sequence[Sequence[float]], mixture: Sequence[float], value: float) -> float:
    """The loss of the row player's mixed strategy against the best reply.

    >>> exploitability([[50, 100, 0], [0, 50, 100], [100, 0, 50]], [1, 0, 0], value=50)
    50
    """
    columns = range(len(payoff[0]))
    replies = [
        sum(share * row[column] for share, row in zip(mixture, payoff, strict=True)) for column in columns
    ]
    return max(0.0, value - min(replies))


def chance_loss(position: Mixture, count: int) -> float:
    """The 95th percentile of the loss of `count` optimally drawn moves."""
    rng = random.Random(position.place.id)
    perfect = best_mixture(position.payoff)
    losses = []
    for _ in range(NOISE_SAMPLES):
        drawn = Counter(rng.choices(range(len(perfect)), weights=perfect, k=count))
        frequencies = [drawn[row] / count for row in range(len(perfect))]
        losses.append(exploitability(position.payoff, frequencies, position.value))
    return sorted(losses)[int(NOISE_QUANTILE * NOISE_SAMPLES)]


def best_mixture(payoff: Sequence[Sequence[float]], rounds: int = 20_000) -> list[float]:
    """An optimal mixed strategy of the row player, by fictitious play (Brown, 1951). Accurate to about 0.01.

    >>> [round(share, 1) for share in best_mixture([[2, 0], [0, 1]])]
    [0.3, 0.7]
    """
    rows, columns = len(payoff), len(payoff[0])
    row_sums, column_sums = [0.0] * rows, [0.0] * columns
    counts = [0] * rows
    for _ in range(rounds):
        row = max(range(rows), key=row_sums.__getitem__)
        counts[row] += 1
        for column in range(columns):
            column_sums[column] += payoff[row][column]
        column = min(range(columns), key=column_sums.__getitem__)
        for other in range(rows):
            row_sums[other] += payoff[other][column]
    return [count / rounds for count in counts]
