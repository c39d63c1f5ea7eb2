"""Client side of the worker process: spawn, send requests, receive events, kill."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ggp.player_server.child_process import ChildProcess
from ggp.player_server.worker_messages import (
    Event,
    Failed,
    Gone,
    PrepareRequest,
    Ready,
    Request,
    parse_event,
    to_line,
)
from ggp.protocol.messages import printable

log = logging.getLogger("ggp.player")


class WorkerLink:
    """One `ggp.player_server.worker` process.

    on_event   called in the event loop with every event, and once with Gone at the end
    """

    def __init__(self, on_event: Callable[[WorkerLink, Event], None]) -> None:
        self.on_event = on_event
        self._process = ChildProcess(
            "ggp.player_server.worker",
            lambda line: self.on_event(self, parse_event(line)),
            lambda: self.on_event(self, Gone()),
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

    async def close(self, grace_seconds: float = 0.0) -> None:
        """Wait at most `grace_seconds` for the process to end by itself, then kill it and its children."""
        await self._process.close(grace_seconds)

    def kill(self) -> None:
        """Kill the process and its children at once, without waiting."""
        self._process.kill()


class WorkerPool:
    """Keeps one search process ready for the next match: its modules imported, its kernels loaded.

    Without that, the first matches on a machine would be over before their search processes had compiled
    anything, and would leave nothing in the cache; later ones would lose the time of loading.
    """

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._spare: WorkerLink | None = None
        self._preparing: WorkerLink | None = None
        self._is_closed = False

    async def fill(self) -> bool:
        """Let a process compile and load what the agent runs, unless one has; whether there is one."""
        if self._is_closed or self._spare is not None or self._preparing is not None:
            return self._spare is not None
        changed = asyncio.Event()
        is_ready = False

        def receive(link: WorkerLink, event: Event) -> None:
            nonlocal is_ready
            is_ready = isinstance(event, Ready)
            if isinstance(event, Failed):
                log.warning("not prepared: %s", printable(event.message))
            else:
                changed.set()

        link = self._preparing = WorkerLink(receive)
        try:
            await link.start()
            link.send(PrepareRequest(self._agent))
            await changed.wait()
        except OSError as error:
            log.warning("not prepared: %s", error)
        finally:
            self._preparing = None
            if is_ready and not self._is_closed:
                self._spare = link
            else:
                link.kill()
        return is_ready

    def take(self, on_event: Callable[[WorkerLink, Event], None]) -> WorkerLink:
        """A process for one match; it has to be started if its `pid` is None."""
        link, self._spare = self._spare, None
        if link is None or link.pid is None:
            return WorkerLink(on_event)
        link.on_event = on_event
        return link

    async def close(self) -> None:
        """Kill the processes that play no match."""
        self._is_closed = True
        await asyncio.gather(*(link.close() for link in (self._spare, self._preparing) if link is not None))


async def prepare_agent(agent: str) -> bool:
    """Let a process of its own compile what `agent` runs; returns whether that succeeded."""
    pool = WorkerPool(agent)
    try:
        return await pool.fill()
    finally:
        await pool.close()
