"""Trial matches of a contender against the tree of `mcts` in one game, counted from match to match.

The sequential probability ratio test (Wald, 1945) ends them: the contender wins half of the decided matches
against it wins `expected_share` of them, each mistaken in one case of twenty. Draws say nothing.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from gdl.program import Program
from ggp.game import Game
from ggp.knowledge.folder import KnowledgeFileError, read_knowledge, write_knowledge

ERROR = 0.05
MOST_MATCHES = 200
"""Of any trial."""


@dataclass
class Trial:
    """Matches that alpha-beta won, lost and drew.

    rules        digest of the rules
    generation   of the taught network that alpha-beta could evaluate by; 0: there was none
    rival        policy of the tree
    file_format, file_name   of what `save` writes
    expected_share   of matches won where the contender should play: between alpha-beta and the tree it is
                     rarely a close race
    most_matches     undecided after these, the tree plays as it did

    >>> trial = Trial("chess", "d1", won=5)
    >>> trial.is_over, trial.is_won
    (False, False)
    >>> trial.won += 1
    >>> str(trial), trial.is_over, trial.is_won
    ('6 won, 0 lost, 0 drawn', True, True)
    """

    game: str
    rules: str
    won: int = 0
    lost: int = 0
    drawn: int = 0
    generation: int = 0
    rival: str = "uniform"
    file_format: ClassVar[str] = "ggp-trial 1"
    file_name: ClassVar[str] = "trial.json"
    expected_share: ClassVar[float] = 0.85
    most_matches: ClassVar[int] = MOST_MATCHES

    @classmethod
    def empty(cls, game: Game[Any], generation: int = 0, rival: str = "uniform") -> Self:
        """A trial that has not begun."""
        from ggp.solver.work_folder import rules_digest

        return cls(game.name, rules_digest(game.program), generation=generation, rival=rival)

    def has_same_sides(self, other: Trial) -> bool:
        """Whether the matches of both were played by the same."""
        return (self.generation, self.rival) == (other.generation, other.rival)

    @property
    def evidence(self) -> float:
        """Logarithm of the likelihood ratio: above 0, the contender seems to be the stronger."""
        share = self.expected_share
        return self.won * math.log(2 * share) + self.lost * math.log(2 * (1 - share))

    @property
    def is_won(self) -> bool:
        """Whether the contender is to choose the moves."""
        return self.evidence >= math.log((1 - ERROR) / ERROR)

    @property
    def is_over(self) -> bool:
        """Whether no more matches are needed."""
        is_lost = self.evidence <= math.log(ERROR / (1 - ERROR))
        return self.is_won or is_lost or self.won + self.lost + self.drawn >= self.most_matches

    def __str__(self) -> str:
        return f"{self.won} won, {self.lost} lost, {self.drawn} drawn"

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote. Raises OSError, KnowledgeFileError."""
        content = read_knowledge(path, cls.file_format)
        game, rules = content.get("game"), content.get("rules")
        won, lost, drawn = content.get("won"), content.get("lost"), content.get("drawn")
        if not isinstance(game, str) or not isinstance(rules, str):
            raise KnowledgeFileError(f"{path}: incomplete or damaged (a text is missing)")
        if not all(type(each) is int and 0 <= each <= MOST_MATCHES for each in (won, lost, drawn)):
            raise KnowledgeFileError(f"{path}: incomplete or damaged (a number is out of range)")
        generation = content.get("generation", 0)  # files from before there were networks have none
        if type(generation) is not int or generation < 0:
            raise KnowledgeFileError(f"{path}: incomplete or damaged (a generation is out of range)")
        rival = content.get("rival", "uniform")  # older files have none
        if not isinstance(rival, str):
            raise KnowledgeFileError(f"{path}: incomplete or damaged (a text is missing)")
        return cls(game, rules, cast("int", won), cast("int", lost), cast("int", drawn), generation, rival)

    def save(self, path: Path) -> None:
        """Write atomically. Raises OSError."""
        write_knowledge(path, {"format": self.file_format, **asdict(self)})

    def require_rules(self, program: Program) -> None:
        """Raise KnowledgeFileError unless it is of these rules."""
        from ggp.solver.work_folder import rules_digest

        if self.rules != rules_digest(program):
            raise KnowledgeFileError(f"trial matches of other rules ({self.game})")


@dataclass
class PolicyTrial(Trial):
    """Matches that the tree with MAST won, lost and drew against the tree with uniform playouts.

    >>> trial = PolicyTrial("chess", "d1", won=8, lost=0)
    >>> trial.is_won
    False
    >>> trial.won += 1
    >>> trial.is_won
    True
    """

    file_format: ClassVar[str] = "ggp-mast-trial 1"
    file_name: ClassVar[str] = "mast_trial.json"
    expected_share: ClassVar[float] = 0.7
    most_matches: ClassVar[int] = 80
