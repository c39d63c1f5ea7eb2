"""The score card: one line per skill, faults, and manners."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ggp.assessment.asking import Asker, Faults, Terms, ask_count
from ggp.assessment.manners import Examination, Manner, greet
from ggp.assessment.positions import SKILLS, Position
from ggp.assessment.scoring import Score, score
from ggp.players import PlayerSpecError, make_player

Listener = Callable[[int, int, Score], None]
"""Hears of every answer: its number from 1, how many there are, and its score."""


@dataclass
class ScoreCard:
    """What one player can do."""

    player: str
    terms: Terms
    scores: list[Score] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)
    move_count: int = 0
    manners: list[Manner] = field(default_factory=list)

    def of_skill(self, skill: str) -> list[Score]:
        return [each for each in self.scores if each.answer.position.place.skill == skill]

    @property
    def skills(self) -> list[str]:
        """Those that were looked at."""
        return [skill for skill in SKILLS if self.of_skill(skill)]

    @property
    def total(self) -> float:
        """Mean over the skills, in percent, each counting the same."""
        shares = [skill_percent(self.of_skill(skill)) for skill in self.skills]
        return sum(shares) / len(shares) if shares else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The card as JSON-able data."""
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
            "manners": [asdict(manner) for manner in self.manners],
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
    terms: Terms,
    *,
    listen: Listener = lambda number, total, score: None,
    with_manners: bool = True,
) -> ScoreCard:
    """Ask `player` (as `make_player` takes it) about every position; HTTP players' manners too.

    Raises PlayerSpecError, NoAnswerError (an HTTP player that is not there), and what loading a game raises.
    """
    if getattr(make_player(player), "is_human", False):
        raise PlayerSpecError(f"player {player!r}: a person cannot be assessed here")
    card = ScoreCard(player, terms)
    if not with_manners and player.startswith("http://"):
        asyncio.run(greet(player))
    elif player.startswith("http://"):
        clocks = {
            "start_clock": _whole(terms.start_clock_seconds),
            "play_clock": _whole(terms.play_clock_seconds),
        }
        card.manners = asyncio.run(Examination(player, **clocks).run())
    asker = Asker(lambda: make_player(player), terms)
    card.faults = asker.faults
    for number, position in enumerate(positions, start=1):
        card.scores.append(score(asker.ask(position)))
        card.move_count = asker.move_count
        listen(number, len(positions), card.scores[-1])
    return card


def longest_seconds(positions: Sequence[Position], terms: Terms) -> float:
    """How long the positions take a player that always uses up its clocks."""
    costs = [ask_count(position) for position in positions]
    starts, moves = sum(starts for starts, _ in costs), sum(moves for _, moves in costs)
    return starts * terms.start_clock_seconds + moves * terms.play_clock_seconds


def _whole(seconds: float) -> int:
    """A clock for old players, which read whole seconds only."""
    return max(1, round(seconds))
