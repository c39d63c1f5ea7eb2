"""The server's end of a search process: start it, send orders, hear reports, end it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ggp.protocol import printable

log = logging.getLogger("ggp.player")
Report = Mapping[str, Any]

_REPORT_BYTES = 1024 * 1024


class WorkerLink:
    """One `ggp.player_worker` process.

    on_report   called in the event loop with every report, and once with {"type": "gone"} at the end
    """

    def __init__(self, on_report: Callable[[WorkerLink, Report], None]) -> None:
        self._on_report = on_report
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The process id; None before the start and after the end."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def start(self) -> None:
        """Start the process. Raises OSError."""
        root = str(Path(__file__).resolve().parent.parent)
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "ggp.player_worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_REPORT_BYTES,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
        self._task = asyncio.create_task(self._listen(self._process))

    def send(self, order: Mapping[str, object]) -> None:
        """Hand over an order without waiting; a dead process ignores it."""
        if self._process is not None and self._process.stdin is not None and self.pid is not None:
            with contextlib.suppress(ConnectionError, RuntimeError):
                self._process.stdin.write(json.dumps(order).encode() + b"\n")

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        with contextlib.suppress(ValueError, ConnectionError):
            async for line in process.stdout:
                self._on_report(self, json.loads(line))
        self._kill_group(process)
        await process.wait()
        if process.stdin is not None:
            process.stdin.close()
            with contextlib.suppress(ConnectionError):
                await process.stdin.wait_closed()
        self._on_report(self, {"type": "gone"})

    async def close(self, grace_seconds: float = 0.0) -> None:
        """Wait at most `grace_seconds` for the process to end by itself, then kill it and its children."""
        process, task = self._process, self._task
        if process is None or task is None:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(task), grace_seconds)
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


async def prepare_agent(agent: str) -> bool:
    """Let a process of its own compile what `agent` runs, and wait for it; whether that went well.

    Where it is compiled already this takes as long as starting such a process. Without, the first matches on
    a machine would be over before their search processes had compiled anything, and leave nothing behind.
    """
    gone = asyncio.Event()
    is_ready = False

    def hear(link: WorkerLink, report: Report) -> None:
        nonlocal is_ready
        if report["type"] == "ready":
            is_ready = True
        elif report["type"] == "failed":
            log.warning("not prepared: %s", printable(report["message"]))
        elif report["type"] == "gone":
            gone.set()

    link = WorkerLink(hear)
    try:
        await link.start()
        link.send({"type": "prepare", "agent": agent})
        await gone.wait()
    except OSError as error:
        log.warning("not prepared: %s", error)
    finally:
        link.kill()
    return is_ready
