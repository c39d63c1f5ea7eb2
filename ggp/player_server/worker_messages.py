"""Messages between the server and a search process: requests to it, events from it.

Each is one JSON object on a line, its `type` the kind of the dataclass, so that nothing but text crosses the
border and either side may die at any time. Terms are KIF text; deadlines are `time.monotonic()` seconds,
which all processes of a machine share.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias, TypeVar


@dataclass(frozen=True)
class StartRequest:
    """Load the rules and get ready for a match; answered by Ready."""

    kind: ClassVar[str] = "start"

    match_id: str
    rules: str
    role: str
    agent: str
    engine: str
    start_clock_seconds: float
    play_clock_seconds: float
    seed: int
    memory_mebibytes: int
    ponder: bool
    deadline: float


@dataclass(frozen=True)
class PlayRequest:
    """Follow the match one PLAY further and look for a move; answered by BestMove, Progress, Decision.

    ticket     number of this request, repeated in the answers
    terms      the list of the PLAY message; None for NIL
    own_move   what the role is thought to have moved; None if unknown
    """

    kind: ClassVar[str] = "play"

    ticket: int
    terms: tuple[str, ...] | None
    own_move: str | None
    deadline: float


@dataclass(frozen=True)
class PonderRequest:
    """Whether the player may think while others do, from now on; not answered."""

    kind: ClassVar[str] = "ponder"

    may_ponder: bool


@dataclass(frozen=True)
class StopRequest:
    """End the match, and forget it; answered by Stopped. `terms` as in PlayRequest, None after ABORT."""

    kind: ClassVar[str] = "stop"

    terms: tuple[str, ...] | None


@dataclass(frozen=True)
class PrepareRequest:
    """Compile what `agent` runs, cache and load it, before a match. Answered by Ready."""

    kind: ClassVar[str] = "prepare"

    agent: str


@dataclass(frozen=True)
class Ready:
    """The request to start or to prepare is done."""

    kind: ClassVar[str] = "ready"


@dataclass(frozen=True)
class Stopped:
    """The match is over, and the process ready for another."""

    kind: ClassVar[str] = "stopped"


@dataclass(frozen=True)
class Compiling:
    """The process begins to compile a kernel, or has done so; one that ends now would lose it."""

    kind: ClassVar[str] = "compiling"

    is_compiling: bool


@dataclass(frozen=True)
class BestMove:
    """The best move so far, sent whenever it changes; first one that no search has found."""

    kind: ClassVar[str] = "best"

    ticket: int
    move: str
    is_searched: bool = True


@dataclass(frozen=True)
class Progress:
    """How the search stands, sent a few times per second; `report` is `SearchReport.to_dict`."""

    kind: ClassVar[str] = "report"

    ticket: int
    report: dict[str, Any]


@dataclass(frozen=True)
class Decision:
    """The move chosen, and how the search stood at its end; None without a search.

    fault   why the agent chose none, as match records write it; then the move is any, or empty
    """

    kind: ClassVar[str] = "move"

    ticket: int
    move: str
    report: dict[str, Any] | None
    fault: str = ""


@dataclass(frozen=True)
class Failed:
    """The process gives up and ends."""

    kind: ClassVar[str] = "failed"

    message: str


@dataclass(frozen=True)
class Gone:
    """The process has ended; made by its link, never sent."""

    kind: ClassVar[str] = "gone"


Request: TypeAlias = StartRequest | PlayRequest | PonderRequest | StopRequest | PrepareRequest
Event: TypeAlias = Ready | Stopped | Compiling | BestMove | Progress | Decision | Failed | Gone
Kind = TypeVar("Kind")

_REQUESTS: dict[str, type[Request]] = {
    kind.kind: kind for kind in (StartRequest, PlayRequest, PonderRequest, StopRequest, PrepareRequest)
}
_EVENTS: dict[str, type[Event]] = {
    kind.kind: kind for kind in (Ready, Stopped, Compiling, BestMove, Progress, Decision, Failed, Gone)
}


def to_line(message: Request | Event) -> bytes:
    r"""A message as one line of JSON.

    >>> to_line(BestMove(3, "(mark 1 1)"))
    b'{"type": "best", "ticket": 3, "move": "(mark 1 1)", "is_searched": true}\n'
    """
    values = {each.name: getattr(message, each.name) for each in fields(message)}
    return json.dumps({"type": message.kind, **values}).encode() + b"\n"


def parse_request(line: bytes) -> Request:
    """The inverse of `to_line`. Raises ValueError.

    >>> parse_request(to_line(StopRequest(("a", "b"))))
    StopRequest(terms=('a', 'b'))
    """
    return _parse(line, _REQUESTS)


def parse_event(line: bytes) -> Event:
    """The inverse of `to_line`. Raises ValueError.

    >>> parse_event(to_line(Ready()))
    Ready()
    """
    return _parse(line, _EVENTS)


def _parse(line: bytes, kinds: dict[str, type[Kind]]) -> Kind:
    values = json.loads(line)
    try:
        if isinstance(values.get("terms"), list):
            values["terms"] = tuple(values["terms"])
        return kinds[values.pop("type")](**values)
    except (AttributeError, LookupError, TypeError) as error:
        raise ValueError(f"not a worker message: {error!r}") from None
