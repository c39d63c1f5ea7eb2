"""State of one PLAY request: best move so far and the final answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

from ggp.match.faults import Fault
from ggp.protocol.messages import printable
from ggp.search.report import report_text


@dataclass
class PendingPlay:
    """One PLAY in progress.

    ticket        of the request to the worker
    begin, deadline, latest   `time.monotonic()` seconds: when it arrived, when to answer, and how long to
                  wait if no legal move is known by then
    best          the worker's best move so far, its decision if `is_final`
    is_searched   whether a search has found `best`
    short         the move of the state process's short search
    report        the worker's latest search report, as JSON-able data
    fault         why the agent will have no move, if known
    decided       set when the worker will send nothing better
    is_found      set when a search, the worker's or the short one, has found a move
    has_move      set when the worker has sent a move, or the match has ended
    """

    ticket: int
    begin: float
    deadline: float
    latest: float
    best: str | None = None
    is_final: bool = False
    is_searched: bool = False
    short: str | None = None
    report: dict[str, Any] | None = None
    fault: Fault | None = None
    decided: asyncio.Event = field(default_factory=asyncio.Event)
    is_found: asyncio.Event = field(default_factory=asyncio.Event)
    has_move: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True)
class KnownPosition:
    """A position as reported by the state process; see `ggp.beliefs.tracking.Position`.

    state    a number that identifies the state
    legal    the role's legal moves as text
    is_cut   whether more moves are legal than `legal` holds

    >>> position = KnownPosition(1, 1, ("(a b)",), is_cut=False, note="")
    >>> position.allows("(a b)"), position.allows("b")
    (True, False)
    """

    step: int
    state: int
    legal: tuple[str, ...]
    is_cut: bool
    note: str

    @staticmethod
    def read(values: dict[str, Any]) -> KnownPosition:
        """A position from the reply of a state process."""
        return KnownPosition(**{**values, "legal": tuple(values["legal"])})

    def allows(self, move: str) -> bool:
        """Whether `move` is legal, as far as known."""
        return self.is_cut or move in self.legal


@dataclass(frozen=True)
class Answer:
    """A reply to PLAY and its source.

    how      decided, best so far, only move, short search, random, guess, none, known, repeated
    report   of the search (`ggp.search.report.SearchReport.to_dict`), or None
    fault    why it is not a move of the agent, as match records write it; mostly empty

    >>> Answer("(mark 1 1)", "decided").repeated().how
    'repeated'
    """

    text: str
    how: str
    report: dict[str, Any] | None = None
    fault: str = ""

    def note(self) -> str:
        """A note for the log line."""
        if self.report is None:
            return self.how
        # Names in a report come from the rules, and so from a stranger.
        return printable(f"{self.how}; {report_text(self.report)}")

    def repeated(self) -> Answer:
        """The same answer to a repeated request."""
        return replace(self, how="repeated", report=None)
