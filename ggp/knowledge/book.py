"""An opening book: for positions of the first plies the move that a long search found.

A position is known by a digest of the facts that hold in it, so that a book serves every engine. Moves are
text and are compared with the legal ones; nothing in a file is parsed or executed.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gdl.program import Program
from ggp.game import Fact, Game, Move, Role
from ggp.knowledge.folder import KnowledgeFileError, read_knowledge, write_knowledge

FORMAT = "ggp-book 1"
FILE_NAME = "book.json"
MOST_POSITIONS = 100_000
MOST_TEXT = 10_000
"""Upper bound of the characters of a role or move."""
ENOUGH = 0.9
"""A search of this share of the time asked for counts as having had it: clocks are never met exactly."""


@dataclass(frozen=True)
class BookMove:
    """What a search found in one position.

    role, move   whose move, and the best one, as text
    mean         expected goal of the role
    visits       playouts behind it
    goal         its proven goal, or None
    seconds      time of the search
    is_exact     it was chosen by a proof or a solution, so no longer search finds better
    """

    role: str
    move: str
    mean: float
    visits: int
    goal: int | None
    seconds: float
    is_exact: bool

    def is_worth(self, seconds: float) -> bool:
        """Whether a search of `seconds` is not expected to find better.

        >>> move = BookMove("x", "(mark 2 2)", 50.0, 9, None, seconds=10.0, is_exact=False)
        >>> move.is_worth(10.5), move.is_worth(30.0)
        (True, False)
        """
        return self.is_exact or self.seconds >= ENOUGH * seconds


def position_digest(facts: Iterable[Fact]) -> str:
    """SHA-256 of the facts that hold in a position, whatever their order.

    >>> import ggp
    >>> facts = [ggp.parse_term("(cell 1 b)"), ggp.parse_term("(turn x)")]
    >>> position_digest(facts) == position_digest(reversed(facts))
    True
    """
    return hashlib.sha256("\n".join(sorted(map(str, facts))).encode()).hexdigest()


@dataclass
class Book:
    """The moves known for one game, by the digest of the position.

    rules   digest of the rules (`ggp.solver.work_folder.rules_digest`)
    """

    game: str
    rules: str
    moves: dict[str, BookMove]

    @classmethod
    def empty(cls, game: Game[Any]) -> Book:
        """A book without moves."""
        from ggp.solver.work_folder import rules_digest

        return cls(game.name, rules_digest(game.program), {})

    @classmethod
    def load(cls, path: str | Path) -> Book:
        """Read what `save` wrote. Raises OSError, KnowledgeFileError."""
        content = read_knowledge(path, FORMAT)
        try:
            moves = content["positions"]
            if not isinstance(moves, dict) or len(moves) > MOST_POSITIONS:
                raise ValueError("positions: no object, or too many entries")
            found = {str(digest): _checked_move(each) for digest, each in moves.items()}
            return cls(_text(content["game"]), _text(content["rules"]), found)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise KnowledgeFileError(f"{path}: incomplete or damaged ({error})") from None

    def save(self, path: Path) -> None:
        """Write the book atomically. Raises OSError."""
        positions = {digest: asdict(move) for digest, move in self.moves.items()}
        content = {"format": FORMAT, "game": self.game, "rules": self.rules, "positions": positions}
        write_knowledge(path, content)

    def require_rules(self, program: Program) -> None:
        """Raise KnowledgeFileError unless the book is of these rules."""
        from ggp.solver.work_folder import rules_digest

        if self.rules != rules_digest(program):
            raise KnowledgeFileError(f"opening book of other rules ({self.game})")

    def find(self, game: Game[Any], state: Hashable, role: Role) -> tuple[Move, BookMove] | None:
        """The move known for `role` in `state`; None without one, or if it is not legal."""
        found = self.moves.get(position_digest(game.facts(state)))
        if found is None or found.role != str(role):
            return None
        move = next((move for move in game.legal_moves(state, role) if str(move) == found.move), None)
        return None if move is None else (move, found)


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MOST_TEXT:
        raise ValueError("a text is missing or too long")
    return value


def _checked_move(content: Any) -> BookMove:
    """Raises ValueError, KeyError or TypeError if the entry is malformed."""
    mean, seconds = float(content["mean"]), float(content["seconds"])
    visits, goal, is_exact = content["visits"], content["goal"], content["is_exact"]
    if not (0 <= mean <= 100 and 0 <= seconds < math.inf):
        raise ValueError("a mean or a time is out of range")
    if type(visits) is not int or visits < 0 or type(is_exact) is not bool:
        raise ValueError("visits or is_exact is of another type")
    if goal is not None and (type(goal) is not int or not 0 <= goal <= 100):
        raise ValueError("a goal is out of range")
    return BookMove(_text(content["role"]), _text(content["move"]), mean, visits, goal, seconds, is_exact)
