"""The server's end of state processes: requests to one of them, and the pool that keeps some warm."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from ggp.processes.child_process import ChildProcess, resident_mebibytes, result_of_work

log = logging.getLogger("ggp.player")

MODULE = "ggp.player_server.state_process"
_LINE_BYTES = 64 * 1024 * 1024
_START_SECONDS = 30.0
_FORGET_SECONDS = 0.5
"""How much work a process that has been idle may take to forget a match before it is killed."""

_GROWTH_MEBIBYTES = 100
"""A process that a match has let grow by more than this is not used again."""


class StateLost(Exception):  # noqa: N818 - an event
    """The process has ended; the text says why, and is empty if it was killed."""


class StateError(Exception):
    """A request failed; `is_rules` says whether the rules or the role are at fault."""

    def __init__(self, message: str, *, is_rules: bool = False) -> None:
        super().__init__(message)
        self.is_rules = is_rules


class StateLink:
    """One state process. Requests are answered in order.

    mebibytes   limit of its memory
    """

    def __init__(self, mebibytes: int) -> None:
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._is_gone = False
        self._size_when_new = 0
        self._busy_since = 0.0
        self._process = ChildProcess(
            MODULE,
            self._receive,
            self._lose,
            arguments=(str(mebibytes),),
            line_bytes=_LINE_BYTES,
        )

    @property
    def pid(self) -> int | None:
        """The process id, while it is alive."""
        return self._process.pid

    @property
    def busy_seconds(self) -> float:
        """How long it has been working without an answer; 0 if it is idle."""
        return time.monotonic() - self._busy_since if self._waiting else 0.0

    async def start(self) -> None:
        """Start the process and wait until it is ready for work. Raises OSError, StateLost, TimeoutError."""
        await self._process.start()
        if self._is_gone:  # killed meanwhile
            await self._process.close()
            raise StateLost
        await result_of_work(self.ask("forget"), self.pid, _START_SECONDS)
        self._size_when_new = resident_mebibytes(self.pid or 0)

    def ask(self, do: str, **arguments: Any) -> asyncio.Future[Any]:
        """Send a request; the future raises StateError, or StateLost if the process ends before."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        # An exception that nothing waits for any more is not worth a message at exit.
        future.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        if self._is_gone or self.pid is None:
            future.set_exception(StateLost())
            return future
        if not self._waiting:
            self._busy_since = time.monotonic()
        self._waiting.append(future)
        self._process.send(json.dumps({"do": do, **arguments}).encode() + b"\n")
        return future

    def _receive(self, line: bytes) -> None:
        future = self._waiting.popleft()
        self._busy_since = time.monotonic()
        if future.done():
            return
        reply = json.loads(line)
        if "error" in reply:
            future.set_exception(StateError(reply["error"], is_rules=reply["is_rules"]))
        elif "lost" in reply:
            future.set_exception(StateLost(reply["lost"]))
        else:
            future.set_result(reply["result"])

    def _lose(self) -> None:
        self._is_gone = True
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_exception(StateLost())

    def kill(self) -> None:
        """End the process, whatever it is doing; requests raise StateLost."""
        self._process.kill()
        self._lose()

    async def close(self) -> None:
        """Kill the process, and wait until it has gone."""
        self.kill()
        await self._process.close()

    async def forget(self) -> bool:
        """End the match; returns whether the process is ready for another. It is killed if it is not."""
        is_warm = False
        if not self._waiting:
            with contextlib.suppress(TimeoutError, StateError, StateLost):
                await result_of_work(self.ask("forget"), self.pid, _FORGET_SECONDS)
                grown = resident_mebibytes(self.pid or 0) - self._size_when_new
                is_warm = self.pid is not None and grown <= _GROWTH_MEBIBYTES
        if not is_warm:
            await self.close()
        return is_warm


class StatePool:
    """State processes for matches; `spares` of them wait for the next one.

    Processes are started one at a time, so that many short matches cannot occupy the machine.
    """

    def __init__(self, mebibytes: int, spares: int = 2) -> None:
        self._mebibytes = mebibytes
        self._spares = spares
        self._idle: list[StateLink] = []
        self._starting = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._new_link: StateLink | None = None
        self._is_closed = False

    async def take(self, is_abandoned: Callable[[], bool] = lambda: False) -> StateLink:
        """A warm process.

        is_abandoned   asked when it is this match's turn to have one started: a match that was aborted
                       meanwhile must not hold up those behind it

        Raises OSError if there is none and none can be started, StateLost if none is wanted any more.
        """
        if not self._idle:
            async with self._starting:
                if self._is_closed or is_abandoned():
                    raise StateLost
                if not self._idle:
                    self._idle.append(await self._new())
        link = self._idle.pop()
        return link if link.pid is not None else await self.take(is_abandoned)

    def give_back(self, link: StateLink) -> None:
        """End the match of `link`, and keep the process if it is fit for another. Returns at once."""
        self._keep(asyncio.create_task(self._recycle(link)))

    async def open(self) -> None:
        """Start the spares: wait for the first one, the others start in the background."""
        filling = asyncio.create_task(self._fill())
        self._keep(filling)
        while not self._idle and not filling.done():
            await asyncio.sleep(0.01)

    async def close(self) -> None:
        """Kill all idle processes and end what is under way."""
        self._is_closed = True
        if self._new_link is not None:
            self._new_link.kill()
        for link in self._idle:
            link.kill()
        await asyncio.gather(*self._tasks, *(link.close() for link in self._idle), return_exceptions=True)

    async def _recycle(self, link: StateLink) -> None:
        try:
            if await link.forget() and len(self._idle) < self._spares and not self._is_closed:
                self._idle.append(link)
                return
        finally:
            if link not in self._idle:
                await link.close()
        await self._fill()

    async def _fill(self) -> None:
        while len(self._idle) < self._spares and not self._is_closed:
            async with self._starting:
                if len(self._idle) >= self._spares or self._is_closed:
                    return
                try:
                    self._idle.append(await self._new())
                except OSError as error:
                    if not self._is_closed:
                        log.error("no process for states: %s", error)
                    return

    async def _new(self) -> StateLink:
        link = self._new_link = StateLink(self._mebibytes)
        is_ready = False
        try:
            await link.start()
            is_ready = True
        except (TimeoutError, StateLost, StateError):
            raise OSError("a state process does not start") from None
        finally:
            self._new_link = None
            if not is_ready:
                await link.close()
        return link

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
