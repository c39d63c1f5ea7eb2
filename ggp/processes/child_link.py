"""The server's end of a child process: numbered requests with a limit of work, events, and its end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from ggp.processes.child_process import ChildProcess, result_of_work

_ENDED = "stopped: the process has ended, most often because the rules need too much memory"
_LINE_BYTES = 16 * 1024 * 1024

OnEvent = Callable[[dict[str, Any], str], None]


class ChildError(Exception):
    """The request failed; the text says why and is shown to the person.

    is_gone   whether the process has ended with it

    >>> ChildError("it is not your turn").is_gone
    False
    """

    def __init__(self, message: str, *, is_gone: bool = False) -> None:
        super().__init__(message)
        self.is_gone = is_gone


class ChildStartError(ChildError):
    """No process could be started."""


class ChildLink:
    """One child process of the web server.

    module      what it runs
    mebibytes   limit of its memory
    on_event    called in the event loop with every event and its JSON; at the end with `{"event": "gone"}`
    """

    def __init__(self, module: str, mebibytes: int, on_event: OnEvent = lambda event, text: None) -> None:
        self._on_event = on_event
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._is_gone = False
        self._process = ChildProcess(
            module, self._receive, self._lose, arguments=(str(mebibytes),), line_bytes=_LINE_BYTES
        )

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended."""
        return self._is_gone

    async def start(self) -> None:
        """Start the process; one that was closed meanwhile ends at once. Raises ChildStartError."""
        try:
            await self._process.start()
        except OSError as error:
            raise ChildStartError(f"no process could be started: {error}", is_gone=True) from None

    async def ask(self, do: str, arguments: Mapping[str, Any], seconds: float) -> Any:
        """The answer to a request; a process that takes more work than `seconds` is killed.

        Raises ChildError.
        """
        if self._is_gone:
            raise ChildError("the process of this match has ended", is_gone=True)
        self._number += 1
        number = self._number
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._process.send(json.dumps({"number": number, "do": do, **arguments}).encode() + b"\n")
        try:
            return await result_of_work(future, self._process.pid, seconds)
        except TimeoutError:
            self._process.kill()
            raise ChildError(f"stopped: the rules took longer than {seconds:g} s", is_gone=True) from None
        finally:
            self._waiting.pop(number, None)

    def _receive(self, line: bytes) -> None:
        message = json.loads(line)
        if "number" not in message:
            self._on_event(message, line.decode().strip())
            return
        future = self._waiting.get(message["number"])
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(ChildError(message["error"]))
        else:
            future.set_result(message["result"])

    def _lose(self) -> None:
        self._is_gone = True
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ChildError(_ENDED, is_gone=True))
        self._on_event({"event": "gone"}, '{"event": "gone"}')

    async def close(self) -> None:
        """Kill the process and wait until it has gone."""
        await self._process.close()
