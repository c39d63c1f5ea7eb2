"""Client side of search processes: spawn, send requests, receive events, kill; a pool of warm ones."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence

from ggp.player_server.worker_messages import (
    Compiling,
    Event,
    Failed,
    Gone,
    PrepareRequest,
    Ready,
    Request,
    Stopped,
    StopRequest,
    parse_event,
    to_line,
)
from ggp.processes.child_process import ChildProcess, WorkClock, resident_mebibytes, result_of_work
from ggp.protocol.messages import printable

log = logging.getLogger("ggp.player")

_STOP_SECONDS = 1.0
"""How much work a process may take to end its match before it is killed."""
_COMPILING_SECONDS = 120.0
"""How much, if it is compiling: what it compiles is in the cache for the next match."""
PREPARING_SECONDS = 300.0
"""How much work a process may take to compile and load what the agent runs."""
_GROWTH_MEBIBYTES = 50
"""A process that has grown by more than this since it was prepared is not used again."""


class WorkerLink:
    """One `ggp.player_server.worker` process.

    on_event       called in the event loop with every event, and once with Gone at the end
    is_compiling   whether the process is compiling a kernel
    """

    def __init__(self, on_event: Callable[[WorkerLink, Event], None]) -> None:
        self.on_event = on_event
        self.is_compiling = False
        self._process = ChildProcess(
            "ggp.player_server.worker",
            lambda line: self._receive(parse_event(line)),
            lambda: self._receive(Gone()),
        )

    @property
    def pid(self) -> int | None:
        """The process id; None before the start and after the end."""
        return self._process.pid

    async def start(self) -> None:
        """Start the process. Raises OSError."""
        await self._process.start()

    def send(self, request: Request) -> None:
        """Send a request without waiting; a dead process ignores it."""
        self._process.send(to_line(request))

    def _receive(self, event: Event) -> None:
        if isinstance(event, Compiling):
            self.is_compiling = event.is_compiling
        self.on_event(self, event)

    async def stop(self, terms: Sequence[str] | None) -> bool:
        """End the match, with the terms of STOP; whether the process says in time that it has."""
        is_over = asyncio.Event()
        is_stopped = False

        def receive(link: WorkerLink, event: Event) -> None:
            nonlocal is_stopped
            is_stopped |= isinstance(event, Stopped)
            if isinstance(event, Stopped | Gone):
                is_over.set()

        self.on_event = receive
        if self.pid is None:
            return False
        self.send(StopRequest(None if terms is None else tuple(terms)))
        since_stop = since_compiling = WorkClock(self.pid)
        while not (since_compiling.has_passed(_STOP_SECONDS) or is_over.is_set()):
            if self.is_compiling and not since_stop.has_passed(_COMPILING_SECONDS):
                since_compiling = WorkClock(self.pid)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(is_over.wait(), 0.1)
        return is_stopped

    async def close(self) -> None:
        """Kill the process and its children, and wait until they have gone."""
        await self._process.close()

    def kill(self) -> None:
        """Kill the process and its children at once, without waiting."""
        self._process.kill()


class WorkerPool:
    """Keeps search processes ready for the next matches: their modules imported, their kernels loaded.

    Without that, the first matches on a machine would be over before their search processes had compiled
    anything, and would leave nothing in the cache; later ones would lose the time of loading.

    most                of the processes that wait for a match, or end one
    preparing_seconds   of work, after which a process that still prepares is killed
    """

    def __init__(self, agent: str, most: int = 1, *, preparing_seconds: float = PREPARING_SECONDS) -> None:
        self._agent = agent
        self._most = most
        self._preparing_seconds = preparing_seconds
        self._idle: list[WorkerLink] = []
        self._stopping: list[WorkerLink] = []
        self._preparing: WorkerLink | None = None
        self._prepared_mebibytes = 0
        """Size of a process that has played no match; 0 before one has been prepared."""
        self._is_closed = False

    async def fill(self) -> bool:
        """Let a process compile and load what the agent runs, unless one has; whether there is one."""
        self._idle = [link for link in self._idle if link.pid is not None]
        if self._is_closed or self._idle or self._preparing is not None:
            return bool(self._idle)
        changed = asyncio.Event()
        is_ready = False

        def receive(link: WorkerLink, event: Event) -> None:
            nonlocal is_ready
            if isinstance(event, Failed):
                log.warning("not prepared: %s", printable(event.message))
            if isinstance(event, Ready | Gone):
                is_ready = isinstance(event, Ready)
                changed.set()

        link = self._preparing = WorkerLink(receive)
        waiting: asyncio.Task[bool] | None = None
        try:
            await link.start()
            link.send(PrepareRequest(self._agent))
            waiting = asyncio.create_task(changed.wait())
            await result_of_work(waiting, link.pid, self._preparing_seconds)
        except TimeoutError:
            log.warning("not prepared: %s took more than %g s", self._agent, self._preparing_seconds)
        except OSError as error:
            log.warning("not prepared: %s", error)
        finally:
            self._preparing = None
            if waiting is not None:
                waiting.cancel()
            if is_ready and not self._is_closed:
                self._prepared_mebibytes = resident_mebibytes(link.pid or 0)
                self._idle.append(link)
            else:
                await link.close()
        return is_ready

    def take(self, on_event: Callable[[WorkerLink, Event], None]) -> WorkerLink:
        """A process for one match; it has to be started if its `pid` is None."""
        while self._idle:
            link = self._idle.pop()
            if link.pid is not None:
                link.on_event = on_event
                return link
        return WorkerLink(on_event)

    async def give_back(self, link: WorkerLink, terms: Sequence[str] | None) -> None:
        """End the match of `link`, and keep the process if it is fit for another; else it is killed.

        terms   of the STOP message; None after ABORT
        """
        is_fit = False
        try:
            if not self._is_closed and len(self._idle) + len(self._stopping) < self._most:
                self._stopping.append(link)
                is_fit = await link.stop(terms)
        finally:
            if link in self._stopping:
                self._stopping.remove(link)
            growth = resident_mebibytes(link.pid or 0) - self._prepared_mebibytes
            if is_fit and not self._is_closed and self._prepared_mebibytes and growth <= _GROWTH_MEBIBYTES:
                self._idle.append(link)
            else:
                await link.close()

    async def close(self) -> None:
        """Kill the processes that play no match."""
        self._is_closed = True
        links = [*self._idle, *self._stopping]
        if self._preparing is not None:
            links.append(self._preparing)
        await asyncio.gather(*(link.close() for link in links))


async def prepare_agent(agent: str) -> bool:
    """Let a process of its own compile what `agent` runs; returns whether that succeeded."""
    pool = WorkerPool(agent)
    try:
        return await pool.fill()
    finally:
        await pool.close()
