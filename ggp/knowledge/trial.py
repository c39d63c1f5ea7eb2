"""Trial matches of alpha-beta against the tree of `mcts` in one game, counted from match to match.

The sequential probability ratio test (Wald, 1945) ends them: alpha-beta wins half of the decided matches
against it wins `EXPECTED_SHARE` of them, each mistaken with probability `ERROR`. Draws do not count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ggp.knowledge.folder import Knowledge, checked_count, checked_text
from ggp.knowledge.tuned import TunedOptions

FILE_NAME = "trial.json"
EXPECTED_SHARE = 0.85
"""Between alpha-beta and the tree it is rarely a close race."""
ERROR = 0.05
MAX_MATCHES = 200
"""Maximum matches; if they do not decide, the tree plays."""
MAX_MOVES = 10_000_000
DEFAULT_TREE = str(TunedOptions())


@dataclass
class Trial(Knowledge):
    """Matches that alpha-beta won, lost and drew.

    moves        made in them by both sides, forced ones apart
    rival        options of the tree

    >>> trial = Trial("chess", "d1", won=5)
    >>> trial.is_over, trial.is_won
    (False, False)
    >>> trial.won += 1
    >>> str(trial), trial.is_over, trial.is_won
    ('6 won, 0 lost, 0 drawn', True, True)
    """

    won: int = 0
    lost: int = 0
    drawn: int = 0
    moves: int = 0
    rival: str = DEFAULT_TREE
    file_format: ClassVar[str] = "ggp-trial 1"
    kind: ClassVar[str] = "trial matches"

    @property
    def match_count(self) -> int:
        return self.won + self.lost + self.drawn

    @property
    def mean_moves(self) -> float:
        return self.moves / max(1, self.match_count)

    def add(self, margin: int, moves: int) -> None:
        """Count a match: how much better alpha-beta's goal was, and the number of moves."""
        self.won += margin > 0
        self.lost += margin < 0
        self.drawn += margin == 0
        self.moves += moves

    def has_same_sides(self, other: Trial) -> bool:
        """Whether the matches of both were played by the same."""
        return self.rival == other.rival

    @property
    def evidence(self) -> float:
        """Logarithm of the likelihood ratio: above 0, alpha-beta seems to be the stronger."""
        return self.won * math.log(2 * EXPECTED_SHARE) + self.lost * math.log(2 * (1 - EXPECTED_SHARE))

    @property
    def is_won(self) -> bool:
        """Whether alpha-beta is to choose the moves."""
        return self.evidence >= math.log((1 - ERROR) / ERROR)

    @property
    def is_over(self) -> bool:
        is_lost = self.evidence <= math.log(ERROR / (1 - ERROR))
        return self.is_won or is_lost or self.match_count >= MAX_MATCHES

    def __str__(self) -> str:
        return f"{self.won} won, {self.lost} lost, {self.drawn} drawn"

    @classmethod
    def _checked(cls, content: Mapping[str, Any]) -> Self:
        texts = checked_text(content["game"]), checked_text(content["rules"])
        # Older files have no moves or rival.
        won, lost, drawn = (checked_count(content[name], MAX_MATCHES) for name in ("won", "lost", "drawn"))
        moves = checked_count(content.get("moves", 0), MAX_MOVES)
        rival = checked_text(content.get("rival", DEFAULT_TREE))
        return cls(*texts, won, lost, drawn, moves, rival)
