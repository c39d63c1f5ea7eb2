"""The inner end of a child process of the player: lines in, lines out, a memory limit, and its end.

Standard input is read in a thread of its own, so that its end is seen at once: then the server is dead, and
the process ends with all that it has started.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import queue
import select
import signal
import sys
import threading
from typing import BinaryIO


class LineQueue:
    """Lines as they arrive; the process ends with its input."""

    def __init__(self, stream: BinaryIO) -> None:
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: BinaryIO) -> None:
        for line in stream:
            self._lines.put(line)
        end_process_group()

    def is_empty(self) -> bool:
        """Whether no line is waiting."""
        return self._lines.empty()

    def wait(self) -> bytes:
        """The next line, as soon as there is one."""
        return self._lines.get()


def guard_group() -> None:
    """Start a guard that kills this process's group once standard input is closed; call it before any thread.

    Code that never gives the interpreter back, and whatever it has started, would outlive the parent.
    """
    if not hasattr(os, "fork") or os.getpgrp() != os.getpid():
        return
    between = os.fork()
    if between:  # the guard is no child of this process, which may wait for its own children
        os.waitpid(between, 0)
        return
    if os.fork():
        os._exit(0)
    with contextlib.suppress(BaseException):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):  # readers of these must see the end of the others
            os.dup2(nothing, stream)
        end = select.poll()
        end.register(0, 0)
        end.poll()
    os.killpg(0, signal.SIGKILL)


def take_stdin() -> BinaryIO:
    """Standard input, without the interrupts of a terminal that are meant for the server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return sys.stdin.buffer


def take_stdout() -> BinaryIO:
    """Reserve standard output for lines to the server: what libraries print goes to standard error."""
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return stream


def limit_memory(mebibytes: int) -> None:
    """Make allocations beyond `mebibytes` fail, where the system supports it."""
    try:
        import resource
    except ImportError:
        return
    limit = mebibytes * 1024 * 1024
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def release_memory() -> None:
    """Collect garbage and return free memory to the system, as far as the C library can do that.

    Also what `gc.freeze()` has taken out of collections.
    """
    gc.unfreeze()
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def end_process_group(status: int = 0) -> None:
    """End this process and all it has started, at once. Callable from any thread."""
    with contextlib.suppress(OSError):
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
    os._exit(status)
