"""Trial matches of a contender against the tree of `mcts` in one game, counted from match to match.

The sequential probability ratio test (Wald, 1945) ends them: the contender wins half of the decided matches
against it wins `expected_share` of them, each mistaken with probability `error`. Draws say nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from gdl.program import Program
from ggp.game import Game
from ggp.knowledge.folder import KnowledgeFileError, read_knowledge, write_knowledge
from ggp.knowledge.tuned import TunedOptions, read_options

MOST_MATCHES = 200
"""Of any trial."""
MOST_MOVES = 10_000_000
DEFAULT_TREE = str(TunedOptions())


@dataclass
class Trial:
    """Matches that alpha-beta won, lost and drew.

    rules            digest of the rules
    moves            made in them by both sides, forced ones apart
    generation       of the taught network that alpha-beta could evaluate by; 0: there was none
    rival            options of the tree
    file_format      of what `save` writes
    expected_share   of matches won where the contender should play: between alpha-beta and the tree it is
                     rarely a close race
    error            of the test, in both directions
    most_matches     undecided after these, the tree plays as it did
    move_seconds     of either side

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
    moves: int = 0
    generation: int = 0
    rival: str = DEFAULT_TREE
    file_format: ClassVar[str] = "ggp-trial 1"
    expected_share: ClassVar[float] = 0.85
    error: ClassVar[float] = 0.05
    most_matches: ClassVar[int] = MOST_MATCHES
    move_seconds: ClassVar[float] = 0.016

    @classmethod
    def empty(cls, game: Game[Any], generation: int = 0, rival: str = DEFAULT_TREE) -> Self:
        """A trial that has not begun."""
        from ggp.solver.work_folder import rules_digest

        return cls(game.name, rules_digest(game.program), generation=generation, rival=rival)

    @property
    def file_name(self) -> str:
        """Where it is kept among what is known about the game."""
        return "trial.json"

    @property
    def match_count(self) -> int:
        return self.won + self.lost + self.drawn

    @property
    def mean_moves(self) -> float:
        """Moves of a match; 0 before the first."""
        return self.moves / max(1, self.match_count)

    def add(self, margin: int, moves: int) -> None:
        """Count a match: by how much the goal of the contender was better, and the moves."""
        self.won += margin > 0
        self.lost += margin < 0
        self.drawn += margin == 0
        self.moves += moves

    @property
    def is_begun(self) -> bool:
        return self.match_count > 0

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
        return self.evidence >= math.log((1 - self.error) / self.error)

    @property
    def is_over(self) -> bool:
        """Whether no more matches are needed."""
        is_lost = self.evidence <= math.log(self.error / (1 - self.error))
        return self.is_won or is_lost or self.match_count >= self.most_matches

    def __str__(self) -> str:
        return f"{self.won} won, {self.lost} lost, {self.drawn} drawn"

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote. Raises OSError, KnowledgeFileError."""
        return cls._from(read_knowledge(path, cls.file_format), path)

    @classmethod
    def _from(cls, content: Mapping[str, Any], path: str | Path) -> Self:
        game, rules = content.get("game"), content.get("rules")
        won, lost, drawn = content.get("won"), content.get("lost"), content.get("drawn")
        if not isinstance(game, str) or not isinstance(rules, str):
            raise KnowledgeFileError(f"{path}: incomplete or damaged (a text is missing)")
        if not all(type(each) is int and 0 <= each <= MOST_MATCHES for each in (won, lost, drawn)):
            raise KnowledgeFileError(f"{path}: incomplete or damaged (a number is out of range)")
        # Older files have none of these.
        generation, rival = content.get("generation", 0), content.get("rival", DEFAULT_TREE)
        moves = content.get("moves", 0)
        if type(moves) is not int or not 0 <= moves <= MOST_MOVES:
            raise KnowledgeFileError(f"{path}: incomplete or damaged (a number is out of range)")
        if type(generation) is not int or generation < 0:
            raise KnowledgeFileError(f"{path}: incomplete or damaged (a generation is out of range)")
        if not isinstance(rival, str):
            raise KnowledgeFileError(f"{path}: incomplete or damaged (a text is missing)")
        counts = cast("int", won), cast("int", lost), cast("int", drawn)
        return cls(game, rules, *counts, moves=moves, generation=generation, rival=rival)

    def save(self, path: Path) -> None:
        """Write atomically. Raises OSError."""
        write_knowledge(path, {"format": self.file_format, **asdict(self)})

    def require_rules(self, program: Program) -> None:
        """Raise KnowledgeFileError unless it is of these rules."""
        from ggp.solver.work_folder import rules_digest

        if self.rules != rules_digest(program):
            raise KnowledgeFileError(f"trial matches of other rules ({self.game})")


@dataclass
class OptionTrial(Trial):
    """Matches of the tree with other options against the tree with the best so far.

    challenger    the other options
    is_excluded   whether they do not apply to the game: another policy stands in for theirs

    >>> trial = OptionTrial("chess", "d1", won=8, lost=0, challenger=TunedOptions("mast"))
    >>> trial.is_won
    False
    >>> trial.won += 1
    >>> trial.is_won
    True
    """

    challenger: TunedOptions = field(default_factory=TunedOptions)
    is_excluded: bool = False
    file_format: ClassVar[str] = "ggp-option-trial 1"
    expected_share: ClassVar[float] = 0.7
    most_matches: ClassVar[int] = 80

    @classmethod
    def between(cls, game: Game[Any], challenger: TunedOptions, rival: str = DEFAULT_TREE) -> Self:
        """A trial of other options that has not begun."""
        return replace(cls.empty(game, rival=rival), challenger=challenger)

    @property
    def file_name(self) -> str:
        return f"trial_{self.challenger.policy}_{self.challenger.exploration:g}.json"

    @property
    def is_begun(self) -> bool:
        return self.is_excluded or super().is_begun

    @property
    def is_won(self) -> bool:
        return not self.is_excluded and super().is_won

    @property
    def is_over(self) -> bool:
        return self.is_excluded or super().is_over

    def has_same_sides(self, other: Trial) -> bool:
        is_same = isinstance(other, OptionTrial) and self.challenger == other.challenger
        return is_same and super().has_same_sides(other)

    def __str__(self) -> str:
        return "does not apply" if self.is_excluded else super().__str__()

    @classmethod
    def _from(cls, content: Mapping[str, Any], path: str | Path) -> Self:
        trial = super()._from(content, path)
        try:
            challenger = read_options(content["challenger"])
        except (ValueError, KeyError, TypeError, OverflowError, AttributeError) as error:
            raise KnowledgeFileError(f"{path}: incomplete or damaged ({error})") from None
        return replace(trial, challenger=challenger, is_excluded=content.get("is_excluded") is True)


@dataclass
class LongTrial(OptionTrial):
    """The same with eight times as long for a move, to confirm what won.

    RAVE wins 35 : 2 on hex 11x11 with 32 ms a move, when most moves have been tried once or not at all, and
    is level with 128 (results/policies.md). Few matches fit into a start clock, so few are asked for.

    expected_moves   of a match, by the short ones

    >>> LongTrial("hex", "d1", won=4).is_won, LongTrial("hex", "d1", won=1, lost=3).is_over
    (True, True)
    """

    expected_moves: float = 0.0
    expected_share: ClassVar[float] = 0.75
    error: ClassVar[float] = 0.2
    most_matches: ClassVar[int] = 30
    move_seconds: ClassVar[float] = 0.128

    @classmethod
    def after(cls, short: OptionTrial) -> Self:
        """The confirmation of a short trial, not begun."""
        return cls(
            short.game,
            short.rules,
            rival=short.rival,
            challenger=short.challenger,
            expected_moves=short.mean_moves,
        )

    @property
    def file_name(self) -> str:
        return f"long_{super().file_name}"

    @property
    def mean_moves(self) -> float:
        return super().mean_moves or self.expected_moves
