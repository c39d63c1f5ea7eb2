"""The server's end of a child process: start it, exchange lines with it, kill it.

The child has a session of its own, so that it is killed together with all that it has started.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from typing import TypeVar

from ggp.processes.isolation import isolated_command, isolated_environment

Result = TypeVar("Result")


class ChildProcess:
    """A module of this package, run in a process that reads and writes lines.

    on_line   called in the event loop with every line
    on_gone   called in the event loop once, at the end
    """

    def __init__(
        self,
        module: str,
        on_line: Callable[[bytes], None],
        on_gone: Callable[[], None],
        *,
        arguments: tuple[str, ...] = (),
        line_bytes: int = 1024 * 1024,
    ) -> None:
        self._command = isolated_command(module, *arguments)
        self._on_line = on_line
        self._on_gone = on_gone
        self._line_bytes = line_bytes
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """The process id; None before the start and after the end."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def start(self) -> None:
        """Start the process. Raises OSError."""
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=self._line_bytes,
            env=isolated_environment(),
            start_new_session=True,
        )
        self._task = asyncio.create_task(self._listen(self._process))
        if self._is_closed:  # while it started
            self.kill()

    def send(self, line: bytes) -> None:
        """Send a line without waiting; a dead process ignores it."""
        if self._process is not None and self._process.stdin is not None and self.pid is not None:
            with contextlib.suppress(ConnectionError, RuntimeError):
                self._process.stdin.write(line)

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        with contextlib.suppress(ValueError, ConnectionError):
            async for line in process.stdout:
                self._on_line(line)
        self._kill_group(process)
        await process.wait()
        if process.stdin is not None:
            process.stdin.close()
            with contextlib.suppress(ConnectionError):
                await process.stdin.wait_closed()
        self._on_gone()

    async def close(self) -> None:
        """Kill the process and its children, and wait until they have gone."""
        self._is_closed = True
        process, task = self._process, self._task
        if process is None or task is None:
            return
        self.kill()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(task, 2.0)

    def kill(self) -> None:
        """Kill the process and its children at once, without waiting."""
        if self._process is not None:
            self._kill_group(self._process)

    @staticmethod
    def _kill_group(process: asyncio.subprocess.Process) -> None:
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()


WALL_FACTOR = 10.0
"""Wall time per CPU second of a limit, for a process that neither works nor answers."""


class WorkClock:
    """The time a child takes, from now: CPU time, so that waiting for a core on a busy machine costs nothing.

    A child that sleeps, or waits for something else, gets `WALL_FACTOR` times as long in wall time.
    """

    def __init__(self, pid: int | None) -> None:
        self._pid = pid
        self._begin, self._cpu_begin = time.monotonic(), cpu_seconds(pid)

    def has_passed(self, seconds: float) -> bool:
        """Whether the child has taken more than `seconds`."""
        wall = time.monotonic() - self._begin
        return wall > seconds and (
            cpu_seconds(self._pid) - self._cpu_begin > seconds or wall > WALL_FACTOR * seconds
        )


async def result_of_work(future: asyncio.Future[Result], pid: int | None, seconds: float) -> Result:
    """The result of `future`, for which process `pid` works at most `seconds`; see `WorkClock`.

    Raises what `future` raises, and TimeoutError; then it is not cancelled.
    """
    clock = WorkClock(pid)
    while not future.done():
        if clock.has_passed(seconds):
            raise TimeoutError
        await asyncio.wait({future}, timeout=min(0.2, seconds))
    return future.result()


def cpu_seconds(pid: int | None) -> float:
    """CPU time of a child, all threads together; wall time where the system does not report it.

    >>> 0 < cpu_seconds(os.getpid()) < 3600
    True
    """
    if pid is not None:
        with contextlib.suppress(AttributeError, OSError, OverflowError):
            return time.clock_gettime(~pid << 3 | 2)  # Linux: see clock_getcpuclockid(3)
    return time.monotonic()


def resident_mebibytes(pid: int) -> int:
    """Resident memory of a process; 0 if the system does not report it."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024**2
    except (OSError, ValueError, IndexError):
        return 0
