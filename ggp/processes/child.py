"""Parent side of a child process: start, numbered requests, events, limits, end.

Messages are JSON objects, one a line:

    to the child     {"do": "play", ...} with a `number` if an answer is expected
    from the child   {"number": 3, "result": ...}, {"number": 3, "error": "it is not your turn"},
                     {"event": "report", ...}, {"event": "gives_up", "message": why it ends}

Two threads read and write, so that callers in an event loop and others use the same class.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from concurrent import futures
from concurrent.futures import Future
from typing import IO, Any, TypeAlias

from gdl.work_clock import WorkClock
from ggp.processes.isolation import isolated_command, isolated_environment

_ENDING_SECONDS = 0.5
"""Time for a child that has closed its output to end before it is killed."""
_CLOSING_SECONDS = 2.0
_TICK_SECONDS = 0.1

OnEvent: TypeAlias = Callable[[dict[str, Any], str], None]


class ChildError(Exception):
    """A request failed; the text explains why to the user."""


class ChildGoneError(ChildError):
    """The process has ended, or wrote something that is not a message."""


class ChildLateError(ChildGoneError):
    """The process took too long, and was killed."""


class ChildFullError(ChildGoneError):
    """The process ran out of memory, and ends."""


class ChildStartError(ChildGoneError):
    """No process could be started."""


class Child:
    """A module of this package in a separate process and session; see `ggp.processes.child_end`.

    on_event       called with every event and its line, and with `{"event": "gone"}` at the end: in the event
                   loop in which the child was started, else in a thread
    environment    variables that the user has not set
    line_bytes     maximum length of a message from the child
    is_compiling   whether the process reports that it is compiling a kernel

    The process always ends with this one. Raises ChildStartError.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        on_event: OnEvent = lambda event, line: None,
        environment: Mapping[str, str] | None = None,
        line_bytes: int = 64 * 1024 * 1024,
    ) -> None:
        self.on_event = on_event
        self.is_compiling = False
        self._line_bytes = line_bytes
        self._compiling_since, self._compiled_seconds = 0.0, 0.0
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[Any]] = {}
        self._number = 0
        self._unsent: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._has_ended, self._is_killed, self._why = threading.Event(), False, ""
        try:
            self._call: Callable[..., Any] = asyncio.get_running_loop().call_soon_threadsafe
        except RuntimeError:
            self._call = lambda function, *given: function(*given)
        try:
            self._process = subprocess.Popen(
                isolated_command(module, *arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**(environment or {}), **isolated_environment()},
                start_new_session=True,
            )
        except OSError as error:
            raise ChildStartError(f"no process could be started: {error}") from None
        _living.add(self)
        for work, stream in ((self._write, self._process.stdin), (self._read, self._process.stdout)):
            threading.Thread(target=work, args=(stream,), daemon=True).start()

    @property
    def pid(self) -> int | None:
        """The process id, while the process is alive."""
        return None if self.is_gone else self._process.pid

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended or was killed."""
        return self._is_killed or self._has_ended.is_set() or self._process.poll() is not None

    @property
    def is_busy(self) -> bool:
        """Whether a request is unanswered."""
        return bool(self._waiting)

    @property
    def unsent_count(self) -> int:
        """Number of requests that the process has not read."""
        return self._unsent.qsize()

    # --- requests ---------------------------------------------------------------------------------

    def send(self, do: str, **arguments: Any) -> None:
        """Send a request that has no answer; a dead child ignores it."""
        self._unsent.put(json.dumps({"do": do, **arguments}).encode() + b"\n")

    def ask(self, do: str, **arguments: Any) -> Future[Any]:
        """Send a request; the future has its result, or raises ChildError."""
        future: Future[Any] = Future()
        with self._lock:
            if self.is_gone:
                future.set_exception(ChildGoneError("its process has ended"))
                return future
            self._number += 1
            number = self._number
            self._waiting[number] = future
        self.send(do, number=number, **arguments)
        return future

    async def answer(self, future: Future[Any], seconds: float, *, compiling_seconds: float = 0.0) -> Any:
        """The answer to a request; a child that works for more than `seconds` is killed.

        compiling_seconds   additional time for compiling kernels

        Raises ChildError.
        """
        clock = all_work = WorkClock(self.pid)
        waiting = asyncio.wrap_future(future)
        waiting.add_done_callback(lambda done: done.cancelled() or done.exception())  # if this is cancelled
        while not waiting.done():
            if self.is_compiling and not all_work.has_passed(compiling_seconds):
                clock = WorkClock(self.pid)
            if clock.has_passed(seconds):
                waiting.cancel()
                self.kill()
                raise ChildLateError(f"stopped: the rules took longer than {seconds:g} s")
            await asyncio.wait({waiting}, timeout=min(_TICK_SECONDS, seconds))
        return waiting.result()

    def wait(self, future: Future[Any], until: float, *, compiling_seconds: float = 0.0) -> Any:
        """The answer to a request in a thread that waits; a child without one at `until` is killed.

        until               `time.monotonic()` seconds
        compiling_seconds   additional time for compiling each kernel

        Raises ChildError; after any other exception, too, the child has ended.
        """
        compiled = self._compiled_seconds
        try:
            while not future.done():
                end = until
                if compiling_seconds and self.is_compiling:
                    end = self._compiling_since + compiling_seconds
                elif compiling_seconds:
                    end += self._compiled_seconds - compiled
                if end <= time.monotonic():
                    raise ChildLateError("no answer in time")
                futures.wait({future}, min(end - time.monotonic(), _TICK_SECONDS))
        except BaseException:
            self.kill()
            raise
        return future.result()

    # --- threads ----------------------------------------------------------------------------------

    def _write(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), stream:
            while (line := self._unsent.get()) is not None:
                stream.write(line)
                stream.flush()

    def _read(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError), stream:
            while not self._why and (line := stream.readline(self._line_bytes)).endswith(b"\n"):
                try:
                    self._receive(line)
                except (ValueError, TypeError, KeyError):
                    self._why = "its process wrote to the wrong place"
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0 if self._why else _ENDING_SECONDS)
        why = self._why or _end_text(self._process.poll())
        self.kill()
        self._process.wait()
        self._unsent.put(None)
        with self._lock:
            self._has_ended.set()
            waiting = list(self._waiting.values())
            self._waiting.clear()
        for future in waiting:
            _settle(future, ChildGoneError(why))
        self._pass_on({"event": "gone"}, '{"event": "gone"}')

    def _receive(self, line: bytes) -> None:
        """Handle a message. Raises ValueError, TypeError and KeyError for malformed ones."""
        message = json.loads(line)
        if "number" in message:
            future = self._waiting.pop(message["number"])
            if "error" in message:
                kind = ChildFullError if message.get("is_full") else ChildError
                _settle(future, kind(str(message["error"])))
            else:
                _settle(future, message["result"])
        elif message["event"] == "compiling":
            self.is_compiling, now = bool(message["is_compiling"]), time.monotonic()
            if self.is_compiling:
                self._compiling_since = now
            else:
                self._compiled_seconds += now - self._compiling_since
        else:
            self._pass_on(message, line.decode().strip())
            if message["event"] == "gives_up":
                self._why = str(message["message"])

    def _pass_on(self, event: dict[str, Any], line: str) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            self._call(lambda: self.on_event(event, line))

    # --- the end ----------------------------------------------------------------------------------

    def kill(self) -> None:
        """Kill the process and its descendants without waiting."""
        self._is_killed = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)  # also once it has ended: its children may live
        self._process.kill()  # it has no group where this one must keep its own

    def close(self) -> None:
        """Kill the process, and wait for its end."""
        self.kill()
        self._has_ended.wait(_CLOSING_SECONDS)

    async def aclose(self) -> None:
        """Kill the process, and wait for its end in an event loop."""
        self.kill()
        await asyncio.to_thread(self.close)


_living: weakref.WeakSet[Child] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for child in list(_living):
        child.close()


def _settle(future: Future[Any], outcome: Any) -> None:
    """Give a future its result or exception, unless its caller has cancelled it."""
    if future.set_running_or_notify_cancel():
        put = future.set_exception if isinstance(outcome, Exception) else future.set_result
        put(outcome)


def _end_text(code: int | None) -> str:
    """Describe how a process ended.

    >>> _end_text(3), _end_text(-11)
    ('its process ended with exit code 3', 'its process was killed by SIGSEGV')
    """
    if code is None:
        return "its process closed its output"
    if code >= 0:
        return f"its process ended with exit code {code}"
    name = f"signal {-code}"
    with contextlib.suppress(ValueError):
        name = signal.Signals(-code).name
    return f"its process was killed by {name}"


def resident_mebibytes(pid: int | None) -> int:
    """Resident memory of a process; 0 if the system does not report it."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024**2
    except (OSError, ValueError, IndexError):
        return 0
