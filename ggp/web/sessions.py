"""Browser sessions and their limits: sessions, matches, memory, idle time."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ggp.processes.child import Child, ChildError, ChildGoneError
from ggp.web.changes import merged

MATCH_MODULE = "ggp.web.match_process"
SHEET_MODULE = "ggp.web.sheet_process"
PROOFS = ("prove", "conclude", "explain")
_ABORT_SECONDS = 2.0
_PAUSE_SECONDS = 1.0
"""From the opening of a match to the process of the next one, whose imports would delay the first board."""
_FOLLOWER_EVENTS = 64
"""Maximum number of events waiting for a slow page; beyond that it is disconnected."""


@dataclass(frozen=True)
class SessionLimits:
    """Bounds on what browsers may use.

    sessions            maximum number; a new one replaces the one idle longest
    matches             maximum number per session; a new one replaces the oldest
    mebibytes           memory of each process of a match
    idle_seconds        a session without requests for this long ends, with its matches
    sheet_mebibytes     memory of each process for rule sheets
    sheet_bytes         size of a request, and so of a rule sheet or record
    answer_seconds      time for one request to a process, before the process is killed
    """

    sessions: int = 4
    matches: int = 3
    mebibytes: int = 4096
    idle_seconds: float = 1800.0
    sheet_mebibytes: int = 2048
    sheet_bytes: int = 4 * 1024 * 1024
    answer_seconds: float = 15.0


@dataclass(eq=False)
class OpenMatch:
    """A match, its process, and the pages that follow it.

    about    what does not change
    opened   the request that opened it, to play the same again; empty for records
    state    the last state as data; empty before there is one
    """

    name: str
    child: Child | None = None
    about: dict[str, Any] = field(default_factory=dict)
    opened: Mapping[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    followers: set[asyncio.Queue[str | None]] = field(default_factory=set)

    def receive(self, event: dict[str, Any], text: str) -> None:
        """Pass an event, and its JSON, on to every page."""
        if event["event"] == "state":
            self.state = merged(self.state, event)
        for follower in tuple(self.followers):
            if follower.qsize() >= _FOLLOWER_EVENTS:
                self.followers.discard(follower)
                follower.put_nowait(None)
            else:
                follower.put_nowait(text)

    def whole_state(self) -> tuple[str, str]:
        """The state as JSON, and a digest of it; empty texts before there is one."""
        text = json.dumps(self.state) if self.state else ""
        return text, text and hashlib.blake2b(text.encode(), digest_size=12).hexdigest()

    def follow(self, known: str = "") -> asyncio.Queue[str | None]:
        """A new queue of events: first the whole state, last the end of the process.

        known   digest of the state that the page has
        """
        follower: asyncio.Queue[str | None] = asyncio.Queue()
        state, digest = self.whole_state()
        if state and digest != known:
            follower.put_nowait(state)
        if self.child is not None and self.child.is_gone:
            follower.put_nowait('{"event": "gone"}')
        self.followers.add(follower)
        return follower

    async def open(self, child: Child, do: str, arguments: Mapping[str, Any], seconds: float) -> None:
        """Open the match in its process. Raises ChildError."""
        self.child, child.on_event = child, self.receive
        self.about = await self.ask(do, arguments, seconds)
        await self.ask("show", {}, seconds)

    async def ask(self, do: str, arguments: Mapping[str, Any], seconds: float) -> Any:
        """Ask the process. Raises ChildError."""
        if self.child is None:
            raise ChildGoneError("the match is not open")
        return await self.child.answer(self.child.ask(do, **arguments), seconds)

    async def close(self) -> None:
        """Notify players over HTTP, then end the process."""
        if self.about.get("has_remote_players"):
            with contextlib.suppress(ChildError):
                await self.ask("abort", {}, _ABORT_SECONDS)
        if self.child is not None:
            await self.child.aclose()


@dataclass(eq=False)
class SheetProcess:
    """A process for rule sheets, one request at a time; `role` is its second argument."""

    role: str
    child: Child | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(eq=False)
class Session:
    """One browser: its matches, the oldest first, and its processes for rule sheets and for proofs."""

    name: str
    used: float
    matches: OrderedDict[str, OpenMatch] = field(default_factory=OrderedDict)
    sheets: SheetProcess = field(default_factory=lambda: SheetProcess("sheets"))
    proofs: SheetProcess = field(default_factory=lambda: SheetProcess("proofs"))
    has_ended: bool = False

    def require_open(self) -> None:
        """Raise ChildError after the end of the session, which would never end another process."""
        if self.has_ended:
            raise ChildGoneError("this session has ended: too many browsers use the page")

    async def close(self) -> None:
        """End all processes."""
        self.has_ended = True
        children = [match.child for match in self.matches.values()]
        children += [self.sheets.child, self.proofs.child]
        await asyncio.gather(*(child.aclose() for child in children if child is not None))
        self.matches.clear()


class Sessions:
    """All sessions of a server.

    clock   seconds, for idle times
    """

    def __init__(self, limits: SessionLimits, clock: Callable[[], float]) -> None:
        self.limits = limits
        self._clock = clock
        self._sessions: dict[str, Session] = {}
        self._beginning = asyncio.Lock()
        self._waiting: Child | None = None

    def find(self, name: str) -> Session | None:
        """The session of a cookie."""
        session = self._sessions.get(name)
        if session is not None:
            session.used = self._clock()
        return session

    async def begin(self, name: str = "") -> Session:
        """The session of a cookie, else a new one; if there are too many, the one idle longest ends."""
        async with self._beginning:
            if (known := self.find(name)) is not None:
                return known
            while len(self._sessions) >= self.limits.sessions:
                await self._end(min(self._sessions.values(), key=lambda each: each.used))
            session = Session(secrets.token_urlsafe(18), self._clock())
            self._sessions[session.name] = session
            self._keep_ready()
            return session

    def all_matches(self) -> list[OpenMatch]:
        """The matches of all sessions."""
        return [match for session in self._sessions.values() for match in session.matches.values()]

    def find_match(self, session: Session, name: str) -> OpenMatch | None:
        """A match by its address: the session's, or one of another browser of this user."""
        homes = [session.matches, *(each.matches for each in self._sessions.values())]
        return next((home[name] for home in homes if name in home), None)

    async def open_match(self, session: Session, do: str, arguments: Mapping[str, Any]) -> OpenMatch:
        """Open a match and start its process. Raises ChildError without opening the match."""
        while len(session.matches) >= self.limits.matches:
            await session.matches.popitem(last=False)[1].close()
        session.require_open()
        match = OpenMatch(secrets.token_urlsafe(9), opened=arguments if do == "open" else {})
        session.matches[match.name] = match
        try:
            await match.open(self._new_process(), do, arguments, self.limits.answer_seconds)
        except ChildError:
            session.matches.pop(match.name, None)
            await match.close()
            raise
        finally:
            asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self._keep_ready)
        return match

    def prepare(self, rules: str, name: str) -> None:
        """Load rules in the process that waits for the next match."""
        if self._waiting is not None and not self._waiting.is_busy and self._waiting.unsent_count < 2:
            self._waiting.send("prepare", rules=rules, name=name)

    def _new_process(self) -> Child:
        """A process for a match: the one that waits, or a new one if it has ended. Raises ChildStartError."""
        waiting, self._waiting = self._waiting, None
        is_ready = waiting is not None and not waiting.is_gone
        return waiting if is_ready and waiting is not None else self._start_process()

    def _start_process(self) -> Child:
        return Child(MATCH_MODULE, str(self.limits.mebibytes))

    def _keep_ready(self) -> None:
        """Start the process of the next match beforehand: its imports take longer than a person notices."""
        if self._waiting is None and self._sessions:
            with contextlib.suppress(ChildError):
                self._waiting = self._start_process()

    async def ask_sheets(
        self, session: Session, do: str, rules: str, seconds: float, **arguments: Any
    ) -> Any:
        """Ask a process of the session for rule sheets; a killed one is replaced. Raises ChildError.

        Proofs and explanations have a process of lower priority, so that sheets are checked meanwhile.
        """
        process = session.proofs if do in PROOFS else session.sheets
        async with process.lock:
            session.require_open()
            if process.child is None or process.child.is_gone:
                process.child = Child(SHEET_MODULE, str(self.limits.sheet_mebibytes), process.role)
            return await process.child.answer(process.child.ask(do, rules=rules, **arguments), seconds)

    async def end_idle(self) -> None:
        now = self._clock()
        for session in list(self._sessions.values()):
            is_followed = any(match.followers for match in session.matches.values())
            if now - session.used > self.limits.idle_seconds and not is_followed:
                await self._end(session)

    async def _end(self, session: Session) -> None:
        self._sessions.pop(session.name, None)
        with contextlib.suppress(OSError):
            await session.close()

    async def close(self) -> None:
        """End all sessions."""
        for session in list(self._sessions.values()):
            await self._end(session)
        if self._waiting is not None:
            await self._waiting.aclose()
