"""One PLAY: what is known of the move while it is looked for, and what was answered in the end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

from ggp.game import Move
from ggp.protocol import printable
from ggp.search.report import report_text


@dataclass
class Turn:
    """One PLAY while it is being answered.

    best      the worker's best move so far, its decision where `is_final`
    report    how its search stood when that was last told, as JSON-able data
    decided   set when nothing better will come from the worker
    """

    ticket: int
    best: Move | None = None
    is_final: bool = False
    report: dict[str, Any] | None = None
    decided: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True)
class Answer:
    """A reply to PLAY, and how it came about.

    step     joint moves made before it; None where the state was not known
    how      decided, best so far, only move, random, guess, known, repeated
    report   how the search stood, as `ggp.search.report.SearchReport.to_dict` gives it, or None
    """

    text: str
    how: str
    step: int | None = None
    report: dict[str, Any] | None = None

    def note(self) -> str:
        """For the log."""
        if self.report is None:
            return self.how
        # What a search process says of its moves are a stranger's words.
        return printable(f"{self.how}; {report_text(self.report)}")

    def repeated(self) -> Answer:
        """For a manager that asks once more."""
        return replace(self, how="repeated", report=None)
