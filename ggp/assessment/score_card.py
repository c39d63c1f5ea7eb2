"""Scores of answers, 0 to 1 for each position, and the score card: skills, faults, conformance checks."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ggp.assessment.asking import MIXTURE_ASKS, Answer, Asker, AssessmentTerms, Faults
from ggp.assessment.conformance import Check, ConformanceTest
from ggp.assessment.positions import SKILLS, Choice, Mixture, PlayOut, Position
from ggp.match.player import PlayerSpecError
from ggp.players.factory import require_kind, seat_player
from ggp.solver.matrix_games import solve_zero_sum

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
    loss = exploitability(position, [counts[move] for move in position.moves])
    allowed = chance_loss(position, len(answer.moves))
    worst = max(position.value - min(row) for row in position.payoff)
    value = 1.0 if loss <= allowed else max(0.0, 1 - (loss - allowed) / max(worst - allowed, 1e-9))
    shown = ", ".join(f"{move} {counts[move]}" for move in position.moves)
    return Score(answer, value, f"{shown}; loses {loss:.1f} to the best reply, {allowed:.1f} allowed")


def exploitability(position: Mixture, counts: ArrayLike) -> float:
    """The loss against the best reply of moves that are made in these proportions."""
    shares = np.asarray(counts) / np.sum(counts)
    return max(0.0, position.value - float((shares @ np.array(position.payoff)).min()))


def chance_loss(position: Mixture, count: int) -> float:
    """The 95th percentile of the loss of `count` optimally drawn moves."""
    rng = random.Random(position.place.id)
    perfect = solve_zero_sum([[Fraction(worth) for worth in row] for row in position.payoff]).row
    rows, losses = range(len(perfect)), []
    for _ in range(NOISE_SAMPLES):
        drawn = Counter(rng.choices(rows, weights=[float(share) for share in perfect], k=count))
        losses.append(exploitability(position, [drawn[row] for row in rows]))
    return sorted(losses)[int(NOISE_QUANTILE * NOISE_SAMPLES)]


@dataclass
class ScoreCard:
    """The result of assessing one player."""

    player: str
    terms: AssessmentTerms
    scores: list[Score] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)
    move_count: int = 0
    conformance: list[Check] = field(default_factory=list)

    def of_skill(self, skill: str) -> list[Score]:
        return [each for each in self.scores if each.answer.position.place.skill == skill]

    @property
    def skills(self) -> list[str]:
        return [skill for skill in SKILLS if self.of_skill(skill)]

    @property
    def total(self) -> float:
        """Unweighted mean over the skills, in percent."""
        shares = [skill_percent(self.of_skill(skill)) for skill in self.skills]
        return sum(shares) / len(shares) if shares else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The score card as JSON-serializable data."""
        return {
            "player": self.player,
            "terms": asdict(self.terms),
            "total": round(self.total, 1),
            "skills": {
                skill: {
                    "percent": round(skill_percent(found := self.of_skill(skill)), 1),
                    "right": sum(each.is_right for each in found),
                    "positions": len(found),
                }
                for skill in self.skills
            },
            "moves": self.move_count,
            "faults": asdict(self.faults),
            "conformance": [asdict(check) for check in self.conformance],
            "positions": [
                {
                    "id": each.answer.position.place.id,
                    "score": round(each.value, 3),
                    "remark": each.remark,
                    "seconds": round(each.answer.seconds, 3),
                }
                for each in self.scores
            ],
        }


def skill_percent(scores: Sequence[Score]) -> float:
    """Mean score in percent."""
    return 100 * sum(each.value for each in scores) / len(scores) if scores else 0.0


def assess(
    player: str,
    positions: Sequence[Position],
    terms: AssessmentTerms,
    *,
    listen: Callable[[int, int, Score], None] | None = None,
) -> ScoreCard:
    """Test `player` (a spec for `seat_player`) on every position, HTTP players for conformance too.

    listen   called after every answer: its number from 1, the number of positions, and the score
    Raises PlayerSpecError, NoAnswerError (an HTTP player does not reply), and what loading a game raises.
    """
    require_kind(player, refused=("human",))
    if seat_player(player).is_human:
        raise PlayerSpecError(f"{player!r} cannot be assessed")
    asker = Asker(lambda: seat_player(player), terms)
    card = ScoreCard(player, terms, faults=asker.faults)
    if player.startswith("http://"):
        # Older players read whole seconds only.
        clocks = [max(1, round(each)) for each in (terms.start_clock_seconds, terms.play_clock_seconds)]
        card.conformance = asyncio.run(ConformanceTest(player, *clocks).run())
    for number, position in enumerate(positions, start=1):
        card.scores.append(score(asker.ask(position)))
        card.move_count = asker.move_count
        if listen is not None:
            listen(number, len(positions), card.scores[-1])
    return card


def longest_seconds(positions: Sequence[Position], terms: AssessmentTerms) -> float:
    """Duration for a player that always uses up its clocks."""
    starts = [MIXTURE_ASKS if isinstance(each, Mixture) else 1 for each in positions]
    moves = [
        each.move_limit if isinstance(each, PlayOut) else asks
        for each, asks in zip(positions, starts, strict=True)
    ]
    return sum(starts) * terms.start_clock_seconds + sum(moves) * terms.play_clock_seconds
