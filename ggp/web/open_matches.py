"""The open matches of a server, its processes, and their limits: number, memory, idle time."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import secrets
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
class ServerLimits:
    """Bounds on what browsers may use.

    matches             maximum number; a new one replaces the one idle longest
    mebibytes           memory of each process of a match
    idle_seconds        a match that no page asks for or follows for this long ends
    sheet_mebibytes     memory of each process for rule sheets
    sheet_bytes         size of a request, and so of a rule sheet or record
    answer_seconds      time for one request to a process, before the process is killed
    """

    matches: int = 6
    mebibytes: int = 4096
    idle_seconds: float = 1800.0
    sheet_mebibytes: int = 2048
    sheet_bytes: int = 4 * 1024 * 1024
    answer_seconds: float = 15.0


@dataclass(eq=False)
class OpenMatch:
    """A match, its process, and the pages that follow it.

    about      what does not change
    opened     the request that opened it, to play the same again; empty for records
    state      the last state as data; empty before there is one
    progress   what resumes it, as of the next state to come; empty for records
    used       when a page asked for it last
    on_state   called after every change of the state
    """

    name: str
    child: Child | None = None
    about: dict[str, Any] = field(default_factory=dict)
    opened: Mapping[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    followers: set[asyncio.Queue[str | None]] = field(default_factory=set)
    progress: Mapping[str, Any] = field(default_factory=dict)
    used: float = 0.0
    on_state: Callable[[OpenMatch], None] = lambda match: None

    def receive(self, event: dict[str, Any], text: str) -> None:
        """Pass an event, and its JSON, on to every page; but not the progress, which shows what is hidden."""
        if event["event"] == "progress":
            self.progress = event["progress"]
            return
        if event["event"] == "state":
            self.state = merged(self.state, event)
            self.on_state(self)
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

    def end_for_another(self) -> None:
        """Give every page the reason why it hears no more: a newer match takes this one's place."""
        for follower in self.followers:
            follower.put_nowait('{"event": "replaced"}')
        self.followers.clear()

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
    """A process for rule sheets, one request at a time; `role` is its second argument.

    used   when it was asked last
    """

    role: str
    child: Child | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    used: float = 0.0


class OpenMatches:
    """The matches of a server, the oldest first, and its processes for rule sheets and for proofs.

    clock      seconds, for idle times
    on_state   called after every change of a match's state
    """

    def __init__(
        self, limits: ServerLimits, clock: Callable[[], float], on_state: Callable[[OpenMatch], None]
    ) -> None:
        self.limits = limits
        self.matches: dict[str, OpenMatch] = {}
        self.sheets, self.proofs = SheetProcess("sheets"), SheetProcess("proofs")
        self._clock, self._on_state = clock, on_state
        self._waiting: Child | None = None

    def find(self, name: str) -> OpenMatch | None:
        """A match by its address."""
        match = self.matches.get(name)
        if match is not None:
            match.used = self._clock()
        return match

    async def open(self, do: str, arguments: Mapping[str, Any], name: str = "") -> OpenMatch:
        """Open a match and start its process. Raises ChildError without opening the match.

        name   of a match that was kept; empty: a new one

        If there are too many, one that no page follows ends, the one idle longest.
        """
        while len(self.matches) >= self.limits.matches:
            idle = min(self.matches.values(), key=lambda each: (bool(each.followers), each.used))
            idle.end_for_another()
            await self.close_match(idle)
        opened = {key: value for key, value in arguments.items() if do == "open" and key != "progress"}
        match = OpenMatch(name or secrets.token_urlsafe(9), opened=opened, used=self._clock())
        match.on_state = self._on_state
        self.matches[match.name] = match
        try:
            await match.open(self._new_process(), do, arguments, self.limits.answer_seconds)
        except ChildError:
            await self.close_match(match)
            raise
        finally:
            asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self.keep_ready)
        return match

    async def close_match(self, match: OpenMatch) -> None:
        self.matches.pop(match.name, None)
        await match.close()

    def prepare(self, rules: str, name: str) -> None:
        """Load rules in the process that waits for the next match."""
        if self._waiting is not None and not self._waiting.is_busy and self._waiting.unsent_count < 2:
            self._waiting.send("prepare", rules=rules, name=name)

    def _new_process(self) -> Child:
        """A process for a match: the one that waits, or a new one if it has ended. Raises ChildStartError."""
        waiting, self._waiting = self._waiting, None
        return self._start_process() if waiting is None or waiting.is_gone else waiting

    def _start_process(self) -> Child:
        return Child(MATCH_MODULE, str(self.limits.mebibytes))

    def keep_ready(self) -> None:
        """Start the process of the next match beforehand: its imports take longer than a person notices."""
        if self._waiting is None:
            with contextlib.suppress(ChildError):
                self._waiting = self._start_process()

    async def ask_sheets(self, do: str, rules: str, seconds: float, **arguments: Any) -> Any:
        """Ask a process for rule sheets; a killed one is replaced. Raises ChildError.

        Proofs and explanations have a process of lower priority, so that sheets are checked meanwhile.
        """
        process = self.proofs if do in PROOFS else self.sheets
        async with process.lock:
            if process.child is None or process.child.is_gone:
                process.child = Child(SHEET_MODULE, str(self.limits.sheet_mebibytes), process.role)
            process.used = self._clock()
            return await process.child.answer(process.child.ask(do, rules=rules, **arguments), seconds)

    async def end_idle(self) -> None:
        """End matches that no page follows, and processes for sheets, after `idle_seconds`."""
        end = self._clock() - self.limits.idle_seconds
        for match in [each for each in self.matches.values() if each.used < end and not each.followers]:
            await self.close_match(match)
        for process in (self.sheets, self.proofs):
            if process.child is not None and process.used < end and not process.lock.locked():
                await process.child.aclose()

    async def close(self) -> None:
        """End all processes."""
        children = [match.child for match in self.matches.values()]
        children += [self.sheets.child, self.proofs.child, self._waiting]
        await asyncio.gather(*(child.aclose() for child in children if child is not None))
