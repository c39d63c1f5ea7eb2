"""A child process that a thread asks and waits for: JSON objects as lines, each answer with a time limit.

At the limit the child is killed with all that it has started; the thread that waits sees its end.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Mapping
from typing import Any

from ggp.processes.isolation import isolated_command, isolated_environment

_LINE_BYTES = 16 * 1024 * 1024
_ENDING_SECONDS = 0.5
"""How long a child that has closed its output may take to end before it is killed."""


class ChildLateError(Exception):
    """The child did not answer in time, and was killed."""


class ChildGoneError(Exception):
    """The child has ended, or answers what is not JSON; the text says how.

    >>> str(ChildGoneError("its process ended with exit code 3"))
    'its process ended with exit code 3'
    """


class AskedChild:
    """A module of this package in a process and session of its own; see `ggp.processes.child_end`.

    It ends with this process, however that ends. Raises OSError.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            isolated_command(module, *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=isolated_environment(),
            start_new_session=True,
        )
        self._is_late = self._is_killed = False
        _living.add(self)

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended."""
        return self._is_killed or self._process.poll() is not None

    def send(self, request: Mapping[str, Any]) -> None:
        """Send a request whose answer is received later, or that has none; a dead child ignores it."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()

    def ask(
        self, request: Mapping[str, Any] | None, until: float, *, compiling_seconds: float = 0.0
    ) -> dict[str, Any]:
        """Send a request, if any, and return the next answer.

        until               `time.monotonic()` at which the child is killed
        compiling_seconds   by how much each of its reports that it compiles kernels puts that off at most

        Raises ChildLateError, ChildGoneError; whatever is raised, the child has ended.
        """
        alarm = self._alarm(until - time.monotonic())
        try:
            if request is not None:
                self.send(request)
            while "compiling" in (answer := self._read()):
                if compiling_seconds:
                    alarm.cancel()
                    if answer["compiling"]:
                        until -= time.monotonic()
                        alarm = self._alarm(compiling_seconds)
                    else:
                        until += time.monotonic()
                        alarm = self._alarm(until - time.monotonic())
            return answer
        except BaseException:
            self.kill()
            raise
        finally:
            alarm.cancel()

    def _alarm(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(max(0.0, seconds), self._end_late)
        timer.daemon = True
        timer.start()
        return timer

    def _end_late(self) -> None:
        self._is_late = True
        self.kill()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline(_LINE_BYTES)
        if self._is_late:
            raise ChildLateError("no answer in time")
        if not line.endswith(b"\n"):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDING_SECONDS)
            raise ChildGoneError(_end_text(self._process.poll()))
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise ChildGoneError("its process wrote to the wrong place")
        return answer

    def kill(self) -> None:
        """Kill the process and all that it has started, at once."""
        self._is_killed = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)  # also once it has ended: its children may live
            else:
                self._process.kill()

    def close(self) -> None:
        """Kill the process, and wait for its end."""
        _living.discard(self)
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()


_living: weakref.WeakSet[AskedChild] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for child in list(_living):
        child.close()


def _end_text(code: int | None) -> str:
    """How a process has ended.

    >>> _end_text(3), _end_text(-11)
    ('its process ended with exit code 3', 'its process was killed by SIGSEGV')
    """
    if code is None:
        return "its process closed its output"
    if code >= 0:
        return f"its process ended with exit code {code}"
    try:
        return f"its process was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"its process was killed by signal {-code}"
