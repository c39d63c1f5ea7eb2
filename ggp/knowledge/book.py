"""An opening book: for positions of the first plies the move that a long search found.

A position is known by a digest of the facts that hold in it, so that a book serves every engine. Moves are
text and are compared with the legal ones; nothing in a file is parsed or executed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from ggp.game import Fact, Game, Move, Role
from ggp.knowledge.folder import Knowledge, checked_count, checked_number, checked_text, write_knowledge

FILE_NAME = "book.json"
MAX_POSITIONS = 100_000
ENOUGH = 0.9
"""A search of at least this share of the requested time suffices: clocks are never exact."""


@dataclass(frozen=True)
class BookMove:
    """The result of a search in one position.

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
        """Whether a search of `seconds` is not expected to find a better move."""
        return self.is_exact or self.seconds >= ENOUGH * seconds


def position_digest(facts: Iterable[Fact]) -> str:
    """SHA-256 of the facts that hold in a position, whatever their order."""
    return hashlib.sha256("\n".join(sorted(map(str, facts))).encode()).hexdigest()


@dataclass
class Book(Knowledge):
    """The moves known for one game, by the digest of the position."""

    moves: dict[str, BookMove] = field(default_factory=dict)
    file_format: ClassVar[str] = "ggp-book 1"
    kind: ClassVar[str] = "opening book"

    @classmethod
    def _checked(cls, content: Mapping[str, Any]) -> Self:
        positions = content["positions"]
        if not isinstance(positions, dict) or len(positions) > MAX_POSITIONS:
            raise ValueError("positions: not an object, or too many entries")
        found = {str(digest): _checked_move(each) for digest, each in positions.items()}
        return cls(checked_text(content["game"]), checked_text(content["rules"]), found)

    def save(self, path: Path) -> None:
        """Write atomically. Raises OSError."""
        content = asdict(self)
        write_knowledge(path, {"format": self.file_format, "positions": content.pop("moves"), **content})

    def find(self, game: Game[Any], state: Hashable, role: Role) -> tuple[Move, BookMove] | None:
        """The move known for `role` in `state`; None without one, or if it is not legal."""
        found = self.moves.get(position_digest(game.facts(state)))
        if found is None or found.role != str(role):
            return None
        move = next((move for move in game.legal_moves(state, role) if str(move) == found.move), None)
        return None if move is None else (move, found)


def _checked_move(content: Any) -> BookMove:
    goal, is_exact = content["goal"], content["is_exact"]
    if type(is_exact) is not bool:
        raise ValueError("is_exact is of another type")
    return BookMove(
        checked_text(content["role"]),
        checked_text(content["move"]),
        checked_number(content["mean"], 100),
        checked_count(content["visits"]),
        None if goal is None else checked_count(goal, 100),
        checked_number(content["seconds"]),
        is_exact,
    )
